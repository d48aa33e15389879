import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { LinkButton } from './parts/button'
import { Page, Skeleton } from './parts/page'
import { Problem } from './parts/problem'
import { ApiError } from './client'
import type { PagePath } from './pages'
import { Shell } from './shell/shell'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage, errorComponent: ErrorPage })
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })

/** Search parameters. Each page reads its own: see parts/url-state.ts. */
const validateSearch = (search: Record<string, unknown>): { [name: string]: string | undefined } =>
  search as Record<string, string>

/** A page for signed-in users. Its code is loaded on first use. */
const page = <Path extends PagePath>(path: Path, load: () => Promise<{ default: () => React.ReactNode }>) =>
  createRoute({ getParentRoute: () => shell, path, component: lazyRouteComponent(load), validateSearch })

/** A page that needs no session. */
const publicPage = <Path extends PagePath>(path: Path, load: () => Promise<{ default: () => React.ReactNode }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load), validateSearch })

// One line per page: where its code is. The rest is declared in pages.ts.
const routes = root.addChildren([
  publicPage('/setup', () => import('./pages/sign-in/setup')),
  publicPage('/login', () => import('./pages/sign-in/login')),
  publicPage('/sign-up', () => import('./pages/sign-in/sign-up')),
  publicPage('/invite', () => import('./pages/sign-in/invite')),
  publicPage('/reset', () => import('./pages/sign-in/reset')),
  shell.addChildren([
    page('/', () => import('./pages/overview/overview')),
    page('/notices', () => import('./pages/notices/notices')),
    page('/events', () => import('./pages/events/events')),
    page('/actions', () => import('./pages/actions/actions')),
    page('/actions/$id', () => import('./pages/actions/action')),
    page('/audit', () => import('./pages/audit/audit')),
    page('/audit/$id', () => import('./pages/audit/audit-entry')),
    page('/audit-streams', () => import('./pages/audit-streams/audit-streams')),
    page('/dns', () => import('./pages/dns/zones')),
    page('/dns/templates', () => import('./pages/dns/templates/templates')),
    page('/dns/templates/new', () => import('./pages/dns/templates/new-template')),
    page('/dns/templates/$id', () => import('./pages/dns/templates/template')),
    page('/dns/providers', () => import('./pages/dns/providers/providers')),
    page('/dns/providers/new', () => import('./pages/dns/providers/new-provider')),
    page('/dns/providers/builtin', () => import('./pages/dns/providers/builtin')),
    page('/dns/providers/$id', () => import('./pages/dns/providers/provider')),
    page('/dns/zones/$id', () => import('./pages/dns/zone')),
    page('/dns/zones/$id/$tab', () => import('./pages/dns/zone')),
    page('/members', () => import('./pages/members/members')),
    page('/plan', () => import('./pages/plan/plan')),
    page('/profile', () => import('./pages/profile/profile')),
    page('/settings', () => import('./pages/settings/settings')),
    page('/operator', () => import('./pages/operator/operator')),
    page('/operator/$tab', () => import('./pages/operator/operator')),
    page('/heartbeats', () => import('./pages/heartbeats/heartbeats')),
    page('/heartbeats/new', () => import('./pages/heartbeats/new-heartbeat')),
    page('/heartbeats/ping-key', () => import('./pages/heartbeats/ping-key')),
    page('/heartbeats/$id', () => import('./pages/heartbeats/heartbeat')),
    page('/heartbeats/$id/edit', () => import('./pages/heartbeats/edit-heartbeat')),
    page('/incidents', () => import('./pages/incidents/incidents')),
    page('/incidents/$id', () => import('./pages/incidents/incident')),
    page('/maintenance', () => import('./pages/maintenance/maintenance')),
    page('/maintenance/new', () => import('./pages/maintenance/new-window')),
    page('/maintenance/$id', () => import('./pages/maintenance/window')),
    page('/maintenance/$id/edit', () => import('./pages/maintenance/edit-window')),
    page('/channels', () => import('./pages/channels/channels')),
    page('/channels/new', () => import('./pages/channels/new-channel')),
    page('/channels/$id', () => import('./pages/channels/channel')),
    page('/channels/$id/edit', () => import('./pages/channels/edit-channel')),
    page('/monitors', () => import('./pages/monitors/monitors')),
    page('/monitors/new', () => import('./pages/monitors/new-monitor')),
    page('/monitors/import', () => import('./pages/monitors/import-monitors')),
    page('/monitors/$id', () => import('./pages/monitors/monitor')),
    page('/monitors/$id/edit', () => import('./pages/monitors/edit-monitor')),
    page('/webhooks', () => import('./pages/webhooks/webhooks')),
    page('/webhooks/new', () => import('./pages/webhooks/new-endpoint')),
    page('/webhooks/deliveries', () => import('./pages/webhooks/deliveries')),
    page('/webhooks/deliveries/$id', () => import('./pages/webhooks/delivery')),
    page('/webhooks/$id', () => import('./pages/webhooks/endpoint')),
    page('/webhooks/$id/$tab', () => import('./pages/webhooks/endpoint')),
    page('/tokens', () => import('./pages/tokens/tokens')),
    page('/tokens/new', () => import('./pages/tokens/new-token')),
    page('/tokens/$id', () => import('./pages/tokens/token')),
  ]),
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
