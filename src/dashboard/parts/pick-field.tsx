import { X } from 'lucide-react'
import { useDeferredValue, useEffect, useState } from 'react'
import type { Page, Query } from '../client'
import { useOne } from '../queries'
import { Button } from './button'
import { FieldFrame, useForm } from './form'
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
  list: '/monitors' | '/heartbeats'
  /** Additional filter: `{ type: 'group' }`. */
  filter?: Query
  /** ID that is not offered, such as the resource itself. */
  exclude?: string | undefined
}

const maxOffered = 8
const maxNamed = 100
const fields = 'id,name,status'

/** Picks monitors or heartbeats by name. The value is the list of their IDs. */
export function PickField({ list, filter = {}, exclude, ...field }: PickFieldProps) {
  const { values } = useForm()
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const selected = (values[field.name] ?? []) as string[]
  const named = useOne<Page<Option>>(
    selected.length === 0 ? null : list,
    { ids: selected.slice(0, maxNamed), limit: maxNamed, fields },
    { keepPrevious: true },
  )
  const offered = useOne<Page<Option>>(
    search === '' ? null : list,
    { ...filter, q: search, limit: maxOffered, fields },
    { keepPrevious: true },
  )
  return (
    <Picked
      {...field}
      text={text}
      onText={setText}
      offered={search === '' ? [] : (offered.data?.data ?? []).filter(one => one.id !== exclude)}
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
}

/** The picked resources, and a search for more. */
function Picked({ name, label, hint, text, onText, offered, isLoading, names }: PickedProps) {
  const { values, set } = useForm()
  // Enter waits for the options of the text.
  const [isWaiting, setWaiting] = useState(false)
  const selected = (values[name] ?? []) as string[]
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
                    onClick={() => set({ [name]: selected.filter(one => one !== id) })}
                  />
                </li>
              ))}
            </ul>
          )}
          <Input
            {...attributes}
            value={text}
            placeholder="Search by name"
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
    set({ [name]: [...selected, id] })
    onText('')
  }
}
