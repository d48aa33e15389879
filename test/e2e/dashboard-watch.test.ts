import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/binary'
import { startTlsServer } from '../support/tls-server'
import { ada, dashboard, expectClean, type Dashboard } from '../support/dashboard'

interface Message {
  topic: string
  title: string
}
let ui: Dashboard
let ntfy: { url: string; messages: Message[]; stop(): Promise<void> }

beforeAll(async () => {
  ui = await dashboard()
  ntfy = ntfyServer()
}, 180_000)
afterAll(async () => {
  await ui?.[Symbol.asyncDispose]()
  await ntfy?.stop()
})

/** A minimal ntfy server. */
function ntfyServer() {
  const messages: Message[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      messages.push((await request.json()) as Message)
      return Response.json({ id: 'm1' })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, messages, stop: () => server.stop(true) }
}

test('a heartbeat is created with a schedule preview, pinged at its URL, and paused', async () => {
  const page = await ui.open('/heartbeats')
  await page.getByText('No heartbeats').waitFor()
  await page.keyboard.press('c')
  await page.getByLabel('Name', { exact: true }).fill('nightly backup')
  await page.getByLabel('Schedule', { exact: true }).selectOption('Cron expression')
  await page.getByText('Enter an expression to see when pings are expected.').waitFor()
  await page.getByLabel('Cron expression').fill('30 2 * * *')
  await page.getByLabel('Time zone').fill('Europe/Berlin')
  const times = page.getByRole('region', { name: 'Next times' })
  await times
    .getByRole('listitem')
    .first()
    .filter({ hasText: /0?2:30/ })
    .waitFor()
  expect(await times.getByRole('listitem').count()).toBe(5)
  await expectClean(page)
  await page.getByRole('button', { name: 'Create heartbeat' }).click()

  await page.getByRole('heading', { level: 1, name: 'nightly backup' }).waitFor()
  await page.getByText(/Expected at 0?2:30(\sAM)? every day, Europe\/Berlin/).waitFor()
  await page.locator('pre').filter({ hasText: '30 2 * * * /usr/local/bin/backup' }).waitFor()
  await page.getByText('This schedule is in the time zone Europe/Berlin. A crontab uses').waitFor()
  await page.getByRole('button', { name: 'Python' }).click()
  const [heartbeat] = (await ui.api('GET', '/v1/heartbeats')).data
  await page
    .locator('pre')
    .filter({ hasText: `PING = "${heartbeat.ping_url}"` })
    .waitFor()
  await fetch(`${heartbeat.ping_url}/start`)
  await fetch(`${heartbeat.ping_url}/7`, { method: 'POST', body: 'the disk is full\n' })
  const pings = page.getByRole('table', { name: 'Pings' })
  const failed = pings.getByRole('row').filter({ hasText: 'failed' })
  await failed.waitFor()
  await failed.getByRole('button').click()
  await page.getByRole('dialog').locator('pre').filter({ hasText: 'the disk is full' }).waitFor()
  await page.keyboard.press('Escape')
  await page
    .getByRole('definition')
    .getByRole('link', { name: /nightly backup/ })
    .waitFor()
  await expectClean(page)

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Rotate ping URL' }).click()
  await page.getByRole('button', { name: 'Rotate ping URL' }).click()
  await page.getByText('Ping URL rotated').waitFor()
  expect((await fetch(heartbeat.ping_url)).status).toBe(404)
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('paused', { exact: true }).first().waitFor()
  await page.getByRole('link', { name: 'Heartbeats' }).first().click()
  await page.getByRole('row').filter({ hasText: 'nightly backup' }).getByText('paused').waitFor()
  await expectClean(page)
}, 180_000)

test('an invalid cron expression is reported while typing, and next to its field', async () => {
  const page = await ui.open('/heartbeats/new')
  await page.getByLabel('Name', { exact: true }).fill('never')
  await page.getByLabel('Schedule', { exact: true }).selectOption('Cron expression')
  const expression = page.getByLabel('Cron expression')
  await expression.fill('61 2 * * *')
  await page
    .getByRole('region', { name: 'Next times' })
    .getByText(/is invalid/)
    .waitFor()
  await page.getByRole('button', { name: 'Create heartbeat' }).click()
  await until('the error next to the field', async () => (await expression.getAttribute('aria-invalid')) === 'true')
}, 180_000)

test('the ping key is shown, and rotating it revokes the old one', async () => {
  const page = await ui.open('/heartbeats/ping-key')
  const before = (await ui.api('GET', '/v1/heartbeats/ping-key')).ping_key
  await page.getByText(before, { exact: true }).first().waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Rotate ping key' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate ping key' }).click()
  await page.getByText('Ping key rotated').waitFor()
  await page.getByText(before, { exact: true }).first().waitFor({ state: 'hidden' })
}, 180_000)

test('a channel is tested before it is created, receives messages, and lists its deliveries', async () => {
  const page = await ui.open('/channels/new')
  await page.getByRole('radio', { name: 'ntfy' }).check()
  await page.getByLabel('Name', { exact: true }).fill('Phone')
  await page.getByLabel('Server url').fill(ntfy.url)
  // Errors of a test are shown at their field, too, and disappear with their cause.
  await page.getByRole('button', { name: 'Send test message' }).click()
  await page.getByText('Enter a topic.', { exact: true }).waitFor()
  expect(await page.getByRole('main').getByRole('alert').count()).toBe(0)
  await page.getByLabel('Topic', { exact: true }).fill('alerts')
  expect(await page.getByText('Enter a topic.', { exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Send test message' }).click()
  await page.getByText('Message m1').waitFor()
  expect(ntfy.messages.at(-1)).toMatchObject({ topic: 'alerts', title: 'Test message for “Phone”' })
  expect((await ui.api('GET', '/v1/notification-channels')).data).toEqual([])
  await page.getByText('Quiet hours', { exact: true }).click()
  await page.getByLabel('Enable quiet hours').check()
  await page.getByLabel('From', { exact: true }).fill('23:00')
  await expectClean(page)
  await page.getByRole('button', { name: 'Create channel' }).click()
  await page.getByRole('heading', { level: 1, name: 'Phone' }).waitFor()
  const [channel] = (await ui.api('GET', '/v1/notification-channels')).data
  expect(channel).toMatchObject({ kind: 'ntfy', settings: { topic: 'alerts' }, quiet_hours: { from: '23:00', to: '07:00' } })

  await page.getByText('unverified', { exact: true }).waitFor()
  await page.getByText('No message has been sent since these settings were saved.').waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Send test message' }).click()
  await page.getByText('enabled', { exact: true }).waitFor()
  const log = page.getByRole('table', { name: 'Notifications' })
  await log.getByRole('button', { name: 'Test message for “Phone”' }).click()
  await page.getByRole('dialog').getByText('Sent by').waitFor()
  await page.getByRole('dialog').getByText(ada.name, { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await expectClean(page)

  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Topic', { exact: true }).fill('others')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Changes saved').waitFor()
  const edited = await ui.api('GET', `/v1/notification-channels/${channel.id}`)
  expect(edited).toMatchObject({ settings: { topic: 'others' }, quiet_hours: { from: '23:00' }, status: 'unverified' })
  await page.getByRole('link', { name: 'Channels' }).first().click()
  await page.getByRole('link', { name: 'Phone' }).waitFor()
  await expectClean(page)
}, 180_000)

test('an email channel that can’t send says so, and links to the settings of the mail server', async () => {
  const page = await ui.open('/channels/new')
  const warning = page.getByRole('note').getByText('This channel can’t send, because the installation has no mail server.')
  await warning.waitFor()
  expect(await page.getByRole('link', { name: 'configure the mail server' }).getAttribute('href')).toBe(
    '/docs/settings#bailiwick_smtp_url',
  )
  await page.getByLabel('Name', { exact: true }).fill('On-call')
  await page.getByLabel('Recipients', { exact: true }).fill(ada.email)
  await expectClean(page)
  await page.getByRole('button', { name: 'Create channel' }).click()
  await page.getByRole('heading', { level: 1, name: 'On-call' }).waitFor()
  await page.getByText('unverified', { exact: true }).waitFor()
  await warning.waitFor()
  await page.getByRole('link', { name: 'Edit' }).click()
  await warning.waitFor()
  await page.getByText('Mail server', { exact: true }).click()
  await page.getByLabel('Host').fill('mail.example.com')
  await warning.waitFor({ state: 'detached' })
}, 180_000)

test('maintenance is scheduled on weekdays, shown on the calendar, and started and stopped manually', async () => {
  const page = await ui.open('/maintenance')
  await page.keyboard.press('c')
  await page.getByLabel('Name', { exact: true }).fill('Database upgrades')
  await page.getByLabel('Schedule', { exact: true }).selectOption('Weekly')
  await page.getByLabel('Sat').check()
  await page.getByLabel('First start').fill('2026-01-03T22:00')
  const next = page.getByRole('region', { name: 'Next occurrences' })
  await until('five occurrences', async () => (await next.getByRole('listitem').count()) === 5)
  await page.getByRole('button', { name: 'Schedule maintenance' }).click()
  await page.getByText('Targets must not be empty', { exact: false }).waitFor()
  await page.getByLabel('Tags').fill('database')
  await expectClean(page)
  await page.getByRole('button', { name: 'Schedule maintenance' }).click()
  await page.getByRole('heading', { level: 1, name: 'Database upgrades' }).waitFor()
  const [created] = (await ui.api('GET', '/v1/maintenance-windows')).data
  expect(created).toMatchObject({ kind: 'rrule', rrule: 'FREQ=WEEKLY;BYDAY=SA', targets: { tags: ['database'] } })

  await page.getByRole('button', { name: 'Start now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start maintenance' }).click()
  await page.getByText('in progress', { exact: true }).first().waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Stop now' }).click()
  await page.getByText('scheduled', { exact: true }).waitFor()

  await page.getByRole('link', { name: 'Maintenance' }).first().click()
  await page
    .getByRole('link', { name: /Database upgrades/ })
    .first()
    .waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Week' }).click()
  await page
    .getByRole('link', { name: /Database upgrades/ })
    .first()
    .waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'List' }).click()
  await page.getByRole('link', { name: 'Database upgrades' }).click()
  await page.getByRole('heading', { level: 1, name: 'Database upgrades' }).waitFor()
}, 180_000)

test('following a link in a message requires sign-in and leads to the incident', async () => {
  const channel = await ui.api('POST', '/v1/notification-channels', {
    kind: 'ntfy',
    name: 'On call',
    settings: { server_url: ntfy.url, topic: 'duty' },
  })
  const heartbeat = await ui.api('POST', '/v1/heartbeats', {
    name: 'invoice run',
    schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
    channel_ids: [channel.id],
  })
  await fetch(`${heartbeat.ping_url}/fail`)
  const [incident] = await until('the incident', async () => {
    const { data } = await ui.api('GET', `/v1/incidents?heartbeat=${heartbeat.id}`)
    return data.length > 0 ? data : undefined
  })
  const page = await ui.open(`/incidents/${incident.id}`, { signedOut: true })
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: incident.title }).waitFor()
  await page.getByRole('link', { name: 'On call' }).first().waitFor()
  await page.getByText('sent', { exact: true }).first().waitFor()
  await page.getByRole('definition').getByRole('link', { name: 'invoice run' }).waitFor()
  await expectClean(page)
}, 180_000)

test('several heartbeats are paused with undo, tagged, and deleted, and maintenance windows are deleted', async () => {
  const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 60 }
  for (const name of ['bulk 1', 'bulk 2']) {
    await ui.api('POST', '/v1/heartbeats', { name, schedule })
    await ui.api('POST', '/v1/maintenance-windows', {
      name,
      kind: 'cron',
      cron: '0 3 * * 0',
      timezone: 'UTC',
      duration_seconds: 3600,
      targets: { all: true },
    })
  }
  const heartbeats = async () => (await ui.api('GET', '/v1/heartbeats?q=bulk')).data
  const selectAll = async () => {
    await page.getByLabel('Select all').check()
    return page.getByRole('toolbar')
  }
  const page = await ui.open('/heartbeats?q=bulk')
  await (await selectAll()).getByRole('button', { name: 'Pause' }).click()
  await page.getByText('2 heartbeats paused').waitFor()
  expect((await heartbeats()).map((one: any) => one.status)).toEqual(['paused', 'paused'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await until('resumed', async () => (await heartbeats()).every((one: any) => one.status === 'new'))
  await (await selectAll()).getByRole('button', { name: 'Edit tags' }).click()
  await page.getByRole('dialog').getByLabel('Tags', { exact: true }).fill('nightly')
  await page.getByRole('button', { name: 'Update tags' }).click()
  await page.getByText('Tags of 2 heartbeats updated').waitFor()
  expect((await heartbeats()).map((one: any) => one.tags)).toEqual([['nightly'], ['nightly']])
  await expectClean(page)
  const remove = async (noun: string) => {
    await (await selectAll()).getByRole('button', { name: 'Delete' }).click()
    await page.getByLabel(/to confirm/).fill('2')
    await page.getByRole('button', { name: `Delete 2 ${noun}` }).click()
    await page.getByText(`2 ${noun} deleted`).waitFor()
  }
  await remove('heartbeats')
  expect(await heartbeats()).toEqual([])
  await page.goto(`${ui.hub.url}/maintenance?view=list&q=bulk`)
  await remove('maintenance windows')
  expect((await ui.api('GET', '/v1/maintenance-windows?q=bulk')).data).toEqual([])
}, 180_000)

test('a server is graded at once, with what to change, and then added as a TLS endpoint', async () => {
  const server = await startTlsServer({ maxVersion: 'TLSv1.2' })
  const page = await ui.open('/tls-endpoints')
  await page.getByText('No TLS endpoints yet').waitFor()
  await page.keyboard.press('c')
  await page.getByLabel('Host', { exact: true }).fill(`https://127.0.0.1:${server.port}/cart`)
  await page.getByLabel('Server name').fill('shop.test')
  await page.getByRole('button', { name: 'Grade server' }).click()
  const changes = page.getByRole('listitem').filter({ hasText: 'Offer TLS 1.3.' })
  await changes.locator('pre').filter({ hasText: 'ssl_protocols TLSv1.2 TLSv1.3;' }).waitFor()
  await page.getByRole('button', { name: 'HAProxy' }).click()
  await changes.locator('pre').filter({ hasText: 'ssl-default-bind-options ssl-min-ver TLSv1.2' }).waitFor()
  await page.getByText('0 of 100').waitFor()
  await expectClean(page)
  expect((await ui.api('GET', '/v1/tls-endpoints')).data).toEqual([])

  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByRole('heading', { level: 1, name: `127.0.0.1:${server.port}` }).waitFor()
  await page.getByText('shop.test', { exact: true }).waitFor()
  await page.getByText('Path, as far as it is known').waitFor()
  await page.getByRole('button', { name: 'Scan now' }).click()
  await page.getByText('Nothing changed.').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: 'Edit endpoint' })
  await form.getByLabel('Server name').fill('')
  await form.getByLabel('Tags').fill('shop')
  await form.getByRole('button', { name: 'Save changes' }).click()
  await form.waitFor({ state: 'detached' })

  await page.goto(`${ui.hub.url}/tls-endpoints`)
  await page.getByRole('row').filter({ hasText: 'Certificate not trusted' }).waitFor()
  await page.getByRole('button', { name: 'Import list' }).click()
  const list = page.getByRole('dialog', { name: 'Import list' })
  await list.getByLabel('Endpoints').fill(`127.0.0.1:${server.port}\n127.0.0.1:1/smtp`)
  await list.getByRole('button', { name: 'Import list' }).click()
  await page.getByText('1 created, 1 existed already').waitFor()
  await server.close()
})
