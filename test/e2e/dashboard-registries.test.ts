import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/binary'
import { dashboard, expectClean, type Dashboard } from '../support/dashboard'
import { RegistryDouble } from '../support/registry-double'

const limitMs = 120_000
let here: Dashboard
let double: RegistryDouble
beforeAll(async () => {
  double = await RegistryDouble.start()
  double.names.set('example.com', { expires: '2040-01-01T00:00:00Z' })
  here = await dashboard({ env: double.settings() })
}, limitMs)
afterAll(async () => {
  await here?.[Symbol.asyncDispose]()
  double?.stop()
})

test(
  'a monitor is degraded because its domain expires soon, and the page shows the server that reported it',
  async () => {
    const expires = new Date(Date.now() + 20 * 86_400_000).toISOString()
    double.names.set('shop.com', { expires })
    const { data } = await here.api('GET', '/v1/workspaces')
    await here.api('PATCH', `/v1/workspaces/${data[0].id}`, { network_policy: { allow_private: true, allow_ranges: [] } })
    await here.api('POST', '/v1/dns/zones', { name: 'shop.com' })
    const monitor = await here.api('POST', '/v1/monitors', {
      type: 'dns',
      target: 'shop.com',
      interval_seconds: 5,
      options: { resolver: `127.0.0.1:${here.hub.dnsPort}`, record_type: 'SOA' },
      degraded_if: ['[DOMAIN_EXPIRATION] < 30d'],
    })
    const read = () => here.api('GET', `/v1/monitors/${monitor.id}`)
    await until('the monitor is degraded', async () => (await read()).status === 'degraded')
    expect((await read()).last_result.error.message).toMatch(/^Domain expires in 19d \d+h, less than 30d$/)

    const page = await here.open('/registries')
    await page.getByText('.com', { exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`${double.rdapServer.slice(5)} (RDAP)`).waitFor()
    await dialog.getByText('The operator').waitFor()
    await expectClean(page)
  },
  limitMs,
)

test(
  'a domain is added, looked up, and shown, and a list is imported',
  async () => {
    const expires = new Date(Date.now() + 20 * 86_400_000).toISOString()
    double.names.set('kestrel.com', { expires })
    const page = await here.open('/domains')
    await page.getByRole('button', { name: 'Add domain' }).first().click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name', { exact: true }).fill('www.kestrel.com')
    await form.getByRole('button', { name: 'Add domain' }).click()
    await form.getByText('Did you mean kestrel.com?').waitFor()
    await form.getByLabel('Name', { exact: true }).fill('kestrel.com')
    await form.getByRole('button', { name: 'Add domain' }).click()
    await page.getByRole('heading', { name: 'kestrel.com' }).waitFor()
    await page.getByText('active', { exact: true }).first().waitFor()
    await page.getByText('Registry (RDAP), likely').waitFor()
    await page.getByText(/in (19|20) days/).waitFor()
    await expectClean(page)

    await page.goto(`${here.hub.url}/domains`)
    await page.getByRole('button', { name: 'Import' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Domains').fill('name,tags\nhttps://www.example.net/shop,shop\nco.uk,\nkestrel.com,')
    await dialog.getByRole('button', { name: 'Import domains' }).click()
    await page.getByText('1 domain added, 1 existed already, 1 line is invalid.').waitFor()
    await page.getByText('is a public suffix').waitFor()
    await expectClean(page)
    await page.keyboard.press('Escape')
    await page.getByText('example.net', { exact: true }).waitFor()
  },
  limitMs,
)
