import type { AuditActionView, AuditEventView } from '../../features/audit/shapes'
import type { Page as Listing } from '../client'
import { actorName, channelLabels } from '../parts/actor'
import { CopyableText } from '../parts/code'
import { Card, Page, Skeleton } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { ResourceLinks } from '../parts/resource'
import { Status, humanize } from '../parts/status'
import { TextWithCode } from '../parts/text-with-code'
import { formatDateTime } from '../parts/time'
import { useOne } from '../queries'

/** Shows an audit event: actor, action, source, and changes. */
export default resourcePage({ path: '/audit-events', parent: '/audit' }, Shown)

function Shown({ resource: entry }: { resource: AuditEventView }) {
  const { data, isPending } = useOne<Listing<AuditActionView>>('/audit-events/catalog', {
    action: entry.action,
    fields: 'action,description',
  })
  const { actor, context } = entry
  if (isPending) return <Skeleton />
  return (
    <Page
      title={entry.action}
      parent="/audit"
      description={<TextWithCode text={data?.data[0]?.description ?? ''} />}
      aside={<Status status={entry.outcome} />}
    >
      <div className="grid gap-4 lg:grid-cols-2">
        <Card
          title="Details"
          facts={[
            ['Time', formatDateTime(entry.occurred_at)],
            ['Actor', [actorName(actor), actor.hint].filter(Boolean).join(' ')],
            ['Actor ID', `${actor.id} (${humanize(actor.type)})`],
            ['Resource', entry.targets.length > 0 && <ResourceLinks of={entry.targets} />],
            ['Reason', entry.reason],
            ['Sequence number', entry.seq.toLocaleString()],
            ['Action code', entry.code && <code className="font-mono">{entry.code}</code>],
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

const formatValue = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)

function Changes({ before, after }: { before: Record<string, unknown>; after: Record<string, unknown> }) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
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
