import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { dashboardPaths } from '../../src/dashboard/paths'
import { findingsOf, signIn, startBrowser, watch, windowOf } from '../support/dashboard'
import { startDemo, type Demo } from '../support/demo'
import { doors, everyAddress, settled, tabsOn } from '../support/every-page'

// A demo keeps its data in a folder, whatever database the tests are about: once is enough.
const isRepeated = process.env.BAILIWICK_DATABASE_URL !== undefined
/** What a page may move by while it is read, as browsers score it: what they call good (web.dev/articles/cls). */
const mostShift = 0.1
const patienceMs = 120_000

describe.skipIf(isRepeated)('every page', () => {
  let demo: Demo
  let browser: Browser
  let url = ''
  const contexts: Record<'wide' | 'phone' | 'stranger', BrowserContext> = {} as never
  let addresses = new Map<string, string>()

  beforeAll(async () => {
    demo = startDemo()
    const owner = await demo.ready()
    url = owner.url
    browser = await startBrowser()
    const session = await signIn({ url }, owner)
    for (const name of ['wide', 'phone'] as const) {
      contexts[name] = await windowOf(browser, { phone: name === 'phone' })
      await contexts[name].addCookies([{ ...session, url }])
    }
    contexts.stranger = await windowOf(browser)
    for (const context of Object.values(contexts)) await context.addInitScript(noteShifts)
    const read = async (path: string) => {
      const answer = await fetch(url + path, { headers: { cookie: `${session.name}=${session.value}` } })
      if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
      return await answer.json()
    }
    addresses = new Map((await everyAddress(read)).map(one => [one.path, one.address]))
  }, 300_000)

  afterAll(async () => {
    await browser?.close()
    await demo?.stop('SIGKILL')
    demo?.remove()
  })

  test.each(dashboardPaths.filter(path => !path.includes('/:tab')))(
    '%s is clean in light and dark, wide and on a phone',
    async path => {
      const queue = [addresses.get(path)!]
      for (const address of queue) {
        const [tabs] = await Promise.all([isClean(path, address, 'wide'), isClean(path, address, 'phone')])
        for (const tab of tabs) if (!queue.includes(tab)) queue.push(tab)
      }
    },
    patienceMs,
  )

  /** @returns the tabs that it leads to */
  async function isClean(path: string, address: string, size: 'wide' | 'phone'): Promise<string[]> {
    const page = await open(doors.has(path) ? 'stranger' : size, address)
    try {
      if (doors.has(path) && size === 'phone') await page.setViewportSize({ width: 390, height: 844 })
      await settled(page)
      const where = [address, size]
      expect([...where, await page.getByRole('heading', { level: 1 }).count()]).toEqual([...where, 1])
      expect([
        ...where,
        await page.getByRole('heading', { name: /^(No such page|Not found|Not read|This page failed)$/ }).count(),
      ]).toEqual([...where, 0])
      expect([...where, await movedOn(page)]).toEqual([...where, []])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.waitForFunction(theme => document.documentElement.dataset.theme === theme, colorScheme)
        expect([...where, colorScheme, await findingsOf(page)]).toEqual([...where, colorScheme, clean])
      }
      return await tabsOn(page)
    } finally {
      await page.close()
    }
  }

  async function open(context: keyof typeof contexts, address: string): Promise<Page> {
    const page = watch(await contexts[context].newPage(), url)
    await page.goto(url + address)
    return page
  }
})

const clean = { axe: [], errors: [], foreign: [], overflow: 0 }

interface Shifts {
  shifts?: { value: number; moved: string[] }[]
}

interface LayoutShift extends PerformanceEntry {
  value: number
  hadRecentInput: boolean
  sources: { node: Node | null }[]
}

/** Runs in each page, before everything else of it. */
function noteShifts(): void {
  const shifts = ((globalThis as Shifts).shifts ??= [])
  new PerformanceObserver(list => {
    for (const { value, hadRecentInput, sources } of list.getEntries() as LayoutShift[]) {
      const moved = sources.map(({ node }) =>
        node instanceof Element ? node.outerHTML.slice(0, 120) : (node?.textContent ?? ''),
      )
      if (!hadRecentInput) shifts.push({ value, moved })
    }
  }).observe({ type: 'layout-shift', buffered: true })
}

/** What moved, where that is more than it may. */
async function movedOn(page: Page): Promise<string[]> {
  const shifts = await page.evaluate(() => (globalThis as Shifts).shifts ?? [])
  const sum = shifts.reduce((total, one) => total + one.value, 0)
  return sum <= mostShift ? [] : shifts.flatMap(one => [one.value.toFixed(4), ...one.moved])
}
