import { Link, useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react'
import { usePreferences } from '../preferences'
import type { Listed } from '../queries'
import { Button } from './button'
import { Problem } from './problem'
import { useWide } from './screen'

export interface Column<Row> {
  /** Unique in the table. */
  name: string
  /** Empty over buttons. */
  title: string
  render(row: Row): ReactNode
  /** CSS width, such as `8rem`; what is left is shared by columns without one. */
  width?: string
  /** Word of the API's `sort` that orders by it. */
  sort?: string
  /** Left out on narrow screens: `sm` below 40rem, `md` below 48rem, `lg` below 64rem. */
  from?: 'sm' | 'md' | 'lg'
  right?: boolean
}

interface TableProps<Row> {
  /** What the rows are, to a screen reader: «Monitors». */
  label: string
  columns: readonly Column<Row>[]
  list: Listed<Row>
  idOf(row: Row): string
  /** Address of the row's page; the whole row leads there, and what its first column shows is the link. */
  linkOf?(row: Row): string
  /** The order as the API words it: `name`, `-created_at`. */
  sort?: string
  onSort?(sort: string): void
  /** Shown in place of no rows. */
  empty: ReactNode
  /** With it rows can be chosen, by boxes or `x`. */
  chosen?: ReadonlySet<string>
  onChosen?(ids: ReadonlySet<string>): void
  rowHeight?: number
  /** Told the ids of the rows that exist on the screen, a little beyond its edges, when they change. */
  onShown?(ids: readonly string[]): void
  /** A row that is shown as something else, over the whole width and of any height: where it is edited. */
  inPlace?: { id: string; content: ReactNode } | undefined
}

const shown = { sm: 'hidden sm:table-cell', md: 'hidden md:table-cell', lg: 'hidden lg:table-cell' }
const ahead = 30

/**
 * A list of any length: only the rows on the screen exist, and the next page is read before its rows are reached.
 * `j` and `k` move, Enter opens, `x` chooses.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, list, idOf, linkOf, sort, onSort, empty, chosen, onChosen, onShown, inPlace } = props
  const isCompact = usePreferences()?.density === 'compact'
  const rowHeight = Math.round((props.rowHeight ?? 44) * (isCompact ? 0.75 : 1))
  const { rows } = list
  const navigate = useNavigate()
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    setTop(body.current ? body.current.getBoundingClientRect().top + scrollY : 0)
  }, [rows.length > 0])
  const [current, setCurrent] = useState(-1)
  const [tall, setTall] = useState(rowHeight)
  const changed = inPlace ? rows.findIndex(row => idOf(row) === inPlace.id) : -1
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: at => (at === changed ? tall : rowHeight),
    overscan: 12,
    scrollMargin: top,
  })
  useLayoutEffect(() => virtual.measure(), [virtual, changed, tall])
  const items = virtual.getVirtualItems()
  const above = (items[0]?.start ?? top) - top
  const below = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top)
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? -1
  useEffect(() => {
    if (list.hasMore && last >= rows.length - ahead) list.more()
  }, [last, rows.length, list])

  const onScreen = rows
    .slice(first, last + 1)
    .map(idOf)
    .join(',')
  useEffect(() => onShown?.(onScreen === '' ? [] : onScreen.split(',')), [onScreen])

  // A cell that spans columns that are left out makes columns of its own.
  const wide = useWide()
  const width = columns.filter(one => !one.from || wide.includes(one.from)).length + (chosen ? 1 : 0)

  const choose = (id: string) => {
    if (!chosen || !onChosen) return
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    onChosen(next)
  }
  const keyed = (event: KeyboardEvent<HTMLTableElement>) => {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      (event.target as HTMLElement).matches('input:not([type=checkbox]), select, textarea')
    )
      return
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key]
    const row = rows[current]
    if (step !== undefined) {
      const next = Math.min(Math.max(current + step, 0), rows.length - 1)
      setCurrent(next)
      virtual.scrollToIndex(next, { align: 'auto' })
    } else if (event.key === 'Enter' && row && linkOf && event.target === event.currentTarget) {
      void navigate({ to: linkOf(row) })
    } else if (event.key === 'x' && row) {
      choose(idOf(row))
    } else return
    event.preventDefault()
  }
  const open = (event: MouseEvent, row: Row) => {
    // A link, a button or a box within the row does its own; so does the choosing of text.
    if (!linkOf || (event.target as HTMLElement).closest('a, button, input, label') || getSelection()?.toString()) return
    if (event.ctrlKey || event.metaKey) window.open(linkOf(row))
    else void navigate({ to: linkOf(row) })
  }

  if (list.error && rows.length === 0) return <Problem error={list.error} onAgain={list.again} />
  if (!list.isLoading && rows.length === 0) return <div className="rounded-lg border border-line bg-surface">{empty}</div>
  return (
    <div className="rounded-lg border border-line bg-surface">
      <table
        aria-label={label}
        aria-busy={list.isLoading}
        aria-rowcount={list.hasMore ? -1 : rows.length + 1}
        data-table
        tabIndex={0}
        onKeyDown={keyed}
        className="w-full table-fixed border-separate border-spacing-0"
      >
        <thead>
          <tr>
            {chosen && (
              <th className={`w-10 ${head}`}>
                <input
                  type="checkbox"
                  aria-label="Choose all that are shown"
                  checked={rows.length > 0 && chosen.size >= rows.length}
                  onChange={event => onChosen?.(new Set(event.target.checked ? rows.map(idOf) : []))}
                />
              </th>
            )}
            {columns.map(column => (
              <Head key={column.name} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {list.isLoading && (
            <tr>
              <td colSpan={width} className="h-64 animate-pulse bg-hover" />
            </tr>
          )}
          {first > 0 && (
            <tr aria-hidden>
              <td colSpan={width} style={{ height: above }} />
            </tr>
          )}
          {items.map(({ index }) => {
            const row = rows[index]!
            const id = idOf(row)
            const isChosen = chosen?.has(id) ?? false
            if (index === changed) {
              return (
                <InPlace key={id} index={index} width={width} onHeight={setTall}>
                  {inPlace!.content}
                </InPlace>
              )
            }
            return (
              <tr
                key={id}
                aria-rowindex={index + 2}
                {...(chosen && { 'aria-selected': isChosen })}
                onClick={event => {
                  setCurrent(index)
                  open(event, row)
                }}
                className={`group ${linkOf ? 'cursor-pointer' : ''} ${isChosen ? 'bg-accent-soft' : 'hover:bg-hover'} ${
                  index === current ? 'outline-2 -outline-offset-2 outline-accent' : ''
                }`}
              >
                {chosen && (
                  <td className="border-b border-line px-3 group-last:border-0">
                    <input type="checkbox" aria-label="Choose" checked={isChosen} onChange={() => choose(id)} />
                  </td>
                )}
                {columns.map((column, at) => (
                  <td
                    key={column.name}
                    style={{ height: rowHeight }}
                    className={`truncate border-b border-line px-3 group-last:border-0 ${column.right ? 'text-right' : ''} ${column.from ? shown[column.from] : ''}`}
                  >
                    {at === 0 && linkOf ? (
                      <Link to={linkOf(row)} className="group-hover:underline">
                        {column.render(row)}
                      </Link>
                    ) : (
                      column.render(row)
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
          {last < rows.length - 1 && (
            <tr aria-hidden>
              <td colSpan={width} style={{ height: below }} />
            </tr>
          )}
        </tbody>
      </table>
      <Foot list={list} />
    </div>
  )
}

interface InPlaceProps {
  index: number
  width: number
  onHeight(height: number): void
  children: ReactNode
}

function InPlace({ index, width, onHeight, children }: InPlaceProps) {
  const row = useRef<HTMLTableRowElement>(null)
  useLayoutEffect(() => {
    const seen = new ResizeObserver(() => onHeight(row.current!.offsetHeight))
    seen.observe(row.current!)
    return () => seen.disconnect()
  }, [onHeight])
  return (
    <tr ref={row} aria-rowindex={index + 2}>
      <td colSpan={width} className="border-b border-line">
        {children}
      </td>
    </tr>
  )
}

const head =
  'sticky top-0 z-10 h-9 border-b border-line bg-surface px-3 text-left text-[13px] font-medium text-muted first:rounded-tl-lg last:rounded-tr-lg'

function Head<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>
  sort: string | undefined
  onSort: ((sort: string) => void) | undefined
}) {
  const { sort: word, title, right, from, width } = column
  const up = word !== undefined && sort === word
  const down = word !== undefined && sort === `-${word}`
  if (title === '') return <td className={`${head} ${from ? shown[from] : ''}`} style={{ width }} />
  const look = `${head} ${right ? 'text-right' : ''} ${from ? shown[from] : ''}`
  if (word === undefined || !onSort) {
    return (
      <th scope="col" className={look} style={{ width }}>
        {title === '' ? <span className="sr-only">{column.name}</span> : title}
      </th>
    )
  }
  return (
    <th scope="col" className={look} style={{ width }} aria-sort={up ? 'ascending' : down ? 'descending' : 'none'}>
      <button
        type="button"
        className="inline-flex items-center gap-1 hover:text-ink"
        onClick={() => onSort(up ? `-${word}` : word)}
      >
        {title}
        {up && <ArrowUp className="size-3.5" aria-hidden />}
        {down && <ArrowDown className="size-3.5" aria-hidden />}
      </button>
    </th>
  )
}

function Foot<Row>({ list }: { list: Listed<Row> }) {
  if (list.rows.length === 0 || (!list.hasMore && list.total === null)) return null
  return (
    <div className="flex min-h-10 items-center gap-3 border-t border-line px-3 text-[13px] text-muted" aria-live="polite">
      {list.rows.length.toLocaleString()}
      {list.total !== null && ` of ${list.total.toLocaleString()}${list.total >= 10_000 ? '+' : ''}`}
      {list.hasMore && (
        <Button small kind="quiet" onClick={list.more} disabled={list.isLoadingMore}>
          {list.isLoadingMore ? 'Reading…' : 'More'}
        </Button>
      )}
    </div>
  )
}

/** Rows that are all there, as a list for `Table`. */
export const wholeList = <Row,>(rows: readonly Row[], isLoading = false): Listed<Row> => ({
  rows: [...rows],
  total: null,
  hasMore: false,
  isLoading,
  isLoadingMore: false,
  error: null,
  more: () => {},
  again: () => {},
})
