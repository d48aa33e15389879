import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/binary'
import { dashboard, expectClean, type Dashboard } from '../support/dashboard'

let ui: Dashboard
let site: ReturnType<typeof target>
beforeAll(async () => {
  ui = await dashboard()
  site = target()
}, 60_000)
afterAll(async () => {
  await ui?.[Symbol.asyncDispose]()
  await site?.stop()
})

/** A site that is well until it is told otherwise. */
function target() {
  const state = { status: 200 }
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('Welcome', { status: state.status }) })
  return { url: `http://127.0.0.1:${server.port}/`, state, stop: () => server.stop(true) }
}
const monitorNamed = async (name: string) =>
  (await ui.api('GET', '/v1/monitors?limit=100')).data.find((one: any) => one.name === name)

test('a monitor is made from what is pasted, is checked at once, and its runs are looked at part by part', async () => {
  const page = await ui.open('/monitors')
  await page.keyboard.press('c')
  await page.getByRole('heading', { level: 1, name: 'New monitor' }).waitFor()
  await page.getByLabel('What to watch').fill(site.url)
  await page.getByLabel('What to watch').press('Enter')
  const name = new URL(site.url).host
  await page.getByRole('heading', { level: 1, name }).waitFor()
  expect(await monitorNamed(name)).toMatchObject({ type: 'http', target: site.url })
  await page.getByText(/^Up for/).waitFor()
  await page.getByRole('button', { name: 'Check now' }).click()
  const found = page.getByRole('dialog')
  await found.getByRole('table', { name: 'Parts of the check' }).waitFor()
  await found.getByText('200', { exact: true }).waitFor()
  await found.getByRole('button', { name: 'Close' }).click()
  const runs = page.getByRole('table', { name: 'Runs' })
  await runs.getByRole('button').first().click()
  await page.getByRole('dialog').getByText('Whole').waitFor()
  await page.keyboard.press('Escape')
  await expectClean(page)
}, 90_000)

test('of a URL its certificate, name and host are watched along with it', async () => {
  const page = await ui.open('/monitors/new')
  await page.getByLabel('What to watch').fill('https://shop.example.com/health')
  await page.getByLabel('TLS certificate').check()
  await page.getByLabel('DNS record').check()
  await expectClean(page)
  await page.getByRole('button', { name: 'Watch it' }).click()
  await page.getByRole('heading', { level: 1, name: 'shop.example.com' }).waitFor()
  const { data } = await ui.api('GET', '/v1/monitors?q=shop.example.com&sort=id')
  expect(data.map((one: any) => `${one.type} ${one.target}`)).toEqual([
    'http https://shop.example.com/health',
    'tls shop.example.com:443',
    'dns shop.example.com',
  ])
}, 60_000)

test('what is refused is told beside its field, and the options of the type are sent', async () => {
  const page = await ui.open('/monitors/new')
  await page.getByLabel('What to watch').fill(site.url)
  await page.getByLabel('Name', { exact: true }).fill('picky')
  await page.getByText('Conditions', { exact: true }).click()
  const downIf = page.getByRole('group', { name: 'Down when one of these holds' })
  await downIf.getByRole('button', { name: '[STATUS] >= 500' }).click()
  await downIf.getByRole('button', { name: 'Add a condition' }).click()
  await page.getByRole('textbox', { name: 'Condition 2' }).fill('[STATUS] >')
  await page.getByText(/what is asked and expected/).click()
  await page.getByLabel('Method').fill('HEAD')
  await page.getByText('Timing', { exact: true }).click()
  await page.getByText('Alerts and dependencies', { exact: true }).click()
  await page.getByText('Notes and key', { exact: true }).click()
  await expectClean(page)
  await page.getByRole('button', { name: 'Watch it' }).click()
  await page.getByRole('textbox', { name: 'Condition 2' }).and(page.locator('[aria-invalid=true]')).waitFor()
  await page.getByRole('button', { name: 'Remove condition 2' }).click()
  await page.getByRole('button', { name: 'Watch it' }).click()
  await page.getByRole('heading', { level: 1, name: 'picky' }).waitFor()
  const made = await monitorNamed('picky')
  expect([made.options.method, made.down_if]).toEqual(['HEAD', ['[STATUS] >= 500']])

  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByText('Timing', { exact: true }).click()
  await page.getByLabel('Interval', { exact: true }).fill('30')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  expect(await monitorNamed('picky')).toMatchObject({ interval_seconds: 30, options: { method: 'HEAD' }, version: 2 })
}, 90_000)

test('a monitor is seen to go down and come back in the list while one looks', async () => {
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
  await row.getByRole('img', { name: /of the last \d+ checks went well/ }).waitFor()
  await expectClean(page)
}, 90_000)

test('several are paused at once, and that is taken back', async () => {
  const page = await ui.open('/monitors?q=shop.example.com')
  await page.getByLabel('Choose all that are shown').check()
  await page.getByRole('toolbar').waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.getByText('Paused 3 monitors').waitFor()
  const statuses = async () =>
    (await ui.api('GET', '/v1/monitors?q=shop.example.com')).data.map((one: any) => one.status === 'paused')
  expect(await statuses()).toEqual([true, true, true])
  await page.getByRole('button', { name: 'Undo' }).click()
  await until('resumed', async () => (await statuses()).every((paused: boolean) => !paused))
}, 60_000)

test('a monitor is made into a group, and the list shows it there', async () => {
  await ui.api('POST', '/v1/monitors', { name: 'Front', type: 'group' })
  const page = await ui.open('/monitors/new')
  await page.getByLabel('What to watch').fill(`${site.url}front`)
  await page.getByLabel('Name', { exact: true }).fill('front door')
  await page.getByLabel('Group', { exact: true }).selectOption('Front')
  await page.getByRole('button', { name: 'Watch it' }).click()
  await page.getByRole('heading', { level: 1, name: 'front door' }).waitFor()
  await page.getByRole('link', { name: 'Front', exact: true }).click()
  await page.getByRole('row', { name: /front door/ }).waitFor()
  await expectClean(page)
  await page.goto(`${ui.hub.url}/monitors?by=group`)
  await page.getByRole('button', { name: 'Open Front' }).click()
  await page
    .getByRole('region', { name: 'Front' })
    .getByRole('row', { name: /front door/ })
    .waitFor()
  await expectClean(page)
}, 90_000)

test('a document is looked at before it is imported', async () => {
  const page = await ui.open('/monitors/import')
  const look = page.getByRole('button', { name: 'See what would change' })
  await page.getByLabel('Document', { exact: true }).fill('monitors:\n  - name: broken\n    target: 7\n')
  await look.click()
  await page
    .getByRole('alert')
    .getByText(/line 3/)
    .first()
    .waitFor()
  await page
    .getByLabel('Document', { exact: true })
    .fill('monitors:\n  - key: all\n    name: Everything\n    type: group\n    options: {members: []}\n')
  await look.click()
  await page.getByText('1 new, 0 changed, 0 removed, 0 as they are').waitFor()
  await expectClean(page)
  expect(await monitorNamed('Everything')).toBeUndefined()
  await page.getByRole('button', { name: 'Apply 1 change' }).click()
  await page.getByRole('heading', { level: 1, name: 'Monitors', exact: true }).waitFor()
  expect(await monitorNamed('Everything')).toMatchObject({ key: 'all', type: 'group' })
}, 60_000)

test('a monitor is deleted when its name is typed', async () => {
  const { id } = await ui.api('POST', '/v1/monitors', { type: 'http', name: 'short-lived', target: site.url })
  const page = await ui.open(`/monitors/${id}`)
  await page.getByRole('button', { name: 'More to do' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const remove = page.getByRole('button', { name: 'Delete monitor' })
  expect(await remove.isDisabled()).toBe(true)
  await page.getByLabel(/to go on/).fill('short-lived')
  await remove.click()
  await page.getByRole('heading', { level: 1, name: 'Monitors', exact: true }).waitFor()
  expect(await monitorNamed('short-lived')).toBeUndefined()
}, 60_000)
