import { SQL } from 'bun'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPostgres } from '../../src/core/db/dialect'
import { openSeries } from '../../src/core/db/series'
import type { Measured } from '../../src/core/db/series/metric-row'
import { tiers, type Tier } from '../../src/core/db/series/metric-tiers'
import type { SeriesStore } from '../../src/core/db/series/store'
import type { Hub } from '../../src/core/hub'
import { seriesKinds } from '../../src/features/series-kinds'
import { until } from '../support/binary'
import { inTempFolder } from '../support/command'
import { closeLater, emptyPlace, world } from '../support/world'

const [m1, m10, h1, h6] = tiers
const minuteMs = 60_000
const dayMs = 86_400_000

/** The same series, opened by another process. */
const opened = (hub: Hub): SeriesStore =>
  openSeries({ data: hub.config.data, databaseUrl: hub.config.databaseUrl, now: hub.clock.now }, seriesKinds)

const minute = (subject: string, at: number, values: Record<string, number | Measured>) => ({
  subject,
  at,
  values: new Map(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'number' ? { n: 1, avg: value, max: value } : value]),
  ),
})

async function rowsOf({ metrics }: SeriesStore, subject: string, tier: Tier) {
  const rows: [at: number, column: string, avg: number, max: number, n: number][] = []
  await metrics.read(subject, tier, 0, Number.MAX_SAFE_INTEGER / 2, (...row) => rows.push(row))
  return rows
}

test('minutes are read as they were stored, by subject and time, also by another process', async () => {
  const { hub, clock } = await world()
  const at = Math.floor(clock.now() / dayMs) * dayMs
  const { metrics } = hub.series
  await metrics.append(
    [minute('a', at, { cpu: 25, 'disk sda': 8 }), minute('b', at, { cpu: 50 }), minute('a', at + 90_000, { cpu: 75 })],
    at,
  )
  const expected = [
    [at, 'cpu', 25, 25, 1],
    [at, 'disk sda', 8, 8, 1],
    [at + minuteMs, 'cpu', 75, 75, 1],
  ]
  expect(await rowsOf(hub.series, 'a', m1)).toEqual(expected as never)
  const other = opened(hub)
  closeLater(() => other.close())
  expect(await rowsOf(other, 'a', m1)).toEqual(expected as never)
  expect(await rowsOf(other, 'c', m1)).toEqual([])
  expect(await other.metrics.lastAt('a')).toBe(at + minuteMs)
  expect(await other.metrics.lastAt('c')).toBeNull()
  // The same minute again replaces it.
  await other.metrics.append([minute('a', at + 60_001, { cpu: { n: 6, avg: 10, max: 12 } }), minute('d', at, { cpu: 1 })], at)
  expect((await rowsOf(hub.series, 'a', m1)).at(-1)).toEqual([at + minuteMs, 'cpu', 10, 12, 6])
  // Numbers that were assigned by two processes do not collide.
  await metrics.append([minute('e', at, { cpu: 2 })], at)
  expect(await rowsOf(hub.series, 'd', m1)).toEqual([[at, 'cpu', 1, 1, 1]])
  expect(await rowsOf(other, 'e', m1)).toEqual([[at, 'cpu', 2, 2, 1]])
})

test.skipIf(!isPostgres)('a table that another process is just creating is used', async () => {
  const { hub, clock } = await world()
  const at = Math.floor(clock.now() / dayMs) * dayMs
  const first = minute('a', at, { cpu: 1 })
  await hub.series.metrics.append([first], at)
  const sql = new SQL(hub.config.databaseUrl!, { max: 2 })
  closeLater(() => sql.close())
  const [{ name }] = await sql`select tablename as name from pg_tables where tablename like ${`series_metric_${m1.name}_%`}`
  await sql.unsafe(`create table model (like ${name} including all)`)
  await sql.unsafe(`drop table ${name}`)
  const other = opened(hub)
  closeLater(() => other.close())
  let stored: Promise<void> | undefined
  await sql.begin(async tx => {
    await tx.unsafe(`create table ${name} (like model including all)`)
    stored = other.metrics.append([first], at)
    await until('the other process to wait', async () => {
      const [{ n }] =
        await sql`select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      return n > 0
    })
  })
  await stored
  expect(await rowsOf(other, 'a', m1)).toEqual([[at, 'cpu', 1, 1, 1]])
})

test('minutes that are stored at the same time create their table once', async () => {
  const { hub, clock } = await world()
  const at = Math.floor(clock.now() / dayMs) * dayMs
  const subjects = Array.from({ length: 8 }, (_, number) => `s${number}`)
  await Promise.all(subjects.map(one => hub.series.metrics.append([minute(one, at, { cpu: 1 })], at)))
  for (const one of subjects) expect(await rowsOf(hub.series, one, m1)).toEqual([[at, 'cpu', 1, 1, 1]])
})

test('coarse tiers have the averages weighted by samples and the maxima, and what arrives late corrects them', async () => {
  const { hub, clock } = await world()
  const start = Math.floor(clock.now() / h6.stepMs) * h6.stepMs
  const { metrics } = hub.series
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.record({
          minute: fc.integer({ min: 0, max: 719 }),
          n: fc.integer({ min: 1, max: 60 }),
          avg: fc.integer({ min: 0, max: 1000 }),
          above: fc.integer({ min: 0, max: 100 }),
          isLate: fc.boolean(),
        }),
        { selector: one => one.minute, minLength: 1, maxLength: 30 },
      ),
      async samples => {
        const subject = `s${runs++}`
        for (const late of [false, true]) {
          await metrics.append(
            samples
              .filter(one => one.isLate === late)
              .map(({ minute: place, n, avg, above }) =>
                minute(subject, start + place * minuteMs, { cpu: { n, avg, max: avg + above } }),
              ),
            start,
          )
          await metrics.rollUp(start)
        }
        for (const tier of [m10, h1, h6]) {
          const rows = await rowsOf(hub.series, subject, tier)
          const expected = Map.groupBy(samples, one => Math.floor((start + one.minute * minuteMs) / tier.stepMs) * tier.stepMs)
          expect(rows.map(([at]) => at)).toEqual([...expected.keys()].sort((a, b) => a - b))
          for (const [at, , avg, max, n] of rows) {
            const own = expected.get(at)!
            const count = own.reduce((sum, one) => sum + one.n, 0)
            const exact = own.reduce((sum, one) => sum + one.avg * one.n, 0) / count
            const most = Math.max(...own.map(one => one.avg + one.above))
            expect(n).toBe(count)
            expect(Math.abs(avg - exact)).toBeLessThanOrEqual(exact * 2 ** -14)
            expect(max).toBeGreaterThanOrEqual(most)
            expect(max).toBeLessThanOrEqual(most * (1 + 2 ** -6))
          }
        }
      },
    ),
    { numRuns: 15 },
  )
})

test('what was stored before a crash is rolled up by the next process', async () => {
  const { hub, clock } = await world()
  const at = Math.floor(clock.now() / h6.stepMs) * h6.stepMs
  await hub.series.metrics.append([minute('a', at, { cpu: 10 })], at)
  await hub.series.metrics.rollUp(at)
  await hub.series.metrics.append([minute('a', at + minuteMs, { cpu: 30 }), minute('b', at + minuteMs, { cpu: 5 })], at)
  const next = opened(hub)
  closeLater(() => next.close())
  await next.metrics.rollUp(at + dayMs)
  for (const tier of [m10, h1, h6]) {
    expect(await rowsOf(next, 'a', tier)).toEqual([[at, 'cpu', 20, 30, 2]])
    expect(await rowsOf(next, 'b', tier)).toEqual([[at, 'cpu', 5, 5, 1]])
  }
})

test('what processes stored that were killed before is rolled up, whatever other processes did meanwhile', async () => {
  const { hub, clock } = await world()
  const at = Math.floor(clock.now() / h6.stepMs) * h6.stepMs
  const processes = Array.from({ length: 5 }, () => opened(hub))
  for (const one of processes) closeLater(() => one.close())
  const [first, second, third, fourth, last] = processes as [SeriesStore, SeriesStore, SeriesStore, SeriesStore, SeriesStore]
  const now = at + 30 * minuteMs
  const coarse = async (subject: string) => await rowsOf(last, subject, m10)
  // Killed before it computed anything at all.
  await first.metrics.append([minute('a', at, { cpu: 10 })], now)
  await second.metrics.rollUp(now)
  expect(await rowsOf(second, 'a', m10)).toEqual([[at, 'cpu', 10, 10, 1]])
  // Another one computes what it stored itself, before the first one is killed.
  await third.metrics.rollUp(now)
  await third.metrics.append([minute('b', at, { cpu: 20 })], now)
  await second.metrics.append([minute('c', at, { cpu: 30 })], now)
  await second.metrics.rollUp(now + minuteMs)
  // Killed after it stored a late minute while it was computing.
  await fourth.metrics.rollUp(now)
  await fourth.metrics.append([minute('d', now, { cpu: 1 })], now)
  const rolling = fourth.metrics.rollUp(now + minuteMs)
  await fourth.metrics.append([minute('d', at, { cpu: 40 })], now)
  await rolling
  await last.metrics.rollUp(now + 60 * minuteMs)
  expect(await coarse('b')).toEqual([[at, 'cpu', 20, 20, 1]])
  expect(await coarse('c')).toEqual([[at, 'cpu', 30, 30, 1]])
  expect((await coarse('d'))[0]).toEqual([at, 'cpu', 40, 40, 1])
})

test('minutes without some of the values have the same layout, and periods have a limited number of columns', async () => {
  const { hub, clock } = await world()
  const at = Math.floor(clock.now() / h6.stepMs) * h6.stepMs
  const { metrics } = hub.series
  const value = { n: 1, avg: 1, max: 1 }
  const of = (place: number, values: Record<string, Measured | null>) => ({
    ...{ subject: 'a', at: at + place * minuteMs },
    values: new Map(Object.entries(values)),
  })
  const sent = [of(0, { cpu: value, fan: null }), of(1, { cpu: null, fan: value }), of(2, { fan: null })]
  await metrics.append(sent, at)
  expect((await rowsOf(hub.series, 'a', m1)).map(row => row.slice(0, 2))).toEqual([
    [at, 'cpu'],
    [at + minuteMs, 'fan'],
  ])
  const layouts = await metrics['writeThrough'](within => within.all('select text from series_metric_layouts'))
  expect(layouts).toEqual([{ text: 'cpu\nfan' }])
  for (let place = 0; place < 8; place++) {
    const columns = Array.from({ length: 200 }, (_, n) => [`disk ${place} ${n}`, value] as const)
    await metrics.append([{ subject: 'b', at: at + place * minuteMs, values: new Map(columns) }], at)
  }
  await metrics.rollUp(at)
  expect(await rowsOf(hub.series, 'b', m1)).toHaveLength(1_600)
  for (const tier of [m10, h1, h6]) expect(await rowsOf(hub.series, 'b', tier)).toHaveLength(1_000)
})

test.each([
  [40, 3],
  [90, 6.5],
])(
  '%d metrics of a server for two years need less than %d MB',
  async (count, megabytes) => {
    const { data, databaseUrl } = await emptyPlace()
    const openHere = () => openSeries({ data, databaseUrl, now: Date.now }, seriesKinds)
    const at = Math.floor(Date.now() / dayMs) * dayMs
    const [servers, minutes] = [100, 21]
    /** Stores minutes, and returns the size after the storage was closed. */
    const sizeWith = async (from: number, until: number) => {
      const writing = openHere()
      for (let place = from; place < until; place++)
        await writing.metrics.append(
          Array.from({ length: servers }, (_, server) =>
            minute(
              `server ${server}`,
              at + place * minuteMs,
              Object.fromEntries(
                Array.from({ length: count }, (_, column) => {
                  const avg = ((server * 7919 + place * 104_729 + column * 1_299_709) % 999_983) * 1.37
                  return [`metric.${column} device`, { n: 6, avg, max: avg * 1.7 }]
                }),
              ),
            ),
          ),
          at,
        )
      await writing.close()
      const reading = openHere()
      const size = await reading.size()
      await reading.close()
      return size!
    }
    const before = await sizeWith(0, 1)
    const bytesPerRow = ((await sizeWith(1, minutes)) - before) / (servers * (minutes - 1))
    const rows = tiers.reduce((sum, one) => sum + (one.keepDays * dayMs) / one.stepMs, 0)
    expect((bytesPerRow * rows) / 1e6).toBeWithin(megabytes / 2, megabytes)
  },
  180_000,
)

test('values that can’t be right and damaged rows leave all others as they are', async () => {
  const { hub, clock } = await world()
  const at = Math.floor(clock.now() / h6.stepMs) * h6.stepMs
  const { metrics } = hub.series
  const wrong: Measured[] = [
    ...[2 ** 60, 3_601, 1.5, 0, -1, Number.NaN, Number.POSITIVE_INFINITY].map(n => ({ n, avg: 1, max: 1 })),
    { n: 1, avg: 1e39, max: 1e39 },
    { n: 1, avg: 1, max: Number.POSITIVE_INFINITY },
    { n: 1, avg: Number.NaN, max: 1 },
  ]
  const bad = wrong.map((one, place) => minute('bad', at + place * minuteMs, { cpu: one, load: 2 }))
  await metrics.append([...bad, minute('good', at, { cpu: 3.4e37 }), minute('damaged', at, { cpu: 4 })], at)
  // A number of samples that is longer than can be read.
  const damaged = new Uint8Array([0, ...Array.from({ length: 8 }, () => 255), 1, 0, 0, 0, 0, 0])
  const table = `series_metric_m1_${Math.floor(at / dayMs)}`
  await metrics['writeThrough'](async within => {
    const [row] = await within.all<{ number: number }>('select number from series_metric_subjects where text = ?', ['damaged'])
    await within.run(`update ${table} set body = ? where subject = ?`, [damaged, row!.number])
  })
  await metrics.rollUp(at)
  for (const tier of tiers) {
    expect(new Set((await rowsOf(hub.series, 'bad', tier)).map(row => row[1]))).toEqual(new Set(['load']))
    expect(await rowsOf(hub.series, 'damaged', tier)).toEqual([])
    for (const [, , avg, max] of await rowsOf(hub.series, 'good', tier)) {
      expect(avg).toBeCloseTo(3.4e37, -36)
      expect(Number.isFinite(max)).toBe(true)
    }
    expect(await rowsOf(hub.series, 'good', tier)).toHaveLength(1)
  }
})

test('tables of each tier are dropped when their time is over, and never more than is kept', async () => {
  const { hub, clock } = await world()
  const { metrics } = hub.series
  const start = Math.floor(clock.now() / dayMs) * dayMs
  for (let day = 0; day < 200; day += 4) {
    const now = start + day * dayMs
    await metrics.append([minute('a', now, { cpu: day })], now)
    await metrics.rollUp(now)
    await metrics.dropExpired(now, null)
    if (day % 20 !== 0) continue
    for (const tier of tiers) {
      const kept = new Set((await rowsOf(hub.series, 'a', tier)).map(([at]) => at))
      for (let other = 0; other <= day; other += 4) {
        const age = day - other
        if (age <= tier.keepDays) expect(kept).toContain(start + other * dayMs)
        if (age >= tier.keepDays + tier.tableDays) expect(kept).not.toContain(start + other * dayMs)
      }
    }
  }
  const now = start + 199 * dayMs
  // A plan with 7 days cuts all tiers.
  await metrics.append([minute('a', now, { cpu: 1 }), minute('b', now, { cpu: 2 })], now)
  await metrics.deleteBefore(['a'], now - 7 * dayMs)
  for (const tier of tiers)
    for (const [at] of await rowsOf(hub.series, 'a', tier)) expect(at).toBeGreaterThanOrEqual(now - 7 * dayMs - tier.stepMs)
  // Minutes that are older than any table are ignored.
  await metrics.append([minute('c', now - 3 * dayMs, { cpu: 1 })], now)
  expect(await rowsOf(hub.series, 'c', m1)).toEqual([])
  await metrics.delete(['a'])
  await metrics.rollUp(now)
  for (const tier of tiers) expect(await rowsOf(hub.series, 'a', tier)).toEqual([])
  expect(await rowsOf(hub.series, 'b', h6)).toHaveLength(1)
})

test.skipIf(isPostgres)('a new file in place of a damaged one has its own numbers', async () => {
  const { clock } = await world()
  await inTempFolder(async data => {
    const store = openSeries({ data, databaseUrl: null, now: clock.now }, seriesKinds)
    const at = clock.now()
    await store.metrics.append([minute('a', at, { cpu: 1 }), minute('b', at, { cpu: 2 })], at)
    await store.close()
    writeFileSync(join(data, 'series.db'), 'not a database, but long enough to be noticed'.repeat(100))
    await store.metrics.append([minute('c', at, { cpu: 3 })], at)
    expect(await rowsOf(store, 'a', m1)).toEqual([])
    expect((await rowsOf(store, 'c', m1)).map(row => row[2])).toEqual([3])
    await store.close()
  })
})
