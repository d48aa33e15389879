import type { Page } from 'playwright-core'
import { dashboardPaths } from '../../src/dashboard/paths'

/** Where an address with an id finds one to look at: one that has something to show. */
export const idsOf: Readonly<Record<string, string>> = {
  '/dns/zones': '/v1/dns/zones?synced=false&sort=name',
  '/dns/templates': '/v1/dns/templates',
  '/dns/providers': '/v1/dns/providers',
  '/monitors': '/v1/monitors?key=shop',
  '/heartbeats': '/v1/heartbeats?status=up',
  '/incidents': '/v1/incidents?status=acknowledged',
  '/maintenance': '/v1/maintenance-windows',
  '/channels': '/v1/notification-channels',
  '/webhooks/deliveries': '/v1/webhook-deliveries?status=exhausted',
  '/webhooks': '/v1/webhook-endpoints?status=enabled&active=true',
  '/tokens': '/v1/tokens',
  '/audit': '/v1/audit-events?action=dns.rrsets.replace',
  '/actions': '/v1/actions',
}

/** Pages in front of the login, which send on those who are signed in, or have nothing to do for them. */
export const doors: ReadonlySet<string> = new Set(['/setup', '/login', '/sign-up', '/invite', '/reset'])

/**
 * The addresses of pages, with ids of what is there. Tabs have addresses of their own, which the pages link to: see `tabsOn`.
 * @param read reads the API: `/v1/monitors`
 */
export async function everyAddress(read: (path: string) => Promise<any>): Promise<{ path: string; address: string }[]> {
  const found = []
  for (const path of dashboardPaths) {
    if (path.includes('/:tab')) continue
    const [list, rest] = path.split('/:id') as [string, string | undefined]
    if (rest === undefined) {
      found.push({ path, address: path })
      continue
    }
    const query = idsOf[list]!
    const { data } = await read(query)
    if (data.length === 0) throw new Error(`${path} has nothing to show: ${query} is empty`)
    found.push({ path, address: `${list}/${data[0].id}${rest}` })
  }
  return found
}

/** The addresses of the tabs of a page, itself left out. */
export const tabsOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const links = [...document.querySelectorAll<HTMLAnchorElement>('main nav:not([aria-label=Breadcrumb]) a')]
    const here = location.pathname
    return [...new Set(links.map(link => new URL(link.href).pathname))].filter(
      path => path !== here && path.startsWith(`${here}/`),
    )
  })

/** Waits until a page has what it shows: nothing is being read any more. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForFunction(() => document.querySelector('main [aria-busy=true]') === null)
  // What comes in pieces, such as a chart whose code is read when it is first drawn, comes within this time.
  await page.waitForTimeout(400)
}
