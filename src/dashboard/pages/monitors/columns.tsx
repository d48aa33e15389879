import type { MonitorView } from '../../../features/monitors/shapes'
import { pluralize } from '../../parts/plural'
import { StatusIcon, StatusText, humanize } from '../../parts/status'
import { tagsColumn, type Column } from '../../parts/table'
import { ElapsedTime, formatLatency } from '../../parts/time'
import { percent } from './percent'
import { Pills } from './pills'
import type { Recent } from './recent'

/** Columns for lists of monitors. @param recent recent results of the visible monitors, by id */
export const monitorColumns = (recent: ReadonlyMap<string, Recent>): readonly Column<MonitorView>[] => [
  {
    title: 'Monitor',
    sort: 'name',
    width: 'clamp(12rem, 32cqw, 26rem)',
    render: one => <Named monitor={one} status={statusIn(recent, one)} />,
  },
  {
    title: 'Status',
    width: '13.5rem',
    sort: 'status',
    showFrom: 'md',
    render: one => <State monitor={one} status={statusIn(recent, one)} />,
  },
  {
    title: 'Recent checks',
    onPhone: 'line',
    render: one => one.type !== 'group' && <Pills results={recent.get(one.id)?.results ?? []} />,
  },
  { title: 'Target', width: 'clamp(14rem, 22cqw, 28rem)', showFrom: '2xl', look: 'muted', onPhone: 'plain', render: targetOf },
  { ...tagsColumn<MonitorView>(one => one.tags), onPhone: 'hidden' },
  { title: 'Uptime (24\u00a0h)', width: '8.5rem', alignRight: true, render: one => percent(recent.get(one.id)?.uptimePercent) },
  {
    title: 'Latency',
    width: '6rem',
    alignRight: true,
    showFrom: 'md',
    render: one => {
      const found = recent.get(one.id)
      const last = found?.results.at(-1) ?? one.last_result
      // A failed check may not even have connected.
      return one.type === 'group' ? '' : formatLatency(last?.status === 'down' ? null : last?.latency_ms)
    },
  },
]

const statusIn = (recent: ReadonlyMap<string, Recent>, { id, status }: MonitorView): string =>
  recent.get(id)?.live?.status ?? status

const targetOf = (monitor: MonitorView): string =>
  monitor.type === 'group' ? pluralize(membersOf(monitor).length, 'member', 'members') : monitor.target

interface NamedProps {
  monitor: MonitorView
  /** Its status, which can be newer than the list. */
  status: string
}

const State = ({ monitor, status }: NamedProps) => (
  <span className="flex flex-wrap gap-x-2">
    <StatusText status={status} />
    {status === monitor.status && (
      <span className="text-muted">
        <ElapsedTime at={monitor.status_since_at} />
      </span>
    )}
  </span>
)

const Named = ({ monitor, status }: NamedProps) => (
  <span className="flex min-w-0 items-center gap-2">
    <StatusIcon status={status} className="size-4" />
    <span className="sr-only">{humanize(status)}</span>
    <span className="min-w-0">
      <span className="block font-medium">{monitor.name}</span>
      <span className="block text-[13px] leading-4 text-muted max-sm:hidden 2xl:hidden">{targetOf(monitor)}</span>
    </span>
  </span>
)

/** The ids of the members of a group. */
export const membersOf = ({ options }: MonitorView): readonly string[] => (options.members ?? []) as string[]
