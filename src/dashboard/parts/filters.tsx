import { Search, X } from 'lucide-react'
import { pairsOf, type Choices } from './choices'
import { capitalize, humanize } from './status'
import { Button } from './button'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useUrlState } from './url-state'

/** Filter bar above a list. */
export const Filters = ({ children }: { children: ReactNode }) => (
  <div role="search" className="mb-3 flex flex-wrap items-center gap-2">
    {children}
  </div>
)

interface SearchFieldProps {
  value: string
  onChange(value: string): void
  /** Label and placeholder: “Search monitors”. */
  label: string
}

const debounceMs = 200

/** Search input, debounced. The shortcut `/` focuses it. */
export function SearchField({ value, onChange, label }: SearchFieldProps) {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  useEffect(() => {
    if (value !== sent.current) setText((sent.current = value))
  }, [value])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => onChange((sent.current = text)), debounceMs)
    return () => clearTimeout(timer)
  }, [text, onChange])
  return (
    <div className="relative min-w-40 grow basis-40 sm:max-w-80 sm:basis-56">
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
          aria-label="Clear search"
          onClick={() => setText('')}
          className="absolute top-1 right-1 inline-flex size-7 items-center justify-center rounded text-muted hover:bg-hover"
        >
          <X className="size-4" aria-hidden />
        </button>
      )}
    </div>
  )
}

interface FilterSelectProps {
  label: string
  value: string
  /** The value that doesn’t filter. */
  initial?: string | undefined
  onChange(value: string): void
  /** Label of the empty value. */
  all?: string | undefined
  choices: Choices
}

export const inactiveFilter = 'border-strong-line bg-surface'
export const activeFilter = 'border-accent bg-accent-soft'

/** A select for a filter or the sorting of a list. */
export const FilterSelect = ({ label, value, initial = '', onChange, all, choices }: FilterSelectProps) => {
  const pairs = pairsOf(choices)
  // A link can filter by a value that isn't offered. Without it, the select would look as if nothing was filtered.
  const isOffered = value === '' || pairs.some(([one]) => one === value)
  return (
    <select
      aria-label={label}
      value={value}
      onChange={event => onChange(event.target.value)}
      // Fixed width, so that the layout doesn't shift when options load.
      className={`h-9 w-48 max-sm:w-0 max-sm:grow max-sm:basis-[calc(50%-0.25rem)] rounded-md border px-2 ${value === initial ? inactiveFilter : activeFilter}`}
    >
      {all && <option value="">{all}</option>}
      {pairs.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
      {!isOffered && <option value={value}>{capitalize(value.split(',').map(humanize).join(' or '))}</option>}
    </select>
  )
}

/** A select for a filter whose value is in the URL, under its name. */
export function UrlFilter({
  name,
  initial = '',
  ...rest
}: Omit<FilterSelectProps, 'value' | 'onChange'> & { name: string; initial?: string }) {
  const [state, set] = useUrlState({ [name]: initial })
  return <FilterSelect {...rest} value={state[name]!} initial={initial} onChange={value => set({ [name]: value })} />
}

/** A search whose value is in the URL, under its name. */
export function UrlSearch({ name, label }: { name: string; label: string }) {
  const [state, set] = useUrlState({ [name]: '' })
  return <SearchField label={label} value={state[name]!} onChange={text => set({ [name]: text })} />
}

/** A filter that is set by other parts of the page, such as a click on a tag. It can only be removed here. */
export const FilterChip = ({ label, value, onClear }: { label: string; value: string; onClear(): void }) =>
  value !== '' && (
    <Button small onClick={onClear} aria-label={`${label} ${value}, remove filter`}>
      {label} {value}
      <X className="size-3.5" aria-hidden />
    </Button>
  )
