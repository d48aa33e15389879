import { Link } from '@tanstack/react-router'
import type { OverviewView } from '../../../features/overview/shapes'
import { toneOf, StatusIcon, humanize, type Tone } from '../../parts/status'
import { formatAmount } from '../cloud/amounts'

/** Counts by resource and status. Each count links to the filtered list. */
export function Counts({
  overview: { monitors, heartbeats, dns, dynamic_ips: sources, servers, spend, webhooks, posture },
}: {
  overview: OverviewView
}) {
  return (
    <div className="grid grid-cols-2 gap-4 empty:hidden">
      {monitors && <Tile title="Monitors" to="/monitors" total={monitors.total} states={monitors.by_status} parameter="status" />}
      {heartbeats && (
        <Tile title="Heartbeats" to="/heartbeats" total={heartbeats.total} states={heartbeats.by_status} parameter="status" />
      )}
      {dns && (
        <Tile
          title="Zones"
          to="/dns"
          total={dns.zones.total}
          states={dns.zones.by_state}
          parameter="state"
          labels={{ unmanaged: 'with unmanaged records', synced: 'served or synced' }}
        />
      )}
      {sources && sources.total > 0 && (
        <Tile title="Dynamic IP" to="/dynamic-ips" total={sources.total} states={sources.by_status} parameter="status" />
      )}
      {servers && servers.total > 0 && (
        <Tile title="Servers" to="/servers" total={servers.total} states={servers.by_health} parameter="health" />
      )}
      {spend && spend.length > 0 && <Spend accounts={spend} />}
      {posture && posture.gaps.total > 0 && (
        <Tile
          title="Certificate gaps"
          to="/certificates/gaps"
          total={posture.gaps.total}
          states={posture.gaps.by_severity}
          parameter="severity"
          toneOfState={state => severityTones[state] ?? 'idle'}
        />
      )}
      {posture && posture.grades.length > 0 && (
        <Tile
          title="TLS grades"
          to="/tls-endpoints"
          total={posture.grades.reduce((sum, one) => sum + one.count, 0)}
          states={Object.fromEntries(posture.grades.map(one => [one.grade, one.count]))}
          parameter="grade"
          toneOfState={gradeTone}
        />
      )}
      {webhooks && (
        <Tile
          title="Webhook endpoints"
          to="/webhooks"
          total={webhooks.endpoints.total}
          states={endpointStates(webhooks.endpoints)}
          parameter="status"
        />
      )}
    </div>
  )
}

/** What each cloud account costs. */
function Spend({ accounts }: { accounts: NonNullable<OverviewView['spend']> }) {
  return (
    <section className="min-h-28 min-w-0 rounded-lg last:odd:col-span-2 border border-line bg-surface p-4">
      <h2 className="text-[13px] font-medium text-muted">
        <Link to="/cloud-accounts" className="inline-block min-h-6 hover:text-ink hover:underline">
          Cloud spend per month
        </Link>
      </h2>
      <ul className="mt-1">
        {accounts.map(({ account_id, name, monthly, currency, monthly_cap: cap }) => (
          <li key={account_id} className="flex flex-wrap justify-between gap-x-3 text-[13px]">
            <Link to="/cloud-accounts/$id" params={{ id: account_id }} className="min-h-6 min-w-0 truncate hover:underline">
              {name}
            </Link>
            <span>
              {formatAmount(monthly, currency)}
              {cap !== null && <span className="text-muted"> of {formatAmount(cap, currency)}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

type EndpointCounts = NonNullable<OverviewView['webhooks']>['endpoints']

/** The number of endpoints by status, as in their list. */
const endpointStates = ({ total, disabled, inactive, failing }: EndpointCounts) => ({
  enabled: total - disabled - inactive - failing,
  failing,
  inactive,
  disabled,
})

interface TileProps {
  title: string
  to: string
  total: number
  states: Readonly<Record<string, number>>
  /** Query parameter that filters the list by state. */
  parameter: string
  /** Labels that differ from the state. */
  labels?: Readonly<Record<string, string>>
  /** Tones of states that aren’t statuses. */
  toneOfState?: (state: string) => Tone
}

const severityTones: Readonly<Record<string, Tone>> = { critical: 'bad', high: 'bad', medium: 'warn' }
const gradeTone = (grade: string): Tone => (grade.startsWith('A') ? 'ok' : grade === 'B' || grade === 'C' ? 'warn' : 'bad')

const worstFirst = ['bad', 'warn', 'busy', 'idle', 'ok']

function Tile({ title, to, total, states, parameter, labels = {}, toneOfState = toneOf }: TileProps) {
  const shown = Object.entries(states)
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => worstFirst.indexOf(toneOfState(a)) - worstFirst.indexOf(toneOfState(b)))
  return (
    <section className="min-h-28 min-w-0 rounded-lg last:odd:col-span-2 border border-line bg-surface p-4">
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
              search={{ [parameter]: state }}
              className="inline-flex min-h-6 min-w-6 items-center gap-1 text-[13px] hover:underline"
            >
              <StatusIcon status={state} tone={toneOfState(state)} />
              {count.toLocaleString()} {labels[state] ?? humanize(state)}
            </Link>
          </li>
        ))}
        {total === 0 && <li className="text-[13px] text-muted">None yet</li>}
      </ul>
    </section>
  )
}
