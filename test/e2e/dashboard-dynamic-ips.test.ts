import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { DynamicIpView } from '../../src/features/dynamic-ips/shapes'
import { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { dashboard, expectClean, takeSecret, type Dashboard } from '../support/dashboard'
import { until } from '../support/binary'
import { closeLater } from '../support/world'

let ui: Dashboard
let zoneId = ''
beforeAll(async () => {
  ui = await dashboard()
  zoneId = (await ui.api('POST', '/v1/dns/zones', { name: 'example.test' })).id
}, 180_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

const source = async (name: string): Promise<DynamicIpView> =>
  (await ui.api('GET', `/v1/dynamic-ips?name=${encodeURIComponent(name)}`)).data[0]

/** Sends a report as a client does. @returns the response */
const report = async (token: string, parameters: string): Promise<string> =>
  (
    await fetch(`${ui.hub.url}/nic/update?${parameters}`, {
      headers: { authorization: `Basic ${btoa(`any:${token}`)}`, 'user-agent': 'ddclient/3.10.0' },
    })
  ).text()

test('a source is created with a host, and its page shows its token once and what it reports', async () => {
  const page = await ui.open('/dynamic-ips')
  await page.getByText('No sources yet').waitFor()
  await page.keyboard.press('c')
  await page.getByLabel('Name', { exact: true }).fill('Home router')
  const host = page.getByRole('group', { name: 'Host 1', exact: true })
  const name = host.getByLabel('Hostname')
  await name.fill('home.elsewhere.test')
  await page.getByRole('button', { name: 'Create source' }).click()
  await host.getByText('Hostname must be in a DNS zone of the workspace.').waitFor()
  await name.and(page.locator(':focus')).waitFor()
  await expectClean(page)

  await ui.api('POST', `/v1/dns/zones/${zoneId}/records`, { name: 'taken', type: 'A', content: '192.0.2.1' })
  await name.fill('taken.example.test')
  await page.getByRole('button', { name: 'Create source' }).click()
  await host.getByText('already has A records. Set “Replace address records that already exist” to true').waitFor()

  // Names in the zones are suggested.
  await name.fill('home.ex')
  await page.locator('datalist option[value="home.example.test"]').waitFor({ state: 'attached' })
  await name.fill('home.example.test')
  await page.getByRole('button', { name: 'Create source' }).click()
  const shown = page.getByRole('dialog', { name: 'Copy the token' })
  // The configurations contain the token while it is known.
  await shown.getByLabel('Client', { exact: true }).selectOption('ddclient3')
  const top = async (place: typeof shown) => (await place.boundingBox())!.y
  expect(await top(shown.getByRole('button', { name: 'Done' }))).toBeLessThan(
    await top(shown.getByLabel('Client', { exact: true })),
  )
  const configuration = await shown.getByRole('figure').last().textContent()
  const token = await takeSecret(shown)
  expect(token).toMatch(/^bw_ddns_/)
  expect(configuration).toContain(`password='${token}'`)
  await page.getByRole('heading', { level: 1, name: 'Home router' }).waitFor()
  await page.getByText('No report has been received yet.').waitFor()
  await page.getByLabel('Client', { exact: true }).selectOption('ddclient3')
  await page.locator('pre', { hasText: "password='{{TOKEN}}'" }).waitFor()

  // The open page follows what the client reports.
  expect(await report(token, 'myip=203.0.113.7')).toBe('good 203.0.113.7\n')
  const hosts = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Hosts', exact: true }) })
  await hosts.getByText('203.0.113.7').waitFor()
  await page.getByText('The records of its hosts follow the reported address.').waitFor()
  const reports = page.getByRole('table', { name: 'Reports' })
  await reports.getByText('The IPv4 address is 203.0.113.7.').waitFor()
  await expectClean(page)
  await reports.getByRole('button').first().click()
  const details = page.getByRole('dialog')
  for (const text of ['ddclient', 'Basic authentication', 'myip=203.0.113.7', 'good 203.0.113.7'])
    await details.getByText(text).first().waitFor()
}, 180_000)

test('a record of a source links to it, and its value can’t be edited', async () => {
  const { id } = await source('Home router')
  const page = await ui.open(`/dns/zones/${zoneId}?q=home.example.test`)
  const row = page.getByRole('row').filter({ hasText: '203.0.113.7' })
  await row.getByRole('button', { name: 'Edit A record home' }).click()
  const editor = page.getByRole('form', { name: 'Edit A record home' })
  for (const label of ['Name', 'Value']) expect(await editor.getByLabel(label, { exact: true }).isDisabled()).toBe(true)
  expect(await editor.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  await expectClean(page)
  await editor.getByLabel('TTL').fill('120')
  await editor.getByRole('button', { name: 'Save changes' }).click()
  await row.getByText('120 s').waitFor()
  await row.getByRole('checkbox').check()
  const bulk = page.getByRole('toolbar')
  await bulk.getByRole('button', { name: 'Set TTL' }).waitFor()
  expect(await bulk.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  await row.getByRole('link', { name: 'Set by dynamic IP source' }).click()
  await page.waitForURL(`**/dynamic-ips/${id}`)
}, 180_000)

test('a source is edited, paused, resumed, and its addresses are set', async () => {
  const before = await source('Home router')
  const page = await ui.open(`/dynamic-ips/${before.id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Home')
  await page.getByRole('button', { name: 'Add host' }).click()
  const host = page.getByRole('group', { name: 'Host 2' })
  await host.getByLabel('Hostname').fill('nas.example.test')
  await host.getByLabel('Record value').selectOption('prefix')
  await host.getByText('IP version and TTL').click()
  await host.getByLabel('IP version').selectOption('ipv6')
  await page.getByLabel('Stale after', { exact: true }).fill('2')
  await page.getByLabel('Unit of stale after').selectOption('3600')
  await page.getByText('Restrictions', { exact: true }).click()
  await page.getByLabel('Allow private addresses').check()
  await page.getByText('Organization', { exact: true }).click()
  await page.getByLabel('Tags').fill('home')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await host.getByText('IPv6 suffix is required').waitFor()
  await host.getByLabel('IPv6 suffix').fill('::10')
  await expectClean(page)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('heading', { level: 1, name: 'Home', exact: true }).waitFor()
  expect(await source('Home')).toMatchObject({
    id: before.id,
    families: ['ipv4', 'ipv6'],
    hosts: [
      { name: 'home.example.test', mode: 'address', suffix6: null },
      { name: 'nas.example.test', mode: 'prefix', suffix6: '::10', families: ['ipv6'] },
    ],
    stale_after_seconds: 7200,
    allow_private: true,
    tags: ['home'],
    ttl: 60,
  })

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused. Reports are stored').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Set addresses' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set addresses of Home' })
  await dialog.getByLabel('IPv4 address').fill('10.0.0.300')
  await dialog.getByRole('button', { name: 'Set addresses' }).click()
  await dialog.getByText('must be an IPv4 address of a host.').waitFor()
  await dialog.getByLabel('IPv4 address').fill('10.0.0.30')
  await dialog.getByLabel('IPv6 prefix').fill('2001:db8:1:100::/56')
  await dialog.getByRole('button', { name: 'Set addresses' }).click()
  await page.getByText('Addresses set').waitFor()
  expect((await source('Home')).hosts.flatMap(one => one.records.map(record => record.content))).toEqual(['203.0.113.7'])
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('2001:db8:1:100::10').first().waitFor()
  expect((await source('Home')).hosts.flatMap(one => one.records.map(record => record.content))).toEqual([
    '10.0.0.30',
    '2001:db8:1:100::10',
  ])
}, 180_000)

test('the token is rotated with a grace period and revoked', async () => {
  const { id } = await source('Home')
  const page = await ui.open(`/dynamic-ips/${id}`)
  const dialog = page.getByRole('dialog')
  const rotate = async (grace: string) => {
    await page.getByRole('button', { name: 'Rotate token' }).click()
    await dialog.getByLabel('The old token keeps working').selectOption(grace)
    await dialog.getByRole('button', { name: 'Rotate token' }).click()
    await dialog.getByRole('heading', { name: 'Copy the token' }).waitFor()
    return await takeSecret(dialog)
  }
  const first = await rotate('0')
  const second = await rotate('3600')
  await page.getByText(/Expires in/).waitFor()
  for (const token of [first, second]) expect(await report(token, 'myip=203.0.113.8')).toMatch(/^(?:good|nochg) /)
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await dialog.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByRole('button', { name: 'Create token' }).waitFor()
  expect(await report(second, 'myip=203.0.113.9')).toBe('badauth\n')
}, 180_000)

test('a held source shows why, and hosts show their problems', async () => {
  const { id } = await source('Home')
  const page = await ui.open('/dynamic-ips')
  const at = '2026-11-27T10:00:00.000Z'
  await page.route(`**/v1/dynamic-ips/${id}`, async route => {
    const response = await route.fetch()
    const found: DynamicIpView = await response.json()
    const hold = { code: 'two_clients', detail: 'Two clients report different addresses.', since_at: at }
    const problem = { code: 'locked', detail: 'The records of home.example.test are locked.', since_at: at }
    const hosts = found.hosts.map(one => ({ ...one, problem }))
    await route.fulfill({ json: { ...found, status: 'held', status_reason: hold, hosts } })
  })
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByText('Two clients report different addresses. New addresses are refused').waitFor()
  await page.getByText('The records of home.example.test are locked.').first().waitFor()
  await page.getByRole('note').getByRole('button', { name: 'Resume' }).waitFor()
  await expectClean(page)
}, 180_000)

test('a source is found by its status, and deleted with its records', async () => {
  const page = await ui.open('/dynamic-ips?status=fresh')
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete Home?' })
  await dialog.getByLabel('Records of its hosts').selectOption('delete')
  await expectClean(page)
  await dialog.getByRole('button', { name: 'Delete source' }).click()
  await page.getByText('Home deleted').waitFor()
  await page.getByText('No sources yet').waitFor()
  const { data } = await ui.api('GET', `/v1/dns/zones/${zoneId}/records`)
  expect(data.filter((one: any) => ['home', 'nas'].includes(one.name))).toEqual([])
}, 180_000)

test('a firewall is attached, changed with a preview, and reverted unless the change is kept', async () => {
  const double = new HetznerCloudDouble()
  await double.start()
  closeLater(async () => double.stop())
  double.addServer({ name: 'web-1' })
  double.addServer({ name: 'web-2' })
  const [workspace] = (await ui.api('GET', '/v1/workspaces')).data
  await ui.api('PATCH', `/v1/workspaces/${workspace.id}`, { network_policy: { allow_private: true, allow_ranges: [] } })
  const settings = { api_token: double.token, base_url: double.url }
  await ui.api('POST', '/v1/cloud-accounts', { kind: 'hetzner', name: 'Hetzner', settings })
  await until('the servers', async () => (await ui.api('GET', '/v1/servers')).data.length === 2)

  const page = await ui.open('/firewalls')
  await page.getByText('No firewalls yet').waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('web')
  await dialog.getByRole('button', { name: 'Create firewall' }).click()
  await page.getByRole('link', { name: 'web', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'web' }).waitFor()
  await page.getByText('No rules: all incoming traffic is dropped.').waitFor()

  await page.getByRole('button', { name: 'Edit rules' }).click()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByLabel('Ports 1').fill('443-80')
  await page.getByText('443-80').first().waitFor()
  await page.getByText('The range 443-80 must start with the lower port: 80-443.').waitFor()
  await page.getByLabel('Ports 1').fill('443')
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByLabel('Ports 2').fill('22')
  await page.getByLabel('From or to 2').fill('198.51.100.0/24')
  const changes = page.getByRole('region', { name: 'Changes' })
  await changes.getByText('TCP 22 from 198.51.100.0/24').waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Apply rules' }).click()
  await page.getByText('Version 2', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Attach servers' }).click()
  await dialog.getByLabel('web-1').check()
  await dialog.getByRole('button', { name: 'Attach servers' }).click()
  await page.getByText('Applied').first().waitFor()
  const theirs = () => [...double.project.firewalls.values()][0]!
  expect(
    theirs()
      .rules.map(one => one.port)
      .sort(),
  ).toEqual(['22', '443'])
  await expectClean(page)

  await page.getByRole('button', { name: 'Edit rules' }).click()
  await page.getByRole('button', { name: 'Remove row 2 of allowed traffic' }).click()
  await page.getByRole('alert').getByText('No address could connect to port 22 (SSH) of web-1.').waitFor()
  await page.getByLabel('Reason for the override').fill('SSH is only reachable by VPN.')
  await expectClean(page)
  await page.getByRole('button', { name: 'Override and apply' }).click()
  const timer = page.getByRole('region', { name: 'Confirmation' })
  await timer.getByText(/The previous rules are restored in \d+ s/).waitFor()
  expect(theirs().rules.map(one => one.port)).toEqual(['443'])
  await expectClean(page)
  await timer.getByRole('button', { name: 'Undo now' }).click()
  await page.getByText('Version 4', { exact: true }).waitFor()
  await until('the previous rules', async () => theirs().rules.length === 2)
  await timer.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Edit rules' }).click()
  await page.getByLabel('Description 1').fill('Website')
  await page.getByLabel('Ports 1').fill('443 8443')
  await page.getByRole('button', { name: 'Apply rules' }).click()
  await timer.getByRole('button', { name: 'Keep changes' }).click()
  await timer.waitFor({ state: 'detached' })
  await page.getByText('Website').first().waitFor()
  await page.getByRole('button', { name: 'Compare with current' }).first().click()
  await expectClean(page)

  // A rule follows a source that is linked on its page.
  const { id } = await ui.api('POST', '/v1/dynamic-ips', { name: 'Office router' })
  await ui.api('POST', `/v1/dynamic-ips/${id}/report`, { ipv4: '203.0.113.7' })
  const office = await ui.open(`/dynamic-ips/${id}`)
  await office.getByRole('button', { name: 'Link firewall rule' }).click()
  await office.getByRole('dialog').getByLabel('Firewall', { exact: true }).selectOption({ label: 'web' })
  await office.getByRole('dialog').getByLabel('Rule', { exact: true }).selectOption('r2')
  await office.getByRole('dialog').getByRole('button', { name: 'Link firewall rule' }).click()
  await office.getByText('203.0.113.7/32').waitFor()
  await expectClean(office)
  await until('the rule', async () => theirs().rules.some(one => one.source_ips.includes('203.0.113.7/32')))

  await page.getByRole('button', { name: 'Actions for web-1' }).click()
  await page.getByRole('menuitem', { name: 'Detach server' }).click()
  await dialog.getByRole('button', { name: 'Detach server' }).click()
  await dialog.getByText('Everyone could connect to all ports of web-1.').first().waitFor()
  await dialog.getByLabel('Reason for the override').fill('It moves.')
  await dialog.getByRole('button', { name: 'Override and detach' }).click()
  await page.getByText('Not attached to any server').waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.getByRole('button', { name: 'Delete firewall' }).click()
  await page.getByText('No firewalls yet').waitFor()
}, 180_000)
