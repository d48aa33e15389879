import type { MonitorView } from '../../../features/monitors/shapes'
import { StatusIcon, Tag, wordsOf } from '../../parts/status'
import type { Column } from '../../parts/table'
import { latency } from '../../parts/time'
import { percent } from './percent'
import { Pills } from './pills'
import type { Recent } from './recent'

/** The columns of lists of monitors. @param recent how those on the screen did lately, by id */
export const monitorColumns = (recent: ReadonlyMap<string, Recent>): readonly Column<MonitorView>[] => [
  {
    name: 'name',
    title: 'Monitor',
    sort: 'name',
    render: one => <Named monitor={one} status={recent.get(one.id)?.live?.status ?? one.status} />,
  },
  {
    name: 'tags',
    title: 'Tags',
    width: '10rem',
    from: 'lg',
    render: one => (
      <span className="flex gap-1 overflow-hidden">
        {one.tags.map(tag => (
          <Tag key={tag}>{tag}</Tag>
        ))}
      </span>
    ),
  },
  {
    name: 'checks',
    title: 'Last checks',
    width: '11rem',
    from: 'sm',
    render: one => one.type !== 'group' && <Pills results={recent.get(one.id)?.results ?? []} />,
  },
  {
    name: 'uptime',
    title: '24 h',
    width: '6rem',
    right: true,
    render: one => percent(recent.get(one.id)?.uptimePercent),
  },
  {
    name: 'latency',
    title: 'Latency',
    width: '6rem',
    right: true,
    from: 'md',
    render: one => {
      const found = recent.get(one.id)
      return one.type === 'group' ? '' : latency(found?.results.at(-1)?.latency_ms ?? one.last_result?.latency_ms)
    },
  },
  {
    name: 'status',
    title: 'Status',
    width: '9rem',
    sort: 'status',
    from: 'md',
    render: one => wordsOf(recent.get(one.id)?.live?.status ?? one.status),
  },
]

function Named({ monitor, status }: { monitor: MonitorView; status: string }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <StatusIcon state={status} className="size-4" />
      <span className="sr-only">{wordsOf(status)}</span>
      <span className="min-w-0">
        <span className="block truncate font-medium">{monitor.name}</span>
        <span className="block truncate text-[13px] leading-4 text-muted">
          {monitor.type === 'group' ? `group of ${membersOf(monitor).length}` : monitor.target}
        </span>
      </span>
    </span>
  )
}

/** Ids of the members of a group. */
export const membersOf = ({ options }: MonitorView): readonly string[] => (options.members ?? []) as string[]
