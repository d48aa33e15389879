import { Popover } from '@base-ui/react/popover'
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { Combobox } from './combobox'
import { activeFilter, inactiveFilter } from './filters'
import { lowerFirst } from './labels'

/** A choice of a searchable filter. */
interface FilterOption {
  /** The value of the filter. */
  key: string
  label: string
  /** Below the label, such as a code. */
  code?: string
  /** To the right of the label: the type of a resource. */
  kind?: string
}

export interface FilterPickerProps {
  label: string
  value: string
  onChange(value: string): void
  /** Label of the empty value: “All actions”. */
  all: string
}

interface SearchProps extends FilterPickerProps {
  /** Label of the current value. */
  shown: string
  placeholder: string
  text: string
  onText(text: string): void
  options: readonly FilterOption[]
}

/** A filter whose choices are too many for a select: a button that opens a search. */
export function FilterPicker({ label, value, onChange, all, shown, placeholder, text, onText, options }: SearchProps) {
  const [isOpen, setOpen] = useState(false)
  const open = (next: boolean) => {
    setOpen(next)
    onText('')
  }
  const rows = text.trim() === '' ? [{ key: '', label: all }, ...options] : options
  const title = value === '' ? all : shown
  return (
    <Popover.Root open={isOpen} onOpenChange={open}>
      <Popover.Trigger
        aria-label={`${label}: ${title}`}
        title={title}
        className={`inline-flex h-9 w-48 max-sm:w-0 max-sm:grow max-sm:basis-[calc(50%-0.25rem)] items-center gap-1 rounded-md border px-2 text-left ${value === '' ? inactiveFilter : activeFilter}`}
      >
        <span className="min-w-0 grow truncate">{title}</span>
        <ChevronDown className="size-4 shrink-0" aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="start" className="z-50">
          <Popover.Popup
            aria-label={label}
            className="w-[min(28rem,calc(100vw-2rem))] rounded-lg border border-line bg-raised p-2 shadow-lg"
          >
            <Combobox
              label={`Search ${lowerFirst(label)}`}
              placeholder={placeholder}
              text={text}
              onText={onText}
              rows={rows}
              onPick={row => {
                onChange(row.key)
                open(false)
              }}
            >
              {row => (
                <>
                  <span className="min-w-0 grow">
                    <span className="block wrap-anywhere">{row.label}</span>
                    {row.code && <code className="block font-mono text-[12px] wrap-anywhere text-muted">{row.code}</code>}
                  </span>
                  {row.kind && <span className="shrink-0 text-[13px] text-muted">{row.kind}</span>}
                </>
              )}
            </Combobox>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
