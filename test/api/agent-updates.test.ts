import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { sha256Hex } from '../../src/core/crypto'
import { version } from '../../src/core/version'
import type { AgentCommand } from '../../src/wire/agent-command'
import { programMark } from '../../src/wire/agent-version'
import { AgentDouble } from '../support/agent-double'
import { world } from '../support/world'

const before = '0.0.9'
const programOf = (of: string) => `the agent\n${programMark}${of}\n`
const program = programOf(version)
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-updates-'))
  writeFileSync(join(folder, 'bailiwick-agent-linux-arm64-musl'), program)
})
afterEach(() => rmSync(folder, { recursive: true }))

async function scene() {
  const here = await world()
  here.hub.program = join(folder, 'hub')
  const { body: server } = await here.acme.call('POST', '/v1/servers', { name: 'web-1' }, { 'Idempotency-Key': 'web-1' })
  const agent = await AgentDouble.enroll(here, server.id, {
    ...{ version: before, allow: ['collect', 'update'] },
    facts: { hostname: 'web-1', agent_platform: 'linux-arm64-musl' },
  })
  const call = async (method: string, path: string, body?: unknown) => (await here.acme.call(method, path, body)).body
  return {
    ...{ here, agent, call },
    server: server.id as string,
    start: (action = 'update_agent') => here.acme.call('POST', `/v1/servers/${server.id}/actions`, { action }),
    update: async () => (await call('GET', `/v1/agents/${agent.id}`)).update,
    action: (id: string) => call('GET', `/v1/actions/${id}`),
    offers: async () => (await call('GET', `/v1/servers/${server.id}`)).actions.map((one: any) => one.action) as string[],
  }
}
type Scene = Awaited<ReturnType<typeof scene>>
let s: Scene
beforeEach(async () => {
  s = await scene()
})

/** Starts an update, and the agent fetches its command. */
async function begun() {
  const { status, body, text } = await s.start()
  if (status !== 202) throw new Error(text)
  const [command] = await s.agent.commands()
  return { action: body.id as string, command: command as Extract<AgentCommand, { name: 'update' }> }
}
/** The agent reports the state of the update. */
const tells = (command: AgentCommand, state: string, detail: string | null = null, running = before) =>
  s.agent.sendReport({ version: running, update: { command_id: command.id, version, state, detail } })

test('a newer version is offered, and the agent gets its digest with a command that lasts ten minutes', async () => {
  expect(await s.update()).toEqual({
    policy: null,
    available: version,
    state: null,
    version: null,
    detail: null,
    changed_at: null,
  })
  expect(await s.offers()).toContain('update_agent')
  const { command } = await begun()
  expect(command).toMatchObject({
    name: 'update',
    params: { version, sha256: sha256Hex(program), size: program.length, path: '/download/agent/linux-arm64-musl' },
    expires_at: command.issued_at + 600_000,
  })
  expect(await s.update()).toMatchObject({ state: 'updating', version, detail: null })
  expect(await s.offers()).not.toContain('update_agent')
})

test('the update is complete when the new version reports', async () => {
  const { action, command } = await begun()
  await s.agent.reportsResult({ command_id: command.id })
  await s.here.advance(5000)
  expect((await s.action(action)).status).toBe('running')
  await tells(command, 'checking', null, version)
  await s.here.advance(5000)
  expect(await s.action(action)).toMatchObject({ status: 'success', result: { version } })
  expect(await s.update()).toMatchObject({ available: null, state: 'updated', version })
  expect((await s.call('GET', '/v1/agents?update_state=updated')).data).toHaveLength(1)
  expect(await s.here.audited()).toContain('cloud.server.update_agent')
})

test('a rollback is reported with its reason, and the update can be tried again', async () => {
  const { action, command } = await begun()
  await s.agent.reportsResult({ command_id: command.id })
  // The result wakes the job, which would find the new version otherwise.
  await s.here.settle()
  // The new version started, but its report was not acknowledged.
  await tells(command, 'checking', null, version)
  const detail = 'The server restarted before the version had reported.'
  await tells(command, 'rolled_back', detail)
  expect(await s.update()).toMatchObject({ available: version, state: 'rolled_back', version, detail })
  await s.here.advance(5000)
  expect(await s.action(action)).toMatchObject({
    status: 'error',
    error: { code: 'provider_failed', detail: `The update was rolled back. ${detail}` },
  })
  const notices = (await s.call('GET', '/v1/notices?kind=agent.update_rolled_back')).data
  expect(notices).toMatchObject([
    { text: `The update of the agent of 127.0.0.1 to version ${version} was rolled back. ${detail}` },
  ])
  // The same again, as after a restart of the agent.
  await tells(command, 'rolled_back', detail)
  expect((await s.call('GET', '/v1/notices?kind=agent.update_rolled_back')).data).toMatchObject([{ count: notices[0].count }])

  const again = await begun()
  await tells(command, 'rolled_back', 'Of the update before.')
  expect(await s.update()).toMatchObject({ state: 'updating', detail: null })
  await tells(again.command, 'checking', null, version)
  expect(await s.update()).toMatchObject({ state: 'updated', detail: null })
})

test('a result that was lost is not needed', async () => {
  const { action, command } = await begun()
  await s.here.advance(300_000)
  await tells(command, 'rolled_back', 'The power was cut.')
  await s.here.advance(5000)
  expect((await s.action(action)).error.detail).toMatch(/The power was cut/)
})

test('the reason of a failure on the server is shown', async () => {
  const { action, command } = await begun()
  await s.agent.reportsResult({ command_id: command.id, outcome: 'failed', detail: 'The disk is full.' })
  await s.here.advance(5000)
  expect((await s.action(action)).error.detail).toBe('The disk is full.')
  expect(await s.update()).toMatchObject({ state: 'failed', detail: 'The disk is full.' })
})

test('an agent that does not report again fails the update, until it does', async () => {
  const { action, command } = await begun()
  await s.agent.reportsResult({ command_id: command.id })
  await s.here.advance(1_205_000)
  expect(await s.action(action)).toMatchObject({ status: 'error' })
  expect(await s.update()).toMatchObject({ state: 'failed' })
  await tells(command, 'updated', null, version)
  expect(await s.update()).toMatchObject({ state: 'updated', detail: null })
})

describe('it is refused with the reason if', () => {
  const refused = async (reason: RegExp, status: number) => {
    const { status: got, body } = await s.start()
    expect([got, body.detail]).toEqual([status, expect.stringMatching(reason)])
    expect(await s.update()).toMatchObject({ state: null })
  }

  test('the owner of the server doesn’t allow it', async () => {
    await s.agent.reports({ allow: ['collect'] })
    expect(await s.offers()).not.toContain('update_agent')
    await refused(/doesn’t allow it: the line `allow` .* must contain `update`/, 422)
  })

  test('the server doesn’t run systemd', async () => {
    await s.agent.reports({ allow: ['collect'], facts: { agent_as_root: false } })
    expect(await s.offers()).not.toContain('update_agent')
    await refused(/^The server doesn’t run systemd, so its agent can’t run commands as root/, 422)
    expect((await s.start('reboot')).body.detail).toMatch(/^The server doesn’t run systemd/)
    expect((await s.start('collect')).status).toBe(202)
  })

  test('there is no newer version', async () => {
    for (const other of [version, '99.0.0', 'unknown']) {
      await s.agent.reports({ version: other })
      expect((await s.update()).available).toBeNull()
      await refused(/this hub has no newer one/, 422)
    }
  })

  test('the hub has no program for the server', async () => {
    await s.agent.reports({ facts: { agent_platform: 'linux-x64' } })
    await refused(/^This hub has no agent for linux-x64\. To add it, put the program `bailiwick-agent-linux-x64`/, 409)
    await s.agent.reports({ facts: {} })
    await refused(/has not reported which program its server needs/, 409)
  })

  test('the program for the server is from another release', async () => {
    const name = 'bailiwick-agent-linux-arm64-musl'
    const programs = async () => (await s.call('GET', '/v1/agent-updates')).programs
    const reason = (is: string) =>
      `The program \`${name}\` in the folder of the hub’s program ${is}. To update agents for linux-arm64-musl, replace it with the one of version ${version}.`
    expect(await programs()).toContainEqual({ platform: 'linux-arm64-musl', state: 'available', reason: null })
    for (const [text, is] of [
      [programOf('0.0.8'), 'has version 0.0.8'],
      ['the agent', 'is from another release'],
    ] as const) {
      writeFileSync(join(folder, name), text)
      const expected = { platform: 'linux-arm64-musl', state: 'other_version', reason: reason(is) }
      expect(await programs()).toContainEqual(expected)
      expect(await programs()).toContainEqual({
        ...{ platform: 'linux-arm64', state: 'missing' },
        reason: expect.stringMatching(/^This hub has no agent for linux-arm64\. /),
      })
      expect((await s.start()).body).toMatchObject({ status: 409, detail: expected.reason })
    }
  })
})
