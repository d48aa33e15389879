import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

interface EmptyProps {
  icon: LucideIcon
  title: string
  /** What it is for, in a sentence. */
  children?: ReactNode
  /** What does the first thing: a button, or a field to paste into. */
  action?: ReactNode
}

/** What a list shows that has nothing: what would be here, and how to make the first. */
export function Empty({ icon: Icon, title, children, action }: EmptyProps) {
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      <Icon className="mb-3 size-8 text-muted" aria-hidden />
      <p className="font-semibold">{title}</p>
      {children && <p className="mt-1 max-w-md text-muted">{children}</p>}
      {action && <div className="mt-4 w-full max-w-md">{action}</div>}
    </div>
  )
}
