import type { ReactNode } from 'react'
import type { LoadedList } from '../queries'
import { Card } from './page'
import { LoadMore, staticList } from './table'

interface ListCardProps<Row> {
  title: string
  actions?: ReactNode
  rows: LoadedList<Row> | readonly Row[]
  keyOf?(row: Row): string
  /** Shown if there are no rows. */
  empty?: string
  /** The content of a row. */
  children(row: Row): ReactNode
  /** Layout of a row. */
  rowClass?: string
  footer?: ReactNode
}

/** A card with a short list. */
export function ListCard<Row>({
  title,
  actions,
  rows: given,
  keyOf,
  empty,
  children,
  rowClass = '',
  footer,
}: ListCardProps<Row>) {
  const list = 'rows' in given ? given : staticList(given)
  const key = keyOf ?? (row => (row as { id: string }).id)
  return (
    <Card title={title} actions={actions} flush>
      {list.rows.length === 0 && <p className="p-4 text-muted">{list.isLoading ? 'Loading…' : empty}</p>}
      <ul tabIndex={0} className="max-h-96 divide-y divide-line overflow-y-auto">
        {list.rows.map(one => (
          <li key={key(one)} className={`px-4 py-2 ${rowClass}`}>
            {children(one)}
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <div className="border-t border-line p-1">
          <LoadMore list={list} />
        </div>
      )}
      {footer}
    </Card>
  )
}
