import { expect, test } from 'bun:test'
import { recorderOf } from '../../src/features/monitors/series/recorder'
import { addMonitor, addTransitions, resultBeat } from '../support/monitor-series'
import { world, type World } from '../support/world'

const minute = 60_000
const dayMs = 1440 * minute

async function group(w: World, name: string, members: string[]): Promise<string> {
  const created = await w.acme.call('POST', '/v1/monitors', { type: 'group', name, options: { members } })
  expect(created.status).toBe(201)
  return created.body.id
}
const namesOf = async (w: World, query: string): Promise<string[]> =>
  (await w.acme.call('GET', `/v1/monitors?sort=name&${query}`)).body.data.map((one: any) => one.name)

test('the last checks of several monitors are returned at once, oldest first, in the requested order', async () => {
  const w = await world()
  const { hub, clock, acme } = w
  const since = { createdAt: clock.now() - 2 * dayMs, statusSince: clock.now() - 2 * dayMs, status: 'up' as const }
  const busy = await addMonitor(hub, acme.workspaceId, since)
  const quiet = await addMonitor(hub, acme.workspaceId, { ...since, intervalSeconds: 3600 })
  const anonymous = await addMonitor(hub, w.rival.workspaceId, since)
  const recorder = recorderOf(hub)
  const begin = clock.now() - 40 * minute
  for (let n = 0; n < 40; n++) recorder.add(resultBeat(busy.number, begin + n * minute, { ms: n }))
  recorder.add(resultBeat(quiet.number, begin, { status: 'down', ms: null }))
  await recorder.flush()
  const read = async (ids: string[]) => (await acme.call('GET', `/v1/monitors/recent?ids=${ids.join(',')}`)).body.data
  const [first, second, ...rest] = await read([quiet.id, anonymous.id, busy.id])
  expect(rest).toEqual([])
  expect(first).toMatchObject({ id: quiet.id, uptime_percent: 100, results: [{ status: 'down', latency_ms: null }] })
  expect(second.results.map((one: any) => one.latency_ms)).toEqual(Array.from({ length: 30 }, (_, n) => n + 10))
  const { body: more } = await acme.call('GET', `/v1/monitors/recent?ids=${busy.id}&results=35`)
  expect(more.data[0].results.map((one: any) => one.latency_ms)).toEqual(Array.from({ length: 35 }, (_, n) => n + 5))
  expect((await acme.call('GET', `/v1/monitors/recent?ids=${Array.from({ length: 101 }, (_, n) => `m${n}`)}`)).status).toBe(400)
})

test('the uptime of a row matches the uptime report, with and without status changes in the last day', async () => {
  const w = await world()
  const { hub, clock, acme } = w
  const now = clock.now()
  const steady = { createdAt: now - 3 * dayMs, statusSince: now - 2 * dayMs, status: 'up' as const }
  const ids = [
    (await addMonitor(hub, acme.workspaceId, steady)).id,
    (await addMonitor(hub, acme.workspaceId, { ...steady, statusSince: now - 6 * 60 * minute })).id,
    (await addMonitor(hub, acme.workspaceId, { ...steady, createdAt: now - 60 * minute, statusSince: now - 60 * minute })).id,
  ]
  await addTransitions(hub, ids[1]!, [
    [steady.createdAt + 1, 'up'],
    [now - 12 * 60 * minute, 'down'],
    [now - 6 * 60 * minute, 'up'],
  ])
  const { body } = await acme.call('GET', `/v1/monitors/recent?ids=${ids}`)
  expect(body.data.map((one: any) => one.uptime_percent)).toEqual([100, 75, 100])
  for (const { id, uptime_percent } of body.data)
    expect((await acme.call('GET', `/v1/monitors/${id}/uptime?range=24h`)).body.uptime_percent).toBe(uptime_percent)
})

test('monitors are counted by status, type and tag', async () => {
  const w = await world()
  const { acme, hub } = w
  const one = await addMonitor(hub, acme.workspaceId, { status: 'down', tags: ['prod', 'web'] })
  await addMonitor(hub, acme.workspaceId, { status: 'up', tags: ['prod'] })
  await group(w, 'all', [one.id])
  expect((await acme.call('GET', '/v1/monitors/summary')).body).toEqual({
    total: 3,
    statuses: { down: 1, up: 1, new: 1 },
    types: { http: 2, group: 1 },
    tags: [
      { tag: 'prod', monitors: 2 },
      { tag: 'web', monitors: 1 },
    ],
  })
})

test('filters find monitors without a group, groups of a monitor, and monitors that depend on it', async () => {
  const w = await world()
  const { acme } = w
  const inner = await group(w, 'inner', [])
  const outer = await group(w, 'outer', [inner])
  const created = await acme.call('POST', '/v1/monitors', { type: 'group', name: 'behind', depends_on: [inner] })
  expect(created.status).toBe(201)
  expect(await namesOf(w, 'group=none')).toEqual(['behind', 'outer'])
  expect(await namesOf(w, `group=${outer}`)).toEqual(['inner'])
  expect(await namesOf(w, `member=${inner}`)).toEqual(['outer'])
  expect(await namesOf(w, `depends_on=${inner}`)).toEqual(['behind'])
  expect((await acme.call('GET', '/v1/monitors?member=%25')).status).toBe(400)
})

test('latency phases never add up to more than the total, even if some checks have none', async () => {
  const w = await world()
  const { hub, clock, acme } = w
  const { id, number } = await addMonitor(hub, acme.workspaceId, { createdAt: clock.now() - dayMs })
  const recorder = recorderOf(hub)
  const at = clock.now() - 10 * minute
  recorder.add(resultBeat(number, at, { ms: 100, dns: 40, connect: 20, tls: null, firstByte: 30 }))
  recorder.add(resultBeat(number, at + 1000, { ms: 20, dns: null, connect: null, tls: null, firstByte: 15 }))
  await recorder.flush()
  const points = (await acme.call('GET', `/v1/monitors/${id}/series?step=3600`)).body.points
  expect(points).toHaveLength(1)
  expect(points[0]).toMatchObject({ avg: 60, phases: { dns_ms: 20, connect_ms: 10, tls_ms: null, first_byte_ms: 22.5 } })
  const dns = (await acme.call('GET', `/v1/monitors/${id}/series?step=3600&metric=dns`)).body.points
  expect(dns[0]).toMatchObject({ avg: 40, phases: null })
})

test('a single monitor can be exported without maintenance windows, and imported unchanged', async () => {
  const w = await world()
  const { acme } = w
  await group(w, 'one', [])
  const other = await group(w, 'other', [])
  const { text } = await acme.call('GET', `/v1/monitoring/export?monitor=${other}&format=json`)
  const document = JSON.parse(text)
  expect(Object.keys(document)).toEqual(['version', 'monitors'])
  expect(document.monitors.map((one: any) => one.name)).toEqual(['other'])
  const again = await acme.call('POST', '/v1/monitoring/import?dry_run=true', document)
  expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: 1 })
  expect((await acme.call('GET', '/v1/monitoring/export?monitor=mon_none')).status).toBe(404)
})
