import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPostgres } from '../../src/core/db/dialect'
import { openSeries, type Beat } from '../../src/core/db/series'
import { hourMs, packChunk } from '../../src/core/db/series/chunk'
import { Roll } from '../../src/core/db/series/roll'
import { hourOf, type SeriesStore } from '../../src/core/db/series/store'
import type { Hub } from '../../src/core/hub'
import { Recorder, recorderOf } from '../../src/features/monitors/series/recorder'
import { sealHours } from '../../src/features/monitors/series/seal'
import { taken } from '../support/monitor-series'
import { world } from '../support/world'

const beat = (monitor: number, at: number, more: Partial<Beat> = {}): Beat => ({ ...taken(monitor, at), error: null, ...more })

/** The same series, opened by another process. */
const opened = (hub: Hub): SeriesStore =>
  openSeries({ data: hub.config.data, databaseUrl: hub.config.databaseUrl, now: hub.clock.now })

const all = async (series: SeriesStore, hour: number, monitors: number[] | null): Promise<Beat[]> => {
  const beats: Beat[] = []
  for await (const some of series.beatsOf(hour, monitors && new Set(monitors))) beats.push(...some)
  return beats.sort((a, b) => a.monitor - b.monitor || a.at - b.at)
}

test('beats are read back as they were written, all or those of some monitors, by the hour', async () => {
  const { hub, clock } = await world()
  const at = clock.now()
  const given = [
    beat(1, at),
    beat(1, at + 30_000, { status: 'down', ms: null, code: null, error: 2 ** 47, dns: null, connect: null, firstByte: null }),
    beat(2, at + 1, { status: 'degraded', location: 3 }),
    beat(1, at + hourMs),
  ]
  await hub.series.append(given)
  const hour = hourOf(at)
  expect(await hub.series.beatHours()).toEqual([hour, hour + 1])
  expect(await all(hub.series, hour, null)).toEqual(given.slice(0, 3))
  expect(await all(hub.series, hour, [2, 9])).toEqual([given[2]!])
  expect(await all(hub.series, hour + 1, [1])).toEqual([given[3]!])
  expect(await all(hub.series, hour + 2, null)).toEqual([])
  await hub.series.dropBefore({ beats: hour + 1 })
  expect(await hub.series.beatHours()).toEqual([hour + 1])
})

test('more beats than are read at once all come, each once', async () => {
  const { hub, clock } = await world()
  const at = clock.now()
  const given = Array.from({ length: 12_000 }, (_, n) => beat(n % 700, at + Math.floor(n / 700)))
  await hub.series.append(given)
  const sorted = given.toSorted((a, b) => a.monitor - b.monitor || a.at - b.at)
  expect(await all(hub.series, hourOf(at), null)).toEqual(sorted)
  expect(await all(hub.series, hourOf(at), [5, 699])).toEqual(sorted.filter(one => [5, 699].includes(one.monitor)))
})

test('chunks and rolls are put in place of what was there, found by monitor and time, and deleted by monitor and day', async () => {
  const { hub } = await world()
  const day = 20_000
  const put = (monitor: number, hour: number, beats: Beat[]) => {
    const roll = new Roll()
    for (const one of beats) roll.add(one)
    const key = { monitor, location: 0, hour }
    return hub.series.putHours([{ ...key, ...packChunk(key, beats), roll }])
  }
  const hour = day * 24 + 5
  await put(1, hour, [beat(1, hour * hourMs)])
  await put(1, hour, [beat(1, hour * hourMs), beat(1, hour * hourMs + 60_000)])
  await put(2, hour + 24, [beat(2, (hour + 24) * hourMs)])
  expect(
    (await hub.series.chunks(1, hour, hour + 1)).map(one => [one.monitor, one.hour, one.body.length > 5, !!one.phases]),
  ).toEqual([[1, hour, true, true]])
  expect(await hub.series.chunks(1, hour + 1, hour + 2)).toEqual([])
  expect((await hub.series.chunksOfHour([1, 2], hour)).length).toBe(1)
  expect((await hub.series.rolls('hour', [1, 2], 0, hour + 100)).map(one => [one.monitor, one.at, one.roll.n])).toEqual([
    [1, hour, 2],
    [2, hour + 24, 1],
  ])
  expect(await hub.series.monitorsOfDay(day, -1, 10)).toEqual([1])
  expect(await hub.series.chunkDays()).toEqual([day, day + 1])
  await hub.series.dropBefore({ phases: day + 1 })
  expect((await hub.series.chunks(1, hour, hour + 1))[0]!.phases).toBeNull()
  await hub.series.deleteHours([1], hour + 1)
  expect((await hub.series.rolls('hour', [1, 2], 0, hour + 100)).map(one => one.monitor)).toEqual([2])
  await hub.series.deleteChunks([1], day + 1)
  expect(await hub.series.chunks(1, hour, hour + 1)).toEqual([])
  for (const _ of [1]) for await (const step of hub.series.forget(2)) expect(step).toBeUndefined()
  expect(await hub.series.chunks(2, hour + 24, hour + 25)).toEqual([])
  expect(await hub.series.rolls('hour', [2], 0, hour + 100)).toEqual([])
})

test('texts are kept once, and go when nothing has used them for long', async () => {
  const { hub } = await world()
  await hub.series.putTexts(['timeout After 10 s.', 'refused No.', 'refused No.'], 100)
  await hub.series.putTexts(['refused No.'], 105)
  const recorder = recorderOf(hub)
  await recorder.errors.write([{ kind: 'refused', message: 'No.' }], 106)
  await hub.series.deleteTexts(101)
  recorder.take(taken(1, hub.clock.now(), { status: 'down', error: { kind: 'refused', message: 'No.' } }))
  await recorder.flush()
  const hour = hourOf(hub.clock.now())
  expect((await recorder.beats(1, hour, hour + 1)).map(one => one.error)).toEqual([{ kind: 'refused', message: 'No.' }])
  const [written] = await all(hub.series, hour, [1])
  expect(await hub.series.texts([written!.error!])).toEqual(new Map([[written!.error!, 'refused No.']]))
})

test('what was taken is there at once, on the disk within a second, and in the open hour of whoever takes the monitor over', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const hour = hourOf(clock.now())
  recorder.take(taken(1, clock.now()))
  recorder.take(taken(2, clock.now()))
  expect((await recorder.beats(1, hour, hour + 1)).length).toBe(1)
  await recorder.flush()
  const other = new Recorder(hub)
  expect(await other.beats(1, hour, hour + 1)).toEqual([])
  await other.adopt([1])
  expect(await other.beats(1, hour, hour + 1)).toEqual([taken(1, clock.now())])
  expect(await other.beats(2, hour, hour + 1)).toEqual([])
  await recorder.release([1])
  expect(await recorder.beats(1, hour, hour + 1)).toEqual([])
  expect((await recorder.beats(2, hour, hour + 1)).length).toBe(1)
})

test('an hour that is over becomes a chunk once its last checks are in, and again when more of it turns up', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const start = clock.now()
  const hour = hourOf(start)
  for (let n = 0; n < 120; n++) recorder.take(taken(1, start + n * 30_000))
  await recorder.flush()
  clock.advance(hourMs + 60_000)
  await sealHours(hub)
  expect(await hub.series.chunks(1, hour, hour + 1)).toEqual([])
  clock.advance(60_000)
  await sealHours(hub)
  const [chunk] = await hub.series.chunks(1, hour, hour + 1)
  expect(chunk!.body.length).toBeLessThan(5 * 120)
  expect((await hub.series.rolls('hour', [1], hour, hour + 1))[0]!.roll.n).toBe(120)
  expect(recorder.openHours.oldest()).toBeNull()
  // A hub that was killed before it sealed reads all of it back; one beat came late.
  await recorder.adopt([1])
  recorder.take(taken(1, start + 15_000, { status: 'down' }))
  await recorder.flush()
  await sealHours(hub)
  const [roll] = await hub.series.rolls('hour', [1], hour, hour + 1)
  expect([roll!.roll.n, roll!.roll.down]).toEqual([121, 1])
})

test('a day that is over is the sum of its hours, also when one of them is sealed late', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const day = Math.floor(clock.now() / (24 * hourMs))
  for (const hours of [0, 3, 8]) recorder.take(taken(1, clock.now() + hours * hourMs))
  await recorder.flush()
  clock.advance(15 * hourMs)
  await sealHours(hub)
  expect((await hub.series.rolls('day', [1], day, day + 1)).map(one => one.roll.n)).toEqual([3])
  recorder.take(taken(1, clock.now() - 8 * hourMs))
  await recorder.flush()
  await sealHours(hub)
  expect((await hub.series.rolls('day', [1], day, day + 1)).map(one => one.roll.n)).toEqual([4])
})

test('while nothing can be written results wait in memory, the hub says so, and none is missing afterwards', async () => {
  const { hub, clock, stranger } = await world()
  const recorder = recorderOf(hub)
  const append = hub.series.append
  hub.series.append = async () => {
    throw Object.assign(new Error('no room'), { code: 'EIO' })
  }
  recorder.take(taken(1, clock.now()))
  await recorder.flush()
  expect(recorder.trouble()).toBeNull()
  clock.advance(30_000)
  recorder.take(taken(1, clock.now()))
  await recorder.flush()
  expect(recorder.trouble()).toContain('cannot be written')
  const ready = await stranger.call('GET', '/readyz')
  expect([ready.status, ready.body.checks.storage.status]).toEqual([503, 'failing'])
  const hour = hourOf(clock.now())
  expect((await recorder.beats(1, hour, hour + 1)).length).toBe(2)
  hub.series.append = append
  await recorder.flush()
  expect(recorder.trouble()).toBeNull()
  expect((await all(hub.series, hour, [1])).length).toBe(2)
})

test.skipIf(isPostgres)('a file that is no series is moved aside and told of, and keeps nothing from being written', async () => {
  const { hub, clock, acme } = await world()
  writeFileSync(join(hub.config.data, 'series.db'), 'not a database, but long enough to be taken for one'.repeat(100))
  const recorder = recorderOf(hub)
  recorder.take(taken(1, clock.now()))
  await recorder.flush()
  expect((await all(hub.series, hourOf(clock.now()), [1])).length).toBe(1)
  expect(readdirSync(hub.config.data).some(name => name.startsWith('series.db.damaged-'))).toBe(true)
  const { body } = await acme.call('GET', '/v1/notices')
  expect(body.data.map((one: { kind: string }) => one.kind)).toEqual(['monitor_results.set_aside'])
})

test.skipIf(isPostgres)(
  'a file that is torn in the middle is moved aside when that is met, and the hub goes on with a new one',
  async () => {
    const { hub, clock, acme } = await world()
    const recorder = recorderOf(hub)
    const hour = hourOf(clock.now())
    for (let n = 0; n < 5_000; n++) recorder.take(taken(n, clock.now()))
    await recorder.flush()
    await hub.series.close()
    const file = join(hub.config.data, 'series.db')
    const whole = readFileSync(file)
    whole.fill(0xa5, 4096 * 8)
    writeFileSync(file, whole)
    expect(all(hub.series, hour, null)).rejects.toThrow()
    await recorder.flush()
    recorder.take(taken(1, clock.now() + 1000))
    await recorder.flush()
    recorder.take(taken(2, clock.now() + 2000))
    await recorder.flush()
    expect((await all(hub.series, hour, null)).map(one => one.monitor)).toEqual([1, 2])
    const { body } = await acme.call('GET', '/v1/notices')
    expect(body.data.map((one: { kind: string }) => one.kind)).toEqual(['monitor_results.set_aside'])
  },
)

test.skipIf(isPostgres)('a file of a newer version is moved aside too', async () => {
  const { hub, clock } = await world()
  await hub.series.append([beat(1, clock.now())])
  await hub.series.close()
  const { Database } = await import('bun:sqlite')
  const db = new Database(join(hub.config.data, 'series.db'))
  db.run('PRAGMA user_version=99')
  db.close()
  const other = opened(hub)
  expect(await other.beatHours()).toEqual([])
  expect(other.movedAside()).toContain('series.db.damaged-')
  await other.close()
})

test('whatever an error says, its result is written, and those beside it', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const hour = hourOf(clock.now())
  const messages = ['nul \0 in it', 'half a pair \ud83d', '', ' ', 'x'.repeat(10_000)]
  for (const [place, message] of messages.entries())
    recorder.take(taken(1, clock.now() + place, { status: 'down', error: { kind: 'content', message } }))
  await recorder.flush()
  const told = (await all(hub.series, hour, [1])).map(one => one.error)
  expect(told.length).toBe(messages.length)
  expect((await hub.series.texts(told.map(one => one!))).size).toBe(new Set(told).size)
  expect((await recorder.beats(1, hour, hour + 1))[0]!.error).toEqual({ kind: 'content', message: 'nul  in it' })
})

test('two hubs write the same hours side by side', async () => {
  const { hub, clock } = await world()
  const other = opened(hub)
  try {
    await Promise.all(
      [hub.series.append([beat(1, clock.now())]), other.append([beat(2, clock.now())])].map(one => one.catch(() => null)),
    )
    // One of two that make the same table at the same moment may have to try again.
    const hour = hourOf(clock.now())
    const there = (await all(hub.series, hour, null)).map(one => one.monitor)
    for (const monitor of [1, 2]) if (!there.includes(monitor)) await other.append([beat(monitor, clock.now())])
    expect((await all(hub.series, hour, null)).map(one => one.monitor)).toEqual([1, 2])
  } finally {
    await other.close()
  }
})

test.skipIf(!isPostgres)(
  'what the last hub wrote of an hour after a monitor was taken over is in the chunk all the same',
  async () => {
    const { hub, clock } = await world()
    const recorder = recorderOf(hub)
    const start = clock.now()
    const hour = hourOf(start)
    await recorder.adopt([1, 2])
    const other = opened(hub)
    try {
      await other.append([beat(1, start), beat(1, start + 30_000), beat(3, start)])
    } finally {
      await other.close()
    }
    recorder.take(taken(1, start + 30_000))
    recorder.take(taken(1, start + 60_000))
    await recorder.flush()
    clock.advance(hourMs + 120_000)
    await sealHours(hub)
    expect((await hub.series.rolls('hour', [1, 2, 3], hour, hour + 1)).map(one => [one.monitor, one.roll.n])).toEqual([[1, 3]])
  },
)

test('a monitor that comes back while it is let go keeps its open hour', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  const hour = hourOf(clock.now())
  recorder.take(taken(1, clock.now()))
  await recorder.flush()
  const { append } = hub.series
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  hub.series.append = async beats => {
    await held
    await append.call(hub.series, beats)
  }
  recorder.take(taken(2, clock.now()))
  const going = recorder.release([1])
  await recorder.adopt([1])
  goOn()
  await going
  expect(new Set((await recorder.beats(1, hour, hour + 1)).map(one => one.at)).size).toBe(1)
})

test('room is given back in its turn while results are written', async () => {
  const { hub, clock } = await world()
  for (let round = 0; round < 20; round++) {
    const writing = hub.series.append([beat(1, clock.now() + round)])
    for (let turns = 0; turns < round; turns++) await Promise.resolve()
    await hub.series.tidy()
    await writing
  }
  expect((await all(hub.series, hourOf(clock.now()), [1])).length).toBe(20)
})
