import { ListFilter, Plus, X, type LucideIcon } from 'lucide-react'
import { useState, type ComponentType, type ReactNode } from 'react'
import type { Query } from '../client'
import { isVisibleTo, labelOf, pages, titleOf, type PagePath } from '../pages'
import { useList } from '../queries'
import { usePerson } from '../session'
import { Button, LinkButton } from './button'
import type { Choices } from './choices'
import { Empty } from './empty'
import { FilterChip, Filters, FilterSelect, SearchField } from './filters'
import type { FilterPickerProps } from './filter-picker'
import { lowerFirst } from './labels'
import { Menu, type MenuItem } from './menu'
import { openDialog } from './open-dialog'
import { Card, Page } from './page'
import { Table, type Column, type TableColumns } from './table'
import { Tabs } from './tabs'
import { useUrlState } from './url-state'

export type { Column, TableColumns }

/** A filter of a list. Its value is in the URL, under its name. */
interface Filter {
  name: string
  label: string
  /** Label of the empty value: “All statuses”. Absent if another value is the default. */
  all?: string
  /** The value of a new visit, if it isn't empty. */
  initial?: string
  /** Without choices or a search, it is set by the rows, and shown only while it is set. */
  choices?: Choices
  /** A search instead, for choices that are too many for a select. */
  Picker?: ComponentType<FilterPickerProps>
}

/** The state of a list in the URL: filters, search, and sorting. */
export type ListState = Record<string, string>

/** The button that creates a resource: the path of a page, or a label and what it does. */
type Create = PagePath | { label: string; onClick(): void; icon?: LucideIcon; disabled?: boolean }

interface EmptyText {
  icon: LucideIcon
  /** “No monitors yet” by default. */
  title?: string
  text?: ReactNode
  action?: ReactNode
}

export interface ListProps<Row> {
  /** What it lists: “Monitors”. */
  label: string
  /** API path of the list. */
  path: string
  /** A function of the rows if a cell depends on its neighbors. */
  columns: TableColumns<Row> | ((rows: readonly Row[]) => TableColumns<Row>)
  idOf?(row: Row): string
  /** Page of a row, with `$id`. The whole row is clickable. */
  page?: PagePath
  /** Instead of a page: what the first column opens, or what a dialog shows that it opens. */
  onOpen?(row: Row): void
  details?(row: Row): { title: string; content: ReactNode }
  /** Sorting by default. Null if the list can't be sorted. */
  sort?: string
  /** Searches in names and the like. A label and name if it searches something else. */
  search?: true | { label: string; name: string }
  filters?: readonly (Filter | false)[]
  /** Parameters in the URL that other parts of the page set. */
  params?: ListState
  /** Query for the state in the URL. By default, the state. */
  query?(state: ListState): Query
  /** Shows how many rows there are. */
  counted?: boolean
  refetchMs?: number
  create?: Create | false
  /** Shown while there are no rows. While filters are set, that nothing matches. */
  empty: EmptyText
  /** Shows the label and filters as the heading of a section. */
  asSection?: boolean
  /** More controls next to the filters. */
  controls?: ReactNode
  /** Buttons for the selected rows, in a bar below the list. */
  bulk?: ((rows: readonly Row[], clear: () => void) => ReactNode) | undefined
  /** Shows the rows in another way. */
  instead?: ((query: Query) => ReactNode) | undefined
  onVisibleRows?(ids: readonly string[]): void
  inlineEditor?: { id: string; content: ReactNode } | undefined
}

/** More filters than this are collapsed on a phone. */
const maxOnPhone = 2

/** A list of resources: search, filters, sorting, and selection, all in the URL, and the rows as they are loaded. */
export function List<Row>(props: ListProps<Row>) {
  const { label, path, page, details, search, params, counted, asSection, instead, bulk } = props
  const filters = (props.filters ?? []).filter(one => one !== false)
  const idOf = props.idOf ?? (row => (row as { id: string }).id)
  const searched = search === true ? { label: `Search ${lowerFirst(label)}`, name: 'q' } : search
  const defaults: ListState = {
    ...params,
    ...(searched && { [searched.name]: '' }),
    ...Object.fromEntries(filters.map(one => [one.name, one.initial ?? ''])),
    ...(props.sort !== undefined && { sort: props.sort }),
  }
  const [state, set] = useUrlState(defaults)
  const query = { ...(props.query?.(state) ?? state), ...(counted && { include: 'total' }) }
  const list = useList<Row>(instead ? null : path, query, { ...(props.refetchMs && { refetchMs: props.refetchMs }) })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const clear = () => setSelected(new Set())
  const [showsFilters, setShowsFilters] = useState(false)
  const selectedRows = list.rows.filter(one => selected.has(idOf(one)))
  const isFiltered = Object.keys(defaults).some(name => name !== 'sort' && state[name] !== defaults[name])
  const { icon, title = `No ${lowerFirst(label)} yet`, text, action } = props.empty
  const selects = filters.filter(one => one.choices || one.Picker)
  const isCollapsible = selects.length > maxOnPhone
  const setFilters = selects.filter(({ name, initial = '' }) => state[name] !== initial).length
  const controls = (
    <>
      {searched && (
        <SearchField
          label={searched.label}
          value={state[searched.name]!}
          onChange={text => set({ [searched.name]: search === true ? text : text.trim() })}
        />
      )}
      {isCollapsible && (
        <Button
          aria-expanded={showsFilters}
          className="sm:hidden"
          icon={ListFilter}
          onClick={() => setShowsFilters(!showsFilters)}
        >
          {setFilters === 0 ? 'Filters' : `Filters (${setFilters})`}
        </Button>
      )}
      <div className={`contents ${isCollapsible && !showsFilters ? 'max-sm:hidden' : ''}`}>
        {filters.map(({ name, label, all, choices, Picker }) =>
          Picker ? (
            <Picker key={name} label={label} value={state[name]!} onChange={value => set({ [name]: value })} all={all!} />
          ) : choices ? (
            <FilterSelect
              key={name}
              label={label}
              value={state[name]!}
              initial={defaults[name]}
              onChange={value => set({ [name]: value })}
              all={all}
              choices={choices}
            />
          ) : (
            <FilterChip key={name} label={label} value={state[name]!} onClear={() => set({ [name]: '' })} />
          ),
        )}
      </div>
      {props.controls}
    </>
  )
  const rows = instead ? (
    instead(query)
  ) : (
    <Table
      {...props}
      columns={typeof props.columns === 'function' ? props.columns(list.rows) : props.columns}
      list={list}
      idOf={idOf}
      {...(page && { linkOf: (row: Row) => page.replace('$id', idOf(row)) })}
      {...(details && { onOpen: (row: Row) => openDialog({ ...details(row), wide: true }) })}
      {...(props.sort !== undefined && { sort: state.sort!, onSort: sort => set({ sort }) })}
      {...(bulk && { selected, onSelect: setSelected })}
      empty={
        isFiltered ? (
          <Empty icon={icon} title="No matches">
            Try another search or filter.
          </Empty>
        ) : (
          <Empty icon={icon} title={title} action={action ?? <CreateButton create={props.create} />}>
            {text}
          </Empty>
        )
      }
    />
  )
  const content = (
    <>
      {asSection ? (
        <Card title={label} actions={controls} flush>
          {rows}
        </Card>
      ) : (
        <>
          {(searched || filters.length > 0 || props.controls) && <Filters>{controls}</Filters>}
          {rows}
        </>
      )}
      {bulk && selectedRows.length > 0 && (
        <div
          role="toolbar"
          aria-label={`Selected ${lowerFirst(label)}`}
          className="sticky bottom-16 z-20 mt-3 flex flex-wrap items-center gap-2 rounded-lg border border-strong-line bg-raised p-2 shadow-lg md:bottom-4"
        >
          <span role="status" className="px-2 font-medium">
            {selectedRows.length.toLocaleString()} selected
          </span>
          {bulk(selectedRows, clear)}
          <Button small kind="quiet" icon={X} onClick={clear}>
            Clear selection
          </Button>
        </div>
      )}
    </>
  )
  return asSection ? <section aria-label={label}>{content}</section> : content
}

interface ListPageProps<Row> extends ListProps<Row> {
  description?: string
  parent?: PagePath
  /** Pages that share a row of tabs with this one. */
  tabs?: readonly PagePath[]
  /** More buttons. */
  actions?: ReactNode
  /** Between the title and the list. */
  above?: ReactNode
  /** Below the list, such as dialogs. */
  children?: ReactNode
}

/** A page with a list. */
export const ListPage = <Row,>({ description, parent, tabs, actions, above, children, ...list }: ListPageProps<Row>) => (
  <Page
    description={description}
    {...(parent && { parent })}
    actions={
      <>
        <CreateButton create={list.create} />
        {actions}
      </>
    }
  >
    {tabs && <Tabs label={titleOf(tabs[0]!)} tabs={tabs.map((to, at) => ({ to, label: labelOf(to), exact: at === 0 }))} />}
    {above}
    <List {...list} />
    {children}
  </Page>
)

/** The button that creates a resource. Hidden from users who may not. */
export function CreateButton({ create }: { create: Create | false | undefined }) {
  const person = usePerson()
  if (!create) return null
  if (typeof create !== 'string') {
    return (
      <Button kind="primary" data-new icon={create.icon ?? Plus} disabled={create.disabled} onClick={create.onClick}>
        {create.label}
      </Button>
    )
  }
  if (!isVisibleTo(person, pages[create])) return null
  return (
    <LinkButton to={create} kind="primary" data-new icon={Plus}>
      {labelOf(create)}
    </LinkButton>
  )
}

/** A column with a menu of actions for each row. */
export const menuColumn = <Row,>(nameOf: (row: Row) => string, itemsOf: (row: Row) => readonly MenuItem[]): Column<Row> => ({
  title: '',
  width: '4rem',
  alignRight: true,
  render: row => <Menu label={`Actions for ${nameOf(row)}`} items={itemsOf(row)} />,
})
