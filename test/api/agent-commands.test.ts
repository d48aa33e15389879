import { beforeEach, describe, expect, test } from 'bun:test'
import { endWaits, waitFor, waitingCount } from '../../src/api/long-poll'
import { record } from '../../src/core/change'
import { pruneCommands } from '../../src/features/servers/agents/command-results'
import { hubPublicKey } from '../../src/features/servers/agents/hub-key'
import { takeCommands } from '../../src/features/servers/agents/take-commands'
import { applyAtHost } from '../../src/features/servers/firewalls/host-commands'
import { watchServers } from '../../src/features/servers/watch'
import { sendCommand } from '../../src/features/servers/agents/send-command'
import { isCommandOf, maxCommandLifeMs, type AgentCommand, type SignedCommand } from '../../src/wire/agent-command'
import { parsePublicKey } from '../../src/wire/signed'
import { AgentDouble } from '../support/agent-double'
import { untilWaiting } from '../support/waiting-requests'
import { world } from '../support/world'

async function scene() {
  const here = await world()
  const add = async (name: string) =>
    (await here.acme.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id as string
  const agent = await AgentDouble.enroll(here, await add('host-1'))
  const other = await AgentDouble.enroll(here, await add('host-2'))
  return {
    ...{ here, agent, other },
    /** @param isHere whether this hub wakes its waiting requests */
    send: (to = agent, lifeMs = 300_000, isHere = true) =>
      record(here.hub, async tx => {
        const requestedBy = { type: 'user', id: 'usr_1', name: 'Alice' }
        const sent = await sendCommand(tx, here.hub, { agentId: to.id, name: 'collect', params: {}, requestedBy, lifeMs })
        return { result: undefined, ...(isHere && sent) }
      }),
    take: async (of = agent, seconds: number | null = null): Promise<SignedCommand[]> => {
      const { status, body, text } = await of.fetchCommands(seconds)
      if (status !== 200) throw new Error(text)
      return body.commands
    },
  }
}
let s: Awaited<ReturnType<typeof scene>>
beforeEach(async () => {
  s = await scene()
})
const commandIn = (signed: SignedCommand | undefined) => JSON.parse(signed!.payload) as AgentCommand

describe('commands', () => {
  test('are signed with the key of the installation, and only for one agent', async () => {
    await s.send()
    expect(await s.take(s.other)).toEqual([])
    const [signed] = await s.take()
    const key = parsePublicKey(hubPublicKey(s.here.hub))!
    expect(isCommandOf(key, signed!)).toBe(true)
    const altered = signed!.payload.replace('collect', 'reboot')
    expect(isCommandOf(key, { ...signed!, payload: altered })).toBe(false)
    const now = s.here.clock.now()
    expect(commandIn(signed)).toEqual({
      id: expect.stringMatching(/^cmd_/),
      agent_id: s.agent.id,
      ...{ name: 'collect', params: {} },
      ...{ issued_at: now, expires_at: now + 300_000 },
      requested_by: { type: 'user', id: 'usr_1', name: 'Alice' },
    } as AgentCommand)
  })

  test('are not sent after they expire, which is after ten minutes at the latest', async () => {
    await s.send(s.agent, 1000)
    await s.here.advance(1000)
    expect(await s.take()).toEqual([])
    await s.send(s.agent, 2 * maxCommandLifeMs)
    await s.here.advance(maxCommandLifeMs)
    expect(await s.take()).toEqual([])
  })

  test('are sent again if the response may have been lost, at most three times', async () => {
    await s.send()
    const [first] = await s.take()
    const sent = [1]
    for (let passed = 0; passed < 60; passed += 5) {
      await s.here.advance(5000)
      const again = await s.take()
      if (again.length > 0) expect(again).toEqual([first!])
      sent.push(again.length)
    }
    expect(sent).toEqual([1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
  })

  test('are not sent again after their result, which counts once', async () => {
    await s.send()
    const { id } = commandIn((await s.take())[0])
    const result = { command_id: id, output: 'ok' }
    const answered = async (of: AgentDouble, more: object = {}) => (await of.reportsResult({ ...result, ...more })).status
    expect([await answered(s.other), await answered(s.agent), await answered(s.agent, { outcome: 'failed' })]).toEqual([
      ...[404, 204, 204],
    ])
    expect([await answered(s.agent, { outcome: 'maybe' }), await answered(s.agent, { output: 'x'.repeat(20_000) })]).toEqual([
      ...[422, 422],
    ])
    await s.here.advance(30_000)
    expect(await s.take()).toEqual([])
    await s.here.advance(2 * 86_400_000)
    await pruneCommands(s.here.hub)
    expect(await answered(s.agent)).toBe(404)
  })
})

test('a rule set is not sent again after a newer one', async () => {
  const apply = (digest: string) =>
    record(s.here.hub, async tx => {
      const ruleset = { ruleset: '', digest, revertAfterSeconds: 60 }
      return { result: undefined, ...(await applyAtHost(tx, s.here.hub, { agentId: s.agent.id, ...ruleset })) }
    })
  const sent = async () => (await s.take()).map(one => (commandIn(one).params as { digest: string }).digest)
  await apply('first')
  expect(await sent()).toEqual(['first'])
  await apply('second')
  await apply('third')
  expect(await sent()).toEqual(['third'])
  await s.here.advance(10_000)
  expect(await sent()).toEqual(['third'])
})

describe('a waiting request', () => {
  test('does not look for anything once its client has disconnected', async () => {
    const client = new AbortController()
    let looks = 0
    const look = async () => (++looks > 1 ? 'found' : null)
    const waiting = { seconds: 30, signal: client.signal, onWait() {}, applied: false, waited: false }
    const found = waitFor({ hub: s.here.hub, workspaceId: s.here.acme.workspaceId }, waiting, 'topic', look)
    await s.here.settle()
    client.abort()
    expect([await found, looks]).toEqual([null, 1])
  })

  test('gets a command with its commit', async () => {
    const waiting = s.take(s.agent, 30)
    await untilWaiting(s.here)
    await s.send()
    expect(await waiting).toHaveLength(1)
  })

  test('gets a command that another hub created within a second', async () => {
    const waiting = s.take(s.agent, 30)
    await untilWaiting(s.here)
    await s.send(s.agent, 300_000, false)
    await s.here.advance(1000)
    expect(await waiting).toHaveLength(1)
  })

  test('ends without commands, and when the agent sends another one', async () => {
    const first = s.take(s.agent, 30)
    await untilWaiting(s.here)
    const second = s.take(s.agent, 30)
    expect(await first).toEqual([])
    await untilWaiting(s.here)
    await s.here.advance(30_000)
    expect(await second).toEqual([])
  })
})

test('10,000 agents can wait at once, and each is woken alone', async () => {
  const { hub, acme } = s.here
  const wait = (id: string) =>
    takeCommands(
      hub,
      { id, workspaceId: acme.workspaceId, serverId: s.agent.serverId },
      { seconds: 30, signal: new AbortController().signal, onWait() {}, applied: false, waited: false },
    )
  let ended = 0
  const all = Array.from({ length: 9_999 }, (_, at) => wait(`agent_${at}`).finally(() => ended++))
  const own = wait(s.agent.id)
  await s.here.settle()
  expect(waitingCount(hub)).toBe(10_000)
  await expect(wait('agent_more')).rejects.toMatchObject({ status: 429 })
  await s.send()
  expect((await own).commands).toHaveLength(1)
  expect([waitingCount(hub), ended]).toEqual([9_999, 0])
  endWaits(hub)
  expect((await Promise.all(all)).every(one => one.commands.length === 0)).toBe(true)
}, 180_000)

describe('requests for commands', () => {
  test('are only answered to the run whose reports are accepted', async () => {
    await s.send()
    const { status, body } = await s.agent.fetchCommands(null, 'another-run')
    expect([status, (body as any).errors[0].pointer]).toEqual([409, '#/run_id'])
    expect(await s.take()).toHaveLength(1)
    expect((await s.agent.machine.get('/v1/ingest/agents/commands')).status).toBe(409)
    s.agent.machine.token = 'bw_agent_nonsense'
    expect((await s.agent.fetchCommands()).status).toBe(401)
  })

  test('are a sign of life, except from an agent that stops', async () => {
    const state = async () => (await s.here.acme.call('GET', `/v1/servers/${s.agent.serverId}`)).body.agent.state
    for (let minute = 0; minute < 20; minute++) {
      await s.here.advance(30_000)
      await s.take()
      await watchServers(s.here.hub)
    }
    expect(await state()).toBe('reporting')
    for (let minute = 0; minute < 40; minute++) {
      await s.here.advance(30_000)
      await watchServers(s.here.hub)
    }
    expect(await state()).toBe('silent')
    await s.take()
    expect(await state()).toBe('reporting')
    await s.agent.stops('stop')
    await s.take()
    expect(await state()).toBe('stopped')
  })
})

describe('an action through the agent', () => {
  const act = async (action: string, params: object = {}) =>
    await s.here.acme.call('POST', `/v1/servers/${s.agent.serverId}/actions`, { action, params })
  const server = async () => (await s.here.acme.call('GET', `/v1/servers/${s.agent.serverId}`)).body
  const seen = async (id: string) => {
    await s.here.advance(1000)
    return (await s.here.acme.call('GET', `/v1/actions/${id}`)).body
  }
  /** The agent fetches a command, and reports its result. */
  const obey = async (more: object = {}) => {
    const command = commandIn((await s.take())[0])
    expect((await s.agent.reportsResult({ command_id: command.id, ...more })).status).toBe(204)
    return command
  }

  test('is offered only if the owner of the server allows it, and the agent reports', async () => {
    const offered = async () => (await server()).actions.map((one: any) => [one.action, ...one.via])
    expect(await offered()).toEqual([['collect', 'agent']])
    expect(await act('reboot')).toMatchObject({
      status: 422,
      body: { code: 'unsupported_action', detail: expect.stringContaining('must contain `reboot`'), supported: ['collect'] },
    })
    await s.agent.reports({ allow: ['collect', 'reboot', 'restart:nginx.service'] })
    expect((await offered()).map(([name]: string[]) => name)).toEqual(['shutdown', 'reboot', 'restart_unit', 'collect'])
    const refused = await act('restart_unit', { unit: 'sshd.service' })
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('must contain `restart:sshd.service`')])
    expect((await act('restart_unit', { unit: '; reboot' })).status).toBe(422)
    expect((await act('shutdown', { then_force: true })).body.errors[0].pointer).toBe('#/params/then_force')
    expect(await s.take()).toEqual([])
    // The shell agent fetches no commands.
    await s.agent.reports({ allow: [] })
    expect(await offered()).toEqual([])
    expect((await act('collect')).body.detail).toBe('The shell agent only reports, so it can’t perform the action collect.')
    await s.agent.stops('stop')
    expect(await offered()).toEqual([])
    expect((await act('reboot')).body.detail).toContain('is stopped')
  })

  test('ends with the result of the command', async () => {
    await s.agent.reports({ allow: ['restart:nginx.service'] })
    const { body, status } = await act('restart_unit', { unit: 'nginx.service' })
    expect(status).toBe(202)
    const command = await obey({ output: 'active' })
    expect(command).toMatchObject({ name: 'restart_unit', params: { unit: 'nginx.service' } })
    expect(command.requested_by.type).toBe('token')
    expect(await seen(body.id)).toMatchObject({ status: 'success', result: { output: 'active' } })
    expect((await server()).action_id).toBeNull()

    const again = await act('collect')
    await obey({ outcome: 'refused', detail: 'The command expired.' })
    expect(await seen(again.body.id)).toMatchObject({
      status: 'error',
      error: { code: 'provider_failed', detail: 'The server refused the command. The command expired.' },
    })
  })

  test('fails if the agent does not fetch the command in time, and is never run later', async () => {
    const { body } = await act('collect')
    await s.here.advance(58_000)
    expect((await seen(body.id)).status).toBe('running')
    await s.here.advance(2000)
    expect(await seen(body.id)).toMatchObject({ status: 'error', error: { code: 'provider_failed', failure: 'timeout' } })
    expect(await s.take()).toEqual([])
  })

  test('is interrupted if the agent reports no result', async () => {
    const { body } = await act('collect')
    await s.take()
    for (let minute = 0; minute < 9; minute++) {
      await s.here.advance(60_000)
      await s.agent.reports()
    }
    expect((await seen(body.id)).status).toBe('running')
    await s.here.advance(60_000)
    expect(await seen(body.id)).toMatchObject({ status: 'error', error: { code: 'interrupted' } })
  })

  test('reboots a server once it reports again, and shuts it down once it stopped', async () => {
    await s.agent.reports({ allow: ['reboot'] })
    const reboot = (await act('reboot')).body.id
    await obey()
    expect((await server()).status).toBe('rebooting')
    expect((await seen(reboot)).status).toBe('running')
    await s.agent.stops('reboot')
    expect((await seen(reboot)).status).toBe('running')
    await s.agent.reports()
    expect((await seen(reboot)).status).toBe('success')
    expect(await server()).toMatchObject({ status: 'running', power: 'on' })

    const shutdown = (await act('shutdown')).body.id
    expect((await obey()).name).toBe('shutdown')
    expect((await seen(shutdown)).status).toBe('running')
    await s.agent.stops('shutdown')
    expect((await seen(shutdown)).status).toBe('success')
    expect(await server()).toMatchObject({ status: 'off', power: 'off' })
  })
})

test('the agent of another server sends a Wake-on-LAN packet', async () => {
  const { call } = s.here.acme
  const path = `/v1/servers/${s.other.serverId}`
  const settings = { mac: '52-54-00-AB-12-34', broadcast: '192.168.1.255', via_agent_id: s.agent.id }
  await s.other.stops('shutdown')
  const put = (more: object = {}) => call('PUT', `${path}/controllers/wake_on_lan`, { settings: { ...settings, ...more } })
  expect((await put({ via_agent_id: 'agent_01k3z9a1b2c3d4e5f6g7h8j9km' })).body.errors[0].pointer).toBe('#/settings/via_agent_id')
  expect((await put()).status).toBeLessThan(300)
  const ended = async (): Promise<any> => {
    const { id } = (await call('POST', `${path}/actions`, { action: 'power_on' })).body
    await s.here.advance(1000)
    for (const command of await s.agent.commands()) {
      expect(command).toMatchObject({ name: 'wake', params: { mac: '52:54:00:ab:12:34', broadcast: '192.168.1.255', port: 9 } })
      await s.agent.reportsResult({ command_id: command.id })
    }
    await s.here.advance(2000)
    return (await call('GET', `/v1/actions/${id}`)).body
  }
  expect((await ended()).error).toMatchObject({ code: 'conflict', detail: expect.stringContaining('`wake` is not in `allow`') })
  await s.agent.reports({ allow: ['wake'] })
  expect((await ended()).status).toBe('success')
  await s.agent.stops('stop')
  expect((await ended()).error.detail).toContain('is stopped')
})
