import { useNavigate } from '@tanstack/react-router'
import { CornerDownLeft, type LucideIcon } from 'lucide-react'
import { useDeferredValue, useId, useState, type KeyboardEvent } from 'react'
import { Dialog } from '../parts/dialog'
import { useOne } from '../queries'
import type { Page } from '../client'
import type { Place } from './navigation'

/** Something to do from anywhere. */
export interface Deed {
  label: string
  icon: LucideIcon
  run(): void
}

interface Row {
  key: string
  label: string
  kind: string
  icon?: LucideIcon
  run(): void
}

interface PaletteProps {
  open: boolean
  onClose(): void
  places: readonly Place[]
  deeds: readonly Deed[]
}

/** The one box for everything: places, things by their name, deeds. */
export function Palette({ open, onClose, places, deeds }: PaletteProps) {
  return (
    <Dialog open={open} onClose={onClose} title="Go to, find, do">
      {open && <Box onClose={onClose} places={places} deeds={deeds} />}
    </Dialog>
  )
}

interface Named {
  id: string
  name: string
}

const mostFound = 6

function Box({ onClose, places, deeds }: Omit<PaletteProps, 'open'>) {
  const id = useId()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const asked = useDeferredValue(text.trim())
  const monitors = useNamed('/monitors', asked)
  const heartbeats = useNamed('/heartbeats', asked)
  const zones = useNamed('/dns/zones', asked)
  const go = (to: string) => () => void navigate({ to })
  const fits = (label: string) => label.toLowerCase().includes(text.trim().toLowerCase())
  const rows: Row[] = [
    ...places
      .filter(one => fits(one.label))
      .map(one => ({ key: one.to, label: one.label, kind: 'Page', icon: one.icon, run: go(one.to) })),
    ...monitors.map(one => ({ key: one.id, label: one.name, kind: 'Monitor', run: go(`/monitors/${one.id}`) })),
    ...heartbeats.map(one => ({ key: one.id, label: one.name, kind: 'Heartbeat', run: go(`/heartbeats/${one.id}`) })),
    ...zones.map(one => ({ key: one.id, label: one.name, kind: 'Zone', run: go(`/dns/zones/${one.id}`) })),
    ...deeds
      .filter(one => fits(one.label))
      .map(one => ({ key: one.label, label: one.label, kind: 'Do', icon: one.icon, run: one.run })),
  ]
  const current = Math.min(at, rows.length - 1)
  const run = (row: Row | undefined) => {
    if (!row) return
    onClose()
    row.run()
  }
  const keyed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((current + step + rows.length) % Math.max(rows.length, 1))
    else if (event.key === 'Enter') run(rows[current])
    else return
    event.preventDefault()
  }
  return (
    <>
      <input
        autoFocus
        role="combobox"
        aria-expanded
        aria-label="Go to, find, do"
        aria-controls={`${id}-list`}
        aria-activedescendant={rows[current] ? `${id}-${current}` : undefined}
        placeholder="A page, a name, a deed"
        value={text}
        onChange={event => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={keyed}
        className="h-10 w-full rounded-md border border-strong-line bg-surface px-3 placeholder:text-muted"
      />
      <ul id={`${id}-list`} role="listbox" aria-label="Found" className="mt-3 max-h-80 min-h-24 overflow-y-auto">
        {rows.map((row, index) => (
          <li
            key={row.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            onPointerMove={() => setAt(index)}
            onClick={() => run(row)}
            className={`flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 ${index === current ? 'bg-hover' : ''}`}
          >
            {row.icon && <row.icon className="size-4 text-muted" aria-hidden />}
            <span className="min-w-0 grow truncate">{row.label}</span>
            <span className="text-[13px] text-muted">{row.kind}</span>
            {index === current && <CornerDownLeft className="size-3.5 text-muted" aria-hidden />}
          </li>
        ))}
        {rows.length === 0 && <li className="px-2 py-6 text-center text-muted">Nothing of that name.</li>}
      </ul>
    </>
  )
}

function useNamed(path: string, text: string): Named[] {
  const { data } = useOne<Page<Named>>(
    text.length < 2 ? null : path,
    { q: text, limit: mostFound, fields: 'id,name' },
    { keep: true },
  )
  return text.length < 2 ? [] : (data?.data ?? [])
}
