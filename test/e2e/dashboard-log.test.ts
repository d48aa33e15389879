import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dashboard, expectClean, takeSecret, type Dashboard } from '../support/dashboard'

let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
}, 60_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

test('creates, acknowledges and resolves an incident with a note and a postmortem', async () => {
  const page = await ui.open('/incidents')
  await page.keyboard.press('c')
  await page.getByLabel('Title').fill('Payments fail')
  await page.getByRole('button', { name: 'Create incident' }).click()
  await page.getByRole('heading', { level: 1, name: 'Payments fail' }).waitFor()

  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('acknowledged', { exact: true }).first().waitFor()
  await page.getByLabel('Note').fill('Restarted the second server.')
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Restarted the second server.' }).waitFor()

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
}, 120_000)

test('the audit log is filtered by action and shows changes', async () => {
  const token = await ui.api('POST', '/v1/tokens', { name: 'first name', mode: 'read_only' })
  await ui.api('PATCH', `/v1/tokens/${token.id}`, { name: 'second name' })
  const page = await ui.open('/audit')
  await page.getByLabel('Action').selectOption('account.token.update')
  await page.getByRole('table', { name: 'Audit log' }).getByRole('link', { name: 'account.token.update' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'account.token.update' }).waitFor()
  const changes = page.getByRole('row').filter({ hasText: 'first name' })
  expect(await changes.textContent()).toContain('second name')
  await expectClean(page)
}, 60_000)

test('an audit stream is created and deleted, and events are listed', async () => {
  const page = await ui.open('/audit-streams')
  await page.keyboard.press('c')
  await page.getByLabel('Name', { exact: true }).fill('archive')
  await page.getByLabel('URL').fill('http://127.0.0.1:9/audit')
  await page.getByRole('button', { name: 'Create stream' }).click()
  expect(await takeSecret(page.getByRole('dialog', { name: 'Save the signing secret' }))).toStartWith('whsec_')
  await page.getByRole('button', { name: 'Actions for archive' }).click()
  await page.getByRole('menuitem', { name: 'Delete stream' }).click()
  await page.getByRole('button', { name: 'Delete stream' }).click()
  await page.getByText('No streams').waitFor()
  await expectClean(page)

  await ui.api('POST', '/v1/dns/zones', { name: 'events.example' })
  await page.goto(`${ui.hub.url}/events`)
  await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
  await expectClean(page)
}, 60_000)
