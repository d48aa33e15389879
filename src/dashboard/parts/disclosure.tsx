import { ChevronRight } from 'lucide-react'
import { useState, type ReactNode } from 'react'

interface DisclosureProps {
  summary: ReactNode
  /** Whether it is open at first. */
  open?: boolean | undefined
  className?: string
  summaryClass?: string
  children: ReactNode
}

/** A line that expands. */
export function Disclosure({ summary, open, className = '', summaryClass = 'w-fit', children }: DisclosureProps) {
  const [isOpenAtFirst] = useState(open)
  return (
    <details open={isOpenAtFirst} className={`group/disclosure ${className}`}>
      <summary className={`flex list-none items-center gap-1.5 [&::-webkit-details-marker]:hidden ${summaryClass}`}>
        <ChevronRight className="size-4 shrink-0 text-muted transition-transform group-open/disclosure:rotate-90" aria-hidden />
        {summary}
      </summary>
      {children}
    </details>
  )
}
