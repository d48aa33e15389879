import { Link } from '@tanstack/react-router'
import { useEffect, type ReactNode } from 'react'
import type { Refused } from '../client'
import { Problem } from './problem'

interface PageProps {
  title: string
  /** Beside the title: a status, a tag. */
  aside?: ReactNode
  /** Under the title: one sentence. */
  lead?: ReactNode
  /** The page above this one: `{ to: '/monitors', label: 'Monitors' }`. */
  up?: { to: string; label: string }
  /** Buttons, the main one first. */
  actions?: ReactNode
  children?: ReactNode
}

/** The frame of a page: its title, which is the tab's too, what can be done, and what it shows. */
export function Page({ title, aside, lead, up, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Bailiwick`
  }, [title])
  return (
    <div className="mx-auto w-full max-w-7xl px-4 pt-4 pb-24 md:px-6 md:pb-10">
      <header className="mb-4 flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 grow basis-64">
          {up && (
            <nav aria-label="Breadcrumb" className="mb-1 text-[13px] text-muted">
              <Link to={up.to} className="hover:text-ink hover:underline">
                {up.label}
              </Link>
              <span aria-hidden> /</span>
            </nav>
          )}
          <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="text-xl font-semibold wrap-anywhere">{title}</h1>
            {aside}
          </div>
          {lead && <p className="mt-1 max-w-prose text-muted">{lead}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2 empty:hidden">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface LoadedProps<Thing> {
  found: { data: Thing | undefined; error: Refused | null; refetch(): unknown }
  /** Where to go when there is no such thing. */
  up?: { to: string; label: string }
  children(thing: Thing): ReactNode
}

/** Shows what `useOne` reads: a quiet frame until it is there, or why it is not. */
export function Loaded<Thing>({ found, up, children }: LoadedProps<Thing>) {
  if (found.data !== undefined) return children(found.data)
  if (found.error?.status === 404) {
    return (
      <Page title="Not found" lead="It was deleted, belongs to another workspace, or never was." {...(up && { up })}>
        {up && (
          <Link to={up.to} className="text-accent hover:underline">
            Back to {up.label.toLowerCase()}
          </Link>
        )}
      </Page>
    )
  }
  if (found.error) {
    return (
      <Page title="Not read" {...(up && { up })}>
        <Problem error={found.error} onAgain={() => void found.refetch()} />
      </Page>
    )
  }
  return <Skeleton />
}

/** The place a page will take, so that nothing moves when it comes. */
export function Skeleton() {
  return (
    <div className="mx-auto w-full max-w-7xl px-4 pt-4 md:px-6" aria-busy="true" aria-label="Loading">
      <div className="h-9 w-56 animate-pulse rounded-md bg-hover" />
      <div className="mt-4 h-64 animate-pulse rounded-lg bg-hover" />
    </div>
  )
}

interface CardProps {
  title?: ReactNode
  actions?: ReactNode
  /** Without room around the content: tables and charts reach the edge. */
  flush?: boolean
  className?: string
  children: ReactNode
}

/** A part of a page with a title of its own. */
export function Card({ title, actions, flush, className = '', children }: CardProps) {
  return (
    <section className={`min-w-0 overflow-clip rounded-lg border border-line bg-surface ${className}`}>
      {(title !== undefined || actions) && (
        <div className="flex min-h-11 flex-wrap items-center gap-2 border-b border-line px-4 py-1.5">
          <h2 className="grow font-semibold">{title}</h2>
          {actions}
        </div>
      )}
      <div className={flush ? '' : 'p-4'}>{children}</div>
    </section>
  )
}

/** Names and values, one a line: `[['Type', 'http'], …]`; null values are left out. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode] | null)[] }) {
  return (
    <dl className="grid grid-cols-[fit-content(55%)_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {rows.map(row =>
        row === null || row[1] === null || row[1] === undefined ? null : (
          <div key={row[0]} className="contents">
            <dt className="min-w-24 text-muted">{row[0]}</dt>
            <dd className="min-w-0 wrap-anywhere">{row[1]}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
