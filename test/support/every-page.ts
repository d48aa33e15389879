import type { Page } from 'playwright-core'
import { pageList } from '../../src/dashboard/pages'
import { resourceEntries } from '../../src/registry'

/** Filters that find a resource with content to show, by the path of its page. */
const filters: Readonly<Record<string, string>> = {
  '/dns/zones/$id': 'synced=false&sort=name',
  '/monitors/$id': 'key=shop',
  '/heartbeats/$id': 'status=up',
  '/incidents/$id': 'status=acknowledged',
  '/webhooks/deliveries/$id': 'status=exhausted',
  '/webhooks/$id': 'status=enabled&active=true',
  '/certificates/$id': 'q=shop&in_use=true',
  '/audit/$id': 'action=dns.rrsets.replace',
}

/** API path of a list with resources for a page whose path contains an id. Undefined if no resource has such a page. */
export function listFor(path: string): string | undefined {
  const page = path.replace(/(?<=\/\$id).*/, '')
  const list = resourceEntries.find(one => one.page === page)?.path
  return list && `/v1${list}?${filters[page] ?? ''}`
}

/**
 * Returns the URL path of every page, with ids of existing resources. For tabs, see `tabPaths`.
 * @param read fetches an API path: `/v1/monitors`
 */
export async function pageAddresses(
  read: (path: string) => Promise<any>,
): Promise<{ path: string; address: string; isPublic: boolean }[]> {
  const found = []
  for (const { path, isPublic = false } of pageList) {
    if (path.includes('/$tab')) continue
    if (!path.includes('$id')) {
      found.push({ path, isPublic, address: path })
      continue
    }
    const list = listFor(path)!
    const { data } = await read(list)
    if (data.length === 0) throw new Error(`${path} has nothing to show: ${list} is empty`)
    found.push({ path, isPublic, address: path.replace('$id', data[0].id) })
  }
  return found
}

/** Returns the URL paths of the other tabs of a page. */
export const tabPaths = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const links = [...document.querySelectorAll<HTMLAnchorElement>('main nav:not([aria-label=Breadcrumb]) a')]
    const here = location.pathname
    return [...new Set(links.map(link => new URL(link.href).pathname))].filter(
      path => path !== here && path.startsWith(`${here}/`),
    )
  })

/** Waits until a page has loaded its content. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForFunction(() => document.querySelector('main [aria-busy=true]') === null)
  // Leaves time for parts that load lazily, such as charts.
  await page.waitForTimeout(400)
}
