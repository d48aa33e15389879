import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/binary'
import { dashboard, expectClean, type Dashboard } from '../support/dashboard'
import { queryHub } from '../support/query-hub'

const limitMs = 120_000
let here: Dashboard
beforeAll(async () => {
  here = await dashboard()
}, limitMs)
afterAll(() => here?.[Symbol.asyncDispose]())

test(
  'a zone and a record created in the browser are served by the name server',
  async () => {
    const page = await here.open('/dns')
    await page.getByRole('button', { name: 'Create zone' }).first().click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('first.example')
    await page.getByRole('dialog').getByRole('button', { name: 'Create zone' }).click()
    await page.getByRole('heading', { level: 1, name: 'first.example' }).waitFor()
    const toast = page.getByRole('dialog').filter({ hasText: 'first.example created' })
    await toast.waitFor()
    expect(await toast.getByRole('link', { name: 'View' }).count()).toBe(0)
    await page.getByText('served', { exact: true }).waitFor()

    await page.keyboard.press('c')
    const editor = page.getByRole('form', { name: 'Add record' })
    const name = editor.getByLabel('Name', { exact: true })
    await name.and(page.locator(':focus')).waitFor()
    expect(await name.inputValue()).toBe('')
    // Only the error of the value: the name of the zone is not part of the name.
    await name.fill('www.First.example')
    await editor.getByLabel('Value', { exact: true }).fill('192.0.2.300')
    await editor.getByText(/must be/).waitFor()
    expect(await name.inputValue()).toBe('www')
    await name.fill('a*')
    await editor.getByText(/only as its entire first label/).waitFor()
    expect(await editor.locator('[aria-invalid=true]').count()).toBe(2)
    expect(await editor.getByText(/RFC/).count()).toBe(0)
    await name.fill('www')
    await editor.getByLabel('Value', { exact: true }).fill('192.0.2.10')
    await editor.getByText('www.first.example. 3600 A 192.0.2.10').waitFor()
    await editor.getByLabel('Value', { exact: true }).press('Enter')
    await page.getByText('Record www A added').waitFor()
    await until(
      'the answer',
      async () => (await queryHub(here.hub, 'www.first.example.'))?.answer[0] === 'www.first.example. 3600 A 192.0.2.10',
    )
    // The toast is shown for ten seconds.
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone').waitFor()
    await until('the record is deleted', async () => (await queryHub(here.hub, 'www.first.example.'))?.rcode === 'NXDOMAIN')
    await expectClean(page)
  },
  limitMs,
)

test(
  'pasted zone file lines are previewed and imported, and records are edited, selected and deleted',
  async () => {
    const zone = await here.api('POST', '/v1/dns/zones', { name: 'second.example' })
    await here.api('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'www', content: '192.0.2.1', ttl: 300 })
    const page = await here.open(`/dns/zones/${zone.id}`)
    await page.getByTitle('192.0.2.1', { exact: true }).waitFor()
    await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', 'www 300 IN A 192.0.2.2\nmail 300 IN MX 10 mx.example.net.\n')
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }))
    })
    const dialog = page.getByRole('dialog', { name: 'Import zone file' })
    await dialog.getByRole('deletion').filter({ hasText: '300 192.0.2.1' }).waitFor()
    await dialog.getByRole('insertion').filter({ hasText: '300 10 mx.example.net.' }).waitFor()
    await expectClean(page)
    await dialog.getByRole('button', { name: 'Import zone file' }).click()
    await page.getByText('Zone file imported').waitFor()

    await page.getByRole('button', { name: 'Edit MX record mail' }).click()
    const editor = page.getByRole('form', { name: 'Edit MX record mail' })
    await editor.getByLabel('Preference').fill('70000')
    await editor.getByText(/preference must be/).waitFor()
    await editor.getByLabel('Preference').fill('20')
    await editor.getByLabel('Preference').press('Enter')
    await page.getByTitle('20 mx.example.net.').waitFor()
    await page
      .getByRole('row', { name: /192\.0\.2\.2/ })
      .getByRole('checkbox')
      .check()
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 record deleted').waitFor()
    await until('the record is deleted', async () => (await queryHub(here.hub, 'www.second.example.'))?.rcode === 'NXDOMAIN')
  },
  limitMs,
)

test(
  'the records of all zones are searched and filtered, and each leads to its zone',
  async () => {
    const [third, fourth] = await Promise.all(
      ['third.example', 'fourth.example'].map(name => here.api('POST', '/v1/dns/zones', { name })),
    )
    await here.api('POST', `/v1/dns/zones/${third.id}/records`, { type: 'A', name: 'shop', content: '198.51.100.7' })
    await here.api('POST', `/v1/dns/zones/${fourth.id}/records`, { type: 'TXT', name: 'shop', content: 'hello' })
    const page = await here.open('/dns/records?q=shop')
    const rows = page.getByRole('row', { name: /shop/ })
    await rows.nth(1).waitFor()
    await expectClean(page)
    await page.getByLabel('Type', { exact: true }).selectOption('A')
    await rows.filter({ hasText: 'fourth.example' }).waitFor({ state: 'detached' })
    await page.getByLabel('Type', { exact: true }).selectOption('')
    await page.getByRole('button', { name: 'Zone' }).click()
    await page.getByPlaceholder('Search by name').fill('fourth')
    await page.getByRole('option', { name: /fourth\.example/ }).click()
    await rows.filter({ hasText: 'third.example' }).waitFor({ state: 'detached' })
    await rows.getByRole('link', { name: /^shop/ }).click()
    await page.getByRole('heading', { level: 1, name: 'fourth.example' }).waitFor()
    await page.getByTitle('"hello"').waitFor()
  },
  limitMs,
)

test(
  'a wildcard that is edited as text leaves the names below it alone',
  async () => {
    const zone = await here.api('POST', '/v1/dns/zones', { name: 'sixth.example' })
    const records = `/v1/dns/zones/${zone.id}/records`
    await here.api('POST', records, { type: 'A', name: '*.dev', content: '192.0.2.1' })
    await here.api('POST', records, { type: 'A', name: 'a.dev', content: '192.0.2.2' })
    const page = await here.open(`/dns/zones/${zone.id}`)
    const row = page.getByRole('row', { name: /192\.0\.2\.1/ })
    await row.getByRole('checkbox').check()
    await page.getByRole('button', { name: 'More bulk actions' }).click()
    await page.getByRole('menuitem', { name: 'Edit as text' }).click()
    const values = page.getByRole('dialog', { name: 'Edit all A records of *.dev' }).getByLabel('Values')
    expect(await values.inputValue()).toBe('192.0.2.1')
    await values.fill('192.0.2.3')
    await page.getByRole('button', { name: 'Replace records' }).click()
    await page.getByText('A records of *.dev replaced').waitFor()
    const { data } = await here.api('GET', `${records}?name=*.dev`)
    const found = data.map((one: any) => `${one.name} ${one.content}`).sort()
    expect(found).toEqual(['*.dev 192.0.2.3', 'a.dev 192.0.2.2'])

    // Saving a part of the values would delete the others.
    await page.route(/\/v1\/dns\/records\?.*limit=1000/, async route => {
      const response = await route.fetch()
      const body = await response.json()
      await route.fulfill({ response, json: { ...body, pagination: { ...body.pagination, has_more: true } } })
    })
    await page
      .getByRole('row', { name: /192\.0\.2\.3/ })
      .getByRole('checkbox')
      .check()
    await page.getByRole('button', { name: 'More bulk actions' }).click()
    await page.getByRole('menuitem', { name: 'Edit as text' }).click()
    await page.getByText('Too many records to edit as text.').waitFor()
    expect(await values.count()).toBe(0)
  },
  limitMs,
)

test(
  'all values of a name are edited as text, and records expire',
  async () => {
    const zone = await here.api('POST', '/v1/dns/zones', { name: 'fifth.example' })
    const records = `/v1/dns/zones/${zone.id}/records`
    for (const content of ['192.0.2.1', '192.0.2.2']) await here.api('POST', records, { type: 'A', name: 'www', content })
    const page = await here.open(`/dns/zones/${zone.id}?q=www`)
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'More bulk actions' }).click()
    await page.getByRole('menuitem', { name: 'Edit as text' }).click()
    const values = page.getByRole('dialog').getByLabel('Values')
    expect((await values.inputValue()).split('\n').sort()).toEqual(['192.0.2.1', '192.0.2.2'])
    await values.fill('192.0.2.3\n192.0.2.1\n192.0.2.4')
    await expectClean(page)
    await page.getByRole('button', { name: 'Replace records' }).click()
    await page.getByText('A records of www replaced').waitFor()
    const contents = async () => (await here.api('GET', `${records}?name=www`)).data.map((one: any) => one.content).sort()
    expect(await contents()).toEqual(['192.0.2.1', '192.0.2.3', '192.0.2.4'])

    await page.getByRole('button', { name: 'Edit A record www' }).first().click()
    await page.getByText('Comment, tags, expiry, lock').click()
    // The section stays open when its last value is removed.
    await page.getByLabel('Expires').fill('2099-01-30T12:00')
    await page.getByLabel('Expires').fill('')
    await page.getByLabel('Expires').fill('2099-01-31T12:00')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Record www A saved').waitFor()
    expect((await here.api('GET', `${records}?name=www`)).data[0].expires_at).toStartWith('2099-01-31T')
  },
  limitMs,
)
