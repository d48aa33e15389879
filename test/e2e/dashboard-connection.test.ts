import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startHub, until, type HubProcess } from '../support/binary'
import { dashboard, expectClean, forgetProblems, type Dashboard } from '../support/dashboard'
import { freePort } from '../support/free-port'

let ui: Dashboard
let args: string[]
let restarted: HubProcess | undefined

beforeAll(async () => {
  args = ['--listen', `127.0.0.1:${await freePort()}`]
  ui = await dashboard({ args })
}, 60_000)
afterAll(async () => {
  await restarted?.stop()
  await ui?.[Symbol.asyncDispose]()
})

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
}, 60_000)

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
}, 60_000)

test('without the hub, pages say so, keep what was typed, and continue by themselves when it is back', async () => {
  const schedule = { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 }
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
}, 120_000)
