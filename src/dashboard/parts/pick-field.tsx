import { X } from 'lucide-react'
import { useDeferredValue, useEffect, useState, type ReactNode } from 'react'
import type { Page, Query } from '../client'
import { useList, useOne, type LoadedList } from '../queries'
import { Button } from './button'
import { CheckboxesField, FieldFrame, SelectField, useForm } from './form'
import { Input } from './input'
import { useResourceNames, useResourceSearch, type IsSearched } from './resource-search'
import { StatusIcon } from './status'

interface Option {
  id: string
  name: string
  status?: string
  /** The type of the resource. */
  kind?: string
}

interface FieldProps {
  name: string
  label: string
  hint?: string
}

interface PickFieldProps extends FieldProps {
  /** API path of the list to pick from. It must support `ids` and `q`. */
  list: '/monitors' | '/heartbeats' | '/servers' | '/volumes' | '/snapshots' | '/firewalls' | '/dns/zones'
  /** Additional filter: `{ type: 'group' }`. */
  filter?: Query
  /** ID that is not offered, such as the resource itself. */
  exclude?: string | undefined
  /** Whether one is picked. The value is its ID then, or empty. */
  isSingle?: boolean
}

interface ChooseFieldProps<Row> extends Omit<PickFieldProps, 'exclude' | 'isSingle'> {
  /** Which of those that match the filter are offered. */
  isOffered?(row: Row): boolean
}

const maxOffered = 8
// Of those that a search finds, not all may be offered.
const maxSearched = 100
/** How many are offered in a list, without a search. */
const maxListed = 50
const maxNamed = 100
const fields = 'id,name,status'

/** The first resources of a list, for a field that offers them all unless there are many. They are sorted by name by default. */
export const useFirst = <Row,>(list: PickFieldProps['list'], filter: Query = {}): LoadedList<Row> =>
  useList<Row>(list, { sort: 'name', limit: maxListed, ...filter })

/** Chooses a resource: in a select, or by name if there are many. The value is its ID, or empty. @param none label of the empty value */
export function ChooseField<Row extends Option>({ none, isOffered, ...field }: ChooseFieldProps<Row> & { none: string }) {
  const { rows, hasMore } = useFirst<Row>(field.list, field.filter)
  if (hasMore) return <PickField {...field} isOffered={isOffered} isSingle />
  const offered = isOffered ? rows.filter(isOffered) : rows
  return <SelectField {...field} choices={[['', none] as const, ...offered.map(one => [one.id, one.name] as const)]} />
}

/** Chooses resources: with checkboxes, or by name if there are many. The value is the list of their IDs. @param none shown if there are none */
export function ChooseManyField<Row extends Option>({ none, isOffered, ...field }: ChooseFieldProps<Row> & { none: ReactNode }) {
  const { rows, hasMore, isLoading } = useFirst<Row>(field.list, field.filter)
  if (hasMore) return <PickField {...field} isOffered={isOffered} />
  const offered = isOffered ? rows.filter(isOffered) : rows
  if (offered.length === 0 && !isLoading) return none
  return (
    <CheckboxesField
      {...field}
      choices={offered.map(one => [one.id, one.name] as const)}
      className="flex max-h-72 flex-wrap gap-x-4 gap-y-2 overflow-y-auto"
    />
  )
}

/** Picks resources by name. The value is the list of their IDs. */
export function PickField<Row extends Option>({
  list,
  filter = {},
  exclude,
  isSingle = false,
  isOffered,
  ...field
}: PickFieldProps & { isOffered?: ((row: Row) => boolean) | undefined }) {
  const { values } = useForm()
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const selected = selectedIn(values[field.name])
  const named = useOne<Page<Option>>(
    selected.length === 0 ? null : list,
    { ids: selected.slice(0, maxNamed), limit: maxNamed, fields },
    { keepPrevious: true },
  )
  const offered = useOne<Page<Row>>(
    search === '' ? null : list,
    { sort: 'name', ...filter, q: search, ...(isOffered ? { limit: maxSearched } : { limit: maxOffered, fields }) },
    { keepPrevious: true },
  )
  // What is checked is recognized by its status, too.
  const isChecked = list === '/monitors' || list === '/heartbeats'
  const found = search === '' ? [] : (offered.data?.data ?? []).filter(one => one.id !== exclude && (isOffered?.(one) ?? true))
  return (
    <Picked
      {...field}
      isSingle={isSingle}
      text={text}
      onText={setText}
      offered={found.slice(0, maxOffered).map(({ id, name, status }) => ({ id, name, ...(isChecked && status && { status }) }))}
      isLoading={search !== text.trim() || (search !== '' && (offered.isPending || offered.isPlaceholderData))}
      names={new Map(named.data?.data.map(one => [one.id, one.name]))}
    />
  )
}

/** Picks resources of several types by name. The value is the list of their IDs. @param isSearched which types */
export function PickResourcesField({ isSearched, ...field }: FieldProps & { isSearched: IsSearched }) {
  const { values } = useForm()
  const [text, setText] = useState('')
  const { found, isLoading } = useResourceSearch(text, isSearched)
  const names = useResourceNames((values[field.name] ?? []) as string[])
  return <Picked {...field} text={text} onText={setText} offered={found} isLoading={isLoading} names={names} />
}

interface PickedProps extends FieldProps {
  text: string
  onText(text: string): void
  offered: readonly Option[]
  /** Whether those offered may still change. */
  isLoading: boolean
  names: ReadonlyMap<string, string>
  isSingle?: boolean
}

const selectedIn = (value: unknown): string[] =>
  Array.isArray(value) ? value : value === '' || value == null ? [] : [String(value)]

/** The picked resources, and a search for more. */
function Picked({ name, label, hint, text, onText, offered, isLoading, names, isSingle = false }: PickedProps) {
  const { values, set } = useForm()
  // Enter waits for the options of the text.
  const [isWaiting, setWaiting] = useState(false)
  const selected = selectedIn(values[name])
  const rows = offered.filter(one => !selected.includes(one.id))
  useEffect(() => {
    if (!isWaiting || isLoading) return
    setWaiting(false)
    if (rows[0]) add(rows[0].id)
  }, [isWaiting, isLoading])
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <div>
          {selected.length > 0 && (
            <ul className="mb-2 flex flex-wrap gap-1.5">
              {selected.map(id => (
                <li key={id} className="inline-flex items-center gap-1 rounded bg-idle-soft pl-2 text-[13px]">
                  {names.get(id) ?? id}
                  <Button
                    small
                    kind="quiet"
                    icon={X}
                    aria-label={`Remove ${names.get(id) ?? id}`}
                    onClick={() => set({ [name]: isSingle ? '' : selected.filter(one => one !== id) })}
                  />
                </li>
              ))}
            </ul>
          )}
          <Input
            {...attributes}
            value={text}
            placeholder={isSingle && selected.length > 0 ? 'Search for another one' : 'Search by name'}
            autoComplete="off"
            onText={text => {
              setWaiting(false)
              onText(text)
            }}
            onKeyDown={event => {
              // Enter picks the first option instead of submitting the form.
              if (event.key !== 'Enter') return
              event.preventDefault()
              setWaiting(true)
            }}
          />
          {rows.length === 0 && text.trim() !== '' && !isLoading && <p className="mt-1 text-[13px] text-muted">No matches</p>}
          {rows.length > 0 && (
            <ul className="mt-1 rounded-md border border-line bg-raised p-1">
              {rows.map(one => (
                <li key={one.id}>
                  <button
                    type="button"
                    onClick={() => add(one.id)}
                    className="flex w-full items-center gap-2 rounded px-2 py-1 text-left hover:bg-hover"
                  >
                    {one.status && <StatusIcon status={one.status} />}
                    <span className="min-w-0 grow truncate">{one.name}</span>
                    {one.kind && <span className="text-[13px] text-muted">{one.kind}</span>}
                  </button>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </FieldFrame>
  )

  function add(id: string) {
    set({ [name]: isSingle ? id : [...selected, id] })
    onText('')
  }
}
