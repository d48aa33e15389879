import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { LinkButton } from './parts/button'
import { Page, Skeleton } from './parts/page'
import { Problem } from './parts/problem'
import { Refused } from './client'
import { Shell } from './shell/shell'

const root = createRootRoute({ component: Outlet, notFoundComponent: Missing, errorComponent: Broken })
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })

/** What stands behind the ? of an address: each page reads the words that are its own (parts/address.ts). */
const validateSearch = (search: Record<string, unknown>): { [name: string]: string | undefined } =>
  search as Record<string, string>

/** A page of people who are signed in. Its code is fetched when it is first gone to. */
const page = <Path extends string>(path: Path, load: () => Promise<{ default: () => React.ReactNode }>) =>
  createRoute({ getParentRoute: () => shell, path, component: lazyRouteComponent(load), validateSearch })

/** A page in front of the login. */
const door = <Path extends string>(path: Path, load: () => Promise<{ default: () => React.ReactNode }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load), validateSearch })

// One line a page; its folder in pages/ has the name of its area. Each address stands in paths.ts too, for the hub.
const routes = root.addChildren([
  door('/setup', () => import('./pages/door/setup')),
  door('/login', () => import('./pages/door/login')),
  door('/sign-up', () => import('./pages/door/sign-up')),
  door('/invite', () => import('./pages/door/invite')),
  door('/reset', () => import('./pages/door/reset')),
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

/** Where each address leads. What a page shows is part of its address, in plain `name=value` form. */
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

function Missing() {
  return (
    <main>
      <Page title="No such page" lead="The address leads nowhere.">
        <LinkButton to="/">To the overview</LinkButton>
      </Page>
    </main>
  )
}

function Broken({ error }: { error: unknown }) {
  const refused =
    error instanceof Refused
      ? error
      : new Refused(0, 'page_failed', error instanceof Error ? error.message : String(error), [], null, {})
  return (
    <Page title="This page failed">
      <Problem error={refused} onAgain={() => location.reload()} />
    </Page>
  )
}
