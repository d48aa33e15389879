import { useParams } from '@tanstack/react-router'
import type { AuditActionView, AuditEventView } from '../../../features/audit/shapes'
import type { Page as Listing } from '../../client'
import { Copied } from '../../parts/code'
import { Card, Facts, Loaded, Page, Skeleton } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Status } from '../../parts/status'
import { wholeTime } from '../../parts/time'
import { useOne } from '../../queries'

const up = { to: '/audit', label: 'Audit log' }

/** One entry of the log: who, what, from where, and what it changed. */
export default function AuditEntry() {
  const { id } = useParams({ strict: false })
  const found = useOne<AuditEventView>(`/audit-events/${id}`)
  return (
    <Loaded found={found} up={up}>
      {entry => <Shown entry={entry} />}
    </Loaded>
  )
}

function Shown({ entry }: { entry: AuditEventView }) {
  const { data, isPending } = useOne<Listing<AuditActionView>>('/audit-events/catalog', {
    action: entry.action,
    fields: 'action,description',
  })
  const { actor, context } = entry
  if (isPending) return <Skeleton />
  return (
    <Page title={entry.action} up={up} lead={data?.data[0]?.description ?? ''} aside={<Status state={entry.outcome} />}>
      <div className="grid gap-4 lg:grid-cols-2">
        <Card title="Entry">
          <Facts
            rows={[
              ['When', wholeTime(entry.occurred_at)],
              ['Who', [actor.name, actor.hint].filter(Boolean).join(' ') || actor.type],
              ['As', `${actor.type} ${actor.id}`],
              [
                'To what',
                entry.targets.map(one => (
                  <div key={one.id}>
                    <ResourceLink {...one} />
                  </div>
                )),
              ],
              ['Why', entry.reason],
              ['Place in the log', entry.seq.toLocaleString()],
              ['Code', entry.code && <code className="font-mono">{entry.code}</code>],
              ['Id', <Copied text={entry.id} />],
            ]}
          />
        </Card>
        <Card title="From where">
          <Facts
            rows={[
              ['Way', context.channel],
              ['Address', context.ip],
              ['Program', context.user_agent],
              ['Request', context.request_id && <Copied text={context.request_id} />],
              ['The client’s request', context.client_request_id],
              ['Idempotency-Key', context.idempotency_key],
            ]}
          />
        </Card>
        {entry.changes && (
          <Card title="What changed" flush className="lg:col-span-2">
            <Changes {...entry.changes} />
          </Card>
        )}
      </div>
    </Page>
  )
}

const written = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)

function Changes({ before, after }: { before: Record<string, unknown>; after: Record<string, unknown> }) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="What changed">
      <table className="w-full min-w-lg">
        <thead className="text-left text-[13px] text-muted">
          <tr>
            <th scope="col" className="px-4 py-2 font-medium">
              Member
            </th>
            <th scope="col" className="px-4 py-2 font-medium">
              Before
            </th>
            <th scope="col" className="px-4 py-2 font-medium">
              After
            </th>
          </tr>
        </thead>
        <tbody>
          {names.map(name => (
            <tr key={name} className="border-t border-line align-top">
              <th scope="row" className="px-4 py-2 text-left font-mono text-[13px] font-normal">
                {name}
              </th>
              <td className="bg-bad-soft px-4 py-2 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap">
                {written(before[name])}
              </td>
              <td className="bg-ok-soft px-4 py-2 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap">
                {written(after[name])}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
