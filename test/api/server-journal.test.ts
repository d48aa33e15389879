import { randomUUID } from 'node:crypto'
import { expect, test } from 'bun:test'
import { pruneServers } from '../../src/features/servers/watch'
import { AgentDouble } from '../support/agent-double'
import { world, type World } from '../support/world'

const minuteMs = 60_000
const dayMs = 86_400_000
const addServer = async (here: World, name: string): Promise<string> =>
  (await here.acme.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id

async function scene() {
  const here = await world()
  const agent = await AgentDouble.enroll(here, await addServer(here, 'web-1'))
  const journal = async (query = '') => (await here.acme.call('GET', `/v1/servers/${agent.serverId}/journal${query}`)).body
  const total = async (query = '') => (await journal(`?include=total${query}`)).pagination.total
  return { here, agent, journal, total }
}

const event = (at: number, name = 'nginx.service') => ({ at, kind: 'unit.failed', name, detail: null })
const processes = [{ name: 'mysqld', user: 'mysql', cpu_percent: 88.2, memory_bytes: 2 ** 31, command: null }]
const moment = { causes: ['cpu'], cpu_percent: 97.1, memory_percent: 61.4, io_full_percent: null, processes }

test('events and busy moments are listed newest first, and a report that is sent again adds nothing', async () => {
  const { here, agent, journal } = await scene()
  const now = here.clock.now()
  const at = (ms: number) => new Date(ms).toISOString()
  const report = {
    moments: [{ at: now - 5 * minuteMs, ...moment }],
    events: [event(now - 60 * minuteMs), event(now), { ...event(now, 'shop'), kind: 'container.died', detail: 'exit code 1' }],
  }
  for (let time = 0; time < 2; time++) expect((await agent.sendReport(report)).status).toBe(200)
  const { data } = await journal()
  expect(data).toHaveLength(4)
  expect(data.slice(2)).toEqual([
    { id: expect.stringMatching(/^jrn_/), at: at(now - 5 * minuteMs), kind: 'moment', name: null, detail: null, moment },
    { id: data[3].id, at: at(now - 60 * minuteMs), kind: 'unit.failed', name: 'nginx.service', detail: null, moment: null },
  ])
  expect((await journal('?kind=container.died')).data).toMatchObject([{ name: 'shop', detail: 'exit code 1' }])
  // The half hour before an incident.
  expect((await journal(`?at[gte]=${at(now - 30 * minuteMs)}&at[lte]=${at(now - 1)}`)).data).toMatchObject([{ kind: 'moment' }])

  await here.advance(89 * dayMs)
  await pruneServers(here.hub)
  expect((await journal()).data).toHaveLength(4)
  await here.advance(2 * dayMs)
  await pruneServers(here.hub)
  expect((await journal()).data).toEqual([])
})

test('times are corrected if the agent doesn’t know the time of the hub', async () => {
  const { here, agent, journal } = await scene()
  const wrong = here.clock.now() - 3_600_000
  // It is sent again, and takes longer to arrive.
  for (const delay of [20, 90]) {
    const sent = { sent_at: wrong - delay, clock_offset_ms: null, events: [event(wrong - 1000)] }
    expect((await agent.sendReport(sent)).status).toBe(200)
  }
  expect((await journal()).data.map((one: any) => one.at)).toEqual([new Date(here.clock.now() - 1000).toISOString()])
})

test('a start of the server is in the journal, once, and not if only the agent was started again', async () => {
  const { here, agent, journal } = await scene()
  const started = async () => (await journal('?kind=server.started')).data.map((one: any) => Date.parse(one.at))
  await agent.sendReport({ uptime_seconds: 600 })
  await here.advance(minuteMs)
  const again = randomUUID()
  await agent.sendReport({ run_id: again, seq: 1, uptime_seconds: 660 })
  expect(await started()).toEqual([])
  await here.advance(minuteMs)
  await agent.sendReport({ run_id: again, seq: 2, uptime_seconds: 720, stopping: 'reboot' })

  await here.advance(minuteMs)
  const [run, at] = [randomUUID(), here.clock.now() - 20_000]
  const booted = { run_id: run, boot_id: randomUUID() }
  await agent.sendReport({ ...booted, seq: 1, uptime_seconds: 20 })
  await agent.sendReport({ ...booted, seq: 1, uptime_seconds: 20 })
  await here.advance(minuteMs)
  await agent.sendReport({ ...booted, seq: 2, uptime_seconds: 80 })
  expect(await started()).toEqual([at])
  expect((await journal('?kind=server.started')).data[0]).toMatchObject({ name: null, detail: null, moment: null })

  // A container has the boot ID of its host, and its clock can be wrong.
  await here.advance(60 * minuteMs)
  await agent.sendReport({
    ...{ ...booted, run_id: randomUUID(), seq: 1, uptime_seconds: 5 },
    ...{ sent_at: here.clock.now() - 300_000, clock_offset_ms: null },
  })
  expect(await started()).toEqual([here.clock.now() - 5000, at])
})

test('of each server, 500 moments and 5,000 entries are kept', async () => {
  const { here, agent, total } = await scene()
  const from = here.clock.now() - 6000 * 1000
  for (let sent = 0; sent < 5010; sent += 50) {
    const events = Array.from({ length: 50 }, (_, at) => event(from + (sent + at) * 1000))
    const moments = Array.from({ length: 10 }, (_, at) => ({ at: from + (sent + at) * 1000, ...moment }))
    expect((await agent.sendReport({ events, moments })).status).toBe(200)
    await here.advance(minuteMs / 15)
  }
  expect(await total('&kind=moment')).toBe(500)
  expect(await total()).toBe(5000)
})

test.each([
  ['an event of 1970', { events: [event(0)] }, '#/events/0/at'],
  ['a moment in the future', { moments: [{ at: 8.64e15, ...moment }] }, '#/moments/0/at'],
  ['an unknown event', { events: [{ ...event(0), kind: 'unit.exploded' }] }, '#/events/0/kind'],
  ['a control character', { events: [event(0, 'a\u0007b')] }, '#/events/0/name'],
  ['a negative share', { moments: [{ at: 0, ...moment, cpu_percent: -1 }] }, '#/moments/0/cpu_percent'],
  ['too many events', { events: Array.from({ length: 51 }, () => event(0)) }, '#/events'],
] as const)('a report with %s is refused', async (_, changed, pointer) => {
  const { agent, journal } = await scene()
  const { status, body } = await agent.sendReport(changed)
  expect([status, body.errors[0].pointer]).toEqual([422, pointer])
  expect((await journal()).data).toEqual([])
})

test('servers of other workspaces have no journal, and reading it needs cloud.read', async () => {
  const { here, agent } = await scene()
  const path = `/v1/servers/${agent.serverId}/journal`
  expect((await here.rival.call('GET', path)).status).toBe(404)
  expect((await (await here.scoped('dns.read')).call('GET', path)).status).toBe(403)
})
