import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page, Request } from 'playwright-core'
import { startHub, until, type HubProcess } from '../support/binary'
import {
  ada,
  dashboard,
  expectClean,
  forgetProblems,
  newContext,
  signIn,
  startBrowser,
  type Dashboard,
} from '../support/dashboard'
import { freePort } from '../support/free-port'

let ui: Dashboard
let args: string[]
let restarted: HubProcess | undefined

beforeAll(async () => {
  args = ['--listen', `127.0.0.1:${await freePort()}`]
  ui = await dashboard({ args })
}, 180_000)
afterAll(async () => {
  await restarted?.stop()
  await ui?.[Symbol.asyncDispose]()
})

const schedule = { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 }
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const menu = (page: Page, name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click()
const isLive = (page: Page) => page.getByRole('status').getByText('Live', { exact: true }).waitFor()

test('a page whose code can’t be loaded shows why inside the dashboard, and loads it when asked', async () => {
  const page = await ui.open('/')
  await page.route('**/assets/*.js', route => route.abort())
  await menu(page, 'Heartbeats')
  await heading(page, 'Couldn’t load this page')
  await page.getByRole('alert').getByText('The code of this page could not be loaded.').waitFor()
  // React logs the error.
  forgetProblems(page)
  await expectClean(page)
  await menu(page, 'Overview')
  await heading(page, 'Overview')
  await menu(page, 'Heartbeats')
  await heading(page, 'Couldn’t load this page')
  await page.unroute('**/assets/*.js')
  await page.getByRole('button', { name: 'Try again' }).click()
  await heading(page, 'Heartbeats')
}, 180_000)

test('after an update of the hub, pages that can’t be loaded anymore offer to reload', async () => {
  const page = await ui.open('/')
  const html = await (await fetch(ui.hub.url)).text()
  await page.route('**/assets/*.js', route => route.fulfill({ status: 404 }))
  await page.route(`${ui.hub.url}/`, route =>
    route.fulfill({ contentType: 'text/html', body: html.replace(/src="[^"]+\.js"/, 'src="/assets/other.js"') }),
  )
  await menu(page, 'Heartbeats')
  await heading(page, 'Couldn’t load this page')
  const offer = page.getByText('Bailiwick was updated. Save your work, then reload the page to use the new version.')
  await until('the offer', async () => (await offer.count()) === 2)
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Reload' }).first().click()
  await heading(page, 'Heartbeats')
  expect(await offer.count()).toBe(0)
}, 180_000)

test('only visible pages keep a stream, so that hidden tabs and the back/forward cache don’t use up the connections', async () => {
  await using browser = await startBrowser('/usr/bin/chromium', true)
  const context = await newContext(browser)
  await context.addCookies([{ ...(await signIn(ui.hub, ada)), url: ui.hub.url }])
  const streams = new Set<Request>()
  context.on('request', request => new URL(request.url()).pathname === '/v1/stream' && streams.add(request))
  context.on('requestfinished', request => streams.delete(request))
  context.on('requestfailed', request => streams.delete(request))
  const open = async (page: Page, path: string, name: string) => {
    await page.goto(`${ui.hub.url}${path}`)
    await heading(page, name)
    await isLive(page)
  }

  const first = await context.newPage()
  const paths = ['/monitors', '/heartbeats', '/tokens', '/webhooks', '/channels', '/notices', '/heartbeats', '/monitors']
  const names = ['Monitors', 'Heartbeats', 'Tokens', 'Webhooks', 'Channels', 'Notices', 'Heartbeats', 'Monitors']
  for (const [at, path] of paths.entries()) await open(first, path, names[at]!)
  await until('one stream', async () => streams.size === 1)
  await ui.api('POST', '/v1/heartbeats', { name: 'created meanwhile', schedule })
  await first.goBack({ waitUntil: 'commit' })
  await heading(first, 'Heartbeats')
  // From the cache. Otherwise, it would be `back_forward`.
  expect(await first.evaluate(() => performance.getEntriesByType('navigation')[0]!.toJSON().type)).toBe('navigate')
  await first.getByRole('link', { name: 'created meanwhile' }).waitFor()
  await isLive(first)
  await until('one stream', async () => streams.size === 1)

  const tabs = [first]
  while (tabs.length < 8) {
    const previous = tabs.at(-1)!
    const next = await context.newPage()
    await hide(previous, true)
    await open(next, '/notices', 'Notices')
    tabs.push(next)
  }
  await until('one stream', async () => streams.size === 1)
  await ui.api('POST', '/v1/heartbeats', { name: 'created while hidden', schedule })
  expect(await first.getByRole('alert').count()).toBe(0)
  await hide(first, false)
  await first.getByRole('link', { name: 'created while hidden' }).waitFor()
  await isLive(first)
}, 180_000)

// In tests, all tabs are visible.
const hide = (page: Page, isHidden: boolean) =>
  page.evaluate(
    state => {
      Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    },
    isHidden ? 'hidden' : 'visible',
  )

test('without the hub, pages say so, keep what was typed, and continue by themselves when it is back', async () => {
  await ui.api('POST', '/v1/heartbeats', { name: 'hourly export', schedule })
  const form = await ui.open('/heartbeats/new')
  await form.getByLabel('Name', { exact: true }).fill('nightly backup')
  const page = await ui.open('/heartbeats')
  await page.getByRole('link', { name: 'hourly export' }).waitFor()
  await Promise.all([isLive(form), isLive(page)])
  // Once idle, pages load the code of the others.
  const isLoaded = (name: string) => performance.getEntriesByType('resource').some(one => one.name.includes(`/assets/${name}`))
  await Promise.all(['tokens', 'webhooks'].map(name => page.waitForFunction(isLoaded, name)))

  await ui.hub.stop()
  const alert = (on: Page) => on.getByRole('alert').getByText('Can’t reach Bailiwick. Reconnecting…')
  await Promise.all([alert(form).waitFor(), alert(page).waitFor()])
  await page.getByText('Disconnected').waitFor()
  await expectClean(page)
  await form.getByRole('button', { name: 'Create heartbeat' }).click()
  await form.locator('form').getByText('Can’t reach Bailiwick. Check that it is running').waitFor()
  await expectClean(form)
  for (const name of ['Tokens', 'Webhooks', 'Heartbeats']) {
    await menu(page, name)
    await heading(page, name)
  }
  await page.getByRole('button', { name: 'Retry now' }).click()
  await alert(page).waitFor()

  restarted = await startHub(ui.installation, { args })
  await Promise.all([alert(form).waitFor({ state: 'detached' }), alert(page).waitFor({ state: 'detached' })])
  await Promise.all([isLive(form), isLive(page)])
  expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('nightly backup')
  await form.getByRole('button', { name: 'Create heartbeat' }).click()
  await heading(form, 'nightly backup')
  await page.getByRole('link', { name: 'nightly backup' }).waitFor()
}, 180_000)
