import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { heldLanes, jobs } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import type { ClaimedJob, JobKind } from '../../src/core/jobs/job'
import { freeLanes, holdLane } from '../../src/core/jobs/lane-holds'
import type { LaneRules } from '../../src/core/jobs/lanes'
import { enqueue, type JobDraft } from '../../src/core/jobs/queue'
import { Worker } from '../../src/core/jobs/worker'
import { world } from '../support/world'

const kind = 'test.send'
const rules: LaneRules = {
  ranks: [10, 100],
  mostInLane: 8,
  mostInGroup: 64,
  laterShare: 0.5,
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

/** Runs that end when they are told to, in the order in which they began. */
function runs(hub: Hub, more: Partial<JobKind> = {}) {
  const began: ClaimedJob[] = []
  const ends: (() => void)[] = []
  const worker = new Worker(hub, [
    {
      kind,
      concurrency: 100,
      lanes: rules,
      leaseMs: 30_000,
      retryAfter: () => null,
      run: async (_, one) => {
        began.push(one)
        await new Promise<void>(resolve => ends.push(resolve))
        return undefined
      },
      ...more,
    },
  ])
  return {
    began,
    /** Lets the worker look until it takes no more. */
    async take() {
      for (let still = 0, before = -1; still < 3;) {
        worker.wake()
        // However long the database takes.
        await worker['looking']
        await Bun.sleep(12)
        still = began.length === before ? still + 1 : 0
        before = began.length
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

const countsBy = (began: ClaimedJob[], by: (one: ClaimedJob) => string) =>
  Object.fromEntries([...Map.groupBy(began, by)].map(([name, own]) => [name, own.length]))

test('lanes take turns, however much waits in each', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/1', 300), ...many('b/1', 300), ...many('c/1', 2)])
  const here = runs(hub, { concurrency: 12, lanes: { ...rules, mostInLane: 100 } })
  await here.take()
  expect(countsBy(here.began, one => one.lane)).toEqual({ 'a/1': 6, 'b/1': 4, 'c/1': 2 })
  await here.stop()
})

test('a lane is served in the order in which its jobs fall due, first runs before later ones', async () => {
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
  expect(here.began.map(one => one.payload.n)).toEqual([3, 2, 1])
  await here.stop()
})

test('no lane, and no group of lanes, has more under way than it may', async () => {
  const { hub } = await world()
  await put(hub, [...['a/1', 'a/2', 'a/3', 'b/1'].flatMap(lane => many(lane, 20))])
  const here = runs(hub, { lanes: { ...rules, mostInLane: 6, mostInGroup: 10 } })
  await here.take()
  expect(countsBy(here.began, one => one.lane.split('/')[0]!)).toEqual({ a: 10, b: 6 })
  expect(Math.max(...Object.values(countsBy(here.began, one => one.lane)))).toBe(6)
  here.end(3)
  await here.take()
  expect(here.began).toHaveLength(19)
  await here.stop()
})

test('later runs leave half of the room to first ones', async () => {
  const { hub } = await world()
  const later = Array.from({ length: 10 }, (_, n) => many(`a/${n}`, 10, { priority: 100 })).flat()
  await put(hub, later)
  const here = runs(hub, { concurrency: 20, lanes: { ...rules, mostInGroup: 16 } })
  await here.take()
  expect(here.began).toHaveLength(8)
  await put(hub, [...many('b/1', 30, { priority: 100 }), ...many('c/1', 30), ...many('d/1', 30)])
  await here.take()
  expect(countsBy(here.began, one => `${one.lane[0] === 'a' ? 'a' : 'others'} ${one.priority}`)).toEqual({
    'a 100': 8,
    'others 100': 2,
    'others 10': 10,
  })
  await here.stop()
})

test('slow lanes share a quarter of the room', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/slow1', 20), ...many('a/slow2', 20), ...many('a/well', 20)])
  const here = runs(hub, { concurrency: 16, lanes: { ...rules, mostInLane: 100, isSlow: (_, lane) => lane.includes('slow') } })
  await here.take()
  expect(countsBy(here.began, one => (one.lane.includes('slow') ? 'slow' : 'well'))).toEqual({ slow: 4, well: 12 })
  await here.stop()
})

test('a lane that is held waits, and is then tried by one job at a time until it is freed', async () => {
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
  expect(here.began.map(one => one.lane)).toEqual(['a/2'])
  // The timer of the worker wakes it; nothing else does.
  clock.advance(10_000)
  for (let tries = 0; tries < 1_000 && here.began.length < 2; tries++) await Bun.sleep(10)
  expect(here.began.map(one => one.lane)).toEqual(['a/2', 'a/1'])
  // That one has not ended, and another hub would not take a second one either.
  here.end()
  await here.take()
  expect(here.began).toHaveLength(2)
  await record(hub, async tx => {
    await freeLanes(tx, kind, ['a/1'])
    return { result: undefined }
  })
  await here.take()
  expect(here.began).toHaveLength(10)
  await here.stop()
})

test('a lane that another hub frees at the moment of a look stays free', async () => {
  const { hub, clock } = await world()
  await put(hub, many('a/1', 3))
  await record(hub, async tx => {
    await holdLane(tx, kind, 'a/1', clock.now() - 1)
    return { result: undefined }
  })
  const here = runs(hub)
  const looked = Promise.withResolvers<void>()
  const freeing = record(hub, async tx => {
    await freeLanes(tx, kind, ['a/1'])
    await looked.promise
    return { result: undefined }
  })
  await Bun.sleep(20)
  // It sees the lane held: that it is free is not committed yet.
  const taking = here.take()
  await Bun.sleep(20)
  looked.resolve()
  await freeing
  await taking
  await Bun.sleep(60)
  await here.take()
  expect(here.began).toHaveLength(3)
  expect(await hub.read.select().from(heldLanes)).toEqual([])
  await here.stop()
})

test('what waits for later in thousands of lanes is not gone through', async () => {
  const { hub, clock } = await world()
  const later = { runAt: clock.now() + 60_000, priority: 100 }
  await put(hub, [...Array.from({ length: 2000 }, (_, n) => job(`a/${n}`, n, later)), ...many('b/1', 3)])
  const here = runs(hub)
  await here.take()
  expect(here.began.map(one => one.lane)).toEqual(['b/1', 'b/1', 'b/1'])
  await here.stop()
  expect(await hub.read.select({ id: jobs.id }).from(jobs)).toHaveLength(2000)
})

test('each run is given what its claim read for it', async () => {
  const { hub } = await world()
  await put(hub, many('a/1', 5))
  const given: unknown[] = []
  let claims = 0
  const here = runs(hub, {
    take: async (_tx, _hub, claimed) => {
      claims++
      return new Map(claimed.filter(one => one.payload.n !== 2).map(one => [one.id, one.payload.n]))
    },
    run: async (_, one, taken) => {
      given.push([one.payload.n, taken])
      return undefined
    },
  })
  await here.take()
  expect(given.sort()).toEqual([
    [0, 0],
    [1, 1],
    [2, undefined],
    [3, 3],
    [4, 4],
  ])
  // Four, as its turn allows, and the rest.
  expect(claims).toBe(2)
  await here.stop()
})

test('a group that has begun all it may waits untouched, and lanes that are exempt go past it', async () => {
  const { hub, clock } = await world()
  const start = clock.now()
  await put(hub, [...many('a/1', 10), ...many('a/2', 10), ...many('a/3/free', 3), ...many('b/1', 6)])
  let asked = 0
  const began = () => here.began.filter(one => one.lane.startsWith('a/') && !one.lane.endsWith('/free')).length
  const rate: LaneRules['rate'] = {
    allowance: async (_tx, _hub, group) => {
      asked++
      const most = clock.now() < start + 5_000 ? 5 : 9
      return group === 'a' ? { left: most - began(), until: start + 5_000 } : null
    },
    exempts: lane => lane.endsWith('/free'),
  }
  const here = runs(hub, { lanes: { ...rules, rate } })
  await here.take()
  expect(countsBy(here.began, one => one.lane)).toEqual({ 'a/1': 4, 'a/2': 1, 'a/3/free': 3, 'b/1': 6 })
  const claims = asked
  // The timer of the worker wakes it; nothing else does.
  clock.advance(4_999)
  await Bun.sleep(50)
  expect(asked).toBe(claims)
  clock.advance(1)
  for (let tries = 0; tries < 1_000 && began() < 9; tries++) await Bun.sleep(10)
  expect(began()).toBe(9)
  const waiting = await hub.read.select().from(jobs).where(eq(jobs.state, 'ready'))
  expect(waiting.map(one => one.attempts)).toEqual(Array(11).fill(0))
  await here.stop()
})

test('of what a group may begin, later runs of any lane get what its first runs leave', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/1', 6, { priority: 100 }), ...many('a/2', 6), ...many('b/1', 1, { priority: 100 })])
  const rate: LaneRules['rate'] = {
    allowance: async (_tx, _hub, group) =>
      group === 'a' ? { left: 8 - here.began.filter(one => one.lane < 'b').length, until: Number.MAX_SAFE_INTEGER } : null,
    exempts: () => false,
  }
  const here = runs(hub, { lanes: { ...rules, rate } })
  await here.take()
  expect(here.began.map(one => `${one.lane} ${one.priority}`).sort()).toEqual(
    ['a/1 100', 'a/1 100', ...Array(6).fill('a/2 10'), 'b/1 100'].sort(),
  )
  await here.stop()
})

test('where there is never room to go round, later runs of a group with a limit have their turns too', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/1', 6, { priority: 100 }), ...many('b/1', 100), ...many('c/1', 100), ...many('d/1', 100)])
  const rate: LaneRules['rate'] = {
    allowance: async (_tx, _hub, group) => (group === 'a' ? { left: 50, until: 0 } : null),
    exempts: () => false,
  }
  const here = runs(hub, { concurrency: 4, lanes: { ...rules, rate } })
  const later = () => here.began.filter(one => one.lane === 'a/1').length
  for (let n = 0; n < 60 && later() < 6; n++) {
    await here.take()
    here.end()
  }
  // All of them, while hundreds of first runs wait.
  expect(later()).toBe(6)
  expect(here.began.length).toBeLessThan(250)
  await here.stop()
})

test('first runs that find no room do not keep later ones of their group waiting', async () => {
  const { hub } = await world()
  await put(hub, [...many('a/1', 20), ...many('a/2', 4, { priority: 100 })])
  const rate: LaneRules['rate'] = { allowance: async () => ({ left: 100, until: 0 }), exempts: () => false }
  const here = runs(hub, { lanes: { ...rules, rate } })
  await here.take()
  expect(countsBy(here.began, one => one.lane)).toEqual({ 'a/1': 8, 'a/2': 4 })
  await here.stop()
})

test.each<[string, Partial<JobDraft>, LaneRules | undefined, string]>([
  ['a lane where its kind has no rules', { lane: 'a/1', priority: 10 }, undefined, 'a/1'],
  ['no lane where its kind has rules', { lane: '', priority: 10 }, rules, ''],
  ['a priority below all ranks', { lane: 'a/1', priority: 9 }, rules, 'a/1'],
  ['a priority between two ranks', { lane: 'a/1', priority: 11 }, rules, 'a/1'],
  ['a priority above all ranks', { lane: 'a/1', priority: 101 }, rules, 'a/1'],
])('a job that is never taken, for it has %s, is reported, and once a minute', async (_, draft, lanes, lane) => {
  const { hub, clock } = await world()
  const errors: unknown[] = []
  const log = Object.assign(Object.create(hub.log), { error: (told: unknown) => errors.push(told) })
  await put(hub, [job('a/0', 0, { lane: lanes ? 'a/0' : '' }), job(lane, 1, { ...draft, runAt: clock.now() + 1_000 })])
  const here = runs(Object.assign(Object.create(hub), { log }) as Hub, { lanes })
  await here.take()
  here.end()
  await here.take()
  expect([here.began.length, errors]).toEqual([1, []])
  clock.advance(61_000)
  await here.take()
  await here.take()
  const told = { kind, lane, priority: draft.priority }
  expect(errors).toEqual([expect.objectContaining(told)])
  clock.advance(60_000)
  await here.take()
  expect(errors).toEqual([expect.objectContaining(told), expect.objectContaining(told)])
  expect(here.began).toHaveLength(1)
  await here.stop()
})
