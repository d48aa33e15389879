import { afterAll, beforeAll, test } from 'bun:test'
import { until } from '../support/binary'
import { dashboard, expectClean, type Dashboard } from '../support/dashboard'
import { ask } from '../support/hub-answers'

const limitMs = 120_000
let here: Dashboard
beforeAll(async () => {
  here = await dashboard()
}, limitMs)
afterAll(() => here?.[Symbol.asyncDispose]())

test(
  'a zone and a record are made in the browser, and the name server answers them',
  async () => {
    const page = await here.open('/dns')
    await page.getByRole('button', { name: 'New zone' }).first().click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('first.example')
    await page.getByRole('button', { name: 'Make the zone' }).click()
    await page.getByRole('heading', { level: 1, name: 'first.example' }).waitFor()

    await page.getByRole('button', { name: 'Add record' }).click()
    const editor = page.getByRole('form', { name: 'New record' })
    await editor.getByLabel('Name', { exact: true }).fill('www')
    await editor.getByLabel('Value', { exact: true }).fill('192.0.2.300')
    await editor.getByText(/must be/).waitFor()
    await editor.getByLabel('Value', { exact: true }).fill('192.0.2.10')
    await editor.getByText('www.first.example. 3600 A 192.0.2.10').waitFor()
    await editor.getByLabel('Value', { exact: true }).press('Enter')
    await page.getByText('Record www A added').waitFor()
    await until(
      'the answer',
      async () => (await ask(here.hub, 'www.first.example.'))?.answer[0] === 'www.first.example. 3600 A 192.0.2.10',
    )
    // The message that offers it stays for ten seconds.
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone').waitFor()
    await until('it is gone', async () => (await ask(here.hub, 'www.first.example.'))?.rcode === 'NXDOMAIN')
    await expectClean(page)
  },
  limitMs,
)

test(
  'lines of a zone file that are pasted are shown before they are taken, and records are edited, chosen and deleted',
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
    const dialog = page.getByRole('dialog', { name: 'Import a zone file' })
    await dialog.getByRole('deletion').filter({ hasText: '300 192.0.2.1' }).waitFor()
    await dialog.getByRole('insertion').filter({ hasText: '300 10 mx.example.net.' }).waitFor()
    await expectClean(page)
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Zone file taken in').waitFor()

    await page.getByRole('button', { name: 'Edit MX of mail' }).click()
    const editor = page.getByRole('form', { name: 'Edit MX of mail' })
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
    await until('it is gone', async () => (await ask(here.hub, 'www.second.example.'))?.rcode === 'NXDOMAIN')
  },
  limitMs,
)
