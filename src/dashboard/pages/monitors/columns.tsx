import type { MonitorView } from '../../../features/monitors/shapes'
import { pluralize } from '../../parts/plural'
import { StatusIcon, humanize } from '../../parts/status'
import { tagsColumn, type Column } from '../../parts/table'
import { formatLatency } from '../../parts/time'
import { percent } from './percent'
import { Pills } from './pills'
import type { Recent } from './recent'

/** Columns for lists of monitors. @param recent recent results of the visible monitors, by id */
export const monitorColumns = (recent: ReadonlyMap<string, Recent>): readonly Column<MonitorView>[] => [
  {
    title: 'Monitor',
    sort: 'name',
    render: one => <Named monitor={one} status={recent.get(one.id)?.live?.status ?? one.status} />,
  },
  tagsColumn(one => one.tags),
  {
    title: 'Recent checks',
    width: '11rem',
    showFrom: 'sm',
    render: one => one.type !== 'group' && <Pills results={recent.get(one.id)?.results ?? []} />,
  },
  { title: 'Uptime (24\u00a0h)', width: '6rem', alignRight: true, render: one => percent(recent.get(one.id)?.uptimePercent) },
  {
    title: 'Latency',
    width: '6rem',
    alignRight: true,
    showFrom: 'md',
    render: one => {
      const found = recent.get(one.id)
      return one.type === 'group' ? '' : formatLatency(found?.results.at(-1)?.latency_ms ?? one.last_result?.latency_ms)
    },
  },
  {
    title: 'Status',
    width: '9rem',
    sort: 'status',
    showFrom: 'md',
    render: one => humanize(recent.get(one.id)?.live?.status ?? one.status),
  },
]

const Named = ({ monitor, status }: { monitor: MonitorView; status: string }) => (
  <span className="flex min-w-0 items-center gap-2">
    <StatusIcon status={status} className="size-4" />
    <span className="sr-only">{humanize(status)}</span>
    <span className="min-w-0">
      <span className="block truncate font-medium">{monitor.name}</span>
      <span className="block truncate text-[13px] leading-4 text-muted">
        {monitor.type === 'group' ? pluralize(membersOf(monitor).length, 'member', 'members') : monitor.target}
      </span>
    </span>
  </span>
)

/** The ids of the members of a group. */
export const membersOf = ({ options }: MonitorView): readonly string[] => (options.members ?? []) as string[]
