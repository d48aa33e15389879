import { dayOfHour, hourMs, hourOf } from '../../src/core/db/series/hours'
import { seriesKind, type Sample } from '../../src/core/db/series/kind'
import { checkSeries, checksOf, type Beat } from '../../src/features/monitors/series/check-series'
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPostgres } from '../../src/core/db/dialect'
import { seriesKinds } from '../../src/features/series-kinds'
import { openSeries } from '../../src/core/db/series'
import { packChunk } from '../../src/core/db/series/chunk'
import { Rollup } from '../../src/core/db/series/rollup'
import type { SeriesStore } from '../../src/core/db/series/store'
import type { Hub } from '../../src/core/hub'
import { Recorder, recorderOf } from '../../src/features/monitors/series/recorder'
import { sealHours } from '../../src/features/monitors/series/seal'
import { resultBeat } from '../support/monitor-series'
import { world } from '../support/world'

const beat = (monitor: number, at: number, more: Partial<Beat> = {}): Beat => ({
  ...resultBeat(monitor, at),
  error: null,
  ...more,
})

/** The same series, opened by another process. */
const opened = (hub: Hub): SeriesStore =>
  openSeries({ data: hub.config.data, databaseUrl: hub.config.databaseUrl, now: hub.clock.now }, seriesKinds)

const all = async (store: SeriesStore, hour: number, monitors: number[] | null): Promise<Beat[]> => {
  const beats: Beat[] = []
  for await (const some of store.of(checkSeries).rowsOf(hour, monitors && new Set(monitors))) beats.push(...some)
  return beats.sort((a, b) => a.series - b.series || a.at - b.at)
}

test('beats round-trip, for all monitors or some, by the hour', async () => {
  const { hub, clock } = await world()
  const at = clock.now()
  const input = [
    beat(1, at),
    beat(1, at + 30_000, { status: 'down', ms: null, code: null, error: 2 ** 47, dns: null, connect: null, firstByte: null }),
    beat(2, at + 1, { status: 'degraded', part: 3 }),
    beat(1, at + hourMs),
  ]
  await checksOf(hub).append(input)
  const hour = hourOf(at)
  expect(await checksOf(hub).hours()).toEqual([hour, hour + 1])
  expect(await all(hub.series, hour, null)).toEqual(input.slice(0, 3))
  expect(await all(hub.series, hour, [2, 9])).toEqual([input[2]!])
  expect(await all(hub.series, hour + 1, [1])).toEqual([input[3]!])
  expect(await all(hub.series, hour + 2, null)).toEqual([])
  await checksOf(hub).dropBefore({ rows: hour + 1 })
  expect(await checksOf(hub).hours()).toEqual([hour + 1])
})

test('more beats than fit in one query are all returned once', async () => {
  const { hub, clock } = await world()
  const at = clock.now()
  const input = Array.from({ length: 12_000 }, (_, n) => beat(n % 700, at + Math.floor(n / 700)))
  await checksOf(hub).append(input)
  const sorted = input.toSorted((a, b) => a.series - b.series || a.at - b.at)
  expect(await all(hub.series, hourOf(at), null)).toEqual(sorted)
  expect(await all(hub.series, hourOf(at), [5, 699])).toEqual(sorted.filter(one => [5, 699].includes(one.series)))
})

test('chunks and summaries replace existing ones, are found by monitor and time, and deleted by monitor and day', async () => {
  const { hub } = await world()
  const day = 20_000
  const put = (monitor: number, hour: number, beats: Beat[]) => {
    const roll = new Rollup(checkSeries)
    for (const one of beats) roll.add(one)
    const key = { series: monitor, part: 0, hour }
    return checksOf(hub).putHours([{ ...key, ...packChunk(checkSeries, key, beats), roll }])
  }
  const hour = day * 24 + 5
  await put(1, hour, [beat(1, hour * hourMs)])
  await put(1, hour, [beat(1, hour * hourMs), beat(1, hour * hourMs + 60_000)])
  await put(2, hour + 24, [beat(2, (hour + 24) * hourMs)])
  expect(
    (await checksOf(hub).chunks(1, hour, hour + 1)).map(one => [one.series, one.hour, one.body.length > 5, !!one.details]),
  ).toEqual([[1, hour, true, true]])
  expect(await checksOf(hub).chunks(1, hour + 1, hour + 2)).toEqual([])
  expect((await checksOf(hub).chunksOfHour([1, 2], hour)).length).toBe(1)
  expect((await checksOf(hub).rollups('hour', [1, 2], 0, hour + 100)).map(one => [one.series, one.at, one.roll.n])).toEqual([
    [1, hour, 2],
    [2, hour + 24, 1],
  ])
  expect(await checksOf(hub).seriesOfDay(day, -1, 10)).toEqual([1])
  expect(await checksOf(hub).chunkDays()).toEqual([day, day + 1])
  await checksOf(hub).dropBefore({ details: day + 1 })
  expect((await checksOf(hub).chunks(1, hour, hour + 1))[0]!.details).toBeNull()
  await checksOf(hub).deleteHours([1], hour + 1)
  expect((await checksOf(hub).rollups('hour', [1, 2], 0, hour + 100)).map(one => one.series)).toEqual([2])
  await checksOf(hub).deleteChunks([1], day + 1)
  expect(await checksOf(hub).chunks(1, hour, hour + 1)).toEqual([])
  for (const _ of [1]) for await (const step of checksOf(hub).delete(2)) expect(step).toBeUndefined()
  expect(await checksOf(hub).chunks(2, hour + 24, hour + 25)).toEqual([])
  expect(await checksOf(hub).rollups('hour', [2], 0, hour + 100)).toEqual([])
})

test('each kind has its own columns and tables', async () => {
  const { hub, clock } = await world()
  const serverSeries = seriesKind({
    name: 'servers',
    version: 1,
    columns: {
      samples: { rollup: 'sum' },
      cpuPercent: { decimals: 1, rollup: { meanBy: 'samples' } },
      cpuPercentMax: { decimals: 1, rollup: 'max' },
      receivedBytes: { isLarge: true, rollup: 'sum' },
    },
  })
  const store = openSeries({ data: hub.config.data, databaseUrl: hub.config.databaseUrl, now: hub.clock.now }, [
    ...seriesKinds,
    serverSeries,
  ])
  try {
    const hour = hourOf(clock.now())
    const minutes = [
      { cpuPercent: 10, cpuPercentMax: 40.5, receivedBytes: 2 ** 45 },
      { cpuPercent: 20.5, cpuPercentMax: null, receivedBytes: 5 },
    ].map((one, n) => ({ series: 1, part: n, at: clock.now() + n, samples: 6, ...one }))
    await hub.series.of(checkSeries).append([beat(1, clock.now())])
    await store.of(serverSeries).append(minutes)
    const read: Sample<typeof serverSeries>[] = []
    for await (const some of store.of(serverSeries).rowsOf(hour, new Set([1]))) read.push(...some)
    expect(read.sort((a, b) => a.at - b.at)).toEqual(minutes)
    expect((await all(store, hour, null)).length).toBe(1)

    const roll = new Rollup(serverSeries)
    for (const one of minutes) roll.add(one)
    const key = { series: 1, part: 0, hour }
    await store.of(serverSeries).putHours([{ ...key, ...packChunk(serverSeries, key, minutes), roll }])
    const [stored] = await store.of(serverSeries).rollups('hour', [1], hour, hour + 1)
    expect(Object.values(stored!.roll.columns).map(one => one.value)).toEqual([12, 15.25, 40.5, 2 ** 45 + 5])
    expect((await store.of(serverSeries).chunks(1, hour, hour + 1)).map(one => one.details)).toEqual([null])
    expect(await store.of(checkSeries).rollups('hour', [1], hour, hour + 1)).toEqual([])
    await store.of(serverSeries).dropBefore({ rows: hour + 1, chunks: dayOfHour(hour) + 1 })
    expect(await store.of(serverSeries).chunkDays()).toEqual([])
    expect(await store.of(checkSeries).hours()).toEqual([hour])
  } finally {
    await store.close()
  }
})

test('texts are stored once, and deleted when unused', async () => {
  const { hub } = await world()
  await checksOf(hub).putTexts(['timeout After 10 s.', 'refused No.', 'refused No.'], 100)
  await checksOf(hub).putTexts(['refused No.'], 105)
  const recorder = recorderOf(hub)
  await recorder.errors.write([{ kind: 'refused', message: 'No.' }], 106)
  await checksOf(hub).deleteTexts(101)
  recorder.add(resultBeat(1, hub.clock.now(), { status: 'down', error: { kind: 'refused', message: 'No.' } }))
  await recorder.flush()
  const hour = hourOf(hub.clock.now())
  expect((await recorder.beats(1, hour, hour + 1)).map(one => one.error)).toEqual([{ kind: 'refused', message: 'No.' }])
  const [written] = await all(hub.series, hour, [1])
  expect(await checksOf(hub).texts([written!.error!])).toEqual(new Map([[written!.error!, 'refused No.']]))
})

test('a result is available at once, on disk within a second, and in the open hour of the hub that takes the monitor next', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const hour = hourOf(clock.now())
  recorder.add(resultBeat(1, clock.now()))
  recorder.add(resultBeat(2, clock.now()))
  expect((await recorder.beats(1, hour, hour + 1)).length).toBe(1)
  await recorder.flush()
  const other = new Recorder(hub)
  expect(await other.beats(1, hour, hour + 1)).toEqual([])
  await other.adopt([1])
  expect(await other.beats(1, hour, hour + 1)).toEqual([resultBeat(1, clock.now())])
  expect(await other.beats(2, hour, hour + 1)).toEqual([])
  await recorder.release([1])
  expect(await recorder.beats(1, hour, hour + 1)).toEqual([])
  expect((await recorder.beats(2, hour, hour + 1)).length).toBe(1)
})

test('a finished hour is packed after its last checks, and again if late results arrive', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const start = clock.now()
  const hour = hourOf(start)
  for (let n = 0; n < 120; n++) recorder.add(resultBeat(1, start + n * 30_000))
  await recorder.flush()
  clock.advance(hourMs + 60_000)
  await sealHours(hub)
  expect(await checksOf(hub).chunks(1, hour, hour + 1)).toEqual([])
  clock.advance(60_000)
  await sealHours(hub)
  const [chunk] = await checksOf(hub).chunks(1, hour, hour + 1)
  expect(chunk!.body.length).toBeLessThan(5 * 120)
  expect((await checksOf(hub).rollups('hour', [1], hour, hour + 1))[0]!.roll.n).toBe(120)
  expect(recorder.openHours.oldest()).toBeNull()
  // A hub killed before packing reads everything back; one beat was late.
  await recorder.adopt([1])
  recorder.add(resultBeat(1, start + 15_000, { status: 'down' }))
  await recorder.flush()
  await sealHours(hub)
  const [roll] = await checksOf(hub).rollups('hour', [1], hour, hour + 1)
  expect([roll!.roll.n, roll!.roll.columns.status.counts.down]).toEqual([121, 1])
})

test('a finished day is the sum of its hours, even if one is packed late', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const day = Math.floor(clock.now() / (24 * hourMs))
  for (const hours of [0, 3, 8]) recorder.add(resultBeat(1, clock.now() + hours * hourMs))
  await recorder.flush()
  clock.advance(15 * hourMs)
  await sealHours(hub)
  expect((await checksOf(hub).rollups('day', [1], day, day + 1)).map(one => one.roll.n)).toEqual([3])
  recorder.add(resultBeat(1, clock.now() - 8 * hourMs))
  await recorder.flush()
  await sealHours(hub)
  expect((await checksOf(hub).rollups('day', [1], day, day + 1)).map(one => one.roll.n)).toEqual([4])
})

test('while writing fails, results wait in memory, the hub reports it, and none are lost', async () => {
  const { hub, clock, anonymous } = await world()
  const recorder = recorderOf(hub)
  const append = checksOf(hub).append
  checksOf(hub).append = async () => {
    throw Object.assign(new Error('I/O error'), { code: 'EIO' })
  }
  recorder.add(resultBeat(1, clock.now()))
  await recorder.flush()
  expect(recorder.trouble()).toBeNull()
  clock.advance(30_000)
  recorder.add(resultBeat(1, clock.now()))
  await recorder.flush()
  expect(recorder.trouble()).toContain('can’t be written')
  const ready = await anonymous.call('GET', '/readyz')
  expect([ready.status, ready.body.checks.storage.status]).toEqual([503, 'failing'])
  const hour = hourOf(clock.now())
  expect((await recorder.beats(1, hour, hour + 1)).length).toBe(2)
  checksOf(hub).append = append
  await recorder.flush()
  expect(recorder.trouble()).toBeNull()
  expect((await all(hub.series, hour, [1])).length).toBe(2)
})

test.skipIf(isPostgres)('an invalid series file is renamed and reported, and writing continues', async () => {
  const { hub, clock, acme } = await world()
  writeFileSync(join(hub.config.data, 'series.db'), 'not a database, but long enough to be resultBeat for one'.repeat(100))
  const recorder = recorderOf(hub)
  recorder.add(resultBeat(1, clock.now()))
  await recorder.flush()
  expect((await all(hub.series, hourOf(clock.now()), [1])).length).toBe(1)
  expect(readdirSync(hub.config.data).some(name => name.startsWith('series.db.damaged-'))).toBe(true)
  const { body } = await acme.call('GET', '/v1/notices')
  expect(body.data.map((one: { kind: string }) => one.kind)).toEqual(['monitor_results.damaged'])
})

test.skipIf(isPostgres)('a corrupt series file is renamed when detected, and the hub continues with a new one', async () => {
  const { hub, clock, acme } = await world()
  const recorder = recorderOf(hub)
  const hour = hourOf(clock.now())
  for (let n = 0; n < 5_000; n++) recorder.add(resultBeat(n, clock.now()))
  await recorder.flush()
  await hub.series.close()
  const file = join(hub.config.data, 'series.db')
  const whole = readFileSync(file)
  whole.fill(0xa5, 4096 * 8)
  writeFileSync(file, whole)
  expect(all(hub.series, hour, null)).rejects.toThrow()
  await recorder.flush()
  recorder.add(resultBeat(1, clock.now() + 1000))
  await recorder.flush()
  recorder.add(resultBeat(2, clock.now() + 2000))
  await recorder.flush()
  expect((await all(hub.series, hour, null)).map(one => one.series)).toEqual([1, 2])
  const { body } = await acme.call('GET', '/v1/notices')
  expect(body.data.map((one: { kind: string }) => one.kind)).toEqual(['monitor_results.damaged'])
})

test.skipIf(isPostgres)('a file of a newer version is renamed too', async () => {
  const { hub, clock } = await world()
  await checksOf(hub).append([beat(1, clock.now())])
  await hub.series.close()
  const { Database } = await import('bun:sqlite')
  const db = new Database(join(hub.config.data, 'series.db'))
  db.run('PRAGMA user_version=99')
  db.close()
  const other = opened(hub)
  expect(await other.of(checkSeries).hours()).toEqual([])
  expect(other.takeDamagedFile()).toContain('series.db.damaged-')
  await other.close()
})

test('results with any error text are written, along with the others', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const hour = hourOf(clock.now())
  const messages = ['nul \0 in it', 'half a pair \ud83d', '', ' ', 'x'.repeat(10_000)]
  for (const [place, message] of messages.entries())
    recorder.add(resultBeat(1, clock.now() + place, { status: 'down', error: { kind: 'content', message } }))
  await recorder.flush()
  const errors = (await all(hub.series, hour, [1])).map(one => one.error)
  expect(errors.length).toBe(messages.length)
  expect((await checksOf(hub).texts(errors.map(one => one!))).size).toBe(new Set(errors).size)
  expect((await recorder.beats(1, hour, hour + 1))[0]!.error).toEqual({ kind: 'content', message: 'nul  in it' })
})

test('two hubs write to the same hours', async () => {
  const { hub, clock } = await world()
  const other = opened(hub)
  try {
    await Promise.all(
      [checksOf(hub).append([beat(1, clock.now())]), other.of(checkSeries).append([beat(2, clock.now())])].map(one =>
        one.catch(() => null),
      ),
    )
    // If two create the same table at the same time, one may have to retry.
    const hour = hourOf(clock.now())
    const stored = (await all(hub.series, hour, null)).map(one => one.series)
    for (const monitor of [1, 2]) if (!stored.includes(monitor)) await other.of(checkSeries).append([beat(monitor, clock.now())])
    expect((await all(hub.series, hour, null)).map(one => one.series)).toEqual([1, 2])
  } finally {
    await other.close()
  }
})

test.skipIf(!isPostgres)('results written by the previous hub after a monitor was reassigned are in the chunk too', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const start = clock.now()
  const hour = hourOf(start)
  await recorder.adopt([1, 2])
  const other = opened(hub)
  try {
    await other.of(checkSeries).append([beat(1, start), beat(1, start + 30_000), beat(3, start)])
  } finally {
    await other.close()
  }
  recorder.add(resultBeat(1, start + 30_000))
  recorder.add(resultBeat(1, start + 60_000))
  await recorder.flush()
  clock.advance(hourMs + 120_000)
  await sealHours(hub)
  expect((await checksOf(hub).rollups('hour', [1, 2, 3], hour, hour + 1)).map(one => [one.series, one.roll.n])).toEqual([[1, 3]])
})

test('a monitor reassigned while it is being released keeps its open hour', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const hour = hourOf(clock.now())
  recorder.add(resultBeat(1, clock.now()))
  await recorder.flush()
  const { append } = checksOf(hub)
  const { promise: blocked, resolve: release } = Promise.withResolvers<void>()
  checksOf(hub).append = async beats => {
    await blocked
    await append.call(checksOf(hub), beats)
  }
  recorder.add(resultBeat(2, clock.now()))
  const going = recorder.release([1])
  await recorder.adopt([1])
  release()
  await going
  expect(new Set((await recorder.beats(1, hour, hour + 1)).map(one => one.at)).size).toBe(1)
})

test('space is released while results are written', async () => {
  const { hub, clock } = await world()
  for (let round = 0; round < 20; round++) {
    const writing = checksOf(hub).append([beat(1, clock.now() + round)])
    for (let turns = 0; turns < round; turns++) await Promise.resolve()
    await hub.series.compact()
    await writing
  }
  expect((await all(hub.series, hourOf(clock.now()), [1])).length).toBe(20)
})
