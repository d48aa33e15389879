import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../support/binary'
import { ada, dashboard, expectClean, type Dashboard } from '../support/dashboard'

let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
}, 60_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

/** What a person does to a page, counted: each click, each field that is filled in, each key. */
function counted(page: Page) {
  let actions = 0
  return {
    click: (name: string) => (actions++, page.getByRole('link', { name }).or(page.getByRole('button', { name })).click()),
    // Into whatever has the focus, as Ctrl V does.
    paste: (text: string) => (actions++, page.keyboard.insertText(text)),
    press: (key: string) => (actions++, page.keyboard.press(key)),
    count: () => actions,
  }
}

test('from the login it takes two actions to watch a pasted URL: what answers, its certificate and its name', async () => {
  const page = await ui.open('/login', { stranger: true })
  await page.getByLabel('E-mail').fill(ada.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(ada.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('Paste an address to watch').waitFor()

  const person = counted(page)
  await person.paste('https://shop.example.com/')
  await page.getByLabel('TLS').waitFor()
  await person.press('Enter')
  await page.getByText('monitors made').waitFor()
  expect(person.count()).toBeLessThanOrEqual(4)
  const { data } = await ui.api('GET', '/v1/monitors?sort=created_at')
  expect(data.map((one: any) => one.type).sort()).toEqual(['dns', 'http', 'tls'])
  // The step is done, and its field gone.
  await page.getByRole('listitem').filter({ hasText: 'Watch a site' }).getByLabel('Done').waitFor()
  expect(await page.getByLabel('Paste an address to watch').count()).toBe(0)
  await expectClean(page)
}, 90_000)

test('where there are monitors already it takes three: a key, the URL, Enter', async () => {
  const page = await ui.open('/')
  const person = counted(page)
  await person.press('c')
  await page.getByRole('heading', { level: 1, name: 'New monitor' }).waitFor()
  await page.getByLabel('What to watch').waitFor()
  await person.paste('https://mail.example.org/')
  await person.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'mail.example.org' }).waitFor()
  expect(person.count()).toBeLessThanOrEqual(4)
}, 60_000)

test('the first steps are ticked off as they are done, while one looks, and go when they are told to', async () => {
  const page = await ui.open('/')
  await page.getByText('1 of 5 done').waitFor()
  await ui.api('POST', '/v1/heartbeats', {
    name: 'backup',
    schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
  })
  await page.getByText('2 of 5 done').waitFor()
  await ui.api('POST', '/v1/dns/zones', { name: 'example.com' })
  await page.getByText('3 of 5 done').waitFor()
  await ui.api('POST', '/v1/invitations', { email: 'grace@example.com', role: 'member' })
  await page.getByText('4 of 5 done').waitFor()
  const kept = page.waitForResponse(one => one.request().method() === 'PATCH')
  await page.getByRole('button', { name: 'Hide' }).click()
  await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' })
  expect((await kept).status()).toBe(200)
  // In another browser too.
  const other = await ui.open('/')
  await other.getByRole('heading', { name: 'Wrong now' }).waitFor()
  expect(await other.getByRole('heading', { name: 'First steps' }).count()).toBe(0)
}, 60_000)

test('an incident comes while one looks, is acknowledged where it stands, and that is taken back', async () => {
  const page = await ui.open('/')
  const { id } = await ui.api('POST', '/v1/incidents', { title: 'Payments fail' })
  const statusIs = (status: string) =>
    until(`the incident is ${status}`, async () => (await ui.api('GET', `/v1/incidents/${id}`)).status === status, 30_000)
  await page.getByRole('button', { name: 'Acknowledge Payments fail' }).click()
  await statusIs('acknowledged')
  await page.getByText('Ada sees to it').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await statusIs('open')
  await page.getByRole('button', { name: 'Acknowledge Payments fail' }).waitFor()
  await expectClean(page)
  await page.getByRole('link', { name: 'Payments fail' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Payments fail' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/incidents/${id}`)
}, 90_000)

test('a number leads to the list of those that it counts, and what was changed last is told in words', async () => {
  const page = await ui.open('/')
  await page.getByRole('link', { name: 'A heartbeat was made' }).waitFor()
  await page.getByRole('link', { name: 'backup' }).first().waitFor()
  await page.getByRole('link', { name: '1 new' }).click()
  await page.waitForURL(address => address.pathname === '/heartbeats' && address.searchParams.get('status') === 'new')
}, 60_000)
