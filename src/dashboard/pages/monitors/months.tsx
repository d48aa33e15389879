import type { UptimeView } from '../../../features/monitors/series/shapes'
import { FilterSelect } from '../../parts/filters'
import { Card } from '../../parts/page'
import { Status } from '../../parts/status'
import { requestedList, Table, type Column } from '../../parts/table'
import { formatDuration } from '../../parts/time'
import { timeFormat } from '../../parts/timezone'
import { useUrlState } from '../../parts/url-state'
import { percent } from './percent'
import { objectiveState, useYear } from './uptime'

type Period = Pick<UptimeView, 'seconds' | 'uptime_percent' | 'error_budget'> & { name: string }

const daySeconds = 86_400
const objectives = ['99', '99.5', '99.9', '99.95', '99.99', '99.999']

const columns: readonly Column<Period>[] = [
  { title: 'Period', look: 'strong', render: one => <Named period={one} /> },
  { title: 'Uptime', width: '6rem', alignRight: true, render: one => percent(one.uptime_percent) },
  {
    title: 'Downtime',
    width: '8rem',
    alignRight: true,
    render: one => (one.uptime_percent === null ? '–' : seconds(one.seconds.down)),
  },
  {
    title: 'Error budget',
    width: '8rem',
    alignRight: true,
    showFrom: 'md',
    render: one => (one.error_budget?.allowed_seconds ? seconds(one.error_budget.allowed_seconds) : '–'),
  },
  { title: 'Remaining', width: '10rem', alignRight: true, render: one => remaining(one) },
  { title: 'Objective', width: '7rem', render: one => <Met period={one} /> },
]

/** Uptime and error budget of the last 365 days and of each month, for an objective that can be selected. */
export function Months({ id }: { id: string }) {
  const [{ objective }, set] = useUrlState(objectiveState)
  const year = useYear(id)
  const { data } = year
  const periods = data && [{ ...data, name: 'Last 365 days' }, ...data.months.toReversed().map(named)]
  return (
    <section aria-label="Objective and error budget">
      <Card
        title="Objective and error budget"
        actions={
          <FilterSelect
            label="Objective"
            value={objective}
            initial={objectiveState.objective}
            onChange={value => set({ objective: value })}
            choices={[...new Set([...objectives, objective])].map(one => [one, `Objective: ${one}%`] as const)}
          />
        }
        flush
      >
        <p className="border-b border-line px-4 py-2 text-[13px] text-muted">
          The objective is the uptime that you want to reach. The error budget is the downtime that it allows.
        </p>
        <Table
          label="Objective and error budget"
          columns={columns}
          list={requestedList(year, periods)}
          idOf={one => one.name}
          empty={<p className="p-4 text-muted">No data yet.</p>}
        />
      </Card>
    </section>
  )
}

const named = (month: UptimeView['months'][number]): Period => ({
  ...month,
  // Noon, so that the month is the same in any time zone.
  name: timeFormat({ month: 'short', year: 'numeric' }).format(new Date(`${month.month}-15T12:00:00Z`)),
})

const seconds = (count: number): string => (count === 0 ? '0 s' : formatDuration(count * 1000))

/** The name of a period, and how much of it has data, if it is less than a day. */
const Named = ({ period: { name, seconds } }: { period: Period }) => {
  const counted = seconds.up + seconds.degraded + seconds.down
  return (
    <>
      {name}
      {counted > 0 && counted < daySeconds && (
        <span className="ml-2 font-normal text-muted">only {formatDuration(Math.max(1, counted) * 1000)}</span>
      )}
    </>
  )
}

function remaining({ uptime_percent: uptime, error_budget: budget }: Period): string {
  if (!budget || uptime === null) return '–'
  const { allowed_seconds: allowed, remaining_seconds: left } = budget
  if (left < 0) return `${seconds(-left)} over`
  // Too short for a budget.
  return allowed === 0 ? '–' : seconds(left)
}

const Met = ({ period: { uptime_percent: uptime, error_budget: budget } }: { period: Period }) =>
  budget && uptime !== null ? (
    <Status status={budget.objective_met ? 'met' : 'missed'} tone={budget.objective_met ? 'ok' : 'bad'} />
  ) : (
    '–'
  )
