import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { isPostgres } from '../../src/core/db/dialect'
import { extendSilence } from '../../src/features/servers/agents/silence'
import { agents } from '../../src/features/servers/agents/tables'
import { servers } from '../../src/features/servers/tables'
import { watchServers } from '../../src/features/servers/watch'
import { renewPresence } from '../../src/hub/presence'
import { AgentDouble } from '../support/agent-double'
import { cloudScene } from '../support/clouds/cloud-scene'
import { otherHub, say, watched } from '../support/watched-monitors'
import { world, type World } from '../support/world'

const addServer = async (here: World, name: string): Promise<string> =>
  (await here.acme.call('POST', '/v1/servers', { name, monitor: false }, { 'Idempotency-Key': name })).body.id
const rowOf = async (here: World, { id }: AgentDouble) => (await here.hub.read.select().from(agents).where(eq(agents.id, id)))[0]!

test('an agent reports and says why it stops', async () => {
  const here = await world()
  const agent = await AgentDouble.enroll(here, await addServer(here, 'web-1'), { allow: ['collect', 'firewall'] })
  const heardAt = here.clock.now()
  expect(await rowOf(here, agent)).toMatchObject({
    ...{ state: 'reporting', version: '0.3.0', allow: ['collect', 'firewall'], stopReason: null },
    ...{ lastSeenAt: heardAt, dueAt: heardAt + 180_000 },
  })
  await agent.reports({ intervalSeconds: 10 })
  expect(await rowOf(here, agent)).toMatchObject({ intervalSeconds: 10, dueAt: heardAt + 90_000 })
  await agent.stops('reboot')
  expect(await rowOf(here, agent)).toMatchObject({ state: 'stopped', stopReason: 'reboot', dueAt: heardAt + 300_000 })
  await agent.stops('shutdown')
  expect(await rowOf(here, agent)).toMatchObject({ state: 'stopped', stopReason: 'shutdown', dueAt: heardAt + 600_000 })
  await agent.reports()
  expect(await rowOf(here, agent)).toMatchObject({ state: 'reporting', stopReason: null })
})

const minute = 60_000
const healthOf = async (here: World, id: string) => (await here.acme.call('GET', `/v1/servers/${id}`)).body
const noticesOf = async (here: World): Promise<[string, number][]> =>
  (await here.acme.call('GET', '/v1/notices')).body.data.map((one: any) => [one.kind, one.count])

/** Lets time pass, in which these agents report and the hub watches. */
async function pass(here: World, ms: number, reporting: readonly AgentDouble[] = []): Promise<void> {
  for (let at = 0; at < ms; at += 10_000) {
    await here.advance(10_000)
    if ((at / 10_000) % 6 === 5) for (const one of reporting) await one.reports()
    await watchServers(here.hub)
  }
}

describe('the health of a server with an agent', () => {
  test('is up while the agent reports, and down once it is silent', async () => {
    const here = await world()
    const id = await addServer(here, 'web-1')
    const agent = await AgentDouble.enroll(here, id)
    expect(await healthOf(here, id)).toMatchObject({ health: 'up', health_reason: 'The agent of the server is reporting.' })
    await pass(here, 10 * minute, [agent])
    const heardAt = new Date(here.clock.now()).toISOString()
    expect(await healthOf(here, id)).toMatchObject({ health: 'up' })
    await pass(here, 170_000)
    expect(await healthOf(here, id)).toMatchObject({ health: 'up' })
    await pass(here, 20_000)
    expect(await healthOf(here, id)).toMatchObject({
      health: 'down',
      health_reason: `The agent has not reported since ${heardAt}.`,
    })
    expect(await here.emitted()).toEqual(['server.status_changed'])
    await agent.reports()
    expect(await healthOf(here, id)).toMatchObject({ health: 'up' })
    expect(await here.emitted()).toEqual(['server.status_changed'])
    const sent = (await here.acme.call('GET', '/v1/events')).body.data
    expect(sent.find((one: any) => one.sequence === 2)).toMatchObject({
      data: { status: 'up', previous_status: 'down', source: 'agent' },
    })
    expect(await noticesOf(here)).toEqual([])
  })

  test('is down if the agent is silent, although the cloud reports that it is running', async () => {
    const here = await world()
    const { double, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(minute)
    const { id } = await named('web-1')
    await AgentDouble.enroll(here, id)
    await pass(here, 4 * minute)
    expect(await healthOf(here, id)).toMatchObject({ health: 'down', status: 'running' })
  })

  test('stays up with a notice if the agent is silent while a monitor is up', async () => {
    const here = await world()
    const id = await addServer(here, 'web-1')
    const monitor = await watched(here)
    await say(here, monitor, { status: 'up' })
    await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [monitor] })
    const agent = await AgentDouble.enroll(here, id)
    await here.emitted()
    await pass(here, 6 * minute)
    expect(await healthOf(here, id)).toMatchObject({ health: 'up', health_reason: 'A monitor of the server is up.' })
    await agent.reports()
    await pass(here, minute, [agent])
    expect(await noticesOf(here)).toEqual([['agent.silent', 1]])
    await pass(here, 6 * minute)
    expect(await noticesOf(here)).toEqual([['agent.silent', 2]])
    expect(await here.emitted()).toEqual([])
  })

  test('is unknown after the agent was stopped on purpose, and down once it has been away for too long', async () => {
    const here = await world()
    const limits = { shutdown: 10, stop: 10, reboot: 5 } as const
    for (const [reason, minutes] of Object.entries(limits) as [keyof typeof limits, number][]) {
      const id = await addServer(here, reason)
      const agent = await AgentDouble.enroll(here, id)
      await here.emitted()
      await agent.stops(reason)
      expect({ reason, ...(await healthOf(here, id)) }).toMatchObject({
        health: 'unknown',
        health_reason: 'The agent was stopped.',
      })
      await pass(here, (minutes - 1) * minute)
      expect({ reason, emitted: await here.emitted() }).toMatchObject({ emitted: [] })
      await agent.reports()
      expect({ reason, emitted: await here.emitted() }).toMatchObject({ emitted: [] })
      await agent.stops(reason)
      await pass(here, (minutes + 1) * minute)
      expect({ reason, ...(await healthOf(here, id)) }).toMatchObject({ health: 'down' })
      expect({ reason, emitted: await here.emitted() }).toMatchObject({ emitted: ['server.status_changed'] })
    }
  })

  test('is unknown with one notice if all agents of the workspace are silent together', async () => {
    const here = await world()
    const ids = [await addServer(here, 'a'), await addServer(here, 'b'), await addServer(here, 'c')]
    const agents: AgentDouble[] = []
    for (const id of ids) {
      agents.push(await AgentDouble.enroll(here, id))
      here.clock.advance(20_000)
    }
    await pass(here, 6 * minute)
    for (const id of ids) expect(await healthOf(here, id)).toMatchObject({ health: 'unknown' })
    expect(await noticesOf(here)).toEqual([['agents.disconnected', 1]])
    expect(await here.emitted()).toEqual([])
    // Two of them can reach the hub again. The third gets the time to do so too.
    await pass(here, minute, agents.slice(0, 2))
    for (const [at, health] of ['up', 'up', 'unknown'].entries()) expect(await healthOf(here, ids[at]!)).toMatchObject({ health })
    await pass(here, 9 * minute, agents.slice(0, 2))
    expect(await healthOf(here, ids[2]!)).toMatchObject({ health: 'down' })
    expect(await noticesOf(here)).toEqual([['agents.disconnected', 1]])
    expect(await here.emitted()).toEqual(['server.status_changed'])
  })

  /** Servers whose agents have these intervals, and enrolled one after another with these pauses in between. */
  async function fleet(here: World, intervals: readonly number[], pauseMs = 0) {
    const ids: string[] = []
    const agents: AgentDouble[] = []
    for (const [at, intervalSeconds] of intervals.entries()) {
      if (at > 0) here.clock.advance(pauseMs)
      ids.push(await addServer(here, `web-${at}`))
      agents.push(await AgentDouble.enroll(here, ids.at(-1)!, { intervalSeconds }))
    }
    const healths = async () => (await here.acme.call('GET', '/v1/servers?sort=name')).body.data.map((one: any) => one.health)
    return { agents, healths }
  }

  test('is down if all agents of the workspace are silent for 15 more minutes', async () => {
    const here = await world()
    const { healths } = await fleet(here, [60, 60, 60])
    await pass(here, 17 * minute)
    expect(await healths()).toEqual(['unknown', 'unknown', 'unknown'])
    expect(await here.emitted()).toEqual([])
    await pass(here, 2 * minute)
    expect(await healths()).toEqual(['down', 'down', 'down'])
    expect(await noticesOf(here)).toEqual([['agents.disconnected', 1]])
  }, 180_000)

  test('is unknown after all agents became silent, although a hub was down meanwhile', async () => {
    const here = await world()
    const { healths } = await fleet(here, [60, 60, 60])
    await pass(here, 4 * minute)
    here.clock.jump(60 * minute)
    await renewPresence(here.hub)
    await pass(here, 4 * minute)
    expect(await healths()).toEqual(['unknown', 'unknown', 'unknown'])
  })

  test('is unknown if the last reports of all agents are as far apart as their intervals', async () => {
    const here = await world()
    const { healths } = await fleet(here, [120, 120, 120], 55_000)
    await pass(here, 10 * minute)
    expect(await healths()).toEqual(['unknown', 'unknown', 'unknown'])
    expect(await noticesOf(here)).toEqual([['agents.disconnected', 1]])
  })

  test('does not wait for agents that report once in an hour', async () => {
    const here = await world()
    const { healths } = await fleet(here, [3600, 60, 60, 60])
    await pass(here, 7 * minute)
    expect(await healths()).toEqual(['up', 'unknown', 'unknown', 'unknown'])
    const there = await world()
    const others = await fleet(there, [3600, 3600, 3600, 60])
    await pass(there, 7 * minute)
    expect(await others.healths()).toEqual(['up', 'up', 'up', 'down'])
    expect(await noticesOf(there)).toEqual([])
  })

  test('is unknown if the hub can’t be reached again shortly after one agent returned', async () => {
    const here = await world()
    const { agents, healths } = await fleet(here, [60, 60, 60])
    await pass(here, 4 * minute)
    await agents[0]!.reports()
    await pass(here, minute)
    expect(await healths()).toEqual(['up', 'unknown', 'unknown'])
    await pass(here, 4 * minute)
    expect(await healths()).toEqual(['unknown', 'unknown', 'unknown'])
    expect(await here.emitted()).toEqual([])
  })

  test('is unknown if the hub can’t be reached while a server restarts', async () => {
    const here = await world()
    const { agents, healths } = await fleet(here, [60, 60, 60, 60])
    await agents[0]!.stops('reboot')
    await pass(here, 6 * minute)
    expect(await healths()).toEqual(['unknown', 'unknown', 'unknown', 'unknown'])
  })

  test('is down if only some agents of the workspace are silent together', async () => {
    const here = await world()
    const ids = [await addServer(here, 'a'), await addServer(here, 'b'), await addServer(here, 'c')]
    const [first] = [
      await AgentDouble.enroll(here, ids[0]!),
      ...(await Promise.all(ids.slice(1).map(id => AgentDouble.enroll(here, id)))),
    ]
    await pass(here, 5 * minute, [first])
    expect(await healthOf(here, ids[0]!)).toMatchObject({ health: 'up' })
    for (const id of ids.slice(1)) expect(await healthOf(here, id)).toMatchObject({ health: 'down' })
    expect(await noticesOf(here)).toEqual([])
  })

  test('is down, without a notice, if all servers with agents were switched off or deleted', async () => {
    const here = await world()
    const { double, act, finish, named } = await cloudScene(here)
    const names = ['web-1', 'web-2', 'web-3', 'web-4']
    const [, ...others] = names.map(name => double.addServer({ name }))
    await here.advance(minute)
    const ids: string[] = []
    for (const name of names) ids.push((await named(name)).id)
    for (const id of ids) await AgentDouble.enroll(here, id)
    for (const one of others) double.console.powerOff(one)
    await finish((await act(ids[0]!, 'delete')).body.id)
    await pass(here, 5 * minute)
    for (const id of ids.slice(1)) expect(await healthOf(here, id)).toMatchObject({ status: 'off', health: 'down' })
    expect(await noticesOf(here)).toEqual([])
  })

  test('is down once after it was switched off, although its agent reported a short time before', async () => {
    const here = await world()
    const { double, act, finish, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(minute)
    const { id } = await named('web-1')
    await AgentDouble.enroll(here, id, { intervalSeconds: 120 })
    await here.emitted()
    await finish((await act(id, 'power_off')).body.id)
    await pass(here, 7 * minute)
    expect(await healthOf(here, id)).toMatchObject({ health: 'down', agent: { state: 'stopped' } })
    expect(await here.emitted()).toEqual(['server.status_changed'])
  })

  test('is up while its agent starts after it was switched on', async () => {
    const here = await world()
    const { double, act, finish, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(minute)
    const { id } = await named('web-1')
    await AgentDouble.enroll(here, id)
    await finish((await act(id, 'power_off')).body.id)
    await pass(here, 9 * minute)
    await here.emitted()
    await finish((await act(id, 'power_on')).body.id)
    await pass(here, 4 * minute)
    expect(await healthOf(here, id)).toMatchObject({ health: 'up', agent: { state: 'stopped' } })
    expect(await here.emitted()).toEqual(['server.status_changed'])
    await pass(here, 2 * minute)
    expect(await healthOf(here, id)).toMatchObject({ health: 'down', agent: { state: 'silent' } })
  })

  test('stays up without a notice while an action that interrupts the server keeps its agent silent', async () => {
    const here = await world()
    const { double, act, finish, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(minute)
    const { id } = await named('web-1')
    const monitor = await watched(here)
    await say(here, monitor, { status: 'up' })
    await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [monitor] })
    const agent = await AgentDouble.enroll(here, id, { intervalSeconds: 10 })
    await pass(here, 6 * minute, [agent])
    await finish((await act(id, 'reboot')).body.id)
    await pass(here, 2 * minute)
    expect(await healthOf(here, id)).toMatchObject({ health: 'up', agent: { state: 'silent' } })
    expect(await noticesOf(here)).toEqual([])
    await pass(here, 2 * minute)
    expect(await noticesOf(here)).toEqual([['agent.silent', 1]])
  })

  test('does not change because the hub was down for an hour', async () => {
    const here = await world()
    const id = await addServer(here, 'web-1')
    const other = await addServer(here, 'web-2')
    const agent = await AgentDouble.enroll(here, id)
    const stopped = await AgentDouble.enroll(here, other)
    await stopped.stops('reboot')
    await here.emitted()
    here.clock.jump(60 * minute)
    await renewPresence(here.hub)
    await pass(here, 7 * minute)
    expect(await healthOf(here, id)).toMatchObject({ health: 'up' })
    expect(await here.emitted()).toEqual([])
    await agent.reports()
    await pass(here, 2 * minute, [agent])
    expect(await here.emitted()).toEqual(['server.status_changed'])
    expect(await healthOf(here, id)).toMatchObject({ health: 'up' })
    expect(await healthOf(here, other)).toMatchObject({ health: 'down' })
    expect(await noticesOf(here)).toEqual([])
  })

  test('is down in time although the hub stalled repeatedly', async () => {
    const here = await world()
    const id = await addServer(here, 'web-1')
    await AgentDouble.enroll(here, id)
    for (let at = 0; at < 3; at++) {
      here.clock.jump(5000)
      await record(here.hub, async tx => ({ result: await extendSilence(tx, here.clock.now(), 5000) }))
      await pass(here, 50_000)
    }
    await pass(here, 20_000)
    expect(await healthOf(here, id)).toMatchObject({ health: 'up' })
    await pass(here, 40_000)
    expect(await healthOf(here, id)).toMatchObject({ health: 'down' })
  })

  test('is unknown as soon as the server is deleted', async () => {
    const here = await world()
    const { double, act, finish, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(minute)
    const { id } = await named('web-1')
    const agent = await AgentDouble.enroll(here, id)
    await finish((await act(id, 'delete')).body.id)
    await agent.reports()
    expect(await healthOf(here, id)).toMatchObject({ status: 'deleted', health: 'unknown' })
  })

  test.skipIf(!isPostgres)('is concluded once by two hubs', async () => {
    const here = await world()
    const two = await otherHub(here)
    const ids: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) ids.push(await addServer(here, name))
    const [one, ...others] = await Promise.all(ids.map(id => AgentDouble.enroll(here, id)))
    const both = () => Promise.all([watchServers(here.hub), watchServers(two.hub)])
    for (let at = 0; at < 4; at++) {
      here.clock.advance(60_000)
      for (const other of others) await other.reports()
      await both()
    }
    expect(await healthOf(here, ids[0]!)).toMatchObject({ health: 'down' })
    expect(await here.emitted()).toEqual(['server.status_changed'])
    await one!.reports()
    here.clock.advance(400_000)
    await both()
    for (const id of ids) expect(await healthOf(here, id)).toMatchObject({ health: 'unknown' })
    expect(await noticesOf(here)).toEqual([['agents.disconnected', 1]])
    await Promise.all([one!, ...others].map(agent => agent.reports()))
    await both()
    expect(await here.emitted()).toEqual(['server.status_changed'])
    await two.close()
  })
})

describe('what an agent reports about its server', () => {
  const facts = {
    ...{
      hostname: 'web-1.example.com',
      os: 'Debian GNU/Linux 12 (bookworm)',
      image: 'debian-12',
      kernel: '6.18.0',
      arch: 'x86_64',
    },
    ...{ cores: 2, memory_bytes: 2 ** 31, disk_bytes: 39 * 2 ** 30, addresses: ['192.0.2.20', '10.0.0.2'] },
  }
  const factsOf = async (here: World, id: string) =>
    Object.fromEntries((await here.acme.call('GET', `/v1/servers/${id}/facts`)).body.data.map((one: any) => [one.fact, one]))

  test('is listed next to what its cloud reports', async () => {
    const here = await world()
    const { double, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(minute)
    const { id, addresses, size } = await named('web-1')
    const agent = await AgentDouble.enroll(here, id)
    await agent.reports({ facts: { ...facts, cores: size.cores } })
    const known = await factsOf(here, id)
    expect(known.kernel).toMatchObject({ value: '6.18.0', source: 'agent', stale: false, others: [], agree: true })
    // Addresses are those of the system, and the size is the one at the cloud.
    expect(known.addresses).toMatchObject({
      ...{ value: facts.addresses, source: 'agent', agree: false },
      others: [{ source: 'cloud', value: addresses.map((one: any) => one.address) }],
    })
    expect(known.cores).toMatchObject({ source: 'cloud', agree: true, others: [{ source: 'agent' }] })
    expect(known.memory_bytes).toMatchObject({
      ...{ value: size.memory_bytes, source: 'cloud', agree: false },
      others: [{ source: 'agent', value: 2 ** 31, observed_at: new Date(here.clock.now()).toISOString() }],
    })
    expect(known.disk_bytes).toMatchObject({ source: 'cloud', agree: true, others: [{ value: facts.disk_bytes }] })
    expect(known.power).toMatchObject({ source: 'cloud', others: [{ source: 'agent', value: 'on' }] })
    const heardAt = here.clock.now()
    await pass(here, 5 * minute)
    const later = await factsOf(here, id)
    // They may have changed since the agent stopped reporting.
    expect(later.addresses).toMatchObject({ source: 'cloud', others: [{ source: 'agent' }] })
    expect(later.kernel).toMatchObject({ stale: true, observed_at: new Date(heardAt).toISOString() })
    expect(later.power.others).toEqual([])
  })

  test('describes a server without a cloud', async () => {
    const here = await world()
    const id = await addServer(here, 'nas')
    expect(await healthOf(here, id)).toMatchObject({ agent: null, status: 'unknown', power: 'unknown', image: null })
    const agent = await AgentDouble.enroll(here, id, { facts })
    const seen = { source: 'agent', at: new Date(here.clock.now()).toISOString(), stale: false }
    expect(await healthOf(here, id)).toMatchObject({
      ...{ status: 'running', power: 'on', image: 'debian-12' },
      size: { cores: 2, memory_bytes: 2 ** 31 },
      agent: { id: agent.id, state: 'reporting', version: '0.3.0' },
      observed: { status: seen, health: seen, power: seen },
    })
    expect((await here.acme.call('GET', `/v1/servers/${id}?expand=agent`)).body.expanded.agent).toMatchObject({
      ...{ id: agent.id, server_id: id, interval_seconds: 60, allow: ['collect'], silent_since_at: null, stop_reason: null },
    })
    await agent.stops('shutdown')
    expect(await healthOf(here, id)).toMatchObject({ status: 'unknown', power: 'unknown', agent: { state: 'stopped' } })
    expect((await here.acme.call('GET', `/v1/servers/${id}?expand=agent`)).body.expanded.agent.stop_reason).toBe('shutdown')
    expect((await here.rival.call('GET', `/v1/servers/${id}?expand=agent`)).status).toBe(404)
  })

  test('tells the status of a server whose action ended without a result', async () => {
    const here = await world()
    const id = await addServer(here, 'nas')
    const agent = await AgentDouble.enroll(here, id)
    await record(here.hub, async tx => {
      const lost = { actionId: 'act_01k3z9a1b2c3d4e5f6g7h8j9km', status: 'rebooting' as const }
      return { result: await tx.update(servers).set(lost).where(eq(servers.id, id)) }
    })
    await agent.reports()
    await watchServers(here.hub)
    expect(await healthOf(here, id)).toMatchObject({ action_id: null, status: 'unknown', health: 'up' })
    await watchServers(here.hub)
    expect(await healthOf(here, id)).toMatchObject({ status: 'running', power: 'on', health: 'up' })
  })

  test('finds servers by the state of their agents', async () => {
    const here = await world()
    const [one, two] = [await addServer(here, 'one'), await addServer(here, 'two'), await addServer(here, 'three')]
    const agent = await AgentDouble.enroll(here, one!)
    await AgentDouble.enroll(here, two!)
    await pass(here, 5 * minute, [agent])
    const found = async (states: string) => {
      const { body } = await here.acme.call('GET', `/v1/servers?sort=name&agent_state=${states}`)
      return body.data.map((each: any) => each.name)
    }
    expect(await found('reporting')).toEqual(['one'])
    expect(await found('silent')).toEqual(['two'])
    expect(await found('stopped')).toEqual([])
    expect(await found('none')).toEqual(['three'])
    expect(await found('none,silent')).toEqual(['three', 'two'])
    expect((await here.acme.call('GET', '/v1/servers?agent_state=lost')).status).toBe(400)
  })
})
