import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/binary'
import { dashboard, expectClean, takeSecret, type Dashboard } from '../support/dashboard'

let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
}, 180_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

test('creates, acknowledges and resolves an incident with a note and a postmortem', async () => {
  const page = await ui.open('/incidents')
  using receiver = Bun.serve({ port: 0, fetch: ({ url }) => new Response('', { status: url.endsWith('/Chat') ? 400 : 200 }) })
  for (const name of ['Phone', 'Chat'])
    await ui.api('POST', '/v1/notification-channels', {
      kind: 'webhook',
      name,
      settings: { url: `${receiver.url.href}${name}` },
      group_seconds: 0,
      is_default: false,
    })
  const heartbeat = await ui.api('POST', '/v1/heartbeats', {
    name: 'payouts',
    schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
  })
  await page.keyboard.press('c')
  await page.getByLabel('Title').fill('Payments fail')
  await page.getByLabel('Started').fill('2026-01-02T03:04')
  await page.getByLabel('Affected monitors and heartbeats').fill('payo')
  await page.getByRole('button', { name: 'payouts' }).click()
  await page.getByLabel('Notification channels').selectOption('Selected channels')
  await page.getByLabel('Phone').check()
  await expectClean(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Create incident' }).click()
  await page.getByRole('heading', { level: 1, name: 'Payments fail' }).waitFor()
  await page.getByText('Notifies Phone.').waitFor()
  const created = (await ui.api('GET', '/v1/incidents?status=open')).data[0]
  expect(created.heartbeats).toMatchObject([{ id: heartbeat.id, role: 'affected' }])
  expect(created.started_at).toStartWith('2026-01-0')

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByLabel('Chat').check()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Notifies Phone, Chat.').waitFor()

  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('acknowledged', { exact: true }).first().waitFor()
  await page.getByLabel('Note').fill('Restarted the second server.')
  await page.getByLabel('Notify channels').check()
  await page.getByRole('button', { name: 'Add note' }).click()
  const note = page.getByRole('listitem').filter({ hasText: 'Restarted the second server.' })
  await note.getByRole('button', { name: 'Edit note' }).click()
  await page.getByRole('dialog').getByLabel('Note').fill('Restarted both servers.')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Restarted both servers.' }).getByText(', edited').waitFor()
  // Notifications about one change are one entry, which shows failures without being expanded.
  const all = page.getByRole('listitem').filter({ hasText: 'Notified 1 of 2 channels' })
  await all.nth(1).waitFor()
  const folded = all.last()
  await folded.getByText('Could not send to Chat (webhook)').last().waitFor({ state: 'visible' })
  const sent = folded.getByText('Sent to Phone (webhook).')
  expect(await sent.isVisible()).toBe(false)
  await folded.getByText('Notified 1 of 2 channels').click()
  await sent.waitFor()

  await page.getByRole('button', { name: 'Add postmortem' }).click()
  await page.getByLabel('Text').fill('The disk was full.')
  await page.getByRole('button', { name: 'Save postmortem' }).click()
  await page.getByText('Postmortem saved').waitFor()
  await page.getByRole('button', { name: 'Resolve' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('resolved', { exact: true }).first().waitFor()
  await expectClean(page)

  const { data } = await ui.api('GET', '/v1/incidents?status=resolved')
  expect(data[0]).toMatchObject({ title: 'Payments fail', postmortem: { body: 'The disk was full.' } })
  await page.goto(`${ui.hub.url}/incidents`)
  await page.getByText('No unresolved incidents').waitFor()
  await page.getByLabel('Status').selectOption('Resolved')
  await page.getByRole('link', { name: /Payments fail/ }).waitFor()
  await expectClean(page)
}, 180_000)

test('the audit log describes what happened, is filtered by action, and shows changes', async () => {
  const zone = await ui.api('POST', '/v1/dns/zones', { name: 'sentences.example' })
  await ui.api('POST', `/v1/dns/zones/${zone.id}/records`, { name: 'www', type: 'A', content: '192.0.2.1' })
  const token = await ui.api('POST', '/v1/tokens', { name: 'first name', mode: 'read_only' })
  await ui.api('PATCH', `/v1/tokens/${token.id}`, { name: 'second name' })
  const page = await ui.open('/audit')
  const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row')
  await rows.getByRole('link', { name: /^The token .+ created the DNS record www\.sentences\.example A$/ }).waitFor()
  await expectClean(page)

  await page.getByRole('button', { name: 'Action: All actions' }).click()
  await page.getByRole('combobox', { name: 'Search action' }).fill('token updated')
  await page.getByRole('option', { name: 'An API token was updated' }).click()
  await page.waitForURL(/action=account\.token\.update/)
  await page.getByRole('button', { name: /^Action: An API token was updated/ }).waitFor()
  // The header, and the only update. Until they are found, the rows are those without the filter.
  await until('one row', async () => (await rows.count()) === 2)
  await rows.getByRole('link', { name: /^The token .+ updated the token / }).click()
  await page.getByRole('heading', { level: 1, name: /updated the token/ }).waitFor()
  await page.getByRole('code').filter({ hasText: 'account.token.update' }).waitFor()
  const changes = page.getByRole('row').filter({ hasText: 'first name' })
  expect(await changes.textContent()).toContain('second name')
  await expectClean(page)
}, 180_000)

test('the audit log shows actions of people and tokens, and those of the hub after a click', async () => {
  const { id } = await ui.api('POST', '/v1/heartbeats', {
    name: 'nightly',
    schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 },
  })
  const { ping_url: pingUrl } = await ui.api('GET', `/v1/heartbeats/${id}`)
  await fetch(`${pingUrl}/fail`, { method: 'POST' })
  const page = await ui.open('/audit')
  const row = (name: RegExp) => page.getByRole('table', { name: 'Audit log' }).getByRole('link', { name })
  await row(/created the heartbeat nightly$/).waitFor()
  expect(await row(/^Bailiwick opened the incident/).count()).toBe(0)
  await page.getByRole('button', { name: 'Show actions by Bailiwick' }).click()
  await row(/^Bailiwick opened the incident/).waitFor()
  await row(/^The heartbeat nightly went down because its job reported a failure$/).waitFor()
  expect(new URL(page.url()).searchParams.get('actor')).toBe('all')
  await expectClean(page)
  await page.getByRole('button', { name: 'Hide actions by Bailiwick' }).click()
  await row(/^Bailiwick opened the incident/).waitFor({ state: 'detached' })
}, 180_000)

test('an audit stream is created and deleted, and events are listed', async () => {
  const page = await ui.open('/audit-streams')
  await page.keyboard.press('c')
  await page.getByLabel('Name', { exact: true }).fill('archive')
  await page.getByLabel('URL').fill('http://127.0.0.1:9/audit')
  await page.getByRole('button', { name: 'Create stream' }).click()
  expect(await takeSecret(page.getByRole('dialog', { name: 'Save the signing secret' }))).toStartWith('whsec_')
  await page.getByRole('button', { name: 'Actions for archive' }).click()
  await page.getByRole('menuitem', { name: 'Rotate secret' }).click()
  await page.getByLabel('Overlap').selectOption('1 hour')
  await expectClean(page)
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await takeSecret(page.getByRole('dialog', { name: 'Save the signing secret' }))
  await page.getByRole('button', { name: 'Actions for archive' }).click()
  await page.getByRole('menuitem', { name: 'Delete stream' }).click()
  await page.getByRole('button', { name: 'Delete stream' }).click()
  await page.getByText('No streams').waitFor()
  await expectClean(page)

  await ui.api('POST', '/v1/dns/zones', { name: 'events.example' })
  await page.goto(`${ui.hub.url}/events`)
  await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
  await expectClean(page)
}, 180_000)
