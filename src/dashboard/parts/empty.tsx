import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

interface EmptyProps {
  icon: LucideIcon
  title: string
  /** One sentence on what the list is for. */
  children?: ReactNode
  /** Creates the first item: a button or an input. */
  action?: ReactNode
}

/** Empty state of a list: what it will contain, and how to create the first item. */
export const Empty = ({ icon: Icon, title, children, action }: EmptyProps) => (
  <div className="flex flex-col items-center px-6 py-14 text-center">
    <Icon className="mb-3 size-8 text-muted" aria-hidden />
    <p className="font-semibold">{title}</p>
    {children && <p className="mt-1 max-w-md text-muted">{children}</p>}
    {action && <div className="mt-4 w-full max-w-md empty:hidden">{action}</div>}
  </div>
)
