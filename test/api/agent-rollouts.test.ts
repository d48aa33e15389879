import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { version } from '../../src/core/version'
import { updateAgents } from '../../src/features/servers/agents/rollouts'
import { servers } from '../../src/features/servers/tables'
import { programMark } from '../../src/wire/agent-version'
import { AgentDouble, Machine } from '../support/agent-double'
import { world } from '../support/world'

const before = '0.0.9'
const minute = 60_000
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-rollouts-'))
  writeFileSync(join(folder, 'bailiwick-agent-linux-arm64'), `${programMark}${version}\n`)
})
afterEach(() => rmSync(folder, { recursive: true }))

async function scene(count: number) {
  const here = await world()
  here.hub.program = join(folder, 'hub')
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await here.acme.call(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const agents: AgentDouble[] = []
  for (let n = 0; n < count; n++) {
    const name = `web-${n}`
    const { body } = await here.acme.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })
    agents.push(
      await AgentDouble.enroll(here, body.id, {
        ...{ version: before, allow: ['collect', 'update'] },
        facts: { hostname: name, agent_platform: 'linux-arm64' },
      }),
    )
  }
  return {
    ...{ here, agents, call },
    /** A maintenance window begins. */
    window: (targets: object = { all: true }) =>
      call('POST', '/v1/maintenance-windows', {
        ...{ name: 'Night', kind: 'once', timezone: 'UTC', duration_seconds: 6 * 3600, targets },
        starts_at_local: new Date(here.clock.now()).toISOString().slice(0, 19),
      }),
    updates: () => call('GET', '/v1/agent-updates'),
    /** Lets time pass, in which the hub updates agents. @returns the places of those that got a command */
    async pass(minutes = 1): Promise<number[]> {
      for (let n = 0; n < minutes; n++) {
        await here.advance(minute)
        // As if there were two hubs.
        await Promise.all([updateAgents(here.hub), updateAgents(here.hub)])
      }
      const asked: number[] = []
      for (const [at, agent] of agents.entries()) {
        for (const { id, name } of await agent.commands()) {
          if (name !== 'update') continue
          asked.push(at)
          last.set(at, id)
          await agent.reportsResult({ command_id: id })
        }
      }
      return asked
    },
    /** The new version of these reports. */
    async succeed(...places: number[]) {
      for (const at of places) await agents[at]!.reports({ version })
      await here.advance(5000)
    },
    async rollBack(at: number) {
      const detail = 'It did not report.'
      await agents[at]!.sendReport({ update: { command_id: last.get(at), version, state: 'rolled_back', detail } })
      await here.advance(5000)
    },
  }
}
/** Commands by place. */
const last = new Map<number, string>()

test('one agent is updated first, in a maintenance window, and the others an hour after it reported', async () => {
  const s = await scene(3)
  expect(await s.updates()).toMatchObject({ policy: 'manual', version, state: 'idle', waiting: 0 })
  const window = await s.window()
  expect(await s.pass(2)).toEqual([])
  await s.call('PATCH', '/v1/agent-updates', { policy: 'auto' })
  expect(await s.here.audited()).toContain('cloud.agent_updates.update')
  await s.call('DELETE', `/v1/maintenance-windows/${window.id}`)
  expect(await s.pass(2)).toEqual([])
  expect(await s.updates()).toMatchObject({ policy: 'auto', state: 'first', waiting: 3, updating: 0, first_count: 1 })

  await s.window()
  expect(await s.pass()).toEqual([0])
  expect(await s.pass(3)).toEqual([])
  expect(await s.updates()).toMatchObject({ state: 'first', waiting: 2, updating: 1 })
  await s.succeed(0)
  const updatedAt = s.here.clock.now() - 5000
  expect(await s.pass(59)).toEqual([])
  expect(await s.updates()).toMatchObject({
    ...{ state: 'observing', waiting: 2, updated: 1 },
    continues_at: new Date(updatedAt + 60 * minute).toISOString(),
  })
  expect(await s.pass(2)).toEqual([1, 2])
  expect((await s.updates()).state).toBe('all')
  await s.succeed(1, 2)
  expect(await s.updates()).toMatchObject({ state: 'idle', waiting: 0, updating: 0, updated: 3 })
})

test('a rollback stops the rollout, until it is continued', async () => {
  const s = await scene(3)
  await s.call('PATCH', '/v1/agent-updates', { policy: 'auto' })
  await s.window()
  expect((await s.here.acme.call('POST', '/v1/agent-updates/retry')).status).toBe(409)
  expect(await s.pass()).toEqual([0])
  await s.rollBack(0)
  expect(await s.pass(90)).toEqual([])
  expect(await s.updates()).toMatchObject({
    ...{ state: 'stopped', waiting: 3, updating: 0 },
    stopped: { agent_id: s.agents[0]!.id, detail: 'It did not report.' },
  })
  await s.call('POST', '/v1/agent-updates/retry')
  expect(await s.updates()).toMatchObject({ state: 'first', stopped: null })
  expect(await s.pass()).toEqual([0])
  await s.succeed(0)
  expect(await s.pass(61)).toEqual([1, 2])
  // Those that have a command already can’t be stopped, but none follows.
  await s.rollBack(1)
  await s.succeed(2)
  await s.pass()
  expect(await s.updates()).toMatchObject({ state: 'stopped', waiting: 1, stopped: { agent_id: s.agents[1]!.id } })
})

test('an agent that is revoked or replaced during its update does not stop the rollout', async () => {
  const s = await scene(3)
  await s.call('PATCH', '/v1/agent-updates', { policy: 'auto' })
  await s.window()
  expect(await s.pass()).toEqual([0])
  const { id } = s.agents[0]!
  await s.call('POST', `/v1/agents/${id}/revoke`)
  expect((await s.call('GET', `/v1/agents/${id}`)).update).toMatchObject({
    ...{ state: 'failed', version },
    detail: 'The agent was revoked before the new version had reported.',
  })
  // Without the revoked one, so that it gets no request.
  s.agents.splice(0, 1)
  expect(await s.pass()).toEqual([0])
  const [replaced] = s.agents.splice(0, 1)
  const key = await s.call('POST', '/v1/enrolment-keys', { name: 'again', server_id: replaced!.serverId })
  await new Machine(s.here).enrol(key.key)
  const { data } = await s.call('GET', '/v1/agents?state=awaiting_approval')
  await s.call('POST', `/v1/agents/${data[0].id}/approve`, {})
  expect((await s.call('GET', `/v1/agents/${replaced!.id}`)).update.state).toBe('failed')
  expect(await s.updates()).toMatchObject({ state: 'first', waiting: 1, updating: 0, updated: 0 })
  expect(await s.pass()).toEqual([0])
  await s.succeed(0)
  expect(await s.updates()).toMatchObject({ state: 'idle', updated: 1 })
})

test('a rollback of an update that a user started stops the rollout, too', async () => {
  const s = await scene(2)
  await s.call('PATCH', '/v1/agent-updates', { policy: 'auto' })
  await s.pass()
  await s.call('POST', `/v1/servers/${s.agents[1]!.serverId}/actions`, { action: 'update_agent' })
  await s.pass()
  await s.rollBack(1)
  await s.window()
  expect(await s.pass(2)).toEqual([])
  expect((await s.updates()).stopped.agent_id).toBe(s.agents[1]!.id)
})

test('agents that don’t report, and those of deleted servers, are not waited for', async () => {
  const s = await scene(3)
  await s.call('PATCH', '/v1/agent-updates', { policy: 'auto' })
  await s.window()
  await s.agents[0]!.stops('shutdown')
  await record(s.here.hub, async tx => {
    await tx.update(servers).set({ deletedAt: s.here.clock.now() }).where(eq(servers.id, s.agents[1]!.serverId))
    return { result: undefined }
  })
  expect(await s.updates()).toMatchObject({ state: 'first', waiting: 1 })
  expect(await s.pass()).toEqual([2])
  await s.succeed(2)
  expect(await s.updates()).toMatchObject({ state: 'idle', waiting: 0, updated: 1 })
  await s.agents[0]!.reports()
  expect((await s.updates()).waiting).toBe(1)
  expect(await s.pass(59)).toEqual([])
  expect(await s.pass(2)).toEqual([0])
})

test('agents can have a policy of their own, and only those are updated that are able and allowed to', async () => {
  const s = await scene(4)
  await s.window()
  const policy = (at: number, to: string | null) => s.call('PATCH', `/v1/agents/${s.agents[at]!.id}`, { update: { policy: to } })
  expect((await policy(1, 'auto')).update.policy).toBe('auto')
  await s.agents[2]!.reports({ allow: ['collect'] })
  await policy(2, 'auto')
  await s.agents[3]!.reports({ facts: { agent_platform: 'linux-x64' } })
  await policy(3, 'auto')
  expect(await s.pass()).toEqual([1])
  await s.succeed(1)
  expect(await s.pass(61)).toEqual([])
  // Tried once an hour.
  expect((await s.call('GET', `/v1/agents/${s.agents[3]!.id}`)).update).toMatchObject({
    ...{ policy: 'auto', state: 'failed', version },
    detail: expect.stringContaining('This hub has no agent for linux-x64.'),
  })
  await s.agents[0]!.reports()
  await s.call('PATCH', '/v1/agent-updates', { policy: 'auto' })
  await policy(0, 'manual')
  expect(await s.pass()).toEqual([])
  await policy(0, null)
  expect(await s.pass()).toEqual([0])
})

test('agents wait while their servers can’t be updated, and are not tried for an hour only if the update failed', async () => {
  const s = await scene(1)
  await s.call('PATCH', '/v1/agent-updates', { policy: 'auto' })
  await s.window()
  const [agent] = s.agents
  const is = (status: 'stopping' | 'running') =>
    record(s.here.hub, async tx => {
      await tx.update(servers).set({ status }).where(eq(servers.id, agent!.serverId))
      return { result: undefined }
    })
  await is('stopping')
  expect(await s.pass()).toEqual([])
  expect((await s.call('GET', `/v1/agents/${agent!.id}`)).update.state).toBeNull()
  expect((await s.updates()).waiting).toBe(1)
  await is('running')
  // An error that says nothing about the agent.
  s.here.hub.program = join(folder, 'missing', 'hub')
  expect(await s.pass()).toEqual([])
  expect((await s.call('GET', `/v1/agents/${agent!.id}`)).update.state).toBeNull()
  s.here.hub.program = join(folder, 'hub')
  expect(await s.pass()).toEqual([0])
})

test('a window covers the servers whose monitors it covers', async () => {
  const s = await scene(2)
  await s.call('PATCH', '/v1/agent-updates', { policy: 'auto' })
  const target = s.agents[1]!.serverId
  await s.call('POST', '/v1/monitors', { name: 'web-1', type: 'server', target, tags: ['nightly'] })
  await s.window({ tags: ['nightly'] })
  expect(await s.pass()).toEqual([1])
})

test('other workspaces and tokens without permission change nothing', async () => {
  const s = await scene(1)
  await s.call('PATCH', '/v1/agent-updates', { policy: 'auto' })
  expect((await s.here.rival.call('GET', '/v1/agent-updates')).body).toMatchObject({ policy: 'manual', waiting: 0 })
  expect((await s.here.readOnly.call('PATCH', '/v1/agent-updates', { policy: 'manual' })).status).toBe(403)
  expect((await s.here.acme.call('PATCH', '/v1/agent-updates', { policy: 'weekly' })).status).toBe(422)
  expect((await s.updates()).policy).toBe('auto')
})
