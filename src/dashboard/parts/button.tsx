import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'

type Kind = 'main' | 'plain' | 'quiet' | 'bad'

const kinds: Record<Kind, string> = {
  main: 'bg-accent text-on-accent border-transparent hover:opacity-90',
  plain: 'bg-surface text-ink border-line hover:bg-hover',
  quiet: 'bg-transparent text-muted border-transparent hover:bg-hover hover:text-ink',
  bad: 'bg-surface text-bad border-line hover:bg-bad-soft',
}
const look = (kind: Kind, small: boolean | undefined, className = '') =>
  `inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none disabled:opacity-50 ${
    small ? 'h-7 px-2 text-[13px]' : 'h-9 px-3'
  } ${kinds[kind]} ${className}`

interface Looks {
  /** `main`: what the page is for, once a page. `bad`: what destroys. */
  kind?: Kind
  small?: boolean
  icon?: ReactNode
}

/** A button. With an icon alone it needs an `aria-label`. */
export function Button({
  kind = 'plain',
  small,
  icon,
  className,
  children,
  type = 'button',
  ...rest
}: ComponentProps<'button'> & Looks) {
  return (
    <button type={type} className={look(kind, small, className)} {...rest}>
      {icon}
      {children}
    </button>
  )
}

function Anchor({ kind = 'plain', small, icon, className, children, ...rest }: ComponentProps<'a'> & Looks) {
  return (
    <a className={look(kind, small, className)} {...rest}>
      {icon}
      {children}
    </a>
  )
}

/** A link to another page that looks like a button. */
export const LinkButton = createLink(Anchor)
