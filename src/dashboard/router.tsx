/// <reference types="vite/types/importMeta.d.ts" />
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { LinkButton } from './parts/button'
import { Page, Skeleton } from './parts/page'
import { Problem } from './parts/problem'
import { ApiError } from './client'
import { pageList, type PageEntry, type PagePath } from './pages'
import { Shell } from './shell/shell'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage, errorComponent: ErrorPage })
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })

/** Search parameters. Each page reads its own: see parts/url-state.ts. */
const validateSearch = (search: Record<string, unknown>): { [name: string]: string | undefined } =>
  search as Record<string, string>

/** The code of each page, loaded on first use. `/monitors/$id` is in `pages/monitors.$id.tsx`. */
const code = import.meta.glob<{ default: () => React.ReactNode }>('./pages/*.tsx')

function page<Path extends PagePath>({ path, isPublic }: { path: Path; isPublic?: true }) {
  // All tabs of a page have the same code.
  const name = path === '/' ? 'index' : path.slice(1).replace('/$tab', '').replaceAll('/', '.')
  const component = lazyRouteComponent(code[`./pages/${name}.tsx`]!)
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
  parseSearch: text => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: search => {
    const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()
    return text && `?${text}`
  },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
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

function ErrorPage({ error }: { error: unknown }) {
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
