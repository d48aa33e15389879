import type { AuditEventView } from '../../features/audit/shapes'
import { resourcePath } from '../pages'
import { actorName, channelLabels } from '../parts/actor'
import { sentenceOf, useAuditCatalog } from '../parts/audit-sentence'
import { CopyableText } from '../parts/code'
import { Card, Page, Skeleton } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { ResourceLink, ResourceLinks } from '../parts/resource'
import { Status, capitalize } from '../parts/status'
import { TextWithCode } from '../parts/text-with-code'
import { formatDateTime } from '../parts/time'

/** Shows an audit event: actor, action, source, and changes. */
export default resourcePage({ path: '/audit-events', parent: '/audit' }, Shown)

function Shown({ resource: entry }: { resource: AuditEventView }) {
  const catalog = useAuditCatalog()
  const { actor, context } = entry
  if (!catalog) return <Skeleton />
  return (
    <Page
      title={sentenceOf(entry, catalog)}
      parent="/audit"
      description={<TextWithCode text={catalog.get(entry.action)?.description ?? ''} />}
      aside={<Status status={entry.outcome} />}
    >
      <div className="grid gap-4 lg:grid-cols-2">
        <Card
          title="Details"
          facts={[
            ['Time', formatDateTime(entry.occurred_at)],
            ['Action', <CopyableText text={entry.action} />],
            ['Action code', entry.code && <CopyableText text={entry.code} />],
            ['Actor', <Actor actor={actor} />],
            ['Actor type', capitalize(actor.type)],
            ['Actor ID', actor.id && <CopyableText text={actor.id} />],
            ['Resource', entry.targets.length > 0 && <ResourceLinks of={entry.targets} />],
            ['Reason', entry.reason],
            ['Sequence number', entry.seq.toLocaleString()],
            ['ID', <CopyableText text={entry.id} />],
          ]}
        />
        <Card
          title="Source"
          facts={[
            ['Interface', channelLabels[context.channel]],
            ['IP address', context.ip],
            ['User agent', context.user_agent],
            ['Request ID', context.request_id && <CopyableText text={context.request_id} />],
            ['Client request ID', context.client_request_id],
            ['Idempotency key', context.idempotency_key],
          ]}
        />
        {entry.changes && (
          <Card title="Changes" flush className="lg:col-span-2">
            <Changes {...entry.changes} />
          </Card>
        )}
      </div>
    </Page>
  )
}

const Actor = ({ actor }: { actor: AuditEventView['actor'] }) => (
  <>
    {resourcePath(actor.id) ? <ResourceLink {...actor} name={actorName(actor)} /> : actorName(actor)}
    {actor.hint && <span className="text-muted"> {actor.hint}</span>}
  </>
)

const formatValue = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)

// Entries with these names count resources, and are not fields of a resource.
const countNames = ['created', 'updated', 'deleted', 'failed']

function Changes({ before, after }: { before: Record<string, unknown>; after: Record<string, unknown> }) {
  const isCount = (name: string) => countNames.includes(name) && typeof after[name] === 'number' && before[name] == null
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const counts = all.filter(isCount).map(name => `${name}: ${Number(after[name]).toLocaleString()}`)
  const names = all.filter(name => !isCount(name))
  return (
    <>
      {counts.length > 0 && <p className="border-b border-line px-4 py-2">{capitalize(counts.join(', '))}</p>}
      {names.length > 0 && <FieldChanges names={names} before={before} after={after} />}
    </>
  )
}

interface FieldChangesProps {
  names: readonly string[]
  before: Record<string, unknown>
  after: Record<string, unknown>
}

function FieldChanges({ names, before, after }: FieldChangesProps) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Changes">
      <table className="w-full min-w-lg">
        <thead className="text-left text-[13px] text-muted">
          <tr>
            {['Field', 'Before', 'After'].map(title => (
              <th key={title} scope="col" className="px-4 py-2 font-medium">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map(name => (
            <tr key={name} className="border-t border-line align-top">
              <th scope="row" className="px-4 py-2 text-left font-mono text-[13px] font-normal">
                {name}
              </th>
              <td className="bg-bad-soft px-4 py-2 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap">
                {formatValue(before[name])}
              </td>
              <td className="bg-ok-soft px-4 py-2 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap">
                {formatValue(after[name])}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
