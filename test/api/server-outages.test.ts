import { expect, test } from 'bun:test'
import { watchServers } from '../../src/features/servers/watch'
import { diskState } from '../../src/agent/sample/smart'
import type { AgentReport } from '../../src/wire/agent'
import { AgentDouble, Machine } from '../support/agent-double'
import { dataOf, incidentsOf, statusOf, watched } from '../support/watched-monitors'
import { world } from '../support/world'

/** A server with an agent and its own monitor, and monitors that depend on that. */
async function scene(count: number) {
  const here = await world()
  const { id } = (await here.acme.call('POST', '/v1/servers', { name: 'web-1', monitor: true }, { 'Idempotency-Key': 'web-1' }))
    .body
  const server = (await here.acme.call('GET', '/v1/monitors')).body.data[0].id as string
  const agent = await AgentDouble.enroll(here, id)
  const sites: string[] = []
  for (let at = 0; at < count; at++) sites.push(await watched(here, { name: `site-${at}`, depends_on: [server] }))
  const down = new Set<string>()
  here.engine.answer = ({ monitor }) => (down.has(monitor) ? { status: 'down' } : {})
  return {
    ...{ here, agent, server, sites },
    /** Lets time pass, in which the agent reports each minute unless it is silent, and each site is checked each minute. */
    async pass(minutes: number, { isSilent = false, failing = [] as readonly string[] } = {}): Promise<void> {
      down.clear()
      for (const one of failing) down.add(one)
      for (let seconds = 0; seconds < minutes * 60; seconds++) {
        if (!isSilent && seconds % 60 === 30) await agent.reports()
        for (const [at, site] of sites.entries())
          if ([5, 25].includes((seconds - at + 60) % 60))
            here.engine.report({ monitor: site, ...(down.has(site) && { status: 'down' }) })
        await here.advance(1000)
        if (seconds % 10 === 9) await watchServers(here.hub)
      }
    },
    alerted: async (): Promise<string[]> => (await dataOf(here, 'monitor.alert')).map(one => one.monitor.id),
  }
}

test('a server that goes down causes one alert, with everything that depends on it listed on its incident', async () => {
  const { here, server, sites, pass, alerted } = await scene(10)
  await pass(1)
  await pass(5, { isSilent: true, failing: sites })
  expect(await alerted()).toEqual([server])
  expect(await statusOf(here, sites[0]!)).toBe('down')
  const [incident, ...others] = await incidentsOf(here)
  expect(others).toEqual([])
  expect(incident).toMatchObject({ status: 'open', cause: expect.stringMatching(/^The agent has not reported since /) })
  const { monitors } = (await here.acme.call('GET', `/v1/incidents/${incident.id}`)).body
  expect(monitors.map((one: any) => one.id).toSorted()).toEqual([server, ...sites].toSorted())
  // One of the sites does not start again.
  await pass(3, { failing: sites.slice(0, 1) })
  expect((await incidentsOf(here)).map(one => one.status).toSorted()).toEqual(['open', 'resolved'])
  expect((await alerted()).toSorted()).toEqual([server, sites[0]!].toSorted())
}, 180_000)

test('a site that fails while its server reports causes an alert with the next report', async () => {
  const { sites, pass, alerted } = await scene(2)
  await pass(1)
  await pass(3, { failing: sites.slice(0, 1) })
  expect(await alerted()).toEqual(sites.slice(0, 1))
}, 180_000)

test('a site that fails after only the agent was stopped causes an alert', async () => {
  const { agent, sites, pass, alerted } = await scene(1)
  await pass(1)
  await agent.stops('stop')
  await pass(4, { isSilent: true, failing: sites })
  expect(await alerted()).toEqual(sites)
}, 180_000)

test('nothing waits for an agent that has just been approved, or was stopped without its server', async () => {
  const here = await world()
  const { id } = (await here.acme.call('POST', '/v1/servers', { name: 'web-1' }, { 'Idempotency-Key': 'web-1' })).body
  const state = async () => (await here.hub.serverStates.signsOf(here.hub.read, [id])).get(id)?.state ?? null
  const { key } = (await here.acme.call('POST', '/v1/enrolment-keys', { name: 'test', approve: 'manual', server_id: id })).body
  const machine = new Machine(here)
  expect((await machine.enrol(key)).status).toBe(202)
  const [waiting] = (await here.acme.call('GET', '/v1/agents?state=awaiting_approval')).body.data
  expect((await here.acme.call('POST', `/v1/agents/${waiting.id}/approve`)).body.state).toBe('stopped')
  expect(await state()).toBe(null)
  await here.advance(10_000)
  expect((await machine.enrol(key)).status).toBe(201)
  expect((await machine.report()).status).toBe(200)
  expect(await state()).toBe('reporting')
  expect((await machine.report({ stopping: 'reboot' })).status).toBe(200)
  expect(await state()).toBe('stopped')
  expect((await machine.report({ stopping: 'stop' })).status).toBe(200)
  expect(await state()).toBe(null)
})

test.each([
  ['shutdown', 10],
  ['reboot', 5],
] as const)(
  'after a %s that the agent announced, nothing is alerted for %d minutes',
  async (reason, minutes) => {
    const { here, agent, server, sites, pass, alerted } = await scene(2)
    await pass(1)
    await agent.stops(reason)
    await pass(minutes - 1, { isSilent: true, failing: sites })
    expect([await statusOf(here, sites[0]!), await alerted(), await incidentsOf(here)]).toEqual(['down', [], []])
    await pass(3, { isSilent: true, failing: sites })
    expect(await alerted()).toEqual([server])
    expect(await incidentsOf(here)).toHaveLength(1)
  },
  180_000,
)

test('after a server was shut down here, nothing is alerted for 10 minutes', async () => {
  const { here, agent, server, sites, pass, alerted } = await scene(2)
  await agent.reports({ allow: ['reboot'] })
  await pass(1)
  const { id } = (await here.acme.call('POST', `/v1/servers/${agent.serverId}/actions`, { action: 'shutdown' })).body
  const [command] = await agent.commands()
  await agent.reportsResult({ command_id: command!.id })
  await agent.stops('shutdown')
  await here.advance(1000)
  expect((await here.acme.call('GET', `/v1/actions/${id}`)).body.status).toBe('success')
  expect((await here.acme.call('GET', `/v1/servers/${agent.serverId}`)).body).toMatchObject({ status: 'off', health: 'down' })
  await pass(9, { isSilent: true, failing: sites })
  expect([await statusOf(here, sites[0]!), await alerted(), await incidentsOf(here)]).toEqual(['down', [], []])
  await pass(3, { isSilent: true, failing: sites })
  expect(await alerted()).toEqual([server])
  expect(await incidentsOf(here)).toHaveLength(1)
}, 180_000)

/** What smartctl printed about a disk that fails. Its exit status has the bits 3 and 4. */
const failingDisk = JSON.stringify({
  smartctl: { version: [7, 3], exit_status: 24 },
  ...{ device: { name: '/dev/sda' }, model_name: 'WDC WD40EFRX-68N32N0', serial_number: 'WD-WCC7K0000001' },
  smart_status: { passed: false },
})
const container = { name: 'db', image: 'postgres:17', health: null, restarts: 0 }
type Reported = Partial<Pick<AgentReport, 'units' | 'containers' | 'disks' | 'arrays'>>

test('the monitor that a server gets opens an incident for each failure, which says what failed, and resolves it', async () => {
  const { here, agent, server } = await scene(0)
  const { degraded_if } = (await here.acme.call('GET', `/v1/monitors/${server}`)).body
  await here.acme.call('PATCH', `/v1/monitors/${server}`, { degraded_if: [...degraded_if, '[CONTAINER].db != running'] })
  const well: Reported = {
    ...{ units: [], arrays: [{ name: 'md0', kind: 'md', state: 'active', degraded: false }] },
    containers: [{ ...container, state: 'running', exit_code: null }],
    disks: [diskState('/dev/sda', JSON.stringify({ smart_status: { passed: true } }), [], 0).disk],
  }
  const pass = async (reported: Reported, used: number) => {
    expect((await agent.sendReport({ ...reported })).status).toBe(200)
    for (let seconds = 0; seconds < 160; seconds += 2) {
      if (seconds % 60 === 0) {
        const start = Math.floor(here.clock.now() / 60_000) * 60_000
        await agent.measured({ 'filesystem.size_bytes:/data': 1000, 'filesystem.used_bytes:/data': used }, start)
        await agent.reports()
      }
      await here.advance(2000)
    }
  }
  await pass(well, 500)
  const failures: [reported: Reported, used: number, cause: string][] = [
    [
      { units: [{ name: 'nginx.service', state: 'failed', sub_state: 'failed', watched: false }] },
      ...([500, 'Number of failed units is 1, more than 0: nginx.service'] as const),
    ],
    [{ containers: [{ ...container, state: 'exited', exit_code: 137 }] }, 500, 'Container db is exited, not running'],
    [{}, 950, 'Disk use is 95%, more than 90%: /data'],
    [
      { arrays: [{ name: 'md0', kind: 'md', state: 'active', degraded: true }] },
      ...([500, 'Number of degraded arrays is 1, more than 0: md0'] as const),
    ],
    [
      { disks: [diskState('/dev/sda', failingDisk, [], 0).disk] },
      ...([500, 'A disk is failing: /dev/sda: The disk reports that it is failing'] as const),
    ],
  ]
  for (const [at, [reported, used, cause]] of failures.entries()) {
    // A failure soon after the one before would reopen its incident.
    here.clock.jump(3_600_000)
    await agent.reports()
    await pass({ ...well, ...reported }, used)
    const open = (await incidentsOf(here)).filter(one => one.status === 'open')
    expect(open.map(one => one.cause)).toEqual([cause])
    await pass(well, 100)
    expect((await incidentsOf(here)).map(one => one.status)).toEqual(Array.from({ length: at + 1 }, () => 'resolved'))
  }
}, 180_000)
