import type { UseQueryResult } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp } from 'lucide-react'
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
} from 'react'
import type { ApiError } from '../client'
import { usePreferences } from '../preferences'
import type { LoadedList } from '../queries'
import { Button } from './button'
import { Problem } from './problem'
import { useBreakpoints, type Breakpoint } from './screen'
import { Tag } from './status'

export interface Column<Row> {
  /** Unique in the table. Empty for the column with buttons. */
  title: string
  render(row: Row): ReactNode
  /** CSS width, such as `8rem`, or `20cqw` for a fifth of the table. Columns without one share the remaining space. */
  width?: string
  /** Value of the API's `sort` parameter for this column. */
  sort?: string
  /** Hidden on narrower screens than this, but not on phones, where columns are below each other. */
  showFrom?: Exclude<Breakpoint, 'sm'>
  /**
   * Its place on phones: next to the first column, where a status is by default, on a line of its own, or on the last line, with its
   * title unless it is `plain`.
   */
  onPhone?: 'corner' | 'line' | 'plain' | 'hidden'
  alignRight?: boolean
  /** How the cells stand out, if they do. */
  look?: keyof typeof looks
}

const looks = { strong: 'font-medium', muted: 'text-muted', mono: 'font-mono text-[13px]' }

/** Columns. Those that the user may not see are false. */
export type TableColumns<Row> = readonly (Column<Row> | false)[]

interface TableProps<Row> {
  /** Label for screen readers: “Monitors”. */
  label: string
  columns: TableColumns<Row>
  list: LoadedList<Row>
  idOf(row: Row): string
  /** Path of the row's page. The whole row is clickable, and the first column is a link. */
  linkOf?(row: Row): string
  /** Called by the first column, which is a button. */
  onOpen?(row: Row): void
  /** Sorting as in the API: `name`, `-created_at`. */
  sort?: string
  onSort?(sort: string): void
  /** Shown if there are no rows. */
  empty: ReactNode
  /** If set, rows can be selected with checkboxes or `x`. */
  selected?: ReadonlySet<string>
  onSelect?(ids: ReadonlySet<string>): void
  /** Called with the IDs of the rendered rows, including some just off the screen, when they change. */
  onVisibleRows?(ids: readonly string[]): void
  /** Replaces a row with an editor of full width and any height. */
  inlineEditor?: { id: string; content: ReactNode } | undefined
}

const prefetchRows = 30
// In pixels. Rows with more than one line are higher.
const defaultRowHeight = 36
const phoneRowHeight = 88

/**
 * A virtualized table of any length, which loads the next page before the end is reached.
 * `j` and `k` move, Enter opens a row, `x` selects it.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, list, idOf, linkOf, onOpen, sort, onSort, empty, selected, onSelect, onVisibleRows, inlineEditor } = props
  const isCompact = usePreferences()?.density === 'compact'
  const breakpoints = useBreakpoints()
  const isPhone = !breakpoints.has('sm')
  const rowHeight = Math.round(defaultRowHeight * (isCompact ? 0.75 : 1))
  const columns = props.columns
    .filter(one => one !== false)
    .filter(one => isPhone || !one.showFrom || breakpoints.has(one.showFrom))
  const { rows } = list
  const navigate = useNavigate()
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    setTop(body.current ? body.current.getBoundingClientRect().top + scrollY : 0)
  }, [rows.length > 0])
  const [current, setCurrent] = useState(-1)
  const estimate = isPhone ? phoneRowHeight : rowHeight
  const keyAt = useCallback((at: number) => idOf(rows[at]!), [rows])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    getItemKey: keyAt,
    estimateSize: () => estimate,
    overscan: 12,
    scrollMargin: top,
  })
  useLayoutEffect(() => virtual.measure(), [virtual, estimate])
  const items = virtual.getVirtualItems()
  const above = (items[0]?.start ?? top) - top
  const below = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top)
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? -1
  useEffect(() => {
    if (list.hasMore && last >= rows.length - prefetchRows) list.loadMore()
  }, [last, rows.length, list])

  const onScreen = rows
    .slice(first, last + 1)
    .map(idOf)
    .join(',')
  useEffect(() => onVisibleRows?.(onScreen === '' ? [] : onScreen.split(',')), [onScreen])

  const isSortable = onSort !== undefined && columns.some(one => one.sort !== undefined)
  const width = (isPhone ? 1 : columns.length) + (selected ? 1 : 0)

  const toggle = (id: string) => {
    if (!selected || !onSelect) return
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    onSelect(next)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTableElement>) => {
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
      toggle(idOf(row))
    } else return
    event.preventDefault()
  }
  const open = (event: MouseEvent, row: Row) => {
    // Ignore clicks on links, buttons, and inputs in the row, and text selections.
    if (!linkOf || (event.target as HTMLElement).closest('a, button, input, label') || getSelection()?.toString()) return
    if (event.ctrlKey || event.metaKey) window.open(linkOf(row))
    else void navigate({ to: linkOf(row) })
  }

  if (list.error && rows.length === 0) return <Problem error={list.error} onRetry={list.retry} />
  if (!list.isLoading && rows.length === 0)
    return (
      <div className="rounded-lg border border-line bg-surface in-data-flush:border-0">
        {typeof empty === 'string' ? <p className="p-4 text-muted">{empty}</p> : empty}
      </div>
    )
  return (
    <div className="@container rounded-lg border border-line bg-surface in-data-flush:rounded-none in-data-flush:border-0">
      <table
        aria-label={label}
        aria-busy={list.isLoading}
        aria-rowcount={list.hasMore ? -1 : rows.length + 1}
        data-table
        tabIndex={0}
        onKeyDown={onKeyDown}
        className="w-full table-fixed border-separate border-spacing-0"
      >
        <thead>
          <tr className={isPhone && !selected && !isSortable ? 'hidden' : ''}>
            {selected && (
              <th className={`w-10 ${head}`}>
                <input
                  type="checkbox"
                  aria-label="Select all"
                  disabled={rows.length === 0}
                  checked={rows.length > 0 && selected.size >= rows.length}
                  onChange={event => onSelect?.(new Set(event.target.checked ? rows.map(idOf) : []))}
                />
              </th>
            )}
            {isPhone ? (
              <th scope="col" className={head}>
                {isSortable && <SortSelect columns={columns} sort={sort!} onSort={onSort} />}
              </th>
            ) : (
              columns.map(column => <HeaderCell key={column.title} column={column} sort={sort} onSort={onSort} />)
            )}
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
            const isSelected = selected?.has(id) ?? false
            const measured = { ref: virtual.measureElement, 'data-index': index, 'aria-rowindex': index + 2 }
            if (id === inlineEditor?.id) {
              return (
                <tr key={id} {...measured}>
                  <td colSpan={width} className="border-b border-line">
                    {inlineEditor.content}
                  </td>
                </tr>
              )
            }
            const first = (column: Column<Row>) =>
              linkOf ? (
                <Link to={linkOf(row)} className="group-hover:underline">
                  {column.render(row)}
                </Link>
              ) : onOpen ? (
                <button type="button" className="text-left text-accent hover:underline" onClick={() => onOpen(row)}>
                  {column.render(row)}
                </button>
              ) : (
                column.render(row)
              )
            return (
              <tr
                key={id}
                {...measured}
                {...(selected && { 'aria-selected': isSelected })}
                onClick={event => {
                  setCurrent(index)
                  open(event, row)
                }}
                className={`group ${linkOf ? 'cursor-pointer' : ''} ${isSelected ? 'bg-accent-soft' : 'hover:bg-hover'} ${
                  index === current ? 'outline-2 -outline-offset-2 outline-accent' : ''
                }`}
              >
                {selected && (
                  <td className={`border-b border-line px-3 group-last:border-0 ${isPhone ? 'pt-3 align-top' : ''}`}>
                    <input type="checkbox" aria-label="Select row" checked={isSelected} onChange={() => toggle(id)} />
                  </td>
                )}
                {isPhone ? (
                  <td className={`border-b border-line py-2 pr-3 wrap-anywhere group-last:border-0 ${selected ? '' : 'pl-3'}`}>
                    <Stacked columns={columns} row={row} first={first} />
                  </td>
                ) : (
                  columns.map((column, at) => (
                    <td
                      key={column.title}
                      style={{ height: rowHeight }}
                      className={`border-b border-line px-3 py-1 leading-snug wrap-anywhere group-last:border-0 ${column.alignRight ? 'text-right' : ''} ${column.look ? looks[column.look] : ''}`}
                    >
                      {at === 0 ? first(column) : clamped(column.render(row))}
                    </td>
                  ))
                )}
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
      <Footer list={list} />
    </div>
  )
}

interface LoadMoreProps {
  list: { hasMore: boolean; isLoadingMore: boolean; loadMore(): void }
  className?: string
}

/** Loads the next page of a list. Hidden if there is none. */
export const LoadMore = ({ list, className = '' }: LoadMoreProps) =>
  list.hasMore && (
    <Button small kind="quiet" className={className} onClick={list.loadMore} disabled={list.isLoadingMore}>
      {list.isLoadingMore ? 'Loading…' : 'Load more'}
    </Button>
  )

interface StackedProps<Row> {
  columns: readonly Column<Row>[]
  row: Row
  first(column: Column<Row>): ReactNode
}

/** A row on a phone: the columns below each other. */
function Stacked<Row>({ columns: [title, ...rest], row, first }: StackedProps<Row>) {
  const cells = rest.flatMap(({ title, onPhone, look, render }) => {
    const content = onPhone === 'hidden' ? null : render(row)
    if (content === null || content === undefined || content === false || content === '') return []
    const place = onPhone ?? (title === '' || title === 'Status' ? 'corner' : undefined)
    return { title, place, look: look && looks[look], content: clamped(content) }
  })
  const at = (place: string) => cells.filter(one => one.place === place)
  const inline = cells.filter(one => one.place === 'plain' || one.place === undefined)
  return (
    <>
      <div className="flex items-start gap-2">
        <div className={`min-w-0 grow leading-snug ${title!.look ? looks[title!.look] : ''}`}>{first(title!)}</div>
        {at('corner').map(one => (
          <div key={one.title} className="shrink-0">
            {one.content}
          </div>
        ))}
      </div>
      {at('line').map(one => (
        <div key={one.title} className={`mt-1 text-[13px] leading-snug ${one.look ?? ''}`}>
          {one.content}
        </div>
      ))}
      {inline.length > 0 && (
        <dl className="mt-1 flex flex-wrap gap-x-3 gap-y-0.5 text-[13px] leading-snug text-muted">
          {inline.map(one => (
            <div key={one.title} className="flex min-w-0 gap-1">
              <dt className={one.place === 'plain' ? 'sr-only' : 'shrink-0'}>{one.title}</dt>
              <dd className={`min-w-0 ${one.place === 'plain' ? '' : 'text-ink'} ${one.look ?? ''}`}>{one.content}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

// Text of any length, such as the response of a server, doesn’t fill the screen.
const clamped = (content: ReactNode): ReactNode =>
  typeof content === 'string' ? <span className="line-clamp-3">{content}</span> : content

interface SortSelectProps<Row> {
  columns: readonly Column<Row>[]
  sort: string
  onSort: ((sort: string) => void) | undefined
}

/** Sorts a list on a phone, where it has no column titles. */
const SortSelect = <Row,>({ columns, sort, onSort }: SortSelectProps<Row>) => (
  <select
    aria-label="Sort by"
    value={sort}
    onChange={event => onSort?.(event.target.value)}
    className="h-7 max-w-full rounded bg-surface hover:bg-hover"
  >
    {!columns.some(one => one.sort === sort || `-${one.sort}` === sort) && <option value={sort}>Default order</option>}
    {columns.flatMap(({ sort: key, title }) =>
      key === undefined
        ? []
        : [
            <option key={key} value={key}>
              {title} ↑
            </option>,
            <option key={`-${key}`} value={`-${key}`}>
              {title} ↓
            </option>,
          ],
    )}
  </select>
)

const head =
  'sticky top-0 z-10 h-9 border-b border-line bg-surface px-3 text-left text-[13px] font-medium text-muted first:rounded-tl-lg last:rounded-tr-lg'

interface HeaderCellProps<Row> {
  column: Column<Row>
  sort: string | undefined
  onSort: ((sort: string) => void) | undefined
}

function HeaderCell<Row>({ column: { sort: key, title, alignRight, width }, sort, onSort }: HeaderCellProps<Row>) {
  const className = `${head} ${alignRight ? 'text-right' : ''}`
  if (title === '') return <td className={className} style={{ width }} />
  if (key === undefined || !onSort) {
    return (
      <th scope="col" className={className} style={{ width }}>
        {title}
      </th>
    )
  }
  const [up, down] = [sort === key, sort === `-${key}`]
  return (
    <th scope="col" className={className} style={{ width }} aria-sort={up ? 'ascending' : down ? 'descending' : 'none'}>
      <button
        type="button"
        className="inline-flex items-center gap-1 hover:text-ink"
        onClick={() => onSort(up ? `-${key}` : key)}
      >
        {title}
        {up && <ArrowUp className="size-3.5" aria-hidden />}
        {down && <ArrowDown className="size-3.5" aria-hidden />}
      </button>
    </th>
  )
}

function Footer<Row>({ list }: { list: LoadedList<Row> }) {
  if (list.rows.length === 0 || (!list.hasMore && list.total === null)) return null
  return (
    <div className="flex min-h-10 items-center gap-3 border-t border-line px-3 text-[13px] text-muted" aria-live="polite">
      {list.rows.length.toLocaleString()}
      {list.total !== null && ` of ${list.total.toLocaleString()}${list.total >= 10_000 ? '+' : ''}`}
      <LoadMore list={list} />
    </div>
  )
}

/** Wraps an array as a list for `Table`. */
export const staticList = <Row,>(rows: readonly Row[], isLoading = false): LoadedList<Row> => ({
  rows: [...rows],
  total: null,
  hasMore: false,
  isLoading,
  isLoadingMore: false,
  error: null,
  loadMore: () => {},
  retry: () => {},
})

/** A list that a request returns whole. */
export const requestedList = <Row,>(
  { error, isPending, refetch }: Pick<UseQueryResult<unknown, ApiError>, 'error' | 'isPending' | 'refetch'>,
  rows: readonly Row[] = [],
): LoadedList<Row> => ({ ...staticList(rows, isPending), error, retry: () => void refetch() })

const shownTags = 5

/** A column with tags. Those that don't fit are counted. */
export const tagsColumn = <Row,>(tagsOf: (row: Row) => readonly string[], onTag?: (tag: string) => void): Column<Row> => ({
  title: 'Tags',
  width: 'clamp(9rem, 12cqw, 24rem)',
  showFrom: '2xl',
  onPhone: 'plain',
  render: row => {
    const tags = tagsOf(row)
    if (tags.length === 0) return null
    return (
      <span className="flex flex-wrap items-center gap-1">
        {tags.slice(0, shownTags).map(tag =>
          onTag ? (
            <button
              key={tag}
              type="button"
              className="flex min-w-0"
              onClick={() => onTag(tag)}
              aria-label={`Filter by tag ${tag}`}
            >
              <Tag>{tag}</Tag>
            </button>
          ) : (
            <Tag key={tag}>{tag}</Tag>
          ),
        )}
        {tags.length > shownTags && (
          <span className="text-xs text-muted" title={tags.join(', ')}>
            +{tags.length - shownTags}
          </span>
        )}
      </span>
    )
  },
})
