import { hourMs } from '../../src/core/db/series/hours'
import { checksOf } from '../../src/features/monitors/series/check-series'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { recorderOf } from '../../src/features/monitors/series/recorder'
import { sealHours } from '../../src/features/monitors/series/seal'
import { monitorStatuses } from '../../src/features/monitors/shapes'
import { addGap, addMonitor, addTransitions, resultBeat, type Status } from '../support/monitor-series'
import { world, type World } from '../support/world'

const minute = 60_000
const dayMs = 24 * hourMs
const iso = (at: number) => new Date(at).toISOString()

/** A monitor of acme with the given age. */
const monitorSince = async ({ hub, clock, acme }: World, ago: number) =>
  await addMonitor(hub, acme.workspaceId, { createdAt: clock.now() - ago })

async function take(w: World, monitor: number, beats: Parameters<typeof resultBeat>[2][], from: number, every: number) {
  const recorder = recorderOf(w.hub)
  for (const [place, more] of beats.entries()) recorder.add(resultBeat(monitor, from + place * every, more))
  await recorder.flush()
}

test('results are listed newest first, page by page, whether they are in memory, written, or packed', async () => {
  const w = await world()
  const { acme, clock } = w
  const { id, number } = await monitorSince(w, dayMs)
  const start = clock.now()
  // Two hours that will be packed, one open hour, and the last minute only in memory.
  await take(
    w,
    number,
    Array.from({ length: 360 }, (_, n) => ({ ms: n })),
    start,
    30_000,
  )
  clock.advance(3 * hourMs)
  await sealHours(w.hub)
  for (let n = 360; n < 363; n++) recorderOf(w.hub).add(resultBeat(number, start + n * 30_000, { ms: n }))
  clock.advance(2 * minute)
  const seen: number[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const path: string = `/v1/monitors/${id}/results?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    const { body } = await acme.call('GET', path)
    seen.push(...body.data.map((one: { latency_ms: number }) => one.latency_ms))
    expect(body.pagination.has_more).toBe(body.pagination.next_cursor !== null)
    cursor = body.pagination.next_cursor
  }
  expect(seen).toEqual(Array.from({ length: 363 }, (_, n) => 362 - n))
})

test('a result has its error and phases, and can be filtered by status, time, and location', async () => {
  const w = await world()
  const { acme, clock } = w
  const { id, number } = await monitorSince(w, dayMs)
  const start = clock.now()
  const refused = { kind: 'refused' as const, message: 'The connection was refused.' }
  const bad = { status: 'down' as const, error: refused, ms: null, code: null, dns: 0.4, connect: null, firstByte: null }
  await take(w, number, [{}, bad, { status: 'degraded', tls: 8.25 }, {}], start, minute)
  clock.advance(4 * minute)
  const find = async (query: string) => (await acme.call('GET', `/v1/monitors/${id}/results${query}`)).body.data
  expect(await find('?status=down')).toEqual([
    {
      at: iso(start + minute),
      location: 'local',
      status: 'down',
      latency_ms: null,
      code: null,
      error: refused,
      phases: { dns_ms: 0.4, connect_ms: null, tls_ms: null, first_byte_ms: null },
    },
  ])
  expect((await find(`?from=${iso(start + minute)}&to=${iso(start + 3 * minute)}`)).length).toBe(2)
  expect((await find('?status=up,degraded&location=local')).length).toBe(3)
  clock.advance(2 * hourMs)
  await sealHours(w.hub)
  expect((await find('?status=down'))[0].error).toEqual(refused)
  expect((await find('?status=degraded'))[0].phases.tls_ms).toBe(8.3)
})

test('results, series, uptime, and transitions are limited to the workspace, and reject invalid parameters', async () => {
  const w = await world()
  const { acme, rival, readOnly } = w
  const { id } = await monitorSince(w, dayMs)
  for (const part of ['results', 'series?metric=latency', 'uptime', 'transitions']) {
    const path = `/v1/monitors/${id}/${part}`
    expect((await acme.call('GET', path)).status).toBe(200)
    expect((await readOnly.call('GET', path)).status).toBe(200)
    expect((await rival.call('GET', path)).status).toBe(404)
    expect((await (await w.scoped('dns.read')).call('GET', path)).status).toBe(403)
  }
  const refused = async (part: string) => {
    const { status, body } = await acme.call('GET', `/v1/monitors/${id}/${part}`)
    return [status, body.errors?.[0]?.pointer]
  }
  const now = w.clock.now()
  expect(await refused('results?location=mars')).toEqual([400, '#/query/location'])
  expect(await refused(`results?from=${iso(now)}&to=${iso(now - 1)}`)).toEqual([400, '#/query/from'])
  expect(await refused('results?cursor=abc')).toEqual([400, '#/query/cursor'])
  expect(await refused(`series?metric=latency&from=${iso(now + hourMs)}`)).toEqual([400, '#/query/from'])
  expect(await refused(`series?metric=latency&from=${iso(now - 30 * dayMs)}&step=60`)).toEqual([400, '#/query/step'])
  expect(await refused('series?metric=latency&step=5400')).toEqual([400, '#/query/step'])
  expect(await refused(`series?metric=latency&from=${iso(now - 200 * dayMs)}&step=3600`)).toEqual([400, '#/query/step'])
  expect(await refused('series?metric=colour')).toEqual([400, '#/query/metric'])
  expect(await refused('uptime?timezone=Mars/Base')).toEqual([400, '#/query/timezone'])
  expect(await refused(`uptime?to=${iso(now)}`)).toEqual([400, '#/query/to'])
  expect(await refused(`uptime?range=7d&from=${iso(now - dayMs)}`)).toEqual([400, '#/query/range'])
  expect(await refused(`uptime?from=${iso(now - 2000 * dayMs)}`)).toEqual([400, '#/query/from'])
})

test('a series has min, mean, max, and percentiles, from single results and from hourly rollups', async () => {
  const w = await world()
  const { acme, clock } = w
  const { id, number } = await monitorSince(w, 200 * dayMs)
  const start = clock.now()
  await take(
    w,
    number,
    Array.from({ length: 240 }, (_, n) => ({ ms: 100 + (n % 10), connect: 5 })),
    start,
    30_000,
  )
  await take(w, number, [{ status: 'down', ms: 10_000 }], start + 1, minute)
  clock.advance(2 * hourMs)
  const read = async (query: string) => (await acme.call('GET', `/v1/monitors/${id}/series?${query}`)).body
  const window = `from=${iso(start)}&to=${iso(start + 2 * hourMs)}`
  const fine = await read(`metric=latency&step=300&${window}`)
  expect([fine.points.length, fine.step_seconds]).toEqual([24, 300])
  expect(fine.points[0]).toMatchObject({
    at: iso(start),
    n: 10,
    min: 100,
    avg: 104.5,
    max: 109,
    uptime_percent: null,
    seconds: null,
  })
  expect(Math.abs(fine.points[0].p95 - 109)).toBeLessThan(11)
  // Same before and after the hours are packed.
  const hourly = await read(`metric=latency&step=3600&${window}`)
  expect(hourly.points.map((one: { n: number; avg: number }) => [one.n, one.avg])).toEqual([
    [120, 104.5],
    [120, 104.5],
  ])
  clock.advance(10 * minute)
  await sealHours(w.hub)
  expect((await read(`metric=latency&step=3600&${window}`)).points).toEqual(hourly.points)
  expect((await read(`metric=latency&step=300&${window}`)).points).toEqual(fine.points)
  expect((await read(`metric=connect&step=7200&${window}`)).points.map((one: { avg: number }) => one.avg)).toEqual([5])
  const auto = await read('metric=latency')
  expect([auto.step_seconds, auto.points.reduce((n: number, one: { n: number }) => n + one.n, 0)]).toEqual([300, 240])
  // Much later, only the daily rollup is left.
  clock.advance(2 * dayMs)
  await sealHours(w.hub)
  clock.advance(120 * dayMs)
  const old = await read(`metric=latency&from=${iso(clock.now() - 130 * dayMs)}`)
  expect(old.points.map((one: { n: number; avg: number }) => [one.n, one.avg])).toEqual([[240, 104.5]])
  expect(old.step_seconds % 86_400).toBe(0)
})

test('uptime is weighted by time; maintenance, pauses, and unknown time are reported but not counted', async () => {
  const w = await world()
  const { hub, acme, clock } = w
  const { id } = await monitorSince(w, 10 * hourMs)
  const start = clock.now() - 10 * hourMs
  await addTransitions(hub, id, [
    [start + 1 * hourMs, 'up'],
    [start + 3 * hourMs, 'down'],
    [start + 4 * hourMs, 'up'],
    [start + 5 * hourMs, 'maintenance'],
    [start + 6 * hourMs, 'degraded'],
    [start + 8 * hourMs, 'down'],
  ])
  await addGap(hub, start + 9 * hourMs, start + 9.5 * hourMs)
  await addGap(hub, start + 9.6 * hourMs, start + 9.7 * hourMs, [255])
  const { body } = await acme.call('GET', `/v1/monitors/${id}/uptime?range=24h&objective=90`)
  expect(body).toMatchObject({
    from_at: iso(start),
    to_at: iso(clock.now()),
    seconds: { up: 10_800, degraded: 7_200, down: 9_000, maintenance: 3_600, paused: 0, unknown: 5_400 },
    uptime_percent: 66.66666,
    outages: 2,
    longest_outage_seconds: 5_400,
    mttr_seconds: 4_500,
    mtbf_seconds: 9_000,
    error_budget: {
      objective_percent: 90,
      allowed_seconds: 2_700,
      consumed_seconds: 9_000,
      remaining_seconds: -6_300,
      objective_met: false,
    },
  })
})

test('days and months follow the requested time zone and add up to the total', async () => {
  const w = await world()
  const { hub, acme, clock } = w
  const { id } = await monitorSince(w, 60 * dayMs)
  const start = clock.now() - 60 * dayMs
  await addTransitions(hub, id, [
    [start, 'up'],
    // Across the end of daylight saving time and of a month.
    [Date.parse('2026-10-25T00:30:00Z'), 'down'],
    [Date.parse('2026-10-25T02:30:00Z'), 'up'],
    [Date.parse('2026-10-31T22:00:00Z'), 'down'],
    [Date.parse('2026-10-31T23:30:00Z'), 'up'],
  ])
  const { body } = await acme.call('GET', `/v1/monitors/${id}/uptime?range=90d&timezone=Europe/Berlin`)
  const sum = (list: { seconds: { up: number; down: number } }[], name: 'up' | 'down') =>
    list.reduce((all, one) => all + one.seconds[name], 0)
  for (const name of ['up', 'down'] as const) {
    expect(sum(body.days, name)).toBe(body.seconds[name])
    expect(sum(body.months, name)).toBe(body.seconds[name])
  }
  const day = (date: string) => body.days.find((one: { date: string }) => one.date === date)
  expect(day('2026-10-25').seconds).toMatchObject({ up: 23 * 3600, down: 2 * 3600 })
  expect([day('2026-10-31').seconds.down, day('2026-11-01').seconds.down]).toEqual([3600, 1800])
  expect(body.months.map((one: { month: string }) => one.month)).toEqual(['2026-09', '2026-10', '2026-11'])
  expect((await acme.call('GET', `/v1/monitors/${id}/uptime?range=7d`)).body.days.length).toBe(7)
})

test('availability points match the uptime', async () => {
  const w = await world()
  const { hub, acme, clock } = w
  const { id } = await monitorSince(w, dayMs)
  const start = clock.now() - dayMs
  await addTransitions(hub, id, [
    [start, 'up'],
    [start + 90 * minute, 'down'],
    [start + 120 * minute, 'up'],
  ])
  const { body } = await acme.call('GET', `/v1/monitors/${id}/series?metric=availability&step=3600`)
  expect(body.points.length).toBe(24)
  expect(body.points.slice(0, 3).map((one: { uptime_percent: number }) => one.uptime_percent)).toEqual([100, 50, 100])
})

test('counts all status changes of a monitor that flapped thousands of times', async () => {
  const w = await world()
  const { hub, acme, clock } = w
  const { id } = await monitorSince(w, dayMs)
  const start = clock.now() - dayMs
  const flips = Array.from(
    { length: 4_500 },
    (_, n) => [start + n * 10_000, n % 2 === 0 ? 'up' : 'down'] as [number, 'up' | 'down'],
  )
  await addTransitions(hub, id, flips)
  const { body } = await acme.call('GET', `/v1/monitors/${id}/uptime?range=24h`)
  expect([body.outages, body.mttr_seconds]).toEqual([2_250, (2_249 * 10 + (86_400 - 4_499 * 10)) / 2_250])
})

test('status changes are listed newest first', async () => {
  const w = await world()
  const { hub, acme, clock } = w
  const { id } = await monitorSince(w, dayMs)
  await addTransitions(hub, id, [
    [clock.now() - 3000, 'up'],
    [clock.now() - 2000, 'down'],
  ])
  const { body } = await acme.call('GET', `/v1/monitors/${id}/transitions`)
  expect(body.data.map((one: { from: string; to: string }) => [one.from, one.to])).toEqual([
    ['up', 'down'],
    ['new', 'up'],
  ])
  expect((await acme.call('GET', `/v1/monitors/${id}/transitions?to=down`)).body.data.length).toBe(1)
})

test('the latency of a window covers all its checks, whichever days and hours it combines', async () => {
  const w = await world()
  const { acme, clock } = w
  const { id, number } = await monitorSince(w, 200 * dayMs)
  // Five days with one check per hour: each day is completed in turn, while the last hours are open.
  for (let hour = 0; hour < 120; hour++) {
    recorderOf(w.hub).add(resultBeat(number, clock.now(), { ms: 100 + hour }))
    await recorderOf(w.hub).flush()
    clock.advance(hourMs)
    if (hour % 6 === 0) await sealHours(w.hub)
  }
  const end = clock.now()
  for (const hours of [1, 7, 24, 31, 50, 97, 120, 500]) {
    const { body } = await acme.call('GET', `/v1/monitors/${id}/uptime?from=${iso(end - hours * hourMs)}`)
    const seen = Array.from({ length: Math.min(hours, 120) }, (_, place) => 219 - place)
    expect([hours, body.latency.n, body.latency.avg]).toEqual([
      hours,
      seen.length,
      Math.round((seen.reduce((a, b) => a + b, 0) / seen.length) * 10) / 10,
    ])
  }
})

test('uptime, its days and months, and availability match a count second by second', async () => {
  const w = await world()
  const { hub, acme, clock } = w
  const step = 300_000
  const zones = ['UTC', 'Europe/Berlin', 'America/Havana', 'Africa/Cairo', 'Australia/Lord_Howe', 'Asia/Kathmandu']
  const end = clock.now()
  const slot = fc.integer({ min: 0, max: 200 * 288 })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 * 288 }),
      fc.array(fc.tuple(slot, fc.constantFrom(...monitorStatuses)), { maxLength: 30 }),
      fc.array(fc.tuple(slot, fc.integer({ min: 1, max: 2000 }), fc.boolean()), { maxLength: 4 }),
      fc.tuple(slot, slot),
      fc.constantFrom(...zones),
      async (age, changes, gaps, [one, other], zone) => {
        const createdAt = end - age * step
        const { id, number } = await addMonitor(hub, acme.workspaceId, { createdAt, status: 'new' })
        const became = changes
          .map(([ago, to]) => [end - (ago % age) * step, to] as [number, Status])
          .toSorted(([a], [b]) => a - b)
          .filter(([at], place, all) => all[place - 1]?.[0] !== at)
        await addTransitions(hub, id, became)
        const share = number % 256
        // Only this monitor, or only others.
        const own = gaps.map(([ago, length, isOwn]) => ({ from: end - ago * step, to: end - (ago - length) * step, isOwn }))
        for (const gap of own) await addGap(hub, gap.from, gap.to, gap.isOwn ? [share] : [(share + 128) % 256])
        const from = end - Math.max(one, other, 1) * step
        const to = end - Math.min(one, other, Math.max(one, other, 1) - 1) * step
        const names = ['up', 'degraded', 'down', 'maintenance', 'paused', 'unknown'] as const
        const fresh = () => Object.fromEntries(names.map(name => [name, 0])) as Record<(typeof names)[number], number>
        const whole = fresh()
        const days = new Map<string, ReturnType<typeof fresh>>()
        const written = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
        let next = 0
        let shown: Status = 'new'
        for (let at = createdAt; at < Math.min(to, end); at += step) {
          while (next < became.length && became[next]![0] <= at) shown = became[next++]![1]
          if (at < from) continue
          const blind =
            own.some(gap => gap.isOwn && gap.from <= at && at < gap.to) && shown !== 'paused' && shown !== 'maintenance'
          const name = blind || shown === 'new' ? 'unknown' : shown
          const date = written.format(at)
          const day = days.get(date) ?? fresh()
          days.set(date, day)
          whole[name] += step / 1000
          day[name] += step / 1000
        }
        const iso = (at: number) => new Date(at).toISOString()
        const { body } = await acme.call('GET', `/v1/monitors/${id}/uptime?from=${iso(from)}&to=${iso(to)}&timezone=${zone}`)
        expect(body.seconds).toEqual(whole)
        expect(body.days.map((day: { date: string; seconds: object }) => [day.date, day.seconds])).toEqual([...days])
        const months = Map.groupBy(days, ([date]) => date.slice(0, 7))
        expect(
          body.months.map((month: { month: string; seconds: { down: number } }) => [month.month, month.seconds.down]),
        ).toEqual([...months].map(([month, all]) => [month, all.reduce((sum, [, day]) => sum + day.down, 0)]))
        const points = (
          await acme.call('GET', `/v1/monitors/${id}/series?metric=availability&step=86400&from=${iso(from)}&to=${iso(to)}`)
        ).body.points as { at: string; seconds: Record<string, number> }[]
        // Its first point starts with the day.
        if (Date.parse(points[0]!.at) === from)
          expect(points.reduce((sum, point) => sum + point.seconds.down!, 0)).toBe(whole.down)
      },
    ),
    { numRuns: 60 },
  )
}, 180_000)

test('paging through results returns each one once while new ones arrive and hours are packed', async () => {
  const w = await world()
  const { hub, acme, clock } = w
  const { id, number } = await monitorSince(w, dayMs)
  const start = clock.now()
  const recorder = recorderOf(hub)
  for (let n = 0; n < 500; n++) recorder.add(resultBeat(number, start + n * 20_000 + (n % 7), { ms: n }))
  await recorder.flush()
  clock.advance(500 * 20_000)
  const seen: number[] = []
  let late = 0
  for (let cursor: string | null = ''; cursor !== null;) {
    const path: string = `/v1/monitors/${id}/results?limit=17${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    const { body } = await acme.call('GET', path)
    seen.push(...body.data.map((one: { latency_ms: number }) => one.latency_ms))
    cursor = body.pagination.next_cursor
    recorder.add(resultBeat(number, clock.now(), { ms: 1000 + late++ }))
    if (late % 2 === 0) await recorder.flush()
    clock.advance(late % 5 === 0 ? 20 * minute : 1000)
    if (late % 3 === 0) await sealHours(hub)
  }
  expect(seen).toEqual(Array.from({ length: 500 }, (_, n) => 499 - n))
})

test('results that are still buffered before the first write are listed too', async () => {
  const w = await world()
  const { hub, acme, clock } = w
  const { id, number } = await monitorSince(w, dayMs)
  const { append } = checksOf(hub)
  checksOf(hub).append = async () => {
    throw new Error('disk full')
  }
  recorderOf(hub).add(resultBeat(number, clock.now(), { ms: 7 }))
  await recorderOf(hub).flush()
  clock.advance(5 * hourMs)
  const { body } = await acme.call('GET', `/v1/monitors/${id}/results`)
  checksOf(hub).append = append
  expect(body.data.map((one: { latency_ms: number }) => one.latency_ms)).toEqual([7])
})
