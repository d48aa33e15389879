import { Link, useMatch } from '@tanstack/react-router'
import { useEffect, type ReactNode } from 'react'
import type { ApiError } from '../client'
import { breadcrumbLabelOf, labelOf, pages, type DeclaredPage, type PagePath } from '../pages'
import { forgetOpened, noteOpened } from '../recently-opened'
import { lowerFirst } from './labels'
import { Problem } from './problem'
import { nameIn } from './name-in'

type Parent = PagePath | { to: string; label: string }

const linkTo = (parent: Parent) => (typeof parent === 'string' ? { to: parent, label: breadcrumbLabelOf(parent) } : parent)

interface PageProps {
  /** By default the one in pages.ts. */
  title?: string
  /** Next to the title: a status or tag. */
  aside?: ReactNode
  /** One sentence below the title. */
  description?: ReactNode
  /** Parent page, for the breadcrumb: `/monitors`, or with a label if it is the page of a resource. */
  parent?: Parent
  /** Buttons, the primary one first. */
  actions?: ReactNode
  /** Limits the width of a page with fields and text, which are hard to read if they are wide. */
  narrow?: boolean
  children?: ReactNode
}

/** The title of the current page in pages.ts. */
export const usePageTitle = (): string =>
  useMatch({ strict: false, select: one => (pages as Record<string, DeclaredPage>)[one.fullPath]?.title }) ?? ''

/** Layout of a page: title (also of the tab), actions, and content. */
export function Page({ title: ownTitle, aside, description, parent, actions, narrow, children }: PageProps) {
  const declared = usePageTitle()
  const title = ownTitle ?? declared
  const above = parent && linkTo(parent)
  useEffect(() => {
    document.title = `${title} · Bailiwick`
  }, [title])
  return (
    <div className={`w-full px-4 pt-4 pb-24 md:px-6 md:pb-10 ${narrow ? 'max-w-7xl' : ''}`}>
      <header className="mb-4 flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 grow basis-64">
          {above && (
            <nav aria-label="Breadcrumb" className="mb-1 text-[13px] text-muted">
              <Link to={above.to} className="hover:text-ink hover:underline">
                {above.label}
              </Link>
            </nav>
          )}
          <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="text-xl font-semibold wrap-anywhere">{title}</h1>
            {aside}
          </div>
          {description && <p className="mt-1 max-w-5xl text-muted">{description}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2 empty:hidden">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface LoadedProps<Resource> {
  query: { data: Resource | undefined; error: ApiError | null; refetch(): unknown }
  /** Parent page, linked if the resource doesn't exist. */
  parent?: PagePath
  children(resource: Resource): ReactNode
}

/** Renders the result of `useOne`, a skeleton while it loads, or the error. */
export function Loaded<Resource>({ query, parent, children }: LoadedProps<Resource>) {
  const { id, name, created_at } = identityOf(query.data)
  const isMissing = query.error?.status === 404
  useEffect(() => {
    if (id !== null && name !== null) noteOpened({ id, name, created_at })
    else if (isMissing) forgetOpened()
  }, [id, name, isMissing])
  if (query.data !== undefined) return children(query.data)
  if (isMissing) {
    return (
      <Page
        title="Not found"
        description="It was deleted, belongs to another workspace, or never existed."
        {...(parent && { parent })}
      >
        {parent && (
          <Link to={parent} className="text-accent hover:underline">
            Back to {lowerFirst(labelOf(parent))}
          </Link>
        )}
      </Page>
    )
  }
  if (query.error) {
    return (
      <Page title="Couldn’t load this page" {...(parent && { parent })}>
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      </Page>
    )
  }
  return <Skeleton />
}

/** The id and name of a resource, of those that have one. */
function identityOf(data: unknown) {
  const { id = null, created_at } = (data ?? {}) as { id?: string | null; created_at?: string }
  return { id, name: typeof id === 'string' ? nameIn(data as { id: string }) : null, created_at }
}

/** Placeholder for a loading page, which prevents layout shifts. */
export const Skeleton = () => (
  <div className="w-full px-4 pt-4 md:px-6" aria-busy="true" aria-label="Loading">
    <div className="h-9 w-56 animate-pulse rounded-md bg-hover" />
    <div className="mt-4 h-64 animate-pulse rounded-lg bg-hover" />
  </div>
)

interface CardProps {
  /** The fragment of its address. */
  id?: string
  title?: ReactNode
  actions?: ReactNode
  /** No padding around the content, for tables and charts. */
  flush?: boolean
  className?: string
  /** The content, if it is only names and values. */
  facts?: FactRows
  children?: ReactNode
}

/** A section of a page with its own title. */
export const Card = ({ id, title, actions, flush, className = '', facts, children }: CardProps) => (
  <section
    id={id}
    ref={scrollIfAddressed}
    className={`min-w-0 scroll-mt-14 overflow-clip rounded-lg border border-line bg-surface ${className}`}
  >
    {(title !== undefined || actions) && (
      <div className="flex min-h-11 flex-wrap items-center gap-2 border-b border-line px-4 py-1.5">
        <h2 className="grow font-semibold">{title}</h2>
        {actions}
      </div>
    )}
    <div data-flush={flush || undefined} className={flush ? '' : 'p-4'}>
      {facts ? <Facts rows={facts} /> : children}
    </div>
  </section>
)

/** Scrolls to the section in the address. The browser can’t, because it appears later. */
function scrollIfAddressed(section: HTMLElement | null): void {
  if (section?.id && location.hash === `#${section.id}`) section.scrollIntoView()
}

type FactRows = readonly (readonly [name: string, value: ReactNode] | null)[]

/** A list of names and values: `[['Type', 'http'], …]`. Empty values are skipped. */
export const Facts = ({ rows }: { rows: FactRows }) => (
  <dl className="grid grid-cols-[fit-content(55%)_minmax(0,1fr)] gap-x-4 gap-y-1.5">
    {rows.map(row =>
      row === null || row[1] === null || row[1] === undefined || row[1] === false || row[1] === '' ? null : (
        <div key={row[0]} className="contents">
          <dt className="min-w-24 text-muted">{row[0]}</dt>
          <dd className="min-w-0 wrap-anywhere">{row[1]}</dd>
        </div>
      ),
    )}
  </dl>
)
