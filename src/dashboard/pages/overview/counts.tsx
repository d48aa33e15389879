import { Link } from '@tanstack/react-router'
import type { OverviewView } from '../../../features/overview/shapes'
import { moodOf, StatusIcon, wordsOf } from '../../parts/status'

/** How many there are of each kind of thing, by how they are; each number leads to the list of those. */
export function Counts({ seen: { monitors, heartbeats, dns, webhooks } }: { seen: OverviewView }) {
  const plain = webhooks && webhooks.endpoints.total - webhooks.endpoints.disabled - webhooks.endpoints.failing
  return (
    <div className="grid grid-cols-2 gap-4 empty:hidden">
      {monitors && <Tile title="Monitors" to="/monitors" total={monitors.total} states={monitors.by_status} member="status" />}
      {heartbeats && (
        <Tile title="Heartbeats" to="/heartbeats" total={heartbeats.total} states={heartbeats.by_status} member="status" />
      )}
      {dns && <Tile title="Zones" to="/dns" total={dns.zones.total} states={dns.zones.by_state} member="state" />}
      {webhooks && (
        <Tile
          title="Webhook endpoints"
          to="/webhooks"
          total={webhooks.endpoints.total}
          states={{ enabled: plain!, failing: webhooks.endpoints.failing, disabled: webhooks.endpoints.disabled }}
          member={null}
        />
      )}
    </div>
  )
}

interface TileProps {
  title: string
  to: string
  total: number
  states: Readonly<Record<string, number>>
  /** Member of the address by which the list shows those of one state; null when it has none. */
  member: string | null
}

const worstFirst = ['bad', 'warn', 'busy', 'idle', 'ok']

function Tile({ title, to, total, states, member }: TileProps) {
  const shown = Object.entries(states)
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => worstFirst.indexOf(moodOf(a)) - worstFirst.indexOf(moodOf(b)))
  return (
    <section className="min-h-28 min-w-0 rounded-lg border border-line bg-surface p-4">
      <h2 className="text-[13px] font-medium text-muted">
        <Link to={to} className="inline-block min-h-6 hover:text-ink hover:underline">
          {title}
        </Link>
      </h2>
      <p className="mt-0.5 text-2xl font-semibold">{total.toLocaleString()}</p>
      <ul className="mt-1 flex flex-wrap gap-x-3 gap-y-0.5">
        {shown.map(([state, count]) => (
          <li key={state}>
            <Link
              to={to}
              search={member === null ? {} : { [member]: state }}
              className="inline-flex min-h-6 min-w-6 items-center gap-1 text-[13px] hover:underline"
            >
              <StatusIcon state={state} />
              {count.toLocaleString()} {wordsOf(state)}
            </Link>
          </li>
        ))}
        {total === 0 && <li className="text-[13px] text-muted">None yet</li>}
      </ul>
    </section>
  )
}
