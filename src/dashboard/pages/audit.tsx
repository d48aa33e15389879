import { FileClock } from 'lucide-react'
import type { AuditActionView, AuditEventView } from '../../features/audit/shapes'
import { apiUrl, type Page as Listing } from '../client'
import { actorName, channelLabels } from '../parts/actor'
import { useUrlState } from '../parts/url-state'
import { Input } from '../parts/input'
import { ListPage, type Column } from '../parts/list'
import { Menu } from '../parts/menu'
import { ResourceLink } from '../parts/resource'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useOne } from '../queries'
import { localInputToIso } from '../parts/timezone'

const columns: readonly Column<AuditEventView>[] = [
  { title: 'Action', look: 'mono', render: one => one.action },
  { title: 'Actor', width: '11rem', showFrom: 'sm', render: one => actorName(one.actor) },
  { title: 'Resource', showFrom: 'md', render: one => one.targets[0] && <ResourceLink {...one.targets[0]} /> },
  { title: 'Source', width: '10rem', showFrom: 'lg', render: one => one.context.ip ?? channelLabels[one.context.channel] },
  { title: 'Outcome', width: '8rem', showFrom: 'sm', render: one => <Status status={one.outcome} /> },
  { title: 'Time', width: '8.5rem', render: one => <RelativeTime at={one.occurred_at} /> },
]

const actors = {
  user: 'Users',
  token: 'Tokens',
  operator: 'Operators',
  system: 'System',
  ingest: 'Ping and acknowledge URLs',
  anonymous: 'Unauthenticated',
}
const outcomes = { success: 'Success', failure: 'Failure', denied: 'Denied' }
const range = { from: '', to: '' }

/** Lists the audit log. */
export default function Audit() {
  const [{ from, to }, set] = useUrlState(range)
  const catalog = useOne<Listing<AuditActionView>>('/audit-events/catalog', { fields: 'action' })
  // Whole areas first, then each action.
  const actions = (catalog.data?.data ?? []).map(one => one.action)
  const areas = [...new Set(actions.map(one => `${one.slice(0, one.lastIndexOf('.'))}.*`))].sort()
  const download = (format: string) => ({
    label: `Export entire log as ${format.toUpperCase()}`,
    onSelect: () => location.assign(apiUrl({ path: '/audit-events/export', query: { format } })),
  })
  return (
    <ListPage
      label="Audit log"
      description="Every action in this workspace, including denied ones. “bailiwick audit verify” detects changed or removed entries."
      actions={<Menu label="Export" items={[download('ndjson'), download('csv')]} />}
      path="/audit-events"
      page="/audit/$id"
      columns={columns}
      counted
      params={range}
      query={({ action, outcome, actor, from = '', to = '', target }) => ({
        action,
        outcome,
        actor_type: actor,
        target_id: target,
        'occurred_at[gte]': localInputToIso(from),
        'occurred_at[lt]': localInputToIso(to),
      })}
      filters={[
        { name: 'action', label: 'Action', all: 'All actions', choices: [...areas, ...actions] },
        { name: 'actor', label: 'Actor', all: 'All actors', choices: actors },
        { name: 'outcome', label: 'Outcome', all: 'All outcomes', choices: outcomes },
      ]}
      controls={
        <>
          <Moment label="From" value={from} onChange={value => set({ from: value })} />
          <Moment label="To" value={to} onChange={value => set({ to: value })} />
        </>
      }
      search={{ name: 'target', label: 'Resource ID' }}
      empty={{ icon: FileClock, title: 'No matches' }}
    />
  )
}

const Moment = ({ label, value, onChange }: { label: string; value: string; onChange(value: string): void }) => (
  <label className="flex items-center gap-1.5 text-muted">
    {label}
    <Input type="datetime-local" value={value} onText={onChange} className="h-9 text-ink" />
  </label>
)
