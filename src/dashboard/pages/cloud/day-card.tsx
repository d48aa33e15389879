import type { ReactNode } from 'react'
import { ListCard } from '../../parts/list-card'
import { formatDate, formatTime } from '../../parts/time'
import type { LoadedList } from '../../queries'

interface DayCardProps<Row> {
  title: string
  rows: LoadedList<Row>
  /** Shown if there are no rows. Null: without rows, there is no card. */
  empty: string | null
  /** The content of a row, after its time. */
  children(row: Row): ReactNode
}

/** A card with what happened, newest first, under a heading for each day. */
export function DayCard<Row extends { id: string; at: string }>({ title, rows, empty, children }: DayCardProps<Row>) {
  const startsDay = (row: Row): boolean => {
    const before = rows.rows[rows.rows.indexOf(row) - 1]
    return before === undefined || formatDate(before.at) !== formatDate(row.at)
  }
  if (empty === null && rows.rows.length === 0) return null
  return (
    <ListCard title={title} rows={rows} empty={empty ?? ''}>
      {one => (
        <>
          {startsDay(one) && <h3 className="mb-1 text-[13px] font-medium text-muted">{formatDate(one.at)}</h3>}
          <div className="flex gap-3">
            <time dateTime={one.at} className="w-16 shrink-0 whitespace-nowrap text-[13px] leading-6 text-muted">
              {formatTime(one.at)}
            </time>
            <div className="min-w-0 grow wrap-anywhere">{children(one)}</div>
          </div>
        </>
      )}
    </ListCard>
  )
}
