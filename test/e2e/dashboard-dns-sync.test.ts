import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/binary'
import { dashboard, expectClean, type Dashboard } from '../support/dashboard'
import { powerDnsDouble } from '../support/power-dns-double'

const double = powerDnsDouble()
let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
  const [workspace] = (await ui.api('GET', '/v1/workspaces')).data
  await ui.api('PATCH', `/v1/workspaces/${workspace.id}`, { network_policy: { allow_private: true, allow_ranges: [] } })
}, 60_000)
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

test('an account is tried out and made, and a zone that is there is taken over as it is', async () => {
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
  await page.getByRole('button', { name: 'Check the connection' }).click()
  await page.getByRole('link', { name: 'unauthorized' }).waitFor()
  await page.getByLabel('API key', { exact: true }).fill(double.apiKey)
  await page.getByRole('button', { name: 'Check the connection' }).click()
  await page.getByText('It is reached, and lets the hub in').waitFor()
  await page.getByRole('button', { name: 'Make the provider' }).click()

  const row = page.getByRole('row').filter({ hasText: 'garden.example' })
  await row.getByRole('checkbox').click()
  await page.getByRole('button', { name: 'Take over garden.example' }).click()
  await row.getByText('kept here').waitFor()
  await expectClean(page)
  const [zone] = (await ui.api('GET', '/v1/dns/zones')).data
  const records = (await ui.api('GET', `/v1/dns/zones/${zone.id}/records?type=A`)).data
  expect(records.map((one: { name: string }) => one.name).sort()).toEqual(['blog', 'mail', 'shop', 'www'])
  expect(valuesThere(`www.${at}`, 'A')).toEqual(['192.0.2.10'])
}, 90_000)

test('of what others changed one is taken over and one put back, and the history leads back', async () => {
  const [zone] = (await ui.api('GET', '/v1/dns/zones')).data
  await until('the zone to be in step', async () => (await ui.api('GET', `/v1/dns/zones/${zone.id}`)).synced || undefined)
  double.put(at, `www.${at}`, 'A', 300, ['198.51.100.7'])
  double.put(at, `shop.${at}`, 'A', 300, ['198.51.100.8'])

  const page = await ui.open(`/dns/zones/${zone.id}/drift`)
  await page.getByRole('button', { name: 'Read now' }).click()
  const www = page.getByRole('listitem').filter({ has: page.getByLabel('Choose www A') })
  await www.getByText('198.51.100.7').waitFor()
  await expectClean(page)
  await www.getByRole('button', { name: 'Take theirs' }).click()
  await page.getByText('Took over www A').waitFor()
  const shop = page.getByRole('listitem').filter({ has: page.getByLabel('Choose shop A') })
  await shop.getByRole('button', { name: 'Write ours…' }).click()
  await page.getByRole('dialog').getByText('192.0.2.10').first().waitFor()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('It is as planned everywhere.').waitFor()
  expect(valuesThere(`shop.${at}`, 'A')).toEqual(['192.0.2.10'])
  expect(valuesThere(`www.${at}`, 'A')).toEqual(['198.51.100.7'])

  await page.goto(`${ui.hub.url}/dns/zones/${zone.id}/history`)
  const { version } = await ui.api('GET', `/v1/dns/zones/${zone.id}`)
  await page.getByRole('button', { name: `More with version ${version}` }).click()
  await page.getByRole('menuitem', { name: 'Undo this change…' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('It is as planned everywhere.').waitFor()
  expect(valuesThere(`www.${at}`, 'A')).toEqual(['192.0.2.10'])
  await page.keyboard.press('Escape')
  await expectClean(page)
}, 90_000)

test('a plan that looks like a mistake is applied with a reason alone', async () => {
  const [zone] = (await ui.api('GET', '/v1/dns/zones')).data
  const rrsets = ['www', 'shop', 'blog', 'mail'].map(name => ({ name, type: 'A', ttl: 300, records: [] }))
  await ui.api('POST', `/v1/dns/zones/${zone.id}/plan`, { rrsets })
  const page = await ui.open(`/dns/zones/${zone.id}/plans`)
  await page.getByRole('button', { name: '4 removed' }).click()
  await page.getByText('Held back, since it looks like a mistake').waitFor()
  await page.getByRole('button', { name: 'Override and apply' }).click()
  await page.getByLabel('Why it is meant').and(page.locator('[aria-invalid=true]')).waitFor()
  await page.getByLabel('Why it is meant').fill('The garden moves.')
  await page.getByRole('button', { name: 'Override and apply' }).click()
  await page.getByText('It is as planned everywhere.').waitFor()
  expect(valuesThere(`blog.${at}`, 'A')).toBeUndefined()
}, 60_000)

test('a template is written, looked at and applied, and rolled out after an edit', async () => {
  const zone = await ui.api('POST', '/v1/dns/zones', { name: 'example.com', nameservers: ['ns1.example.com'] })
  const page = await ui.open('/dns/templates')
  await page.keyboard.press('c')
  await page.getByLabel('Name', { exact: true }).fill('Verification')
  await page.getByRole('button', { name: 'Add a variable' }).click()
  await page.getByLabel('Name 1').first().fill('proof')
  await page.getByLabel('Type 1').last().fill('TXT')
  await page.getByLabel('Value 1').fill('"check={{proof}}"')
  await expectClean(page)
  await page.getByRole('button', { name: 'Make the template' }).click()
  await page.getByRole('heading', { level: 1, name: 'Verification' }).waitFor()

  await page.getByRole('button', { name: 'Apply to a zone' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Zone').fill('example.com')
  await dialog.getByLabel('proof').fill('abc')
  await dialog.getByRole('button', { name: 'See what would change' }).click()
  await dialog.getByText('"check=abc"').first().waitFor()
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('Verification is applied to example.com').waitFor()
  const texts = async () =>
    (await ui.api('GET', `/v1/dns/zones/${zone.id}/records?type=TXT`)).data.map((one: { content: string }) => one.content)
  expect(await texts()).toEqual(['"check=abc"'])

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByLabel('Value 1').fill('"proof={{proof}}"')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Template saved').waitFor()
  await page.getByRole('button', { name: 'Roll out' }).click()
  await page.getByRole('button', { name: 'Roll it out' }).click()
  await page.getByText('1 applied').waitFor()
  expect(await texts()).toEqual(['"proof=abc"'])
  await page.keyboard.press('Escape')
  await expectClean(page)
}, 90_000)

test('a key for a secondary is shown once, as name servers want it', async () => {
  const page = await ui.open('/dns/providers/builtin')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('ns2.example.com')
  await page.getByRole('button', { name: 'Make the key' }).click()
  await page.getByRole('dialog').locator('pre').filter({ hasText: 'key "ns2.example.com" {' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Delete the key ns2.example.com' }).waitFor()
  await expectClean(page)
}, 60_000)
