import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { ServerView } from '../../src/features/servers/shapes'
import { Machine } from '../support/agent-double'
import { until } from '../support/binary'
import { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { dashboard, expectClean, forgetProblems, type Dashboard } from '../support/dashboard'
import { ownCertificate, type OwnCertificate } from '../support/own-certificate'
import { sshKeys } from '../support/ssh-keys'

let ui: Dashboard
const double = new HetznerCloudDouble()
beforeAll(async () => {
  ui = await dashboard()
  await double.start()
  for (const [name, role] of [
    ['web-1', 'web'],
    ['web-2', 'web'],
    ['db-1', 'db'],
  ] as const)
    double.addServer({ name, labels: { role } })
  const [workspace] = (await ui.api('GET', '/v1/workspaces')).data
  await ui.api('PATCH', `/v1/workspaces/${workspace.id}`, { network_policy: { allow_private: true, allow_ranges: [] } })
}, 180_000)
afterAll(async () => {
  double.stop()
  await ui?.[Symbol.asyncDispose]()
})

const serverNamed = async (name: string): Promise<ServerView> =>
  (await ui.api('GET', `/v1/servers?q=${name}`)).data.find((one: ServerView) => one.name === name)
const account = async () => (await ui.api('GET', '/v1/cloud-accounts')).data[0]
const sync = async () => ui.api('POST', `/v1/cloud-accounts/${(await account()).id}/sync`)
const openServer = async (name: string) => ui.open(`/servers/${(await serverNamed(name)).id}`)
const section = (page: Page, heading: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: heading, exact: true }) })

/** Waits until an action has succeeded, not only some of its steps. @param heading of its card */
const succeeded = (page: Page, heading: string) =>
  section(page, heading).locator(':scope > div').first().getByText('succeeded').waitFor()

/** Opens the dialog of an action in the menu of a server. */
async function act(page: Page, label: string) {
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: label, exact: true }).click()
  return page.getByRole('dialog')
}

test('a cloud is connected after its settings were tested, and its servers are added', async () => {
  const page = await ui.open('/servers')
  await page.getByText('No servers yet').waitFor()
  await page.getByRole('link', { name: 'Connect a cloud' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Production')
  const token = page.getByLabel('API token', { exact: true })
  await token.fill('x'.repeat(64))
  await page.locator('summary', { hasText: 'Connection' }).click()
  await page.getByLabel('Base URL').fill(double.url)
  await page.getByLabel('Existing servers').selectOption('none')
  await page.locator('summary', { hasText: 'Spending limits' }).click()
  await page.getByLabel('Monthly cap').fill('30')
  await page.getByRole('button', { name: 'Test settings' }).click()
  await page.getByRole('link', { name: 'unauthorized' }).waitFor()
  await token.fill(double.token)
  await page.getByRole('button', { name: 'Test settings' }).click()
  await page.getByText('Connected: Hetzner Cloud, 3 servers').waitFor()
  // Nothing is stored yet, and the error of the API is at its field.
  expect((await ui.api('GET', '/v1/cloud-accounts')).data).toEqual([])
  await page.getByRole('button', { name: 'Connect a cloud' }).click()
  await page
    .getByText('Enter a currency')
    .or(page.getByText(/Currency .*required/))
    .waitFor()
  await page.getByLabel('Currency', { exact: true }).fill('EUR')
  await page.getByRole('button', { name: 'Connect a cloud' }).click()

  await page.getByRole('heading', { level: 1, name: 'Production' }).waitFor()
  await page.getByText('Connected: Hetzner Cloud').waitFor()
  await page.getByRole('button', { name: 'Show servers' }).click()
  const unclaimed = page.getByRole('table', { name: 'Servers that are not in the workspace' })
  await unclaimed.getByRole('row').filter({ hasText: 'db-1' }).waitFor()
  await unclaimed.getByLabel('Select all').check()
  await page.getByRole('button', { name: 'Add 3 servers' }).click()
  await page.getByText('3 servers added').waitFor()
  await section(page, 'Monthly spend').getByText('€15.32 of €30.00').waitFor()
  await page.getByRole('table', { name: 'Sizes' }).getByRole('row').filter({ hasText: 'cx32' }).waitFor()
  await page.getByRole('button', { name: 'Images' }).click()
  await page.getByRole('table', { name: 'Images' }).getByText('Debian 12').waitFor()
  await page.getByRole('button', { name: 'Sync now' }).click()
  await succeeded(page, 'Sync cloud account')
  await expectClean(page)

  await page.getByRole('button', { name: 'Edit limits' }).click()
  const limits = page.getByRole('dialog')
  await limits.getByLabel('Monthly cap').fill('25')
  await limits.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Spending limits saved').waitFor()
  expect((await account()).spend).toEqual({ monthly_cap: '25', confirm_above: '0', currency: 'EUR' })
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Existing servers').selectOption('selector')
  await page.getByLabel('Label selector').fill('role=web')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Added if their labels match').waitFor()
  const list = await ui.open('/cloud-accounts')
  await list.getByRole('row').filter({ hasText: 'Production' }).getByText('3 servers').waitFor()
  await list.getByRole('meter', { name: 'Committed spend' }).waitFor()
}, 180_000)

test('servers are filtered, and several are switched at once', async () => {
  const page = await ui.open('/servers?status=running')
  await page.getByText('3 of 3').waitFor()
  await page.getByLabel('Label selector').fill('role=web')
  await page.getByText('2 of 2').waitFor()
  expect(new URL(page.url()).search).toContain('label_selector=role%3Dweb')
  await page.getByRole('button', { name: 'Filter by location fsn1' }).first().click()
  await page.getByRole('button', { name: 'Location fsn1, remove filter' }).waitFor()
  await page.getByLabel('Select all').check()
  await expectClean(page)
  await page.getByRole('toolbar').getByRole('button', { name: 'Power off' }).click()
  const dialog = page.getByRole('dialog', { name: 'Power off 2 servers?' })
  await dialog.getByText('web-2').waitFor()
  const confirm = dialog.getByRole('button', { name: 'Power off 2 servers' })
  expect(await confirm.isDisabled()).toBe(true)
  await dialog.getByLabel('to confirm').fill('2')
  await confirm.click()
  await page.getByText('2 actions started').waitFor()
  // They leave the filtered list as they are switched off.
  await page.getByText('No matches').waitFor()
  await until('the server is off', async () => double.serverNamed('web-1')!.status === 'off')
  await page.goto(`${ui.hub.url}/servers?power=off`)
  await page.getByRole('row').filter({ hasText: 'web-1' }).getByText('off').first().waitFor()
}, 180_000)

test('the page of a server shows what is known, follows actions and the cloud, and edits labels', async () => {
  const page = await openServer('web-1')
  const state = section(page, 'State')
  await state.getByText('off', { exact: true }).first().waitFor()
  await page.getByRole('table', { name: 'Facts' }).getByRole('row').filter({ hasText: 'Memory' }).getByText('4 GiB').waitFor()
  const metrics = section(page, 'Metrics')
  await metrics.getByRole('img', { name: /^CPU of web-1 from/ }).waitFor()
  await metrics.getByText('Measured by the cloud').waitFor()
  await metrics.getByRole('button', { name: 'Peaks' }).click()
  for (const range of ['2 y', '7 d']) {
    await metrics.getByRole('button', { name: range }).click()
    await metrics.getByRole('img', { name: /^CPU of web-1 from/ }).waitFor()
  }
  await page.waitForURL(/range=7d/)

  // While it is off, it can get another size, at the price that is shown.
  const resize = await act(page, 'Resize')
  await resize.getByRole('radio', { name: /^cx32/ }).check()
  await resize.getByText('€8.69').waitFor()
  await expectClean(page)
  await resize.getByRole('button', { name: 'Resize' }).click()
  await succeeded(page, 'Resize server')
  await section(page, 'Details').getByText('cx32').waitFor()

  await page.getByRole('button', { name: 'Power on' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Power on' }).click()
  await succeeded(page, 'Power on server')
  await state.getByText('running', { exact: true }).waitFor()
  await section(page, 'History').getByText('starting').waitFor()

  const rebuild = await act(page, 'Rebuild')
  await rebuild.getByLabel('Image').selectOption('debian-12')
  expect(await rebuild.getByRole('button', { name: 'Rebuild' }).isDisabled()).toBe(true)
  await rebuild.getByLabel('to confirm').fill('web-1')
  expect(await rebuild.getByRole('button', { name: 'Rebuild' }).isDisabled()).toBe(false)
  await rebuild.getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Labels').fill('role=web, tier=gold, wrong value')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText(/1 to 63 characters/).waitFor()
  await page.getByLabel('Labels').fill('role=web, tier=gold')
  await page.getByLabel('Notes').fill('Ask Alice.')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('tier=gold').first().waitFor()
  expect((await serverNamed('web-1')).labels).toEqual({ role: 'web', tier: 'gold' })

  // What happens at the cloud shows up with the next reading.
  double.console.powerOff(double.serverNamed('web-1')!)
  await sync()
  await state.getByText('off', { exact: true }).first().waitFor()
  await expectClean(page)
}, 180_000)

test('a new server costs at most the price that was shown, and is bought once', async () => {
  const page = await ui.open('/servers/new')
  const keys: (string | undefined)[] = []
  let isLost = false
  await page.route('**/v1/servers', async (route, request) => {
    if (request.method() !== 'POST') return await route.continue()
    keys.push(request.headers()['idempotency-key'])
    if (!isLost) return await route.continue()
    isLost = false
    await route.abort()
  })
  await page.getByLabel('Location', { exact: true }).selectOption('fsn1')
  const price = page.getByRole('region', { name: 'Price' })
  // What the cloud doesn’t tell can be accepted as it is.
  const unknown = { monthly: null, currency: null, gross: true, known: false, as_of: null }
  await page.route('**/v1/servers?dry_run=true', route =>
    route.fulfill({ json: { price: unknown, committed: '15.32', cap: '25', steps: [], problems: [] } }),
  )
  await page.getByRole('radio', { name: /^cx22/ }).check()
  await price.getByLabel('Buy it at an unknown price').check()
  await page.getByRole('button', { name: 'View as API call' }).click()
  const command = page.getByRole('dialog').locator('pre')
  await command.getByText('"accept_unknown_price": true').waitFor()
  await page.keyboard.press('Escape')
  await price.getByLabel('Buy it at an unknown price').uncheck()
  await page.unroute('**/v1/servers?dry_run=true')
  await page.getByRole('radio', { name: /^ccx13/ }).check()
  await price.getByText(/The account may cost up to 25 EUR per month/).waitFor()
  await page.getByRole('radio', { name: /^cax11/ }).check()
  await price.getByText('€5.11').waitFor()
  await price.getByText(/left after this/).waitFor()
  await price.getByText('Still required: image, SSH keys.').waitFor()
  // Problems of the dry run are at the fields, and don’t move the focus.
  const name = page.getByLabel('Name', { exact: true })
  await name.pressSequentially('app 1_')
  await page.getByText('Name must be a hostname').waitFor()
  expect(await name.evaluate(input => input === document.activeElement)).toBe(true)
  await page.getByRole('button', { name: 'Create server' }).click()
  await page.getByText('Image is required').waitFor()
  forgetProblems(page)
  await expectClean(page)
  await name.fill('app-1')
  await page.getByLabel('Image', { exact: true }).selectOption('debian-12')
  await page.getByLabel('Other public keys, one per line').fill(sshKeys.ed25519.text)
  await price.getByText('Still required').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'View as API call' }).click()
  const text = await command.textContent()
  for (const part of ['-H "Idempotency-Key: $(uuidgen)"', '"max_monthly_price": "5.1051"', '"currency": "EUR"'])
    expect(text).toContain(part)
  await page.keyboard.press('Escape')

  keys.length = 0
  isLost = true
  const create = page.getByRole('button', { name: 'Create server' })
  await create.click()
  await page.getByText('Can’t reach Bailiwick').first().waitFor()
  await create.click()
  await page.getByRole('heading', { level: 1, name: 'app-1' }).waitFor()
  expect(keys).toHaveLength(2)
  expect(keys[0]).toMatch(/^[a-z0-9]{16,}$/)
  expect(keys[1]).toBe(keys[0])
  await succeeded(page, 'Provision server')
  await section(page, 'State').getByText('running', { exact: true }).waitFor()
  expect([...double.project.servers.values()].filter(one => one.name === 'app-1')).toHaveLength(1)
  expect((await serverNamed('app-1')).price.monthly).toBe('5.1051')
}, 180_000)

test('a draft is edited, bought after its price was confirmed, and deleted with the server at the cloud', async () => {
  const page = await ui.open('/servers/new')
  await page.getByLabel('Name', { exact: true }).fill('draft-1')
  await page.getByLabel('Only save it as a draft').check()
  await page.getByRole('button', { name: 'Create server' }).click()
  await page.getByRole('heading', { level: 1, name: 'draft-1' }).waitFor()
  await page.getByText('draft', { exact: true }).first().waitFor()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Location', { exact: true }).selectOption('fsn1')
  await page.getByRole('radio', { name: /^cax11/ }).check()
  await page.getByLabel('Image', { exact: true }).selectOption('debian-12')
  await page.getByLabel('Other public keys, one per line').fill(sshKeys.ed25519.text)
  await page.getByRole('button', { name: 'Save changes' }).click()
  // The cap is too low for it.
  await page.getByRole('button', { name: 'Create at cloud' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/The account may cost up to 25 EUR/).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  const { id, version } = await account()
  await fetch(`${ui.hub.url}/v1/cloud-accounts/${id}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${ui.token}`, 'content-type': 'application/json', 'if-match': `"${version}"` },
    body: JSON.stringify({ spend: { monthly_cap: '60', confirm_above: '0', currency: 'EUR' } }),
  })
  await page.getByRole('button', { name: 'Create at cloud' }).click()
  await dialog.getByText('€5.11').waitFor()
  await dialog.getByText(/left after this/).waitFor()
  await expectClean(page)
  await dialog.getByRole('button', { name: 'Create at cloud' }).click()
  await succeeded(page, 'Provision server')

  await section(page, 'State').getByText('running', { exact: true }).waitFor()
  const remove = await act(page, 'Delete')
  const confirm = remove.getByRole('button', { name: 'Delete server' })
  expect(await confirm.isDisabled()).toBe(true)
  await remove.getByLabel('to confirm').fill('draft-1')
  await confirm.click()
  await page.getByText('draft-1 is being deleted').waitFor()
  await section(page, 'State').getByText('deleted', { exact: true }).waitFor()
  expect(double.serverNamed('draft-1')).toBeUndefined()
}, 180_000)

test('a volume is created, attached, grown, and deleted', async () => {
  const page = await ui.open('/volumes')
  await page.getByRole('button', { name: 'Create volume' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('data-1')
  await dialog.getByLabel('Location').selectOption('fsn1')
  await dialog.getByLabel('File system').selectOption('ext4')
  await dialog.getByLabel('Maximum price per month').fill('0.10')
  await dialog.getByLabel('Currency').fill('EUR')
  await dialog.getByRole('button', { name: 'Create volume' }).click()
  await dialog.getByText(/above the maximum of 0.10/).waitFor()
  forgetProblems(page)
  await expectClean(page)
  await dialog.getByLabel('Maximum price per month').fill('2')
  await dialog.getByRole('button', { name: 'Create volume' }).click()
  const row = page.getByRole('row').filter({ hasText: 'data-1' })
  await row.getByText('Available').waitFor()
  const choose = async (item: string) => {
    await row.getByRole('button', { name: 'Actions for data-1' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Attach volume')
  await dialog.getByLabel('Server', { exact: true }).selectOption({ label: 'web-1' })
  await dialog.getByRole('button', { name: 'Attach volume' }).click()
  await row.getByText('In use').waitFor()
  await row.getByRole('link', { name: 'web-1' }).waitFor()
  await choose('Resize volume')
  await dialog.getByLabel('Size').fill('20')
  await dialog.getByLabel('Maximum price per month').fill('3')
  await dialog.getByLabel('Currency').fill('EUR')
  await dialog.getByRole('button', { name: 'Resize volume' }).click()
  await row.getByText('20 GiB').waitFor()
  await expectClean(page)
  await choose('Detach volume')
  await dialog.getByRole('button', { name: 'Detach volume' }).click()
  await row.getByText('Available').waitFor()
  await choose('Delete volume')
  await dialog.getByLabel('to confirm').fill('data-1')
  await dialog.getByRole('button', { name: 'Delete volume' }).click()
  await page.getByText('No volumes yet').waitFor()
  expect(double.project.volumes.size).toBe(0)
}, 180_000)

test('a snapshot is created, restored, protected, and created on a schedule', async () => {
  const page = await ui.open('/snapshots')
  await page.getByRole('button', { name: 'Create snapshot' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Server', { exact: true }).selectOption({ label: 'web-1' })
  // Hetzner has no snapshots of volumes.
  expect(await dialog.getByLabel('Or a volume').count()).toBe(0)
  await dialog.getByLabel('Name', { exact: true }).fill('before')
  await dialog.getByLabel('Maximum price per month').fill('1')
  await dialog.getByLabel('Currency').fill('EUR')
  await expectClean(page)
  await dialog.getByRole('button', { name: 'Create snapshot' }).click()
  const row = page.getByRole('row').filter({ hasText: 'before' })
  await row.getByText('Available').waitFor()
  const choose = async (item: string) => {
    await row.getByRole('button', { name: 'Actions for before' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Edit snapshot')
  await dialog.getByLabel('Protect from deletion').check()
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await row.getByText('protected').waitFor()
  await choose('Restore snapshot')
  await dialog.getByLabel('Snapshot of the current state').selectOption('no')
  await dialog.getByLabel('to confirm').fill('before')
  await dialog.getByRole('button', { name: 'Restore snapshot' }).click()
  await page.getByText('Snapshot is being restored').waitFor()
  await until('the server to be restored', async () => (await serverNamed('web-1')).action_id === null)
  await expectClean(page)

  const server = await openServer('web-1')
  await section(server, 'Snapshots').getByText('before').waitFor()
  await expectClean(server)

  const policies = await ui.open('/snapshot-policies')
  await policies.getByRole('button', { name: 'Create policy' }).first().click()
  const form = policies.getByRole('dialog')
  await form.getByLabel('Name', { exact: true }).fill('nightly')
  await form.getByLabel('Label selector').fill('role=web')
  await form.getByLabel('Schedule').fill('0 0 30 2 *')
  await form.getByRole('button', { name: 'Create policy' }).click()
  await form.getByText(/never runs/).waitFor()
  forgetProblems(policies)
  await form.getByLabel('Schedule').fill('0 3 * * *')
  await expectClean(policies)
  await form.getByRole('button', { name: 'Create policy' }).click()
  await policies.getByRole('row').filter({ hasText: 'nightly' }).getByText('role=web').waitFor()
  await expectClean(policies)
}, 180_000)

test('a server without a cloud account is added with a controller, and deleted', async () => {
  const page = await ui.open('/servers')
  await page.getByRole('button', { name: 'Add server' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('nas')
  await dialog.getByLabel('Kind').selectOption('bare_metal')
  await dialog.getByLabel('IP addresses').fill('192.168.1.999')
  await dialog.getByRole('button', { name: 'Add server' }).click()
  await dialog.getByText(/must be an IPv4 or IPv6 address/).waitFor()
  await dialog.getByLabel('IP addresses').fill('192.168.1.10')
  await dialog.getByRole('button', { name: 'Add server' }).click()
  await page.getByText('nas created').waitFor()
  await page.getByRole('link', { name: 'nas', exact: true }).click()
  await section(page, 'State').getByRole('code').getByText('192.168.1.10').waitFor()

  await page.getByRole('button', { name: 'Add controller' }).click()
  await page.getByRole('menuitem', { name: 'Wake-on-LAN' }).click()
  await page.getByRole('dialog').getByLabel('MAC').fill('00:11:22:33:44:55')
  await page.getByRole('dialog').getByRole('button', { name: 'Add controller' }).click()
  const controllers = section(page, 'Controllers')
  await controllers.getByText('Wake-on-LAN').waitFor()
  await expectClean(page)
  await controllers.getByRole('button', { name: 'Delete Wake-on-LAN' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete controller' }).click()
  await controllers.getByText('Add the BMC, SSH, or Wake-on-LAN').waitFor()

  const remove = await act(page, 'Delete')
  await remove.getByLabel('to confirm').fill('nas')
  await remove.getByRole('button', { name: 'Delete server' }).click()
  await page.getByText('nas deleted', { exact: true }).waitFor()
  await until('the server to be gone', async () => (await serverNamed('nas')) === undefined)
  expect(double.offences).toEqual([])
}, 180_000)

test('the page of a server shows what its agent reports, what has failed first, and what it may not do', async () => {
  const { id } = await serverNamed('db-1')
  const { key } = await ui.api('POST', `/v1/servers/${id}/agent`, {})
  const handle = ({ url, method, headers, body }: Request) =>
    fetch(`${ui.hub.url}${new URL(url).pathname}`, { method, headers, body })
  const machine = new Machine({ app: { handle }, clock: { now: () => Date.now() } })
  expect((await machine.enrol(key)).status).toBe(201)
  const container = { image: 'shop:1.4', health: null, restarts: 0, exit_code: null }
  const disk = { model: 'WDC WD40EFRX', serial: null, failing: false, warnings: [], error: null }
  const dayMs = 86_400_000
  const [former, renewed] = [60, 1].map(days =>
    ownCertificate({ from: Date.now() - days * dayMs, until: Date.now() + (90 - days) * dayMs }),
  ) as [OwnCertificate, OwnCertificate]
  const file = { kind: 'certbot', modified_at: null, owner: 'root', references: ['nginx: shop.example.com'], key: null }
  const certificates = {
    files: [
      { ...file, path: '/etc/ssl/shop.pem', mode: '0644', chain: [renewed.sha256], error: null },
      { ...file, path: '/root/tls.pem', mode: null, chain: [], error: 'The agent is not allowed to read it.' },
    ],
    served: [{ address: '0.0.0.0', port: 443, process: 'nginx', starttls: null, sni: 'shop.example.com', protocol: '1.3' }].map(
      one => ({ ...one, chain: [former.sha256], error: null }),
    ),
    certificates: [former.base64, renewed.base64],
  }
  const report = {
    certificates,
    ...{ allow: ['collect', 'reboot'], spooled: 3, clock_offset_ms: 7000, problems: ['/mnt/backup doesn’t respond.'] },
    containers: [
      ...Array.from({ length: 12 }, (_, at) => ({ ...container, name: `shop-${at}`, state: 'running', health: 'healthy' })),
      { ...container, name: 'import', state: 'exited', restarts: 3, exit_code: 1 },
    ],
    units: [
      { name: 'postgresql.service', state: 'active', sub_state: 'running', watched: true },
      { name: 'nginx.service', state: 'failed', sub_state: 'failed', watched: false },
    ],
    disks: [
      { ...disk, device: '/dev/sda', failing: true, warnings: ['8 sectors wait to be reallocated.'] },
      { ...disk, device: '/dev/sdb', error: 'The disk sleeps.' },
    ],
    arrays: [],
    sockets: [
      { protocol: 'tcp', address: '0.0.0.0', port: 22, process: null, user: 'root' },
      { protocol: 'tcp', address: '127.0.0.1', port: 5432, process: 'postgres', user: 'postgres' },
    ],
    mounts: [],
    packages: [
      { name: 'bash', version: '5.2.15-2+b2' },
      { name: 'openssl', version: '3.0.14-1' },
    ],
    sessions: [{ user: 'alice', terminal: 'pts/0', from: '192.0.2.7', since: null }],
  }
  const minute = Math.floor(Date.now() / 60_000) * 60_000
  const minutes = Array.from({ length: 50 }, (_, at) => [minute - (50 - at) * 60_000, 6, [20 + (at % 9)], [40 + (at % 9)]])
  expect((await machine.report({ ...report, columns: ['cpu.used_percent'], minutes })).status).toBe(200)
  const opened = { protocol: 'tcp', address: '0.0.0.0', port: 8080, process: null, user: 'www-data' }
  const processes = [{ name: 'mysqld', user: 'mysql', cpu_percent: 88.2, memory_bytes: 2 ** 31, command: null }]
  const moment = { causes: ['cpu'], cpu_percent: 97.1, memory_percent: 61, io_full_percent: null, processes }
  const news = {
    moments: [{ at: Date.now() - 60_000, ...moment }],
    events: [{ at: Date.now(), kind: 'container.died', name: 'import', detail: 'exit code 1' }],
  }
  const packages = [report.packages[0], { name: 'openssl', version: '3.0.15-1' }, { name: 'nginx', version: '1.22.1-9' }]
  expect((await machine.report({ ...report, ...news, packages, sockets: [...report.sockets, opened] })).status).toBe(200)

  const page = await openServer('db-1')
  const table = page.getByRole('table', { name: 'Services and disks' })
  await table.getByRole('row').filter({ hasText: 'nginx.service' }).getByText('failed', { exact: true }).waitFor()
  await table.getByRole('row').filter({ hasText: 'import' }).getByText('shop:1.4 · exit code 1 · restarted 3 times').waitFor()
  const names = async () => await table.locator('tbody tr td:first-child > div:first-child').allTextContents()
  expect((await names()).slice(0, 5)).toEqual(['import', 'nginx.service', '/dev/sda', '/dev/sdb', 'shop-0'])
  await section(page, 'Services and disks').getByText('The server has no Linux software RAID').waitFor()
  expect(await table.getByText('postgresql.service').count()).toBe(0)
  await page.getByRole('button', { name: 'Show all 17' }).click()
  await table.getByText('postgresql.service').waitFor()
  const ports = page.getByRole('table', { name: 'Ports, file systems, and users' })
  await ports.getByRole('row').filter({ hasText: '22/tcp' }).getByText('all addresses (0.0.0.0) · user root').waitFor()
  await ports.getByRole('row').filter({ hasText: '5432/tcp' }).getByText('local', { exact: true }).waitFor()
  await ports.getByRole('row').filter({ hasText: 'alice' }).getByText('from 192.0.2.7 · pts/0').waitFor()
  const served = page.getByRole('table', { name: 'Certificates on ports' }).getByRole('row').filter({ hasText: 'Port 443' })
  await served.getByText('Renewed on disk, not served', { exact: true }).waitFor()
  await served.getByText(/^\/etc\/ssl\/shop\.pem contains a certificate that expires .*: reload nginx · nginx · /).waitFor()
  const files = page.getByRole('table', { name: 'Certificates in files' }).getByRole('row')
  await files.filter({ hasText: '/etc/ssl/shop.pem' }).getByText('Valid', { exact: true }).waitFor()
  await files.filter({ hasText: '/root/tls.pem' }).getByText('The agent is not allowed to read it.').waitFor()
  const journal = section(page, 'Journal')
  await journal.getByText('Container import exited with an error').waitFor()
  await journal.getByText('CPU use 97.1%').waitFor()
  await journal.getByRole('listitem').filter({ hasText: 'mysqld (mysql)' }).getByText('88.2% CPU · 2.1 GB').last().waitFor()
  const changes = section(page, 'Inventory changes')
  await changes.getByText('Port 0.0.0.0:8080/tcp opened').waitFor()
  await changes.getByText('user www-data').waitFor()
  await changes.getByRole('listitem').filter({ hasText: 'Package openssl updated' }).getByText('3.0.14-1 → 3.0.15-1').waitFor()
  await changes.getByText('Package nginx installed').waitFor()
  const installed = section(page, 'Packages')
  await installed.getByRole('button', { name: 'Show packages' }).click()
  await installed.getByText('3 packages, reported').waitFor()
  await installed.getByRole('row').filter({ hasText: 'bash' }).getByText('5.2.15-2+b2').waitFor()
  await installed.getByLabel('Search packages').fill('SSL')
  await installed.getByText('bash', { exact: true }).waitFor({ state: 'hidden' })
  await installed.getByText('3.0.15-1', { exact: true }).waitFor()
  // What happened is numbered in the charts, which need metrics.
  const events = section(page, 'Events in this range')
  for (const text of ['Container import exited with an error', '2 packages changed']) await events.getByText(text).waitFor()
  const agent = section(page, 'Agent')
  for (const text of ['7 s behind the hub', '3 minutes', 'reboot', '/mnt/backup doesn’t respond.'])
    await agent.getByText(text, { exact: true }).waitFor()
  await agent.getByText('Manage its firewall: firewall').waitFor()
  expect(await agent.getByText('Restart and shut down the server').count()).toBe(0)
  await expectClean(page)
  const withoutSystemd = { ...report, allow: ['collect'], facts: { agent_as_root: false } }
  expect((await machine.report(withoutSystemd)).status).toBe(200)
  await agent.getByText('The server doesn’t run systemd').waitFor()
  await agent.getByText('Manage its firewall: firewall').waitFor({ state: 'hidden' })

  const monitor = { name: 'Units of db-1', target: id, confirm: 1, degraded_if: ['[FAILED_UNITS] > 0'] }
  await ui.api('POST', '/v1/monitors', monitor)
  let incident: { id: string; title: string } | undefined
  await until('the incident of the monitor', async () => {
    const { data } = await ui.api('GET', '/v1/incidents')
    incident = data.find((one: { title: string }) => one.title.startsWith(monitor.name))
    return incident !== undefined
  })
  const incidentPage = await ui.open(`/incidents/${incident!.id}`)
  const before = section(incidentPage, 'Journal of Units of db-1')
  await before.getByText('CPU use 97.1%').waitFor()
  await before.getByText('Container import exited with an error').waitFor()
  await expectClean(incidentPage)
}, 180_000)

test('a creation whose outcome is unknown is retried', async () => {
  let isOver = false
  double.fault = ({ method, path }) => {
    // No reading finds the server meanwhile.
    if (isOver && path.startsWith('/servers')) return { status: 401, code: 'unauthorized', message: 'unable to authenticate' }
    if (method !== 'POST' || path !== '/servers') return null
    isOver = true
    return 'lost'
  }
  const order = { name: 'late-1', account_id: (await account()).id, location: 'fsn1', size: 'cax11', image: 'debian-12' }
  const response = await fetch(`${ui.hub.url}/v1/servers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ui.token}`, 'content-type': 'application/json', 'idempotency-key': 'late-1' },
    body: JSON.stringify({ ...order, ssh_keys: [sshKeys.ed25519.text], max_monthly_price: '9', currency: 'EUR', monitor: false }),
  })
  expect(response.status).toBe(201)
  await until('the outcome to be unknown', async () => (await serverNamed('late-1')).status === 'error')
  const page = await openServer('late-1')
  await section(page, 'State').getByText('not known whether the cloud created the server').waitFor()
  await page.getByRole('button', { name: 'Retry creation' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('€5.11').waitFor()
  await expectClean(page)
  double.fault = () => null
  await dialog.getByRole('button', { name: 'Retry creation' }).click()
  await succeeded(page, 'Provision server')
  await section(page, 'State').getByText('running', { exact: true }).waitFor()
  expect([...double.project.servers.values()].filter(one => one.name === 'late-1')).toHaveLength(1)
}, 180_000)

test('a server among many is found by its name in forms', async () => {
  for (let n = 10; n < 70; n++) double.addServer({ name: `node-${n}`, labels: { role: 'web' } })
  await sync()
  const count = async () => (await ui.api('GET', '/v1/servers?q=node-&limit=100')).data.length
  await until('the servers to be added', async () => (await count()) === 60)
  const page = await ui.open('/snapshots')
  await page.getByRole('button', { name: 'Create snapshot' }).first().click()
  const dialog = page.getByRole('dialog')
  const search = dialog.getByLabel('Server', { exact: true })
  // Until they are loaded, it is a select.
  await dialog.getByPlaceholder('Search by name').first().waitFor()
  await search.fill('nowhere')
  await dialog.getByText('No matches').waitFor()
  await search.fill('node-67')
  await dialog.getByRole('button', { name: 'node-67', exact: true }).click()
  await dialog.getByRole('button', { name: 'Remove node-67' }).waitFor()
  await search.fill('node-68')
  await search.press('Enter')
  await dialog.getByRole('button', { name: 'Remove node-68' }).waitFor()
  expect(await dialog.getByText('node-67').count()).toBe(0)
  await expectClean(page)

  const policies = await ui.open('/snapshot-policies')
  await policies.getByRole('button', { name: 'Create policy' }).first().click()
  const form = policies.getByRole('dialog')
  for (const name of ['node-66', 'node-69']) {
    await form.getByLabel('Servers', { exact: true }).fill(name)
    await form.getByRole('button', { name, exact: true }).click()
  }
  await form.getByLabel('Name', { exact: true }).fill('some')
  await form.getByRole('button', { name: 'Create policy' }).click()
  await policies.getByRole('row').filter({ hasText: 'some' }).waitFor()
  const [policy] = (await ui.api('GET', '/v1/snapshot-policies?q=some')).data
  expect(policy.server_ids).toEqual([(await serverNamed('node-66')).id, (await serverNamed('node-69')).id])
}, 180_000)
