import type { ServerFactView } from '../../../features/servers/shapes'
import { labelOf } from '../../parts/labels'
import { Card } from '../../parts/page'
import { StatusIcon } from '../../parts/status'
import { requestedList, Table, type Column } from '../../parts/table'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'
import { formatGibibytes } from './amounts'
import { labelsText, sourceTitles } from './server-text'

const titles: Readonly<Record<string, string>> = { memory_bytes: 'Memory', disk_bytes: 'Disk', cores: 'CPU cores' }

function textOf(fact: string, value: unknown): string {
  if (typeof value === 'number' && fact.endsWith('_bytes')) return formatGibibytes(value)
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'object' && value !== null) return labelsText(value as Record<string, string>)
  return String(value)
}

const columns: readonly Column<ServerFactView>[] = [
  {
    title: 'Fact',
    width: 'clamp(6rem, 22cqw, 12rem)',
    look: 'muted',
    render: one => titles[one.fact] ?? labelOf(one.fact),
  },
  {
    title: 'Value',
    onPhone: 'line',
    render: one => (
      <>
        <div>{textOf(one.fact, one.value)}</div>
        {!one.agree &&
          one.others.map(other => (
            <div key={other.source} className="flex items-baseline gap-1 text-[13px] text-warn">
              <StatusIcon status="warning" className="size-3.5 self-center" />
              <span>
                {sourceTitles[other.source]}: {textOf(one.fact, other.value)}
              </span>
            </div>
          ))}
      </>
    ),
  },
  { title: 'Source', width: '6rem', onPhone: 'plain', render: one => sourceTitles[one.source] },
  {
    title: 'Confirmed',
    width: '7.5rem',
    onPhone: 'plain',
    render: one => (
      <span className={one.stale ? 'text-warn' : 'text-muted'}>
        <RelativeTime at={one.observed_at} fallback="Unknown" />
      </span>
    ),
  },
]

/** What is known of a server, where it comes from, and where sources disagree. */
export function ServerFacts({ id }: { id: string }) {
  const found = useOne<{ data: ServerFactView[] }>(`/servers/${id}/facts`)
  return (
    <Card title="Facts" flush>
      <Table
        label="Facts"
        columns={columns}
        list={requestedList(found, found.data?.data)}
        idOf={one => one.fact}
        empty="Nothing is known yet."
      />
    </Card>
  )
}
