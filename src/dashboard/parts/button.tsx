import { createLink } from '@tanstack/react-router'
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'

type Kind = 'primary' | 'secondary' | 'quiet' | 'danger'

const kinds: Record<Kind, string> = {
  primary: 'bg-accent text-on-accent border-transparent hover:opacity-90',
  secondary: 'bg-surface text-ink border-line hover:bg-hover',
  quiet: 'bg-transparent text-muted border-transparent hover:bg-hover hover:text-ink',
  danger: 'bg-surface text-bad border-line hover:bg-bad-soft',
}
const buttonClass = (kind: Kind, small: boolean | undefined, className = '') =>
  `inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none disabled:opacity-50 ${
    small ? 'h-7 px-2 text-[13px]' : 'h-9 px-3'
  } ${kinds[kind]} ${className}`

interface Appearance {
  /** `primary`: the main action, once per page. `danger`: a destructive action. */
  kind?: Kind
  small?: boolean
  icon?: LucideIcon | undefined
}

/** A button. One with only an icon needs an `aria-label`. */
export const Button = ({
  kind = 'secondary',
  small,
  icon: Icon,
  className,
  children,
  type = 'button',
  ...rest
}: ComponentProps<'button'> & Appearance) => (
  <button type={type} className={buttonClass(kind, small, className)} {...rest}>
    {Icon && <Icon className={small && children ? 'size-3.5' : 'size-4'} aria-hidden />}
    {children}
  </button>
)

const Anchor = ({ kind = 'secondary', small, icon: Icon, className, children, ...rest }: ComponentProps<'a'> & Appearance) => (
  <a className={buttonClass(kind, small, className)} {...rest}>
    {Icon && <Icon className={small && children ? 'size-3.5' : 'size-4'} aria-hidden />}
    {children}
  </a>
)

/** A link styled as a button. */
export const LinkButton = createLink(Anchor)
