import { beforeEach, describe, expect, test } from 'bun:test'
import { record } from '../../src/core/change'
import { pruneCommands, recordCommandResult } from '../../src/features/servers/agents/command-results'
import { hubPublicKey } from '../../src/features/servers/agents/hub-key'
import { sendCommand } from '../../src/features/servers/agents/send-command'
import { takeCommands } from '../../src/features/servers/agents/take-commands'
import { isCommandOf, maxCommandLifeMs, type AgentCommand, type SignedCommand } from '../../src/wire/agent-command'
import { parsePublicKey } from '../../src/wire/signed'
import { AgentDouble } from '../support/agent-double'
import { world } from '../support/world'

async function scene() {
  const here = await world()
  const add = async (name: string) =>
    (await here.acme.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id as string
  const agent = await AgentDouble.enroll(here, await add('host-1'))
  const other = await AgentDouble.enroll(here, await add('host-2'))
  const { workspaceId } = here.acme
  const wait = (seconds: number) => ({
    ...{ seconds, signal: new AbortController().signal, onWait() {} },
    ...{ applied: false, waited: false },
  })
  return {
    ...{ here, agent, other },
    /** @param isHere whether this hub wakes its waiting requests */
    send: (to = agent, lifeMs = 300_000, isHere = true) =>
      record(here.hub, async tx => {
        const requestedBy = { type: 'user', id: 'usr_1', name: 'Alice' }
        const sent = await sendCommand(tx, here.hub, { agentId: to.id, name: 'collect', params: {}, requestedBy, lifeMs })
        return { result: undefined, ...(isHere && sent) }
      }),
    take: (of = agent, seconds: number | null = null) =>
      takeCommands(here.hub, { id: of.id, workspaceId }, seconds === null ? null : wait(seconds)),
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
    const result = { command_id: id, outcome: 'done' as const, detail: null, output: 'ok' }
    expect(await recordCommandResult(s.here.hub, s.other.id, result)).toBe(false)
    expect(await recordCommandResult(s.here.hub, s.agent.id, result)).toBe(true)
    expect(await recordCommandResult(s.here.hub, s.agent.id, { ...result, outcome: 'failed' })).toBe(true)
    await s.here.advance(30_000)
    expect(await s.take()).toEqual([])
    await s.here.advance(2 * 86_400_000)
    await pruneCommands(s.here.hub)
    expect(await recordCommandResult(s.here.hub, s.agent.id, result)).toBe(false)
  })
})

describe('a waiting request', () => {
  test('gets a command with its commit', async () => {
    const waiting = s.take(s.agent, 30)
    await s.here.settle()
    await s.send()
    expect(await waiting).toHaveLength(1)
  })

  test('gets a command that another hub created within a second', async () => {
    const waiting = s.take(s.agent, 30)
    await s.here.settle()
    await s.send(s.agent, 300_000, false)
    await s.here.advance(1000)
    expect(await waiting).toHaveLength(1)
  })

  test('ends without commands, and when the agent sends another one', async () => {
    const first = s.take(s.agent, 30)
    await s.here.settle()
    const second = s.take(s.agent, 30)
    expect(await first).toEqual([])
    await s.here.advance(30_000)
    expect(await second).toEqual([])
  })
})
