import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { openSeries } from '../../src/core/db/series'
import { tiers, type Tier } from '../../src/core/db/series/metric-tiers'
import { record } from '../../src/core/change'
import { rollUpMetrics } from '../../src/features/servers/metrics/recorder'
import { seriesKinds } from '../../src/features/series-kinds'
import { pruneMetrics, thinMetrics } from '../../src/features/servers/metrics/retention'
import { subjectOf } from '../../src/features/servers/metrics/names'
import { servers } from '../../src/features/servers/tables'
import { AgentDouble } from '../support/agent-double'
import { cloudScene } from '../support/clouds/cloud-scene'
import { incusScene } from '../support/clouds/incus-scene'
import { RedfishDouble } from '../support/controllers/redfish'
import { closeLater, world, type World } from '../support/world'

const minuteMs = 60_000
const dayMs = 86_400_000

/** The scene at Incus, whose container has 2 cores. */
async function metricsScene(here: World) {
  const limits = { 'limits.cpu': '2', 'limits.memory': '256MiB' }
  const { double, instance: web, id } = await incusScene(here, ({ instances: [web] }) => Object.assign(web!.config, limits))
  const idOf = async (name: string): Promise<string> => (await here.acme.call('GET', `/v1/servers?q=${name}`)).body.data[0].id
  return {
    double,
    web,
    idOf,
    id,
    /** Adds to the counters of a server, and lets the next reading follow. */
    async use(usage: Partial<typeof web.usage>, instance = web) {
      for (const [name, value] of Object.entries(usage)) instance.usage[name as 'sent'] += value
      await here.advance(30_000)
    },
    metrics: async (id: string, query = '') => {
      const { body, status, text } = await here.acme.call('GET', `/v1/servers/${id}/metrics${query}`)
      expect([status, text]).toEqual([200, text])
      return body
    },
  }
}

const valuesOf = (body: any, name: string, kind: 'avg' | 'max' = 'avg') =>
  body.series.find((one: any) => one.name === name)?.[kind].filter((one: number | null) => one !== null)

test('what a cloud reports is stored by the minute, with counters as rates', async () => {
  const here = await world()
  const { id, web, use, metrics } = await metricsScene(here)
  // Without a previous reading, counters tell nothing.
  await here.advance(30_000)
  await rollUpMetrics(here.hub)
  const first = await metrics(id)
  expect(first.series.map((one: any) => one.name)).toEqual(['memory.used_bytes'])
  const start = Math.ceil(here.clock.now() / minuteMs) * minuteMs
  await here.advance(start - here.clock.now())
  // Half of a core, then both cores.
  await use({ cpuSeconds: 15, received: 30_000, sent: 300, memory: 2 ** 26 })
  await use({ cpuSeconds: 60, received: 0, sent: 900 })
  await use({})
  const body = await metrics(id, `?step=60&from=${new Date(here.clock.now() - 6 * 3_600_000).toISOString()}`)
  expect(body.step_seconds).toBe(60)
  expect(body.from_at).toMatch(/:00\.000Z$/)
  expect(body.sources).toEqual([{ source: 'cloud', last_at: expect.any(String), stale: false }])
  const cpu = body.series.find((one: any) => one.name === 'cpu.used_percent')
  expect(cpu).toMatchObject({ device: null, unit: 'percent', source: 'cloud' })
  expect(Math.max(...valuesOf(body, 'cpu.used_percent', 'max'))).toBe(100)
  expect(Math.max(...valuesOf(body, 'cpu.used_percent'))).toBeGreaterThanOrEqual(50)
  expect(Math.max(...valuesOf(body, 'network.received_bytes_per_second', 'max'))).toBeCloseTo(1000, -1)
  expect(valuesOf(body, 'memory.used_bytes').at(-1)).toBeCloseTo(2 ** 27, -4)
  // All series are on the same grid, with nulls.
  const points = Math.ceil((Date.parse(body.to_at) - Date.parse(body.from_at)) / minuteMs)
  for (const one of body.series) expect([one.avg.length, one.max.length]).toEqual([points, points])
  expect(cpu.avg[0]).toBeNull()
  expect(points).toBeLessThanOrEqual(361)

  // A restart resets the counters, which gives no value instead of a wrong one.
  Object.assign(web.usage, { cpuSeconds: 1, received: 5, sent: 5 })
  const before = valuesOf(await metrics(id), 'cpu.used_percent').length
  await here.advance(minuteMs)
  const after = await metrics(id)
  expect(Math.max(...valuesOf(after, 'network.received_bytes_per_second', 'max'))).toBeLessThan(1100)
  expect(valuesOf(after, 'cpu.used_percent').length).toBeLessThanOrEqual(before + 1)

  expect((await metrics(id, '?type=memory')).series.map((one: any) => one.name)).toEqual(['memory.used_bytes'])
  expect((await metrics(id, '?device=sda')).series).toEqual([])
  expect((await metrics(id, '?source=bmc')).sources).toEqual([])

  // A server that stopped keeps its past, and its source becomes stale.
  web.status = 'Stopped'
  await here.advance(10 * minuteMs)
  const stopped = await metrics(id)
  expect(stopped.sources[0].stale).toBe(true)
  expect(valuesOf(stopped, 'memory.used_bytes').length).toBeGreaterThan(0)
})

test('the latest metrics of several servers are listed with the average of the last hour', async () => {
  const here = await world()
  const { id, double, use } = await metricsScene(here)
  for (let n = 0; n < 4; n++) await use({ cpuSeconds: 30, received: 60_000 })
  await rollUpMetrics(here.hub)
  await here.advance(0)
  const idle = double.create('idle')
  await here.advance(30_000)
  const other = (await here.acme.call('GET', '/v1/servers?q=idle')).body.data[0].id
  const { body } = await here.acme.call('GET', `/v1/servers/latest?ids=${other},${id},srv_unknown`)
  expect(body.data.map((one: any) => one.id)).toEqual([other, id])
  expect(body.data[0]).toMatchObject({ at: null, cpu_percent: null, memory_used_bytes: null, cpu_last_hour_percent: null })
  expect(body.data[1].cpu_percent).toBeGreaterThan(30)
  expect(body.data[1]).toMatchObject({ at: expect.any(String), memory_used_percent: 25 })
  expect(body.data[1].network_received_bytes_per_second).toBeGreaterThan(1000)
  expect(idle.status).toBe('Stopped')
  await here.advance(11 * minuteMs)
  await rollUpMetrics(here.hub)
  const later = (await here.acme.call('GET', `/v1/servers/latest?ids=${id}`)).body.data[0]
  expect(later.cpu_last_hour_percent).toBeGreaterThan(0)
  // Servers of another workspace do not exist.
  expect((await here.rival.call('GET', `/v1/servers/latest?ids=${id}`)).body.data).toEqual([])
  expect((await here.rival.call('GET', `/v1/servers/${id}/metrics`)).status).toBe(404)
  // Restricted tokens read their servers one by one.
  const { token } = (await here.acme.call('POST', '/v1/tokens', { name: 'narrow', mode: 'read_only', resource_ids: [id] })).body
  const narrow = (path: string) => here.acme.call('GET', path, undefined, { authorization: `Bearer ${token}` })
  expect((await narrow(`/v1/servers/latest?ids=${id}`)).status).toBe(403)
  expect((await narrow(`/v1/servers/${id}/metrics`)).status).toBe(200)
  expect((await narrow(`/v1/servers/${other}/metrics`)).status).toBe(404)
})

test('metrics are kept for as long as the plan allows, in coarser resolutions, and are deleted with their server', async () => {
  const here = await world()
  const { id, metrics } = await metricsScene(here)
  const { hub, clock } = here
  const { metrics: store } = hub.series
  const put = (serverId: string, at: number, value: number) =>
    store.append(
      [{ subject: subjectOf(serverId, 'cloud'), at, values: new Map([['cpu.used_percent', { n: 1, avg: value, max: value }]]) }],
      at,
    )
  const now = clock.now()
  for (const days of [700, 100, 30, 8, 1]) {
    await put(id, now - days * dayMs, days / 10)
    await put('srv_gone', now - days * dayMs, 1)
    await store.rollUp(now - days * dayMs)
  }
  const since = async (days: number, query = '') =>
    valuesOf(await metrics(id, `?from=${new Date(now - days * dayMs).toISOString()}${query}`), 'cpu.used_percent')
  // Each tier has what is in its time.
  expect((await since(1.5, '&step=300')).at(0)).toBeCloseTo(0.1, 3)
  expect(await since(13, '&step=3600')).toHaveLength(2)
  expect(await since(60, '&step=21600')).toHaveLength(3)
  expect((await since(729)).length).toBe(5)
  // The steps of the past are coarse.
  for (const [days, step, multiple] of [
    [3, 300, 600],
    [20, 1800, 3600],
    [100, 3600, 21600],
  ] as const) {
    const from = new Date(now - days * dayMs).toISOString()
    const to = new Date(now - days * dayMs + 3_600_000).toISOString()
    const refused = await here.acme.call('GET', `/v1/servers/${id}/metrics?from=${from}&to=${to}&step=${step}`)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(`multiple of ${multiple}`)])
  }
  await thinMetrics(hub)
  expect((await since(729)).length).toBe(5)
  await record(hub, async tx => {
    const { workspaces } = await import('../../src/access/tables')
    await tx.update(workspaces).set({ limitOverrides: { server_metrics_days: 7 } })
    return { result: undefined }
  })
  await thinMetrics(hub)
  await pruneMetrics(hub)
  expect((await since(729)).length).toBe(1)
  expect((await store.listSubjects(0, 100)).map(one => one.text)).not.toContain('srv_gone cloud')
  await record(hub, async tx => {
    await tx.delete(servers).where(eq(servers.id, id))
    return { result: undefined }
  })
  await thinMetrics(hub)
  expect(await store.listSubjects(0, 100)).toEqual([])
  for (const tier of tiers) {
    const rows: unknown[] = []
    await store.read(subjectOf(id, 'cloud'), tier, 0, now + dayMs, (...row) => rows.push(row))
    expect(rows).toEqual([])
  }
})

test('metrics that a cloud keeps are requested from it, at most once a minute', async () => {
  const here = await world()
  const { double, create, finish } = await cloudScene(here)
  const { body: server } = await create('web')
  await finish(server.action_id)
  await here.advance(600_000)
  const asked = () => double.requests.filter(one => one.path.endsWith('/metrics')).length
  const read = (query = '') => here.acme.call('GET', `/v1/servers/${server.id}/metrics${query}`)
  const { body } = await read('?step=600')
  expect(body.series.map((one: any) => one.name)).toEqual([
    'cpu.used_percent',
    'disk.read_bytes_per_second',
    'disk.read_operations_per_second',
    'disk.write_bytes_per_second',
    'disk.write_operations_per_second',
    'network.received_bytes_per_second',
    'network.received_packets_per_second',
    'network.sent_bytes_per_second',
    'network.sent_packets_per_second',
  ])
  // Half of all cores, whatever their number is.
  expect(new Set(valuesOf(body, 'cpu.used_percent'))).toEqual(new Set([50]))
  expect(body.sources).toEqual([{ source: 'cloud', last_at: expect.any(String), stale: false }])
  expect((await read('?step=600&type=cpu')).body.series).toHaveLength(1)
  expect(asked()).toBe(1)
  await here.advance(61_000)
  await read('?step=600')
  expect(asked()).toBe(2)
  expect(double.offences).toEqual([])
  // Nothing of it is stored.
  expect(await here.hub.series.metrics.listSubjects(0, 10)).toEqual([])
  const latest = await here.acme.call('GET', `/v1/servers/latest?ids=${server.id}`)
  expect(latest.body.data).toMatchObject([{ id: server.id, cpu_percent: null }])
  double.fault = () => 'dropped'
  await here.advance(61_000)
  expect((await read('?step=600')).body).toMatchObject({ status: 424, code: 'provider_failed', failure: 'unreachable' })
  // The other sources can still be read.
  expect((await read('?source=bmc')).status).toBe(200)
})

test('the sensors of a controller are stored each minute', async () => {
  const here = await world()
  const redfish = await new RedfishDouble().start()
  closeLater(async () => redfish.stop())
  redfish.power = 'On'
  redfish.resources['/redfish/v1/Chassis/1'] = { Thermal: { '@odata.id': '/redfish/v1/Chassis/1/Thermal' } }
  redfish.resources['/redfish/v1/Chassis/1/Thermal'] = {
    Temperatures: [
      { Name: 'CPU1 Temp', ReadingCelsius: 54 },
      { Name: 'Inlet', ReadingCelsius: -3 },
    ],
    Fans: [{ Name: 'Fan 1', Reading: 4200, ReadingUnits: 'RPM' }],
  }
  const added = await here.acme.call('POST', '/v1/servers', { name: 'rack-1', kind: 'bare_metal' }, { 'Idempotency-Key': 'r' })
  const path = `/v1/servers/${added.body.id}`
  const settings = { url: redfish.url, user: redfish.user, password: redfish.password }
  expect((await here.acme.call('PUT', `${path}/controllers/redfish`, { settings })).status).toBe(200)
  await here.settle()
  await here.advance(minuteMs)
  const { body } = await here.acme.call('GET', `${path}/metrics?from=${new Date(here.clock.now() - 600_000).toISOString()}`)
  expect(body.sources).toEqual([{ source: 'bmc', last_at: expect.any(String), stale: false }])
  expect(body.series.map((one: any) => [one.name, one.device, one.unit, Math.max(...one.max)])).toEqual([
    ['fan.rpm', 'Fan 1', 'rpm', expect.any(Number)],
    ['temperature.celsius', 'CPU1 Temp', 'celsius', expect.any(Number)],
    ['temperature.celsius', 'Inlet', 'celsius', expect.any(Number)],
  ])
  expect(valuesOf(body, 'fan.rpm').at(-1)).toBe(4200)
  const inlet = (await here.acme.call('GET', `${path}/metrics?device=Inlet&type=temperature`)).body.series
  expect(inlet).toHaveLength(1)
  expect(inlet[0].avg.filter((one: number | null) => one !== null).at(-1)).toBe(-3)
})

test('windows and steps that are not possible are refused', async () => {
  const here = await world()
  const added = await here.acme.call('POST', '/v1/servers', { name: 'rack-1', kind: 'bare_metal' }, { 'Idempotency-Key': 'r' })
  const read = async (query: string) => {
    const { status, body } = await here.acme.call('GET', `/v1/servers/${added.body.id}/metrics${query}`)
    return status === 200 ? [status, body.step_seconds, body.series, body.sources] : [status, body.errors?.[0]?.parameter]
  }
  const ago = (days: number) => new Date(here.clock.now() - days * dayMs).toISOString()
  expect(await read('')).toEqual([200, 300, [], []])
  expect((await read(`?from=${ago(2)}`)).slice(0, 2)).toEqual([200, 600])
  expect((await read(`?from=${ago(7)}`)).slice(0, 2)).toEqual([200, 1800])
  expect((await read(`?from=${ago(90)}`)).slice(0, 2)).toEqual([200, 21600])
  expect((await read(`?from=${ago(730)}`)).slice(0, 2)).toEqual([200, 172800])
  for (const query of [
    '?step=61',
    '?step=60',
    '?step=30',
    '?step=x',
    '?type=weather',
    '?source=disk',
    `?from=${ago(731)}`,
    `?from=${ago(-1)}`,
    `?from=${ago(1)}&to=${ago(2)}`,
    '?from=yesterday',
  ])
    expect([query, (await read(query))[0]]).toEqual([query, 400])
  const ids = Array.from({ length: 101 }, (_, n) => `srv_${n}`).join(',')
  for (const query of ['', '?ids=', `?ids=${ids}`])
    expect([query, (await here.acme.call('GET', `/v1/servers/latest${query}`)).status]).toEqual([query, 400])
})

describe('metrics of an agent', () => {
  const addServer = async (here: World): Promise<string> =>
    (await here.acme.call('POST', '/v1/servers', { name: 'nas' }, { 'Idempotency-Key': 'nas' })).body.id
  const seriesOf = async (here: World, id: string, query = '') => {
    const from = new Date(here.clock.now() - 20 * minuteMs).toISOString()
    const { body } = await here.acme.call('GET', `/v1/servers/${id}/metrics?from=${from}${query}`)
    return body.series.map((one: any) => [one.name, one.device, one.source, one.avg.filter((value: any) => value !== null)])
  }
  const stored = async (here: World, id: string, tier: Tier = tiers[0]) => {
    const rows: unknown[] = []
    await here.hub.series.metrics.read(subjectOf(id, 'agent'), tier, 0, here.clock.now() + dayMs, (...row) => rows.push(row))
    return rows
  }

  test('are stored by the minute, with their devices', async () => {
    const here = await world()
    const id = await addServer(here)
    const agent = await AgentDouble.enroll(here, id)
    const start = Math.floor(here.clock.now() / minuteMs) * minuteMs - minuteMs
    const tooOld = await agent.sends(here, {
      columns: [
        'cpu.used_percent',
        'disk.busy_percent:sda',
        'disk.busy_percent:sdb',
        'weather.rain',
        'load.1',
        'not valid',
        'gpu.memory_bytes:0',
      ],
      minutes: [
        [start - minuteMs, 6, [12.5, 3, null, 1, Number.NaN, 1, 7], [31, 2, null, 1, 1, 1, 7]],
        [start, 6, [25, 4, 5, 1, 0.5, 1, 8], [50, 4, 5, 1, 0.75, 1, 8]],
        // The clock of the server is wrong.
        [start + 60 * minuteMs, 6, [99, 99, 99, 99, 99], [99, 99, 99, 99, 99]],
        // Minutes are kept for two days.
        [start - 2 * dayMs - minuteMs, 6, [99, 99, 99, 99, 99], [99, 99, 99, 99, 99]],
      ],
    })
    expect(tooOld).toBe(1)
    expect(await seriesOf(here, id, '&step=60')).toEqual([
      ['cpu.used_percent', null, 'agent', [12.5, 25]],
      ['disk.busy_percent', 'sda', 'agent', [3, 4]],
      ['disk.busy_percent', 'sdb', 'agent', [5]],
      ['gpu.memory_bytes', '0', 'agent', [7, 8]],
      ['load.1', null, 'agent', [0.5]],
      ['weather.rain', null, 'agent', [1, 1]],
    ])
    const { body } = await here.acme.call('GET', `/v1/servers/${id}/metrics`)
    const unitsOf = Object.fromEntries(body.series.map((one: any) => [one.name, one.unit]))
    expect(unitsOf).toMatchObject({ 'gpu.memory_bytes': 'bytes', 'weather.rain': 'other', 'load.1': 'load' })
    expect(await seriesOf(here, id, '&step=60&source=agent&type=load')).toEqual([['load.1', null, 'agent', [0.5]]])
    expect(await seriesOf(here, id, '&source=cloud')).toEqual([])
  })

  test('can be sent again, and late minutes are added to the coarser resolutions', async () => {
    const here = await world()
    const id = await addServer(here)
    const agent = await AgentDouble.enroll(here, id)
    const start = Math.floor(here.clock.now() / dayMs) * dayMs
    const send = (value: number, ...minutes: number[]) =>
      agent.measured({ 'cpu.used_percent': value }, ...minutes.map(at => start + at * minuteMs))
    await send(10, 0, 1, 2)
    await rollUpMetrics(here.hub)
    const before = [await stored(here, id), await stored(here, id, tiers[1]!), await stored(here, id, tiers[3]!)]
    await send(10, 2, 0, 1)
    await rollUpMetrics(here.hub)
    expect([await stored(here, id), await stored(here, id, tiers[1]!), await stored(here, id, tiers[3]!)]).toEqual(before)
    // An hour later, the backlog arrives.
    await here.advance(60 * minuteMs)
    await rollUpMetrics(here.hub)
    await send(40, 3, 4, 5)
    await rollUpMetrics(here.hub)
    expect(await stored(here, id, tiers[1]!)).toEqual([[start, 'cpu.used_percent', 25, 40, 36]])
    for (const tier of tiers.slice(2))
      expect(await stored(here, id, tier)).toMatchObject([[start, 'cpu.used_percent', 25, 40, 36]])
  })

  test('that arrived late are in the coarser resolutions even if the hub ends before', async () => {
    const here = await world()
    const id = await addServer(here)
    const agent = await AgentDouble.enroll(here, id)
    const start = Math.floor(here.clock.now() / dayMs) * dayMs
    await agent.measured({ 'cpu.used_percent': 10 }, start)
    await rollUpMetrics(here.hub)
    await here.advance(3 * 60 * minuteMs)
    await rollUpMetrics(here.hub)
    await agent.measured({ 'cpu.used_percent': 40 }, start + minuteMs)
    // Another process, which knows only what is stored.
    const { data, databaseUrl } = here.hub.config
    const other = openSeries({ data, databaseUrl, now: here.clock.now }, seriesKinds)
    closeLater(() => other.close())
    await other.metrics.rollUp(here.clock.now())
    expect(await stored(here, id, tiers[1]!)).toMatchObject([[start, 'cpu.used_percent', 25, 40, 12]])
  })

  test('take precedence over those of the cloud, which fill in the rest', async () => {
    const here = await world()
    const { id, use } = await metricsScene(here)
    // The cloud says 256 MiB.
    const agent = await AgentDouble.enroll(here, id, { facts: { cores: 2, memory_bytes: 2 ** 27 } })
    for (let n = 0; n < 4; n++) {
      await use({ cpuSeconds: 30, received: 60_000, sent: 600, memory: 2 ** 20 })
      const at = Math.floor(here.clock.now() / minuteMs) * minuteMs
      const used = { 'filesystem.used_bytes:/': 30, 'filesystem.used_bytes:/srv': 9, 'filesystem.used_bytes:/x': 9 }
      const sizes = { 'filesystem.size_bytes:/': 100, 'filesystem.size_bytes:/srv': 10 }
      const others = { 'cpu.used_percent': 7, 'network.received_bytes_per_second:eth0': 80, 'load.1': 0.25 }
      await agent.measured({ ...others, ...used, ...sizes }, at)
      await agent.measured(others, at - 600_000)
    }
    const found = await seriesOf(here, id, '&type=cpu,load,memory,network')
    expect(found.map((one: any) => one.slice(0, 3))).toEqual([
      ['cpu.used_percent', null, 'agent'],
      ['load.1', null, 'agent'],
      ['memory.used_bytes', null, 'cloud'],
      ['network.received_bytes_per_second', 'eth0', 'agent'],
      ['network.sent_bytes_per_second', null, 'cloud'],
    ])
    expect((await seriesOf(here, id, '&source=cloud&type=cpu'))[0][2]).toBe('cloud')
    await rollUpMetrics(here.hub)
    const [latest] = (await here.acme.call('GET', `/v1/servers/latest?ids=${id}`)).body.data
    expect(latest).toMatchObject({ disk_used_percent: 90, disk_path: '/srv' })
    // Of the other one, 10% is used, and almost all the rest reserved, so df shows 94%. Only the last minute counts.
    await here.advance(minuteMs)
    const at = Math.floor(here.clock.now() / minuteMs) * minuteMs - minuteMs
    await agent.measured({ 'filesystem.used_bytes:/': 30, 'filesystem.size_bytes:/': 300, 'filesystem.available_bytes:/': 2 }, at)
    await rollUpMetrics(here.hub)
    const [reserved] = (await here.acme.call('GET', `/v1/servers/latest?ids=${id}`)).body.data
    expect(reserved).toMatchObject({ disk_used_percent: 93.75, disk_path: '/' })
    expect(latest).toMatchObject({ cpu_percent: 7, load: 0.25, load_last_hour: 0.25, network_received_bytes_per_second: 80 })
    expect(latest.memory_used_bytes).toBeGreaterThan(0)
    expect(latest.memory_used_percent).toBeCloseTo((latest.memory_used_bytes / 2 ** 27) * 100, 3)
    expect(latest.network_sent_bytes_per_second).toBeGreaterThan(0)
  })

  test('are returned even if the cloud can’t be reached', async () => {
    const here = await world()
    const { double, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(minuteMs)
    const { id } = await named('web-1')
    const agent = await AgentDouble.enroll(here, id)
    await agent.measured({ 'cpu.used_percent': 5 }, here.clock.now() - minuteMs)
    double.fault = () => 'dropped'
    expect(await seriesOf(here, id)).toEqual([['cpu.used_percent', null, 'agent', [5]]])
    expect((await here.acme.call('GET', `/v1/servers/${id}/metrics?source=cloud`)).status).toBe(424)
  })
})
