import { ChevronRight } from 'lucide-react'
import { useState, type ReactNode } from 'react'

interface DisclosureProps {
  summary: ReactNode
  /** Whether it is open at first. */
  open?: boolean | undefined
  /** Whether it is open, if the parent decides. With `onOpen`. */
  isOpen?: boolean
  onOpen?(isOpen: boolean): void
  className?: string
  summaryClass?: string
  children: ReactNode
}

/** A line that expands. */
export function Disclosure(props: DisclosureProps) {
  const { summary, open, isOpen, onOpen, className = '', summaryClass = 'w-fit', children } = props
  const [isOpenAtFirst] = useState(open)
  return (
    <details
      open={isOpen ?? isOpenAtFirst}
      onToggle={event => onOpen?.(event.currentTarget.open)}
      className={`group/disclosure ${className}`}
    >
      <summary
        onClick={event => {
          if (!onOpen) return
          event.preventDefault()
          onOpen(!isOpen)
        }}
        className={`flex list-none items-center gap-1.5 [&::-webkit-details-marker]:hidden ${summaryClass}`}
      >
        <ChevronRight className="size-4 shrink-0 text-muted transition-transform group-open/disclosure:rotate-90" aria-hidden />
        {summary}
      </summary>
      {children}
    </details>
  )
}
