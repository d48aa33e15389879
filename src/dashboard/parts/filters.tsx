import { Search, X } from 'lucide-react'
import { useEffect, useRef, useState, type ReactNode } from 'react'

/** The row of filters above a list. */
export const Filters = ({ children }: { children: ReactNode }) => (
  <div role="search" className="mb-3 flex flex-wrap items-center gap-2">
    {children}
  </div>
)

interface SearchFieldProps {
  value: string
  onChange(value: string): void
  /** What is looked through: «Search monitors». */
  label: string
}

const restMs = 200

/** Text to look for; asks when the typing rests. `/` leads here from anywhere. */
export function SearchField({ value, onChange, label }: SearchFieldProps) {
  const [text, setText] = useState(value)
  const asked = useRef(value)
  useEffect(() => {
    if (value !== asked.current) setText((asked.current = value))
  }, [value])
  useEffect(() => {
    if (text === asked.current) return
    const timer = setTimeout(() => onChange((asked.current = text)), restMs)
    return () => clearTimeout(timer)
  }, [text, onChange])
  return (
    <div className="relative min-w-40 grow basis-56 sm:max-w-80">
      <Search className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-muted" aria-hidden />
      <input
        type="search"
        data-search
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={event => setText(event.target.value)}
        className="h-9 w-full rounded-md border border-strong-line bg-surface pr-8 pl-8 placeholder:text-muted [&::-webkit-search-cancel-button]:hidden"
      />
      {text !== '' && (
        <button
          type="button"
          aria-label="Clear the search"
          onClick={() => setText('')}
          className="absolute top-1 right-1 inline-flex size-7 items-center justify-center rounded text-muted hover:bg-hover"
        >
          <X className="size-4" aria-hidden />
        </button>
      )}
    </div>
  )
}

interface ChoiceProps {
  label: string
  value: string
  onChange(value: string): void
  /** The empty value stands for all. */
  choices: readonly (readonly [value: string, label: string])[]
}

/** One of a few: a filter, an order. */
export function Choice({ label, value, onChange, choices }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={event => onChange(event.target.value)}
      // Of one width, whatever there is to choose from once it is read.
      className={`h-9 w-44 rounded-md border bg-surface px-2 ${value === '' ? 'border-strong-line' : 'border-accent text-accent'}`}
    >
      {choices.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  )
}
