import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CornerDownLeft, type LucideIcon } from 'lucide-react'
import { useEffect, useId, useState, type KeyboardEvent } from 'react'
import { Dialog } from '../parts/dialog'
import { call, type Page } from '../client'
import { usePerson } from '../session'
import type { Deed } from './deeds'
import type { Place } from './navigation'

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

// Names that are looked through, by the area that has them.
const areas = [
  { path: '/monitors', kind: 'Monitor', named: 'name', leads: '/monitors/' },
  { path: '/heartbeats', kind: 'Heartbeat', named: 'name', leads: '/heartbeats/' },
  { path: '/incidents', kind: 'Incident', named: 'title', leads: '/incidents/' },
  { path: '/dns/zones', kind: 'Zone', named: 'name', leads: '/dns/zones/' },
  { path: '/dns/templates', kind: 'Template', named: 'name', leads: '/dns/templates/' },
  { path: '/webhook-endpoints', kind: 'Endpoint', named: 'url', leads: '/webhooks/' },
  { path: '/notification-channels', kind: 'Channel', named: 'name', leads: '/channels/' },
  { path: '/maintenance-windows', kind: 'Maintenance', named: 'name', leads: '/maintenance/' },
  { path: '/tokens', kind: 'Token', named: 'name', leads: '/tokens/' },
] as const

const mostFound = 6
const leastTyped = 2
const restMs = 150

function Box({ onClose, places, deeds }: Omit<PaletteProps, 'open'>) {
  const id = useId()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), restMs)
    return () => clearTimeout(timer)
  }, [text])
  const named = useNamed(asked)
  const go = (to: string) => () => void navigate({ to })
  const fits = (label: string) => label.toLowerCase().includes(text.trim().toLowerCase())
  const rows: Row[] = [
    ...places
      .filter(one => fits(one.label))
      .map(one => ({ key: one.to, label: one.label, kind: 'Page', icon: one.icon, run: go(one.to) })),
    ...named.map(one => ({ ...one, run: go(one.to) })),
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

interface Named {
  key: string
  label: string
  kind: string
  to: string
}

/** What has a name with this text in it: a few of each kind. */
function useNamed(text: string): Named[] {
  const { seesAccount } = usePerson()
  const asked = text.length >= leastTyped ? areas.filter(area => seesAccount || area.path !== '/tokens') : []
  return useQueries({
    queries: asked.map(({ path, named }) => {
      const query = { q: text, limit: mostFound, fields: `id,${named}` }
      return {
        queryKey: [path, query],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          call<Page<Record<string, string>>>({ method: 'GET', path, query }, signal),
        placeholderData: keepPreviousData,
      }
    }),
    combine: found =>
      asked.flatMap(({ kind, named, leads }, at) =>
        (found[at]?.data?.data ?? []).map(row => ({ key: row.id!, label: row[named]!, kind, to: `${leads}${row.id}` })),
      ),
  })
}
