import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../support/binary'
import { dashboard, expectClean, type Dashboard } from '../support/dashboard'
import { shown } from '../support/http-targets'

let ui: Dashboard
let site: ReturnType<typeof target>
beforeAll(async () => {
  ui = await dashboard()
  site = target()
}, 180_000)
afterAll(async () => {
  await ui?.[Symbol.asyncDispose]()
  await site?.stop()
})

/** A website whose status code can be changed. */
function target() {
  const state = { status: 200 }
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('Welcome', { status: state.status }) })
  return { url: `http://127.0.0.1:${server.port}/`, state, stop: () => server.stop(true) }
}
const monitorNamed = async (name: string) =>
  (await ui.api('GET', '/v1/monitors?limit=100')).data.find((one: any) => one.name === name)

test('a monitor is created from a pasted URL and checked immediately, and its checks show their phases', async () => {
  const page = await ui.open('/monitors')
  await page.keyboard.press('c')
  await page.getByRole('heading', { level: 1, name: 'Create monitor' }).waitFor()
  await page.getByLabel('Target', { exact: true }).fill(site.url)
  await page.getByLabel('Target', { exact: true }).press('Enter')
  const name = new URL(site.url).host
  await page.getByRole('heading', { level: 1, name }).waitFor()
  expect(await monitorNamed(name)).toMatchObject({ type: 'http', target: site.url })
  await page.getByText(/^Up for/).waitFor()
  await page.getByRole('button', { name: 'Check now' }).click()
  const found = page.getByRole('dialog')
  await found.getByRole('table', { name: 'Phases of the check' }).waitFor()
  await found.getByText('200', { exact: true }).waitFor()
  await found.getByRole('button', { name: 'Close' }).click()
  const checks = page.getByRole('table', { name: 'Checks' })
  await checks.getByRole('button').first().click()
  await page.getByRole('dialog').getByText('Total').waitFor()
  await page.keyboard.press('Escape')
  await expectClean(page)
}, 180_000)

test('the certificate, DNS name, and host of a URL can be monitored along with it', async () => {
  const page = await ui.open('/monitors/new')
  await page.getByLabel('Target', { exact: true }).fill('https://shop.example.com/health')
  await page.getByLabel('TLS certificate').check()
  await page.getByLabel('DNS record').check()
  await expectClean(page)
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('heading', { level: 1, name: 'shop.example.com' }).waitFor()
  const { data } = await ui.api('GET', '/v1/monitors?q=shop.example.com&sort=id')
  expect(data.map((one: any) => `${one.type} ${one.target}`)).toEqual([
    'http https://shop.example.com/health',
    'tls shop.example.com:443',
    'dns shop.example.com',
  ])
}, 180_000)

const group = (page: Page, label: string) => page.locator('summary').filter({ hasText: new RegExp(`^${label}`) })
const isOpen = (page: Page, label: string) =>
  group(page, label)
    .locator('..')
    .evaluate(one => (one as HTMLDetailsElement).open)

test('the form for a website starts with common fields and fits in about 1,000 pixels, the rest is in collapsed groups', async () => {
  const page = await ui.open('/monitors/new')
  await page.getByLabel('Target', { exact: true }).fill(site.url)
  await page.getByLabel('Keyword', { exact: true }).waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(1050)
  const fields = page.getByRole('main').locator('form :is(input:not([type=checkbox]), select):visible')
  const commonFields = ['target', 'type', 'name', 'interval', 'keyword', 'must be', 'json query', 'comparison', 'expected value']
  expect(await fields.count()).toBe(commonFields.length)
  await expectClean(page)
  for (const one of await page.locator('summary').all()) await one.click()
  const labels = await page.getByRole('main').locator('form label, form legend').allInnerTexts()
  expect(labels).toContain('Maximum redirects')
  expect(labels.filter(one => one.includes('_'))).toEqual([])
  await expectClean(page)
}, 180_000)

test('an error is shown only at its field, in words, opens its group, and disappears when the field is edited', async () => {
  const page = await ui.open('/monitors/new')
  await page.getByLabel('Target', { exact: true }).fill(site.url)
  await group(page, 'Timing and retries').click()
  await page.getByLabel('Timeout', { exact: true }).fill('45')
  await page.getByLabel('Interval', { exact: true }).fill('30')
  await group(page, 'Timing and retries').getByText('1 set').waitFor()
  await group(page, 'Timing and retries').click()
  expect(await isOpen(page, 'Timing and retries')).toBe(false)
  await page.getByRole('button', { name: 'Create monitor' }).click()
  const timeout = page.getByLabel('Timeout', { exact: true })
  await timeout.and(page.locator('[aria-invalid=true]')).waitFor()
  const error = page.getByText('Timeout must not be longer than the interval, 30 seconds.')
  expect(await error.count()).toBe(1)
  expect(await page.getByRole('main').getByRole('alert').count()).toBe(0)
  await timeout.and(page.locator(':focus')).waitFor()
  await timeout.fill('20')
  await error.waitFor({ state: 'detached' })
  expect(await isOpen(page, 'Timing and retries')).toBe(true)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('heading', { level: 1, name: 'Monitors', exact: true }).waitFor()
}, 180_000)

test('each condition has its own error, the options of the type are sent, and the toast links to the monitor', async () => {
  const page = await ui.open('/monitors/new')
  await page.getByLabel('Target', { exact: true }).fill(site.url)
  await page.getByLabel('Name', { exact: true }).fill('picky')
  await group(page, 'Conditions').click()
  const downIf = page.getByRole('group', { name: 'Down if any condition is true' })
  await downIf.getByRole('button', { name: '[STATUS] >= 500' }).click()
  await downIf.getByRole('button', { name: 'Add condition' }).click()
  await page.getByRole('textbox', { name: 'Condition 2' }).fill('[STATUS] >')
  await group(page, 'Request').click()
  await page.getByLabel('Method').fill('HEAD')
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('textbox', { name: 'Condition 2' }).and(page.locator('[aria-invalid=true]')).waitFor()
  await page.getByRole('button', { name: 'Remove condition 2' }).click()
  expect(await page.locator('[aria-invalid=true]').count()).toBe(0)
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('heading', { level: 1, name: 'picky' }).waitFor()
  const created = await monitorNamed('picky')
  expect([created.options.method, created.down_if]).toEqual(['HEAD', ['[STATUS] >= 500']])
  await page.goto(`${ui.hub.url}/monitors/new?target=${encodeURIComponent(site.url)}`)
  await page.getByLabel('Name', { exact: true }).fill('linked')
  await page.getByRole('button', { name: 'Create monitor' }).click()
  const toast = page.getByRole('dialog').filter({ hasText: 'linked created' })
  // Only on other pages than its own.
  await page.getByRole('heading', { level: 1, name: 'linked' }).waitFor()
  expect(await toast.getByRole('link', { name: 'View' }).count()).toBe(0)
  await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: 'Monitors' }).click()
  expect(await toast.getByRole('link', { name: 'View' }).getAttribute('href')).toBe(
    `/monitors/${(await monitorNamed('linked')).id}`,
  )

  await page.goto(`${ui.hub.url}/monitors/${created.id}/edit`)
  await page.getByLabel('Interval', { exact: true }).fill('30')
  // Groups with settings are open.
  const groups = ['Request', 'Conditions', 'TLS', 'Timing and retries', 'Alerts and dependencies']
  expect(await Promise.all(groups.map(one => isOpen(page, one)))).toEqual([true, true, false, false, false])
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Changes saved').waitFor()
  expect(await monitorNamed('picky')).toMatchObject({ interval_seconds: 30, options: { method: 'HEAD' }, version: 2 })
}, 180_000)

test('a keyword and a JSON query are fields of their own, also when editing', async () => {
  const page = await ui.open('/monitors/new')
  await page.getByLabel('Target', { exact: true }).fill(site.url)
  await page.getByLabel('Name', { exact: true }).fill('wordy')
  await page.getByLabel('Keyword', { exact: true }).fill('Error (500)')
  await page.getByLabel('Keyword must be').selectOption('must be absent')
  await page.getByLabel('JSON query', { exact: true }).fill('$.[')
  await page.getByLabel('Expected value').fill('UP')
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByLabel('JSON query', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor()
  await page.getByLabel('JSON query', { exact: true }).fill('$.status')
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('heading', { level: 1, name: 'wordy' }).waitFor()
  const { id, down_if } = await monitorNamed('wordy')
  expect(down_if).toEqual(['[BODY] == pat(*Error (500)*)', 'not [BODY].status == UP'])
  await page.goto(`${ui.hub.url}/monitors/${id}/edit`)
  expect(await page.getByLabel('Keyword', { exact: true }).inputValue()).toBe('Error (500)')
  expect(await page.getByLabel('JSON query', { exact: true }).inputValue()).toBe('$.status')
  expect(await isOpen(page, 'Conditions')).toBe(false)
  await page.getByLabel('Keyword', { exact: true }).fill('')
  await page.getByLabel('Comparison').selectOption('contains')
  await page.getByLabel('JSON query', { exact: true }).fill('')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Enter a JSON query.').waitFor()
  await page.getByLabel('JSON query', { exact: true }).fill('$.state')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Changes saved').waitFor()
  expect((await monitorNamed('wordy')).down_if).toEqual(['not [BODY].state == pat(*UP*)'])
}, 180_000)

test('for a pasted port, the server is asked what it speaks', async () => {
  const page = await ui.open('/monitors/new')
  const target = page.getByLabel('Target', { exact: true })
  await target.fill(new URL(site.url).host)
  await page.getByLabel('Keyword', { exact: true }).waitFor()
  expect(await page.getByLabel('Type', { exact: true }).inputValue()).toBe('http')
  using silent = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { open: one => void one.end(), data() {} } })
  // Without waiting for the suggestions.
  await target.fill(`127.0.0.1:${silent.port}`)
  await target.press('Enter')
  await page.getByRole('heading', { level: 1, name: `127.0.0.1:${silent.port}` }).waitFor()
  expect(await monitorNamed(`127.0.0.1:${silent.port}`)).toMatchObject({ type: 'tcp' })
}, 180_000)

test('a server with a certificate that isn’t trusted is monitored over HTTPS, without verification if that is chosen', async () => {
  using secure = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('Welcome'), tls: shown('two-names') })
  const target = `127.0.0.1:${secure.port}`
  const page = await ui.open('/monitors/new')
  await page.getByLabel('Target', { exact: true }).fill(target)
  const note = page.getByRole('note').filter({ hasText: 'Checks fail until the certificate is trusted.' })
  await note.getByLabel('Don’t verify the certificate').check()
  await page.getByLabel('TLS certificate').check()
  await expectClean(page)
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByText(/^Up for/).waitFor()
  const { data } = await ui.api('GET', `/v1/monitors?q=${target}&sort=id`)
  expect(data.map((one: any) => [one.type, one.target, one.options.verify_tls])).toEqual([
    ['http', `https://${target}/`, false],
    ['tls', target, false],
  ])
}, 180_000)

test('the list shows live when a monitor goes down and recovers', async () => {
  await ui.api('POST', '/v1/monitors', {
    name: 'frail',
    target: site.url,
    interval_seconds: 5,
    timeout_seconds: 2,
    retry_interval_seconds: 1,
    confirm: 1,
    recover: 1,
  })
  const page = await ui.open('/monitors?q=frail')
  const row = page.getByRole('row', { name: /frail/ })
  await row.getByText('up', { exact: true }).first().waitFor()
  site.state.status = 503
  await row.getByText('down', { exact: true }).first().waitFor()
  site.state.status = 200
  await row.getByText('up', { exact: true }).first().waitFor()
  await row.getByRole('img', { name: /of the last \d+ checks passed/ }).waitFor()
  await expectClean(page)
}, 180_000)

test('problems come first, and paused monitors last', async () => {
  await ui.api('POST', '/v1/monitors', {
    name: 'zz broken',
    target: 'http://127.0.0.1:9/',
    retry_interval_seconds: 1,
    confirm: 1,
  })
  const { id } = await ui.api('POST', '/v1/monitors', { name: '0 paused', target: site.url })
  await ui.api('POST', `/v1/monitors/${id}/pause`)
  await until('down', async () => (await monitorNamed('zz broken')).status === 'down')
  const page = await ui.open('/monitors')
  const names = page.getByRole('table', { name: 'Monitors' }).locator('tbody').getByRole('row')
  await names.last().filter({ hasText: '0 paused' }).waitFor()
  await names.filter({ hasText: 'picky' }).waitFor()
  const shown = await names.allTextContents()
  const statuses = (await ui.api('GET', '/v1/monitors?sort=status,name&limit=100')).data.map((one: any) => one.status)
  expect([statuses[0], statuses.at(-1)]).toEqual(['down', 'paused'])
  expect(shown.findIndex(text => text.includes('zz broken'))).toBeLessThan(shown.findIndex(text => text.includes('picky')))
  // By name, as before.
  await page.getByRole('button', { name: 'Monitor', exact: true }).click()
  await names.first().filter({ hasText: '0 paused' }).waitFor()
}, 180_000)

test('several monitors are paused at once, and that is undone', async () => {
  const page = await ui.open('/monitors?q=shop.example.com')
  await page.getByLabel('Select all').check()
  await page.getByRole('toolbar').waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.getByText('3 monitors paused').waitFor()
  const statuses = async () =>
    (await ui.api('GET', '/v1/monitors?q=shop.example.com')).data.map((one: any) => one.status === 'paused')
  expect(await statuses()).toEqual([true, true, true])
  await page.getByRole('button', { name: 'Undo' }).click()
  await until('resumed', async () => (await statuses()).every((paused: boolean) => !paused))
}, 180_000)

test('a monitor is created in a group, and the list shows it there', async () => {
  await ui.api('POST', '/v1/monitors', { name: 'Front', type: 'group' })
  const page = await ui.open('/monitors/new')
  await page.getByLabel('Target', { exact: true }).fill(`${site.url}front`)
  await page.getByLabel('Name', { exact: true }).fill('front door')
  await group(page, 'Organization').click()
  await page.getByLabel('Group', { exact: true }).selectOption('Front')
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('heading', { level: 1, name: 'front door' }).waitFor()
  await page.getByRole('link', { name: 'Front', exact: true }).click()
  await page.getByRole('row', { name: /front door/ }).waitFor()
  await page.getByText('Any member is down', { exact: true }).waitFor()
  await expectClean(page)
  await page.goto(`${ui.hub.url}/monitors?by=group`)
  await page.getByRole('button', { name: 'Expand Front' }).click()
  await page
    .getByRole('region', { name: 'Front' })
    .getByRole('row', { name: /front door/ })
    .waitFor()
  await expectClean(page)
}, 180_000)

test('an import is previewed before it is applied', async () => {
  const page = await ui.open('/monitors/import')
  const preview = page.getByRole('button', { name: 'Preview changes' })
  await page.getByLabel('Document', { exact: true }).fill('monitors:\n  - name: broken\n    target: 7\n')
  await preview.click()
  await page
    .getByRole('alert')
    .getByText(/line 3/)
    .first()
    .waitFor()
  await page
    .getByLabel('Document', { exact: true })
    .fill('monitors:\n  - key: all\n    name: Everything\n    type: group\n    options: {members: []}\n')
  await preview.click()
  await page.getByText('1 to create, 0 to update, 0 to delete, 0 unchanged').waitFor()
  await expectClean(page)
  expect(await monitorNamed('Everything')).toBeUndefined()
  await page.getByRole('button', { name: 'Apply 1 change' }).click()
  await page.getByRole('heading', { level: 1, name: 'Monitors', exact: true }).waitFor()
  expect(await monitorNamed('Everything')).toMatchObject({ key: 'all', type: 'group' })
}, 180_000)

test('deleting a monitor requires typing its name', async () => {
  const { id } = await ui.api('POST', '/v1/monitors', { type: 'http', name: 'short-lived', target: site.url })
  const page = await ui.open(`/monitors/${id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const remove = page.getByRole('button', { name: 'Delete monitor' })
  expect(await remove.isDisabled()).toBe(true)
  await page.getByLabel(/to confirm/).fill('short-lived')
  await remove.click()
  await page.getByRole('heading', { level: 1, name: 'Monitors', exact: true }).waitFor()
  expect(await monitorNamed('short-lived')).toBeUndefined()
}, 180_000)

test('a monitor shows its error budget by month for an objective, and its quorum is set', async () => {
  const { id } = await ui.api('POST', '/v1/monitors', { type: 'http', name: 'promised', target: site.url })
  await until('a second of uptime', async () => (await ui.api('GET', `/v1/monitors/${id}/uptime`)).seconds.up > 0)
  const page = await ui.open(`/monitors/${id}`)
  const budget = page.getByRole('region', { name: 'Objective and error budget' })
  const month = budget.getByRole('row', { name: /\d{4}/ }).first()
  await month.getByText('met', { exact: true }).waitFor()
  await month.getByText(/^only \d+ s$/).waitFor()
  // Longer periods would only repeat the uptime of the first seconds.
  const uptime = page.getByRole('heading', { level: 2, name: 'Uptime' }).locator('xpath=../..')
  await uptime.getByText(/^for \d+ s$/).waitFor()
  await uptime.getByText(/%/).first().waitFor()
  expect(await uptime.getByText('–', { exact: true }).count()).toBe(3)
  const asked = page.waitForRequest(/uptime\?.*objective=99\.99(&|$)/)
  await budget.getByLabel('Objective', { exact: true }).selectOption('99.99')
  await asked
  await budget
    .getByRole('row', { name: /Last 365 days/ })
    .getByText('met', { exact: true })
    .waitFor()
  await expectClean(page)
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByText('Timing and retries', { exact: true }).click()
  await page.getByLabel('Locations until down').selectOption('All locations')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Changes saved').waitFor()
  expect(await monitorNamed('promised')).toMatchObject({ quorum: 'all', version: 2 })
}, 180_000)
