import { afterAll, beforeAll, expect, test } from 'bun:test'
import { version } from '../../src/core/version'
import { Machine } from '../support/agent-double'
import { dashboard, expectClean, takeSecret, type Dashboard } from '../support/dashboard'

let ui: Dashboard
let serverId = ''
beforeAll(async () => {
  ui = await dashboard()
  const create = async (path: string, body: object) => {
    const response = await fetch(`${ui.hub.url}/v1/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ui.token}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      },
      body: JSON.stringify(body),
    })
    if (response.status !== 201) throw new Error(await response.text())
    return ((await response.json()) as { id: string }).id
  }
  serverId = await create('servers', { name: 'nas', addresses: ['192.0.2.30'] })
  await create('monitors', { name: 'Server nas', target: serverId })
  for (const port of [22, 443])
    await create('monitors', { name: `Port ${port}`, type: 'tcp', target: `192.0.2.30:${port}`, interval_seconds: 3600 })
}, 180_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

/** A machine that calls the program. */
const machine = (hostname: string): Machine => {
  const handle = ({ url, method, headers, body }: Request) => {
    const { pathname, search } = new URL(url)
    return fetch(`${ui.hub.url}${pathname}${search}`, { method, headers, body })
  }
  return new Machine({ app: { handle }, clock: { now: () => Date.now() } }, { hostname })
}
const keyIn = (command: string): string => /bw_enrol_[0-9A-Za-z]{36}/.exec(command)![0]

test('the agent is installed on a server with one command, and its arrival is shown', async () => {
  const page = await ui.open(`/servers/${serverId}`)
  await page.getByRole('button', { name: 'Install agent' }).click()
  const form = page.getByRole('dialog', { name: 'Install the agent on nas' })
  await form.getByLabel('Restart and shut down the server').check()
  await form.getByLabel('Services that it may restart').fill('nginx.service')
  await expectClean(page)
  await form.getByRole('button', { name: 'Show command' }).click()
  const shown = page.getByRole('dialog', { name: 'Run this command on the server' })
  await shown.getByText('Waiting for the agent…').waitFor()
  const command = (await shown.locator('pre').first().textContent())!
  expect(command).toContain('sudo sh "$f" --hub ')
  expect(command).toEndWith(' --allow reboot,restart:nginx.service')
  expect(await shown.locator('pre').last().textContent()).toContain('/download/agent.sh')
  const nas = machine('nas')
  expect((await nas.enrol(keyIn(command))).status).toBe(201)
  await shown.getByText('reporting', { exact: true }).waitFor()
  expect(await takeSecret(shown)).toBe(command)
  expect((await nas.report()).status).toBe(200)
  await page.getByText('0.3.0', { exact: true }).waitFor()
  await expectClean(page)

  await page.getByRole('button', { name: 'Live', exact: true }).click()
  await page.getByText('Waiting for the agent…').waitFor()
  const chart = page.getByRole('img', { name: /^CPU of nas from / })
  for (let row = 0; !(await chart.isVisible()); row++) {
    const processes = [{ name: 'mysqld', user: 'mysql', cpu_percent: 8.2, memory_bytes: 2 ** 30, command: null }]
    const { status, body } = await nas.sendLive({ 'cpu.used_percent': row, 'disk.busy_percent:sda': 1 }, { processes })
    if (status !== 429) expect([status, body.live_seconds > 0]).toEqual([200, true])
    await Bun.sleep(500)
  }
  await page.getByText('Every 2 seconds, while you look at this page.').waitFor()
  await page.getByText('mysqld (mysql)').waitFor()
  await expectClean(page)

  await page.getByRole('button', { name: 'Add dependency' }).click()
  const dependents = page.getByRole('dialog', { name: 'Monitors that depend on nas' })
  await dependents.getByLabel('Port 443').uncheck()
  await expectClean(page)
  await dependents.getByRole('button', { name: 'Add dependency' }).click()
  await page.getByText('192.0.2.30 · depends on the server').waitFor()
  expect(await page.getByText('· depends on the server').count()).toBe(1)
}, 180_000)

test('an enrolment key is created, and an agent that it enrolls is approved', async () => {
  const page = await ui.open('/agents/enrolment-keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name', { exact: true }).fill('Golden image')
  await form.getByLabel('Uses').fill('5')
  await form.getByLabel('Approval').selectOption('manual')
  await form.getByRole('button', { name: 'Create key' }).click()
  const key = await takeSecret(page.getByRole('dialog', { name: 'Copy the key' }))
  await page.getByRole('row').filter({ hasText: 'Golden image' }).getByText('0 of 5').waitFor()
  await expectClean(page)

  const clone = machine('clone')
  expect((await clone.enrol(key)).status).toBe(202)
  await page.getByRole('link', { name: 'Agents', exact: true }).last().click()
  const row = page.getByRole('row').filter({ hasText: 'clone' })
  await row.getByText('awaiting approval').waitFor()
  await row.getByRole('button', { name: /clone/ }).last().click()
  await page.getByRole('menuitem', { name: 'Approve agent' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve agent' }).click()
  await row.getByText('stopped').waitFor()
  expect((await clone.enrol(key)).status).toBe(201)
  await row.getByText('reporting').waitFor()
  expect((await clone.report({ spooled: 3, clock_offset_ms: 12_000, facts: { hostname: 'clone' } })).status).toBe(200)
  await row.getByText('3 min').waitFor()
  await row.getByText('clone').first().click()
  for (const text of ['3 minutes', '12 s behind the hub']) await page.getByText(text, { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('3 minutes', { exact: true }).waitFor({ state: 'hidden' })
  await row.getByRole('button', { name: /clone/ }).last().click()
  await page.getByRole('menuitem', { name: 'Revoke agent' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke agent' }).click()
  await row.getByText('revoked').waitFor()
  expect((await clone.report()).body.code).toBe('token_revoked')
  await expectClean(page)
}, 180_000)

test('agents are updated, and a rollback is shown with its reason', async () => {
  const { key } = await ui.api('POST', '/v1/agents', { allow: ['update'] })
  const old = machine('old')
  old.facts.agent_platform = `linux-${process.arch}`
  expect((await old.enrol(key)).status).toBe(201)
  const running = { version: '0.0.9', allow: ['collect', 'update'] }
  expect((await old.report({ ...running, facts: old.facts })).status).toBe(200)

  const page = await ui.open('/agents')
  await page.getByRole('button', { name: 'Change policy' }).click()
  const form = page.getByRole('dialog', { name: 'Agent updates' })
  await form.getByLabel('Policy').selectOption('auto')
  await form.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText(/^Agents that allow updates are updated to version/).waitFor()
  await expectClean(page)

  const row = page.getByRole('row').filter({ hasText: 'old' })
  await row.getByText(`${version} available`).waitFor()
  await row.getByRole('button', { name: /old/ }).last().click()
  await page.getByRole('menuitem', { name: 'Update agent' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Update agent' }).click()
  await row.getByText('updating').waitFor()
  const { body } = await old.get(`/v1/ingest/agents/commands?run_id=${old.runId}`)
  const [{ id }] = body.commands.map((one: { payload: string }) => JSON.parse(one.payload))
  const detail = 'The server restarted before the new version had reported.'
  const update = { command_id: id, version, state: 'rolled_back', detail }
  expect((await old.report({ ...running, update })).status).toBe(200)
  await page.reload()
  await row.getByText('rolled back').waitFor()
  await row.getByRole('button', { name: 'old', exact: true }).click()
  await page.getByText(detail).waitFor()
  await expectClean(page)

  // The hub has no program for it anymore.
  const other = process.arch === 'x64' ? 'linux-arm64' : 'linux-x64'
  expect((await old.report({ ...running, facts: { ...old.facts, agent_platform: other } })).status).toBe(200)
  await page.reload()
  await row.getByRole('button', { name: 'old', exact: true }).click()
  await page.getByText(`This hub has no agent for ${other}.`).waitFor()
}, 180_000)

test('a certificate can be installed on servers whose owners allow it', async () => {
  const { key } = await ui.api('POST', '/v1/agents', {})
  const web = machine('web-1')
  const allow = ['collect', 'certificates:nginx'] as const
  expect((await web.enrol(key, { allow: [...allow] })).status).toBe(201)
  expect((await web.report({ allow, facts: web.facts })).status).toBe(200)
  const page = await ui.open('/managed-certificates')
  await page.getByRole('button', { name: 'Issue certificate' }).first().click()
  const form = page.getByRole('dialog', { name: 'Issue certificate' })
  await form.getByLabel('Private key').selectOption({ label: 'Create it on a server' })
  await form.getByLabel('Install on').selectOption({ label: 'web-1: nginx' })
  await expectClean(page)
}, 180_000)
