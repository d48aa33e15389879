import { Menu as BaseMenu } from '@base-ui/react/menu'
import { Check, Ellipsis, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

export interface MenuAction {
  label: ReactNode
  icon?: LucideIcon
  danger?: boolean
  disabled?: boolean
  /** For mutually exclusive items: whether this one is selected. */
  selected?: boolean
  onSelect(): void
}

/** A menu item. Null is skipped, and `'-'` is a separator. */
export type MenuItem = MenuAction | '-' | null

interface MenuProps {
  /** Content of the trigger button. Defaults to three dots. */
  children?: ReactNode
  /** Label for screen readers. */
  label: string
  items: readonly MenuItem[]
  className?: string
}

/** A dropdown menu. */
export const Menu = ({ children, label, items, className }: MenuProps) => (
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
                {...(item.selected !== undefined && { role: 'menuitemradio', 'aria-checked': item.selected })}
                onClick={item.onSelect}
                className={`flex cursor-default items-center gap-2 rounded px-2 py-1.5 outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover ${
                  item.danger ? 'text-bad' : ''
                }`}
              >
                {item.icon && <item.icon className="size-4" aria-hidden />}
                <span className="min-w-0 grow truncate">{item.label}</span>
                {item.selected && <Check className="size-4 shrink-0 text-accent" aria-hidden />}
              </BaseMenu.Item>
            ),
          )}
        </BaseMenu.Popup>
      </BaseMenu.Positioner>
    </BaseMenu.Portal>
  </BaseMenu.Root>
)
