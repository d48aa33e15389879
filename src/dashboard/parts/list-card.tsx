import type { ReactNode } from 'react'
import type { LoadedList } from '../queries'
import { Card } from './page'
import { LoadMore } from './table'

interface ListCardProps<Row> {
  title: string
  list: LoadedList<Row>
  /** Shown if there are no rows. */
  empty: string
  /** The content of a row. */
  children(row: Row): ReactNode
}

/** A card with the rows of a list that has few columns. */
export const ListCard = <Row extends { id: string }>({ title, list, empty, children }: ListCardProps<Row>) => (
  <Card title={title} flush>
    {list.rows.length === 0 && <p className="p-4 text-muted">{list.isLoading ? 'Loading…' : empty}</p>}
    <ul tabIndex={0} className="max-h-96 divide-y divide-line overflow-y-auto">
      {list.rows.map(one => (
        <li key={one.id} className="px-4 py-2">
          {children(one)}
        </li>
      ))}
    </ul>
    {list.hasMore && (
      <div className="border-t border-line p-1">
        <LoadMore list={list} />
      </div>
    )}
  </Card>
)
