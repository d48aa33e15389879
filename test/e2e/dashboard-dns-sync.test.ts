import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/binary'
import { dashboard, expectClean, takeSecret, type Dashboard } from '../support/dashboard'
import { powerDnsDouble } from '../support/power-dns-double'

const double = powerDnsDouble()
let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
  const [workspace] = (await ui.api('GET', '/v1/workspaces')).data
  await ui.api('PATCH', `/v1/workspaces/${workspace.id}`, { network_policy: { allow_private: true, allow_ranges: [] } })
}, 180_000)
afterAll(async () => {
  await ui?.[Symbol.asyncDispose]()
  double.stop()
})

const at = 'garden.example.'
const valuesThere = (name: string, type: string) =>
  [...double.zones.get(at)!.rrsets.values()]
    .find(one => one.name === name && one.type === type)
    ?.records.map(one => one.content)
    .sort()

test('a provider is tested and added, and one of its zones is imported', async () => {
  await fetch(`${double.url}/api/v1/servers/localhost/zones`, {
    method: 'POST',
    headers: { 'x-api-key': double.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: at, kind: 'Native', nameservers: ['ns1.example.net.'] }),
  })
  for (const name of ['www', 'shop', 'blog', 'mail']) double.put(at, `${name}.${at}`, 'A', 300, ['192.0.2.10'])

  const page = await ui.open('/dns/providers')
  await page.keyboard.press('c')
  await page.getByLabel('URL', { exact: true }).fill(double.url)
  await page.getByLabel('API key', { exact: true }).fill('not-this-one')
  await page.getByRole('button', { name: 'Test settings' }).click()
  await page.getByRole('link', { name: 'unauthorized' }).waitFor()
  await page.getByLabel('API key', { exact: true }).fill(double.apiKey)
  await page.getByRole('button', { name: 'Test settings' }).click()
  await page.getByText('Connected').waitFor()
  await page.getByRole('button', { name: 'Add provider' }).click()

  const row = page.getByRole('row').filter({ hasText: 'garden.example' })
  await row.getByRole('checkbox').click()
  await page.getByRole('button', { name: 'Import garden.example' }).click()
  await row.getByText('imported', { exact: true }).waitFor()
  await expectClean(page)
  const [zone] = (await ui.api('GET', '/v1/dns/zones')).data
  const records = (await ui.api('GET', `/v1/dns/zones/${zone.id}/records?type=A`)).data
  expect(records.map((one: { name: string }) => one.name).sort()).toEqual(['blog', 'mail', 'shop', 'www'])
  expect(valuesThere(`www.${at}`, 'A')).toEqual(['192.0.2.10'])
}, 180_000)

test('one external change is adopted and one reverted, and the history restores a version', async () => {
  const [zone] = (await ui.api('GET', '/v1/dns/zones')).data
  await until('the zone to be in sync', async () => (await ui.api('GET', `/v1/dns/zones/${zone.id}`)).synced || undefined)
  double.put(at, `www.${at}`, 'A', 300, ['198.51.100.7'])
  double.put(at, `shop.${at}`, 'A', 300, ['198.51.100.8'])

  const page = await ui.open(`/dns/zones/${zone.id}/drift`)
  await page.getByRole('button', { name: 'Refresh' }).click()
  const www = page.getByRole('listitem').filter({ has: page.getByLabel('Select www A') })
  await www.getByText('198.51.100.7').waitFor()
  await expectClean(page)
  await www.getByRole('button', { name: 'Adopt change' }).click()
  await page.getByText('www A adopted').waitFor()
  const shop = page.getByRole('listitem').filter({ has: page.getByLabel('Select shop A') })
  await shop.getByRole('button', { name: 'Revert change…' }).click()
  await page.getByRole('dialog').getByText('192.0.2.10').first().waitFor()
  await page.getByRole('button', { name: 'Apply plan' }).click()
  await page.getByText('Plan applied.').waitFor()
  expect(valuesThere(`shop.${at}`, 'A')).toEqual(['192.0.2.10'])
  expect(valuesThere(`www.${at}`, 'A')).toEqual(['198.51.100.7'])

  await page.goto(`${ui.hub.url}/dns/zones/${zone.id}/history`)
  const { version } = await ui.api('GET', `/v1/dns/zones/${zone.id}`)
  await page.getByRole('button', { name: `Actions for version ${version}` }).click()
  await page.getByRole('menuitem', { name: 'Revert this change…' }).click()
  await page.getByRole('button', { name: 'Apply plan' }).click()
  await page.getByText('Plan applied.').waitFor()
  expect(valuesThere(`www.${at}`, 'A')).toEqual(['192.0.2.10'])
  await page.keyboard.press('Escape')
  await expectClean(page)
}, 180_000)

test('a blocked plan is applied only with a reason', async () => {
  const [zone] = (await ui.api('GET', '/v1/dns/zones')).data
  const rrsets = ['www', 'shop', 'blog', 'mail'].map(name => ({ name, type: 'A', ttl: 300, records: [] }))
  await ui.api('POST', `/v1/dns/zones/${zone.id}/plan`, { rrsets })
  const page = await ui.open(`/dns/zones/${zone.id}/plans`)
  await page.getByRole('button', { name: '4 to delete' }).click()
  await page.getByText('Blocked by safety checks').waitFor()
  await page.getByRole('button', { name: 'Override and apply' }).click()
  await page.getByLabel('Reason').and(page.locator('[aria-invalid=true]')).waitFor()
  await page.getByLabel('Reason').fill('The garden moves.')
  await page.getByRole('button', { name: 'Override and apply' }).click()
  await page.getByText('Plan applied.').waitFor()
  expect(valuesThere(`blog.${at}`, 'A')).toBeUndefined()
}, 180_000)

test('entries that are no record sets are listed, and so is the time when a provider accepts changes again', async () => {
  const [zone] = (await ui.api('GET', '/v1/dns/zones')).data
  double.put(at, `lua.${at}`, 'LUA', 300, [`A "ifportup(443, {'192.0.2.1'})"`])
  const page = await ui.open(`/dns/zones/${zone.id}/drift`)
  await page.getByRole('button', { name: 'Refresh' }).click()
  const foreign = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Managed at the provider' }) })
  await foreign.getByText('ifportup').waitFor()

  double.trouble = request => (request.startsWith('PATCH') ? { status: 429, headers: { 'retry-after': '600' } } : null)
  const rrsets = [{ name: 'new', type: 'A', ttl: 300, records: [{ content: '192.0.2.1' }] }]
  await ui.api('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
  await page.getByText('Changes resume at').waitFor()
  await expectClean(page)
  double.trouble = () => null

  await page.goto(`${ui.hub.url}/dns/zones/${zone.id}/settings`)
  await page.getByText('Changes resume at').first().waitFor()
  await expectClean(page)
}, 180_000)

test('a template is created, previewed and applied, and rolled out after an edit', async () => {
  const zone = await ui.api('POST', '/v1/dns/zones', { name: 'example.com', nameservers: ['ns1.example.com'] })
  const page = await ui.open('/dns/templates')
  await page.keyboard.press('c')
  await page.getByLabel('Name', { exact: true }).fill('Verification')
  await page.getByRole('button', { name: 'Add variable' }).click()
  await page.getByLabel('Name 1').first().fill('proof')
  await page.getByLabel('Type 1').last().fill('TXT')
  await page.getByLabel('Value 1').fill('"check={{proof}}"')
  await expectClean(page)
  await page.getByRole('button', { name: 'Create template' }).click()
  await page.getByRole('heading', { level: 1, name: 'Verification' }).waitFor()

  await page.getByRole('button', { name: 'Apply to zone' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Zone').fill('example.com')
  await dialog.getByLabel('proof').fill('abc')
  await dialog.getByRole('button', { name: 'Preview changes' }).click()
  await dialog.getByText('"check=abc"').first().waitFor()
  await dialog.getByRole('button', { name: 'Apply template' }).click()
  await page.getByText('Verification applied to example.com').waitFor()
  const texts = async () =>
    (await ui.api('GET', `/v1/dns/zones/${zone.id}/records?type=TXT`)).data.map((one: { content: string }) => one.content)
  expect(await texts()).toEqual(['"check=abc"'])

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByLabel('Value 1').fill('"proof={{proof}}"')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Template saved').waitFor()
  await page.getByRole('button', { name: 'Roll out' }).click()
  await page.getByRole('button', { name: 'Start rollout' }).click()
  await page.getByText('1 applied').waitFor()
  expect(await texts()).toEqual(['"proof=abc"'])
  await page.keyboard.press('Escape')
  await expectClean(page)

  await page.goto(`${ui.hub.url}/dns/templates`)
  await page
    .getByRole('region', { name: 'Zones with templates' })
    .getByRole('row', { name: /example\.com/ })
    .getByRole('button', { name: 'Actions for example.com' })
    .click()
  await page.getByRole('menuitem', { name: 'Stop following the template' }).click()
  await page.getByText('The zone no longer follows the template').waitFor()
  expect((await ui.api('GET', '/v1/dns/template-bindings')).data[0].mode).toBe('once')
  await expectClean(page)
}, 180_000)

test('a key for a secondary is shown once, in name server formats', async () => {
  const page = await ui.open('/dns/providers/builtin')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('ns2.example.com')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  const shown = page.getByRole('dialog')
  await shown.locator('pre').filter({ hasText: 'key "ns2.example.com" {' }).waitFor()
  await page.keyboard.press('Escape')
  expect(await takeSecret(shown)).toMatch(/^[\w+/]{43}=$/)
  await page.getByRole('button', { name: 'Delete key ns2.example.com' }).waitFor()
  await expectClean(page)
}, 180_000)
