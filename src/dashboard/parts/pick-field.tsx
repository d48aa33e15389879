import { X } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import type { Page, Query } from '../client'
import { useOne } from '../queries'
import { FieldFrame, inputLook, useForm } from './form'
import { StatusIcon } from './status'

interface Named {
  id: string
  name: string
  status: string
}

interface PickFieldProps {
  /** The list they are chosen from; it takes `ids` and `q`. */
  of: '/monitors' | '/heartbeats'
  /** What else of the list: `{ type: 'group' }`. */
  only?: Query
  name: string
  label: string
  hint?: string
  /** One that is not offered: itself. */
  but?: string | undefined
}

const mostOffered = 8
const mostNamed = 100
const fields = 'id,name,status'

/** Monitors or heartbeats to choose by name. The value is the list of their ids. */
export function PickField({ of, only = {}, name, label, hint, but }: PickFieldProps) {
  const { values, set } = useForm()
  const [text, setText] = useState('')
  const asked = useDeferredValue(text.trim())
  const chosen = (values[name] ?? []) as string[]
  const named = useOne<Page<Named>>(
    chosen.length === 0 ? null : of,
    { ids: chosen.slice(0, mostNamed), limit: mostNamed, fields },
    { keep: true },
  )
  const offered = useOne<Page<Named>>(asked === '' ? null : of, { ...only, q: asked, limit: mostOffered, fields }, { keep: true })
  const rows = asked === '' ? [] : (offered.data?.data ?? []).filter(one => one.id !== but && !chosen.includes(one.id))
  const byId = new Map(named.data?.data.map(one => [one.id, one]))
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <div>
          {chosen.length > 0 && (
            <ul className="mb-2 flex flex-wrap gap-1.5">
              {chosen.map(id => (
                <li key={id} className="inline-flex items-center gap-1 rounded bg-idle-soft pl-2 text-[13px]">
                  {byId.get(id)?.name ?? id}
                  <button
                    type="button"
                    aria-label={`Leave out ${byId.get(id)?.name ?? id}`}
                    onClick={() => set({ [name]: chosen.filter(one => one !== id) })}
                    className="inline-flex size-7 items-center justify-center rounded hover:bg-hover"
                  >
                    <X className="size-3.5" aria-hidden />
                  </button>
                </li>
              ))}
            </ul>
          )}
          <input
            {...attributes}
            value={text}
            placeholder="Type a name"
            autoComplete="off"
            onChange={event => setText(event.target.value)}
            onKeyDown={event => {
              // Enter takes the first that is offered, and does not send the form.
              if (event.key !== 'Enter') return
              event.preventDefault()
              if (rows[0]) add(rows[0].id)
            }}
            className={`h-9 ${inputLook}`}
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
                    <StatusIcon state={one.status} />
                    <span className="min-w-0 truncate">{one.name}</span>
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
    set({ [name]: [...chosen, id] })
    setText('')
  }
}
