/// <reference types="vite/types/importMeta.d.ts" />
import { createRootRoute, createRoute, createRouter, Outlet, type ErrorComponentProps } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isOutdated, onReconnect } from './connection'
import { CodeNotLoaded, lazyComponent, retryCode } from './lazy'
import { LinkButton } from './parts/button'
import { Page, Skeleton } from './parts/page'
import { Problem } from './parts/problem'
import { Toasts } from './parts/toast'
import { ApiError } from './client'
import { pageList, type PageEntry, type PagePath } from './pages'
import { ReloadButton, updatedText } from './shell/connection-banner'
import { Shell } from './shell/shell'

const root = createRootRoute({ component: Root, notFoundComponent: NotFoundPage, errorComponent: ErrorPage })
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })

/** Search parameters. Each page reads its own: see parts/url-state.ts. */
const validateSearch = (search: Record<string, unknown>): { [name: string]: string | undefined } =>
  search as Record<string, string>

/** The code of each page, loaded on first use. `/monitors/$id` is in `pages/monitors.$id.tsx`. */
const code = import.meta.glob<{ default: () => React.ReactNode }>('./pages/*.tsx')

function page<Path extends PagePath>({ path, isPublic }: { path: Path; isPublic?: true }) {
  // All tabs of a page have the same code.
  const name = path === '/' ? 'index' : path.slice(1).replace('/$tab', '').replaceAll('/', '.')
  const component = lazyComponent(code[`./pages/${name}.tsx`]!)
  return createRoute({ getParentRoute: () => (isPublic ? root : shell) as typeof shell, path, component, validateSearch })
}

type PageRoute = { [Path in PagePath]: ReturnType<typeof page<Path>> }[PagePath]
const pagesOf = (list: PageEntry[]) => list.map(page) as PageRoute[]

const routes = root.addChildren([
  ...pagesOf(pageList.filter(one => one.isPublic)),
  shell.addChildren(pagesOf(pageList.filter(one => !one.isPublic))),
])

/** The routes of the dashboard. Search parameters are plain `name=value` pairs. */
export const router = createRouter({
  routeTree: routes,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: Skeleton,
  // An error of a page leaves the navigation in place.
  defaultErrorComponent: ErrorPage,
  parseSearch: text => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: search => {
    const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()
    return text && `?${text}`
  },
})

router.subscribe('onBeforeNavigate', retryCode)

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

function Root() {
  return (
    <>
      <Outlet />
      <Toasts />
    </>
  )
}

function NotFoundPage() {
  return (
    <main>
      <Page title="Page not found" description="There is no page at this address.">
        <LinkButton to="/">Go to overview</LinkButton>
      </Page>
    </main>
  )
}

function ErrorPage({ error, reset }: ErrorComponentProps) {
  if (error instanceof CodeNotLoaded) return <CodeProblem error={error} reset={reset} />
  const apiError =
    error instanceof ApiError
      ? error
      : new ApiError(0, 'page_failed', error instanceof Error ? error.message : String(error), [], null, {})
  return (
    <Page title="Something went wrong">
      <Problem error={apiError} onRetry={() => location.reload()} />
    </Page>
  )
}

/** Shown in place of a page whose code could not be loaded. Tries again once the hub responds. */
function CodeProblem({ error, reset }: { error: CodeNotLoaded; reset(): void }) {
  const retry = () => {
    retryCode()
    reset()
  }
  useEffect(() => onReconnect(retry))
  return isOutdated.use() ? (
    <Page title="Couldn’t load this page" description={updatedText}>
      <ReloadButton />
    </Page>
  ) : (
    <Page title="Couldn’t load this page">
      <Problem error={new ApiError(0, 'page_failed', error.message, [], null, {})} onRetry={retry} />
    </Page>
  )
}
