import { useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

/** The field of a combobox. */
export interface SearchText {
  /** What it searches, for screen readers. */
  label: string
  placeholder: string
  text: string
  onText(text: string): void
}

interface ComboboxProps<Row> extends SearchText {
  rows: readonly Row[]
  /** Whether more rows may follow. */
  isLoading?: boolean
  onPick(row: Row): void
  children(row: Row, isCurrent: boolean): ReactNode
}

/**
 * A search field with a list of what it finds. The arrow keys move in the list, and Enter picks. While rows may follow, Enter waits for
 * them, unless a row was chosen.
 */
export function Combobox<Row extends { key: string }>(props: ComboboxProps<Row>) {
  const { label, placeholder, text, onText, rows, isLoading, onPick, children } = props
  const id = useId()
  /** The key of the chosen row, which can move while others are loaded. Null for the first. */
  const [selected, setSelected] = useState<string | null>(null)
  const [isWaiting, setWaiting] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  // A text from before is continued.
  useLayoutEffect(() => input.current?.setSelectionRange(text.length, text.length), [])
  const chosen = rows.findIndex(one => one.key === selected)
  const current = Math.max(chosen, 0)
  useEffect(() => {
    if (!isWaiting || isLoading) return
    setWaiting(false)
    if (rows[current]) onPick(rows[current])
  }, [isWaiting, isLoading])
  const select = (key: string | null) => {
    setSelected(key)
    setWaiting(false)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      const next = (current + step + rows.length) % Math.max(rows.length, 1)
      select(rows[next]?.key ?? null)
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      if (isLoading && chosen === -1) setWaiting(true)
      else if (rows[current]) onPick(rows[current])
    } else return
    event.preventDefault()
  }
  return (
    <>
      <input
        ref={input}
        autoFocus
        role="combobox"
        aria-expanded
        aria-label={label}
        aria-controls={`${id}-list`}
        aria-activedescendant={rows[current] ? `${id}-${current}` : undefined}
        placeholder={placeholder}
        autoComplete="off"
        value={text}
        onChange={event => {
          onText(event.target.value)
          select(null)
        }}
        onKeyDown={onKeyDown}
        className="h-10 w-full rounded-md border border-strong-line bg-surface px-3 placeholder:text-muted"
      />
      <ul id={`${id}-list`} role="listbox" aria-label="Results" className="mt-3 max-h-80 min-h-24 overflow-y-auto">
        {rows.map((row, index) => (
          <li
            key={row.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            onPointerMove={() => setSelected(row.key)}
            onClick={() => onPick(row)}
            className={`flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 ${index === current ? 'bg-hover' : ''}`}
          >
            {children(row, index === current)}
          </li>
        ))}
        {rows.length === 0 && <li className="px-2 py-6 text-center text-muted">{isLoading ? 'Searching…' : 'No matches'}</li>}
      </ul>
    </>
  )
}
