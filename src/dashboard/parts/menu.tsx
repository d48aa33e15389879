import { Menu as BaseMenu } from '@base-ui/react/menu'
import { Check, Ellipsis } from 'lucide-react'
import type { ReactNode } from 'react'

interface Line {
  label: ReactNode
  icon?: ReactNode
  bad?: boolean
  disabled?: boolean
  /** For one of several that exclude each other: whether it holds now. */
  chosen?: boolean
  onSelect(): void
}

/** One line of a menu; null lines are left out, `'-'` is a line between groups. */
export type MenuItem = Line | '-' | null

interface MenuProps {
  /** What opens it; three dots when absent. */
  children?: ReactNode
  /** What it is for, to a screen reader. */
  label: string
  items: readonly MenuItem[]
  className?: string
}

/** What more can be done with something. */
export function Menu({ children, label, items, className }: MenuProps) {
  return (
    <BaseMenu.Root>
      <BaseMenu.Trigger
        aria-label={children ? undefined : label}
        className={
          className ?? 'inline-flex size-9 items-center justify-center rounded-md border border-line bg-surface hover:bg-hover'
        }
      >
        {children ?? <Ellipsis className="size-4" aria-hidden />}
        {children && <span className="sr-only">{label}</span>}
      </BaseMenu.Trigger>
      <BaseMenu.Portal>
        <BaseMenu.Positioner sideOffset={4} align="end" className="z-50">
          <BaseMenu.Popup className="max-h-[70dvh] max-w-[min(24rem,calc(100vw-2rem))] min-w-44 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-lg">
            {items.map((item, at) =>
              item === null ? null : item === '-' ? (
                <BaseMenu.Separator key={at} className="my-1 h-px bg-line" />
              ) : (
                <BaseMenu.Item
                  key={at}
                  disabled={item.disabled ?? false}
                  {...(item.chosen !== undefined && { role: 'menuitemradio', 'aria-checked': item.chosen })}
                  onClick={item.onSelect}
                  className={`flex cursor-default items-center gap-2 rounded px-2 py-1.5 outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover ${
                    item.bad ? 'text-bad' : ''
                  }`}
                >
                  {item.icon}
                  <span className="min-w-0 grow truncate">{item.label}</span>
                  {item.chosen && <Check className="size-4 shrink-0 text-accent" aria-hidden />}
                </BaseMenu.Item>
              ),
            )}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  )
}
