import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { heldLanes, jobs } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import type { ClaimedJob, JobKind } from '../../src/core/jobs/job'
import { releaseLanes, holdLane } from '../../src/core/jobs/lane-holds'
import type { LaneRules } from '../../src/core/jobs/lanes'
import { enqueue } from '../../src/core/jobs/queue'
import type { JobDraft } from '../../src/core/jobs/draft'
import { Worker } from '../../src/core/jobs/worker'
import { world } from '../support/world'

const kind = 'test.send'
const rules: LaneRules = {
  ranks: [10, 100],
  maxPerLane: 8,
  maxPerGroup: 64,
  retryShare: 0.5,
  slowShare: 0.25,
  isSlow: () => false,
}
const job = (lane: string, n: number, more: Partial<JobDraft> = {}): JobDraft => ({
  kind,
  lane,
  priority: 10,
  payload: { n },
  ...more,
})
const many = (lane: string, count: number, more: Partial<JobDraft> = {}) =>
  Array.from({ length: count }, (_, n) => job(lane, n, more))

const put = (hub: Hub, drafts: JobDraft[]) =>
  record(hub, async tx => {
    await enqueue(tx, hub, drafts)
    return { result: undefined }
  })

/** Runs that end on request, in the order in which they started. */
function runs(hub: Hub, more: Partial<JobKind> = {}) {
  const started: ClaimedJob[] = []
  const ends: (() => void)[] = []
  const worker = new Worker(hub, [
    {
      kind,
      concurrency: 100,
      lanes: rules,
      leaseMs: 30_000,
      retryAfter: () => null,
      run: async (_, one) => {
        started.push(one)
        await new Promise<void>(resolve => ends.push(resolve))
        return undefined
      },
      ...more,
    },
  ])
  return {
    started,
    /** Polls until the worker stops claiming jobs. */
    async take() {
      for (let still = 0, before = -1; still < 3;) {
        worker.wake()
        // However slow the database is.
        await worker['polling']
        await Bun.sleep(12)
        still = started.length === before ? still + 1 : 0
        before = started.length
      }
    },
    end(count = ends.length) {
      for (const end of ends.splice(0, count)) end()
    },
    async stop() {
      const stopped = worker.stop(2000)
      for (const end of ends.splice(0)) end()
      await stopped
    },
  }
}

const countsBy = (started: ClaimedJob[], by: (one: ClaimedJob) => string) =>
  Object.fromEntries([...Map.groupBy(started, by)].map(([name, own]) => [name, own.length]))

test('lanes are served by round robin, regardless of their length', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/1', 300), ...many('b/1', 300), ...many('c/1', 2)])
  const here = runs(hub, { concurrency: 12, lanes: { ...rules, maxPerLane: 100 } })
  await here.take()
  expect(countsBy(here.started, one => one.lane)).toEqual({ 'a/1': 6, 'b/1': 4, 'c/1': 2 })
  await here.stop()
})

test('a lane is served in due order, first runs before retries', async () => {
  const { hub, clock } = await world()
  const at = clock.now()
  await put(hub, [
    job('a/1', 1, { priority: 100, runAt: at - 500 }),
    job('a/1', 2, { runAt: at - 10 }),
    job('a/1', 3, { runAt: at - 300 }),
    job('a/1', 4, { runAt: at + 1 }),
  ])
  const here = runs(hub)
  await here.take()
  expect(here.started.map(one => one.payload.n)).toEqual([3, 2, 1])
  await here.stop()
})

test('lanes and groups don’t exceed their concurrency', async () => {
  const { hub } = await world()
  await put(hub, [...['a/1', 'a/2', 'a/3', 'b/1'].flatMap(lane => many(lane, 20))])
  const here = runs(hub, { lanes: { ...rules, maxPerLane: 6, maxPerGroup: 10 } })
  await here.take()
  expect(countsBy(here.started, one => one.lane.split('/')[0]!)).toEqual({ a: 10, b: 6 })
  expect(Math.max(...Object.values(countsBy(here.started, one => one.lane)))).toBe(6)
  here.end(3)
  await here.take()
  expect(here.started).toHaveLength(19)
  await here.stop()
})

test('a group with hundreds of lanes doesn’t keep others waiting, and its lanes take turns', async () => {
  const { hub } = await world()
  const lanes = (group: string) => Array.from({ length: 200 }, (_, n) => job(`${group}/${String(n).padStart(3, '0')}`, n))
  await put(hub, [...lanes('a'), ...lanes('c'), job('b', 0), job('b-1/x', 0), job('d/x', 0)])
  const here = runs(hub, { concurrency: 16, lanes: { ...rules, maxPerLane: 1, maxPerGroup: 4 } })
  await here.take()
  expect(countsBy(here.started, one => one.lane.split('/')[0]!)).toEqual({ a: 4, b: 1, 'b-1': 1, c: 4, d: 1 })
  for (let round = 0; round < 12; round++) {
    here.end()
    await here.take()
  }
  const ofA = here.started.filter(one => one.lane.startsWith('a/')).map(one => one.payload.n)
  expect(ofA).toEqual(Array.from({ length: ofA.length }, (_, n) => n))
  expect(ofA.length).toBeGreaterThan(40)
  await here.stop()
})

test('retries leave half of the capacity to first runs', async () => {
  const { hub } = await world()
  const later = Array.from({ length: 10 }, (_, n) => many(`a/${n}`, 10, { priority: 100 })).flat()
  await put(hub, later)
  const here = runs(hub, { concurrency: 20, lanes: { ...rules, maxPerGroup: 16 } })
  await here.take()
  expect(here.started).toHaveLength(8)
  await put(hub, [...many('b/1', 30, { priority: 100 }), ...many('c/1', 30), ...many('d/1', 30)])
  await here.take()
  expect(countsBy(here.started, one => `${one.lane[0] === 'a' ? 'a' : 'others'} ${one.priority}`)).toEqual({
    'a 100': 8,
    'others 100': 2,
    'others 10': 10,
  })
  await here.stop()
})

test('slow lanes share a quarter of the capacity', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/slow1', 20), ...many('a/slow2', 20), ...many('a/fast', 20)])
  const here = runs(hub, { concurrency: 16, lanes: { ...rules, maxPerLane: 100, isSlow: (_, lane) => lane.includes('slow') } })
  await here.take()
  expect(countsBy(here.started, one => (one.lane.includes('slow') ? 'slow' : 'fast'))).toEqual({ slow: 4, fast: 12 })
  await here.stop()
})

test('a held lane waits, and then runs one job at a time until it is released', async () => {
  const { hub, clock } = await world()
  await put(hub, [...many('a/1', 10), ...many('a/2', 1)])
  const hold = (until: number) =>
    record(hub, async tx => {
      await holdLane(tx, kind, 'a/1', until)
      return { result: undefined }
    })
  await hold(clock.now() + 10_000)
  const here = runs(hub)
  await here.take()
  expect(here.started.map(one => one.lane)).toEqual(['a/2'])
  // Only the timer of the worker wakes it.
  clock.advance(10_000)
  for (let tries = 0; tries < 1_000 && here.started.length < 2; tries++) await Bun.sleep(10)
  expect(here.started.map(one => one.lane)).toEqual(['a/2', 'a/1'])
  // That job has not finished, so another hub would not claim a second one either.
  here.end()
  await here.take()
  expect(here.started).toHaveLength(2)
  await record(hub, async tx => {
    await releaseLanes(tx, kind, ['a/1'])
    return { result: undefined }
  })
  await here.take()
  expect(here.started).toHaveLength(10)
  await here.stop()
})

test('a lane released by another hub during a poll stays released', async () => {
  const { hub, clock } = await world()
  await put(hub, many('a/1', 3))
  await record(hub, async tx => {
    await holdLane(tx, kind, 'a/1', clock.now() - 1)
    return { result: undefined }
  })
  const here = runs(hub)
  const looked = Promise.withResolvers<void>()
  const freeing = record(hub, async tx => {
    await releaseLanes(tx, kind, ['a/1'])
    await looked.promise
    return { result: undefined }
  })
  await Bun.sleep(20)
  // It sees the lane as held, because the release is not committed yet.
  const taking = here.take()
  await Bun.sleep(20)
  looked.resolve()
  await freeing
  await taking
  await Bun.sleep(60)
  await here.take()
  expect(here.started).toHaveLength(3)
  expect(await hub.read.select().from(heldLanes)).toEqual([])
  await here.stop()
})

test('jobs scheduled for later in thousands of lanes are not scanned', async () => {
  const { hub, clock } = await world()
  const later = { runAt: clock.now() + 60_000, priority: 100 }
  await put(hub, [...Array.from({ length: 2000 }, (_, n) => job(`a/${n}`, n, later)), ...many('b/1', 3)])
  const here = runs(hub)
  await here.take()
  expect(here.started.map(one => one.lane)).toEqual(['b/1', 'b/1', 'b/1'])
  await here.stop()
  expect(await hub.read.select({ id: jobs.id }).from(jobs)).toHaveLength(2000)
})

test('each run gets the data prepared by its claim', async () => {
  const { hub } = await world()
  await put(hub, many('a/1', 5))
  const received: unknown[] = []
  let claims = 0
  const here = runs(hub, {
    prepare: async (_tx, _hub, claimed) => {
      claims++
      return new Map(claimed.filter(one => one.payload.n !== 2).map(one => [one.id, one.payload.n]))
    },
    run: async (_, one, prepared) => {
      received.push([one.payload.n, prepared])
      return undefined
    },
  })
  await here.take()
  expect(received.sort()).toEqual([
    [0, 0],
    [1, 1],
    [2, undefined],
    [3, 3],
    [4, 4],
  ])
  // Four per round, and then the rest.
  expect(claims).toBe(2)
  await here.stop()
})

test('a group at its rate limit waits, and exempt lanes are not limited', async () => {
  const { hub, clock } = await world()
  const start = clock.now()
  await put(hub, [...many('a/1', 10), ...many('a/2', 10), ...many('a/3/free', 3), ...many('b/1', 6)])
  let allowanceCalls = 0
  const started = () => here.started.filter(one => one.lane.startsWith('a/') && !one.lane.endsWith('/free')).length
  const rateLimit: LaneRules['rateLimit'] = {
    allowance: async (_tx, _hub, group) => {
      allowanceCalls++
      const max = clock.now() < start + 5_000 ? 5 : 9
      return group === 'a' ? { left: max - started(), until: start + 5_000 } : null
    },
    exempts: lane => lane.endsWith('/free'),
  }
  const here = runs(hub, { lanes: { ...rules, rateLimit } })
  await here.take()
  expect(countsBy(here.started, one => one.lane)).toEqual({ 'a/1': 4, 'a/2': 1, 'a/3/free': 3, 'b/1': 6 })
  const claims = allowanceCalls
  // Only the timer of the worker wakes it.
  clock.advance(4_999)
  await Bun.sleep(50)
  expect(allowanceCalls).toBe(claims)
  clock.advance(1)
  for (let tries = 0; tries < 1_000 && started() < 9; tries++) await Bun.sleep(10)
  expect(started()).toBe(9)
  const waiting = await hub.read.select().from(jobs).where(eq(jobs.state, 'ready'))
  expect(waiting.map(one => one.attempts)).toEqual(Array(11).fill(0))
  await here.stop()
})

test('retries of a group get what its first runs leave of the rate limit', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/1', 6, { priority: 100 }), ...many('a/2', 6), ...many('b/1', 1, { priority: 100 })])
  const rateLimit: LaneRules['rateLimit'] = {
    allowance: async (_tx, _hub, group) =>
      group === 'a' ? { left: 8 - here.started.filter(one => one.lane < 'b').length, until: Number.MAX_SAFE_INTEGER } : null,
    exempts: () => false,
  }
  const here = runs(hub, { lanes: { ...rules, rateLimit } })
  await here.take()
  expect(here.started.map(one => `${one.lane} ${one.priority}`).sort()).toEqual(
    ['a/1 100', 'a/1 100', ...Array(6).fill('a/2 10'), 'b/1 100'].sort(),
  )
  await here.stop()
})

test('retries of a rate-limited group are not starved if no round ever completes', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/1', 6, { priority: 100 }), ...many('b/1', 100), ...many('c/1', 100), ...many('d/1', 100)])
  const rateLimit: LaneRules['rateLimit'] = {
    allowance: async (_tx, _hub, group) => (group === 'a' ? { left: 50, until: 0 } : null),
    exempts: () => false,
  }
  const here = runs(hub, { concurrency: 4, lanes: { ...rules, rateLimit } })
  const retries = () => here.started.filter(one => one.lane === 'a/1').length
  for (let n = 0; n < 60 && retries() < 6; n++) {
    await here.take()
    here.end()
  }
  // All of them ran, while hundreds of first runs are waiting.
  expect(retries()).toBe(6)
  expect(here.started.length).toBeLessThan(250)
  await here.stop()
})

test('first runs without capacity do not block retries of their group', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/1', 20), ...many('a/2', 4, { priority: 100 })])
  const rateLimit: LaneRules['rateLimit'] = { allowance: async () => ({ left: 100, until: 0 }), exempts: () => false }
  const here = runs(hub, { lanes: { ...rules, rateLimit } })
  await here.take()
  expect(countsBy(here.started, one => one.lane)).toEqual({ 'a/1': 8, 'a/2': 4 })
  await here.stop()
})

test.each<[string, Partial<JobDraft>, LaneRules | undefined, string]>([
  ['a lane although its kind has no rules', { lane: 'a/1', priority: 10 }, undefined, 'a/1'],
  ['no lane although its kind has rules', { lane: '', priority: 10 }, rules, ''],
  ['a priority below all ranks', { lane: 'a/1', priority: 9 }, rules, 'a/1'],
  ['a priority between two ranks', { lane: 'a/1', priority: 11 }, rules, 'a/1'],
  ['a priority above all ranks', { lane: 'a/1', priority: 101 }, rules, 'a/1'],
])('a job that is never claimed because it has %s is reported once a minute', async (_, draft, lanes, lane) => {
  const { hub, clock } = await world()
  const errors: unknown[] = []
  const log = Object.assign(Object.create(hub.log), { error: (entry: unknown) => errors.push(entry) })
  await put(hub, [job('a/0', 0, { lane: lanes ? 'a/0' : '' }), job(lane, 1, { ...draft, runAt: clock.now() + 1_000 })])
  const here = runs(Object.assign(Object.create(hub), { log }) as Hub, { lanes })
  await here.take()
  here.end()
  await here.take()
  expect([here.started.length, errors]).toEqual([1, []])
  clock.advance(61_000)
  await here.take()
  await here.take()
  const entry = { kind, lane, priority: draft.priority }
  expect(errors).toEqual([expect.objectContaining(entry)])
  clock.advance(60_000)
  await here.take()
  expect(errors).toEqual([expect.objectContaining(entry), expect.objectContaining(entry)])
  expect(here.started).toHaveLength(1)
  await here.stop()
})
