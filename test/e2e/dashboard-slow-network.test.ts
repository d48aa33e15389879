import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../support/binary'
import { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { dashboard, forgetProblems, type Dashboard } from '../support/dashboard'

let ui: Dashboard
const double = new HetznerCloudDouble()
beforeAll(async () => {
  ui = await dashboard()
  await double.start()
  double.addServer({ name: 'web-1' })
  const [workspace] = (await ui.api('GET', '/v1/workspaces')).data
  await ui.api('PATCH', `/v1/workspaces/${workspace.id}`, { network_policy: { allow_private: true, allow_ranges: [] } })
}, 180_000)
afterAll(async () => {
  double.stop()
  await ui?.[Symbol.asyncDispose]()
})

/** Holds the responses to requests of a page until the returned function is called. */
async function hold(page: Page, url: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(url, async route => {
    await promise
    await route.continue()
  })
  return resolve
}

const addAccount = (name: string) =>
  ui.api('POST', '/v1/cloud-accounts', { name, kind: 'hetzner', settings: { api_token: double.token, base_url: double.url } })

test('a dialog that was opened before its choices had loaded offers them', async () => {
  const zone = await ui.api('POST', '/v1/dns/zones', { name: 'slow.example' })
  await ui.api('POST', '/v1/dns/templates', { name: 'Mail', records: [{ name: '@', type: 'TXT', content: 'mail' }] })
  const page = await ui.open('/dns')
  const release = await hold(page, /\/v1\/dns\/templates\?/)
  await page.goto(`${ui.hub.url}/dns/zones/${zone.id}/templates`)
  await page.getByRole('button', { name: 'Apply template' }).first().click()
  release()
  await page.getByRole('dialog').getByLabel('Template', { exact: true }).selectOption({ label: 'Mail' })
  await page.getByRole('button', { name: 'Preview changes' }).waitFor()
})

test('Enter in a search for resources waits for the results', async () => {
  await ui.api('POST', '/v1/heartbeats', {
    name: 'nightly backup',
    schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
  })
  const page = await ui.open('/incidents')
  await page.getByRole('button', { name: 'Create incident' }).first().click()
  const release = await hold(page, /\/v1\/heartbeats\?.*q=/)
  const search = page.getByLabel('Affected monitors and heartbeats')
  await search.fill('nightly')
  await search.press('Enter')
  release()
  await page.getByRole('button', { name: 'Remove nightly backup' }).waitFor()
})

test('saving preferences keeps what was typed in the other forms of the profile', async () => {
  const page = await ui.open('/profile')
  await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace')
  await page.getByLabel('Density').selectOption('compact')
  const saved = page.waitForResponse(response => response.url().endsWith('/v1/users/me') && response.request().method() === 'GET')
  await page.locator('#preferences').getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Changes saved').waitFor()
  await saved
  await page.locator('#details').getByRole('button', { name: 'Save changes' }).click()
  await until('the name is saved', async () => (await ui.api('GET', '/v1/members')).data[0].name === 'Ada Lovelace')
})

test('rules of a firewall that someone else has changed meanwhile are not overwritten', async () => {
  const firewall = await ui.api('POST', '/v1/firewalls', { name: 'web' })
  const page = await ui.open(`/firewalls/${firewall.id}`)
  await page.getByRole('button', { name: 'Edit rules' }).click()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByLabel('Ports 1').fill('443')
  await page.getByLabel('Added').first().waitFor()
  await ui.api('PATCH', `/v1/firewalls/${firewall.id}`, { description: 'Changed by Bob' })
  await page.getByText('Changed by Bob').waitFor()
  await page.getByRole('button', { name: 'Apply rules' }).click()
  await page
    .getByRole('alert')
    .getByText(/version/)
    .waitFor()
  expect((await ui.api('GET', `/v1/firewalls/${firewall.id}`)).rules).toEqual([])
})

test('the form of a new server keeps its account and what was entered when others are added, and when a refetch fails', async () => {
  await addAccount('Production')
  const page = await ui.open('/servers/new')
  await page.getByLabel('Name', { exact: true }).fill('app-1')
  await addAccount('Archive')
  const account = page.getByLabel('Cloud account')
  await until('the other account', async () => (await account.locator('option').count()) === 2)
  expect(await account.locator('option:checked').textContent()).toBe('Production')
  const failed = page.waitForResponse(response => response.url().includes('/images') && response.status() === 424)
  await page.route(/\/cloud-accounts\/\w+\/images/, route => route.fulfill({ status: 424, json: { detail: 'No route' } }))
  // Fetches again what the page has loaded, as after a pause.
  await page.clock.install()
  await page.clock.fastForward(60_000)
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await failed
  forgetProblems(page)
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('app-1')
}, 180_000)
