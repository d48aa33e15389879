import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { pages, type DeclaredPage } from '../../src/dashboard/pages'
import { forgetProblems, inspectPage, signIn, startBrowser, recordProblems, newContext } from '../support/dashboard'
import { startDemo, type Demo } from '../support/demo'
import { pageAddresses, waitUntilLoaded, tabPaths } from '../support/every-page'

// A demo always stores its data in a folder, so one run is enough for all databases.
const isRepeated = process.env.BAILIWICK_DATABASE_URL !== undefined
/** Maximum cumulative layout shift of a page: the limit of “good” (web.dev/articles/cls). */
const maxShift = 0.1
const timeoutMs = 180_000

describe.skipIf(isRepeated)('every page', () => {
  let demo: Demo
  let browser: Browser
  let url = ''
  // One tab of each kind opens all addresses: a new tab compiles the dashboard again, which takes longer than the checks.
  const tabs = new Map<string, Page>()
  let addresses = new Map<string, string>()

  beforeAll(async () => {
    demo = startDemo()
    const owner = await demo.ready()
    url = owner.url
    browser = await startBrowser()
    const session = await signIn({ url }, owner)
    for (const size of ['wide', 'phone'] as const)
      for (const signedOut of [false, true]) {
        const context = await newContext(browser, { phone: size === 'phone' })
        if (!signedOut) await context.addCookies([{ ...session, url }])
        await context.addInitScript(recordShifts)
        tabs.set(tabOf(size, signedOut), recordProblems(await context.newPage(), url))
      }
    const read = async (path: string) => {
      const response = await fetch(url + path, { headers: { cookie: `${session.name}=${session.value}` } })
      if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
      return await response.json()
    }
    addresses = new Map((await pageAddresses(read)).map(one => [one.path, one.address]))
  }, 660_000)

  afterAll(async () => {
    await browser?.close()
    await demo?.stop('SIGKILL')
    demo?.remove()
  })

  test.each(Object.entries<DeclaredPage>(pages).filter(([path]) => !path.includes('/$tab')))(
    '%s has no problems in light and dark, on desktop and phone',
    async (path, { isPublic }) => {
      const queue = [addresses.get(path)!]
      for (const address of queue) {
        const checks = [expectNoProblems(address, 'wide', isPublic), expectNoProblems(address, 'phone', isPublic)]
        // After a failure too, both tabs have to be free for the next page.
        await Promise.allSettled(checks)
        const [links] = await Promise.all(checks)
        for (const tab of links!) if (!queue.includes(tab)) queue.push(tab)
      }
    },
    timeoutMs,
  )

  test(
    'pages of the handbook have no problems in light and dark, on desktop and phone',
    async () => {
      const checked = ['/docs', '/docs/getting-started', '/docs/webhooks', '/docs/uptime-kuma', '/docs/search?q=verify+signature']
      for (const address of checked)
        for (const size of ['wide', 'phone'] as const) {
          const page = await open(tabs.get(tabOf(size, true))!, address)
          await page.getByRole('heading', { level: 1 }).waitFor()
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme })
            const found = await inspectPage(page, { colorsOnly: colorScheme === 'dark' })
            expect([address, size, colorScheme, found]).toEqual([address, size, colorScheme, clean])
          }
        }
    },
    timeoutMs,
  )

  test(
    'the handbook can be searched and its code copied, and lists its pages and headings',
    async () => {
      const wide = await open(tabs.get(tabOf('wide', true))!, '/docs/webhooks')
      await wide.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Retries' }).waitFor()
      await wide.context().grantPermissions(['clipboard-write'])
      await wide.locator('.code').first().hover()
      // It disappears after a moment.
      const copied = wide.getByRole('button', { name: 'Copied' }).waitFor()
      await Promise.all([copied, wide.getByRole('button', { name: 'Copy' }).first().click()])
      await wide.keyboard.press('/')
      await wide.keyboard.type('verify signature\n')
      await wide.getByRole('link', { name: 'Webhooks › Verify signatures' }).click()
      await wide.waitForURL('**/docs/webhooks#verify-signatures')

      const phone = await open(tabs.get(tabOf('phone', true))!, '/docs/webhooks')
      const navigation = phone.getByRole('navigation', { name: 'Handbook' })
      await navigation.waitFor({ state: 'hidden' })
      await phone.getByText('On this page').and(phone.locator('summary')).click()
      await phone.getByRole('link', { name: 'Retries', exact: true }).click()
      await phone.getByRole('button', { name: 'Pages' }).click()
      expect(await inspectPage(phone)).toEqual(clean)
      await navigation.getByRole('link', { name: 'Getting started' }).click()
      await phone.getByRole('heading', { level: 1, name: 'Getting started' }).waitFor()
      await navigation.waitFor({ state: 'hidden' })
    },
    timeoutMs,
  )

  test(
    'lists are as wide as a large screen, and cut nothing off',
    async () => {
      const tab = tabs.get(tabOf('wide', false))!
      const before = tab.viewportSize()!
      const found: Record<string, unknown> = {}
      for (const width of [1360, 2560]) {
        await tab.setViewportSize({ width, height: 1000 })
        for (const address of lists) {
          const page = await open(tab, address)
          await waitUntilLoaded(page)
          await page.getByRole('table').getByRole('row').nth(1).waitFor()
          found[`${address} ${width}`] = await page.evaluate(() => {
            const table = document.querySelector('table')!
            const cut = [...table.querySelectorAll('td, td *')].filter(
              one =>
                one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible',
            )
            return {
              unused: document.documentElement.clientWidth - table.getBoundingClientRect().right > 40,
              cut: cut.map(one => one.textContent),
            }
          })
        }
      }
      await tab.setViewportSize(before)
      expect(Object.entries(found).filter(([, one]) => (one as { unused: boolean; cut: string[] }).unused)).toEqual([])
      expect(Object.entries(found).filter(([, one]) => (one as { cut: string[] }).cut.length > 0)).toEqual([])
    },
    timeoutMs,
  )

  test(
    'on a phone, lists show bars, times, and what and whom a row is about',
    async () => {
      const tab = tabs.get(tabOf('phone', false))!
      const row = async (address: string, text: string | RegExp) => {
        const page = await open(tab, address)
        await waitUntilLoaded(page)
        return page.getByRole('table').getByRole('row').filter({ hasText: text }).first()
      }
      const monitor = await row('/monitors', 'Payments')
      await monitor.getByRole('img', { name: /of the last \d+ checks passed/ }).waitFor()
      await monitor
        .getByText(/^https:.*\/health$/)
        .last()
        .waitFor()
      await monitor.getByText('Latency').waitFor()
      await monitor.getByText('down', { exact: true }).last().waitFor()
      const heartbeat = await row('/heartbeats', 'Hourly stock import')
      await heartbeat.getByRole('img', { name: /of the last \d+ runs succeeded/ }).waitFor()
      for (const text of ['Last ping', 'Next ping', 'every 1 h']) await heartbeat.getByText(text).waitFor()
      await (await row('/events', 'monitor.alert')).getByRole('link').waitFor()
      await (await row('/webhooks/deliveries', 'monitor.alert')).getByRole('link').nth(1).waitFor()
      await (
        await row('/audit?action=incident.acknowledge', 'Linus Berg acknowledged the incident')
      )
        .getByText('127.0.0.1')
        .waitFor()
      await (await row('/incidents?status=all', 'Payments is down')).getByText('Duration').waitFor()
    },
    timeoutMs,
  )

  test(
    'the overview shows why a provider rejects a record, one click away from the record',
    async () => {
      const { email, password } = await demo.ready()
      const page = recordProblems(await (await newContext(browser)).newPage(), url)
      await page.goto(`${url}/login`)
      await page.getByLabel('Email').fill(email)
      await page.getByRole('textbox', { name: 'Password' }).fill(password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      const reason = /blocked by the zone policy/
      const name = 'preview.kestrel-cdn.example A'
      await page.getByRole('listitem').filter({ hasText: name }).getByText(reason).waitFor()
      // Listed once, and conditions are described in words.
      expect(await page.getByText(reason).count()).toBe(1)
      await page.getByText(/^Certificate expires in .+, less than 14d/).waitFor()

      await page.getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name: 'kestrel-cdn.example' }).waitFor()
      const row = page.getByRole('row').filter({ hasText: 'preview' })
      await row.waitFor()
      expect(await page.getByRole('row').filter({ hasText: 'kestrel' }).count()).toBeLessThanOrEqual(1)
      await row.getByText(reason).waitFor()
      await page.getByRole('list', { name: 'Providers' }).getByText(reason).waitFor()
    },
    timeoutMs,
  )

  /** @returns the tabs it links to */
  async function expectNoProblems(address: string, size: 'wide' | 'phone', isPublic = false): Promise<string[]> {
    const page = await open(tabs.get(tabOf(size, isPublic))!, address)
    await waitUntilLoaded(page)
    const where = [address, size]
    expect([...where, await page.getByRole('heading', { level: 1 }).count()]).toEqual([...where, 1])
    expect([
      ...where,
      await page
        .getByRole('heading', { name: /^(Page not found|Not found|Couldn’t load this page|Something went wrong)$/ })
        .count(),
    ]).toEqual([...where, 0])
    if ((await shiftsOn(page)).length > 0) {
      // What the page shows may have changed while it was open. If it moves while it loads, it does so again.
      await open(page, address)
      await waitUntilLoaded(page)
    }
    expect([...where, await shiftsOn(page)]).toEqual([...where, []])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.waitForFunction(theme => document.documentElement.dataset.theme === theme, colorScheme)
      expect([...where, colorScheme, await inspectPage(page, { colorsOnly: colorScheme === 'dark' })]).toEqual([
        ...where,
        colorScheme,
        clean,
      ])
    }
    return await tabPaths(page)
  }

  async function open(page: Page, address: string): Promise<Page> {
    // What a page does while it is left belongs to that page.
    await page.goto('about:blank')
    await page.emulateMedia({ colorScheme: 'light' })
    forgetProblems(page)
    await page.goto(url + address)
    return page
  }
})

const lists = [
  ...['/monitors', '/heartbeats', '/incidents?status=all', '/maintenance?view=list', '/channels'],
  ...['/dns', '/dns/records', '/dns/providers', '/dns/templates', '/dynamic-ips', '/webhooks', '/webhooks/deliveries'],
  ...['/events', '/tokens', '/actions', '/audit', '/members'],
]

const tabOf = (size: 'wide' | 'phone', signedOut: boolean): string => `${size} ${signedOut ? 'signed out' : 'signed in'}`

const clean = { axe: [], errors: [], external: [], overflow: 0 }

interface Shifts {
  shifts?: { value: number; moved: string[] }[]
}

interface LayoutShift extends PerformanceEntry {
  value: number
  hadRecentInput: boolean
  sources: { node: Node | null }[]
}

/** Runs in each page before its own scripts. */
function recordShifts(): void {
  const shifts = ((globalThis as Shifts).shifts ??= [])
  new PerformanceObserver(list => {
    for (const { value, hadRecentInput, sources } of list.getEntries() as LayoutShift[]) {
      // The demo keeps running: a new row moves those below it.
      if (sources.length > 0 && sources.every(({ node }) => node instanceof HTMLTableRowElement)) continue
      const moved = sources.map(({ node }) =>
        node instanceof Element ? node.outerHTML.slice(0, 120) : (node?.textContent ?? ''),
      )
      if (!hadRecentInput) shifts.push({ value, moved })
    }
  }).observe({ type: 'layout-shift', buffered: true })
}

/** Lists the layout shifts of a page if their sum is over the limit. */
async function shiftsOn(page: Page): Promise<string[]> {
  const shifts = await page.evaluate(() => (globalThis as Shifts).shifts ?? [])
  const sum = shifts.reduce((total, one) => total + one.value, 0)
  return sum <= maxShift ? [] : shifts.flatMap(one => [one.value.toFixed(4), ...one.moved])
}
