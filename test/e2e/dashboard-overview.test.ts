import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../support/binary'
import { ada, dashboard, expectClean, type Dashboard } from '../support/dashboard'

let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
}, 180_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

/** Counts the actions of a user on a page: clicks, pasted text, and keys. */
function counted(page: Page) {
  let actions = 0
  return {
    click: (name: string) => (actions++, page.getByRole('link', { name }).or(page.getByRole('button', { name })).click()),
    // Into the focused element, like Ctrl+V.
    paste: (text: string) => (actions++, page.keyboard.insertText(text)),
    press: (key: string) => (actions++, page.keyboard.press(key)),
    count: () => actions,
  }
}

test('after sign-in, it takes two actions to monitor a pasted URL with its certificate and DNS name', async () => {
  const page = await ui.open('/login', { signedOut: true })
  await page.getByLabel('Email').fill(ada.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(ada.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  const address = page.getByLabel('Paste an address to monitor')
  // For a port, the server is asked what it speaks.
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') })
  const host = `127.0.0.1:${server.port}`
  await address.fill(host)
  await page.getByTitle(`http://${host}/`).getByRole('checkbox', { checked: true }).waitFor()
  await address.fill('')

  const person = counted(page)
  await person.paste('https://shop.example.com/')
  await page.getByLabel('TLS').waitFor()
  await person.press('Enter')
  const toast = page.getByRole('dialog').filter({ hasText: '3 monitors created' })
  expect(await toast.getByRole('link', { name: 'View' }).getAttribute('href')).toBe('/monitors')
  expect(person.count()).toBeLessThanOrEqual(4)
  const { data } = await ui.api('GET', '/v1/monitors?sort=created_at')
  expect(data.map((one: any) => one.type).sort()).toEqual(['dns', 'http', 'tls'])
  // The step is done, and its field disappears.
  await page.getByRole('listitem').filter({ hasText: 'Monitor a website' }).getByLabel('Done', { exact: true }).waitFor()
  expect(await page.getByLabel('Paste an address to monitor').count()).toBe(0)
  await expectClean(page)
}, 180_000)

test('with existing monitors, it takes three actions: a key, the URL, and Enter', async () => {
  const page = await ui.open('/')
  const person = counted(page)
  await person.press('c')
  await page.getByRole('heading', { level: 1, name: 'Create monitor' }).waitFor()
  await page.getByLabel('Target', { exact: true }).waitFor()
  await person.paste('https://mail.example.org/')
  await person.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'mail.example.org' }).waitFor()
  expect(person.count()).toBeLessThanOrEqual(4)
}, 180_000)

test('the getting started steps are checked off live, and can be hidden', async () => {
  const page = await ui.open('/')
  await page.getByText('1 of 5 done').waitFor()
  await ui.api('POST', '/v1/heartbeats', {
    name: 'backup',
    schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
  })
  await page.getByText('2 of 5 done').waitFor()
  await page.getByRole('button', { name: 'Add a DNS zone' }).click()
  await page.getByRole('dialog', { name: 'Create zone' }).waitFor()
  await page.keyboard.press('Escape')
  await ui.api('POST', '/v1/dns/zones', { name: 'example.com' })
  await page.getByText('3 of 5 done').waitFor()
  await ui.api('POST', '/v1/invitations', { email: 'grace@example.com', role: 'member' })
  await page.getByText('4 of 5 done').waitFor()
  const saved = page.waitForResponse(one => one.request().method() === 'PATCH')
  await page.getByRole('button', { name: 'Hide' }).click()
  await page.getByRole('heading', { name: 'Getting started' }).waitFor({ state: 'detached' })
  expect((await saved).status()).toBe(200)
  // Hidden in other browsers too.
  const other = await ui.open('/')
  await other.getByRole('heading', { name: 'Active issues' }).waitFor()
  expect(await other.getByRole('heading', { name: 'Getting started' }).count()).toBe(0)
}, 180_000)

test('a new incident appears live, and can be acknowledged and unacknowledged in place', async () => {
  const page = await ui.open('/')
  const { id } = await ui.api('POST', '/v1/incidents', { title: 'Payments fail' })
  const statusIs = (status: string) =>
    until(`the incident is ${status}`, async () => (await ui.api('GET', `/v1/incidents/${id}`)).status === status, 30_000)
  await page.getByRole('button', { name: 'Acknowledge Payments fail' }).click()
  await statusIs('acknowledged')
  await page.getByText('Acknowledged by Ada').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await statusIs('open')
  await page.getByRole('button', { name: 'Acknowledge Payments fail' }).waitFor()
  await expectClean(page)
  await page.getByRole('link', { name: 'Payments fail' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Payments fail' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/incidents/${id}`)
  // Changes of other resources are not shown at first.
  const changes = page.getByRole('heading', { name: 'Changes before the incident' }).locator('xpath=../..')
  await changes.getByText('No known related changes').waitFor()
  expect(await changes.getByRole('listitem').count()).toBe(0)
  await changes.getByRole('button', { name: 'Show all changes' }).click()
  await changes.getByText(/^The token .+ created the heartbeat backup/).waitFor()
  await changes.getByRole('link', { name: 'backup' }).waitFor()
  await expectClean(page)
}, 180_000)

test('a count links to the filtered list, and recent changes are described in words', async () => {
  const page = await ui.open('/')
  await page
    .getByText(/^The token .+ created the heartbeat backup/)
    .first()
    .waitFor()
  await page.getByRole('link', { name: 'backup' }).first().waitFor()
  await page
    .getByRole('link', { name: /^Audit event, / })
    .first()
    .waitFor()
  await page.getByRole('link', { name: '1 new' }).click()
  await page.waitForURL(address => address.pathname === '/heartbeats' && address.searchParams.get('status') === 'new')
}, 180_000)

test('issues have the same severity and status as in the lists', async () => {
  const { id } = await ui.api('POST', '/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: ['monitor.alert'] })
  await ui.api('POST', '/v1/incidents', { title: 'Slow exports', severity: 'info' })
  await ui.api('POST', '/v1/monitors', { target: 'http://127.0.0.1:9/', interval_seconds: 10 })
  const failing = async () => (await ui.api('GET', `/v1/webhook-endpoints/${id}`)).failing
  await until('a failed delivery', failing)
  const page = await ui.open('/')
  const issues = page.getByRole('heading', { level: 2, name: 'Active issues' }).locator('xpath=../..')
  const slow = issues.getByRole('listitem').filter({ hasText: 'Slow exports' })
  await slow.getByText('Info', { exact: true }).waitFor()
  await expectClean(page)
  await page.getByRole('link', { name: '1 failing' }).click()
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  const endpoint = page.getByRole('table', { name: 'Endpoints' }).getByRole('row').filter({ hasText: '127.0.0.1:9' })
  await endpoint.getByText('failing', { exact: true }).waitFor()
  expect(await page.getByLabel('Status', { exact: true }).inputValue()).toBe('failing')
  await expectClean(page)
  await page.getByLabel('Status', { exact: true }).selectOption('enabled')
  await page.getByText('No matches').waitFor()
  await page.goto(`${ui.hub.url}/incidents`)
  const row = page.getByRole('row').filter({ hasText: 'Slow exports' })
  await row.getByText('Info', { exact: true }).waitFor()
}, 180_000)
