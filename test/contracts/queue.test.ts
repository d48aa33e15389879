import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { counters, hubs, jobs } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import { claim } from '../../src/core/jobs/claim'
import type { JobKind } from '../../src/core/jobs/job'
import { enqueue, reap, type JobDraft } from '../../src/core/jobs/queue'
import { Worker } from '../../src/core/jobs/worker'
import { world } from '../support/world'

const put = (hub: Hub, ...drafts: JobDraft[]) => record(hub, async () => ({ result: undefined, jobs: drafts }))
const take = (hub: Hub, kind: string, limit: number, leaseMs = 30_000) => record(hub, async tx => ({ result: await claim(tx, hub, kind, leaseMs, limit) }))
const job = (n: number, more: Partial<JobDraft> = {}): JobDraft => ({ kind: 'test.run', payload: { n }, ...more })

/** A kind that does what `run` says; gives up after `tries` runs. */
const kindOf = (run: JobKind['run'], more: Partial<JobKind> = {}): JobKind => ({ kind: 'test.run', concurrency: 4, leaseMs: 30_000, retryAfter: attempts => (attempts >= 3 ? null : attempts * 1000), run, ...more })

test('no two claims get the same job, and the most urgent goes first', async () => {
  const { hub } = await world()
  await put(hub, ...Array.from({ length: 60 }, (_, n) => job(n, { priority: n % 2 ? 10 : 100 })))
  const claims = await Promise.all(Array.from({ length: 8 }, () => take(hub, 'test.run', 5)))
  const taken = claims.flat()
  expect(new Set(taken.map(one => one.id)).size).toBe(taken.length)
  // PostgreSQL may leave out rows that another claim just looks at, but never takes a less urgent one before its own more urgent.
  for (const one of claims) expect(one.map(row => Number(row.payload.n) % 2)).toEqual([...one.map(row => Number(row.payload.n) % 2)].sort().reverse())
  expect(taken.every(one => one.attempts === 1)).toBe(true)
})

test('a job is not taken before its time', async () => {
  const { hub, clock } = await world()
  await put(hub, job(1, { runAt: clock.now() + 5000 }))
  expect(await take(hub, 'test.run', 5)).toEqual([])
  clock.advance(5000)
  expect(await take(hub, 'test.run', 5)).toHaveLength(1)
})

test('of jobs with the same key one waits at a time, and a running one does not count', async () => {
  const { hub } = await world()
  await put(hub, job(1, { uniqueKey: 'k' }), job(2, { uniqueKey: 'k' }))
  expect((await take(hub, 'test.run', 5)).map(one => one.payload.n)).toEqual([1])
  await put(hub, job(3, { uniqueKey: 'k' }))
  expect((await take(hub, 'test.run', 5)).map(one => one.payload.n)).toEqual([3])
})

test('what a job found out and its end are one transaction', async () => {
  const { hub } = await world()
  let fail = true
  const worker = new Worker(hub, [kindOf(async () => async tx => {
    await tx.insert(counters).values({ name: 'result', value: 1 })
    if (fail) throw new Error('the disk is full')
    return { result: undefined }
  })])
  await put(hub, job(1))
  await worker.idle()
  expect(await hub.read.select().from(counters).where(eq(counters.name, 'result'))).toHaveLength(0)
  expect((await hub.read.select().from(jobs))[0]).toMatchObject({ state: 'ready', attempts: 1, lastError: 'the disk is full' })
  fail = false
  await worker.stop(1000)
})

test('a job that fails is run again at its computed times, then set aside with its error', async () => {
  const { hub, clock } = await world()
  const runs: number[] = []
  const start = clock.now()
  const worker = new Worker(hub, [kindOf(async () => { runs.push(clock.now() - start); throw new Error('broken') })])
  await put(hub, job(1))
  await worker.idle()
  for (let n = 0; n < 5; n++) {
    clock.advance(1000)
    await worker.idle()
  }
  expect(runs).toEqual([0, 1000, 3000])
  expect((await hub.read.select().from(jobs))[0]).toMatchObject({ state: 'failed', lastError: 'broken', lockedBy: null })
  await worker.stop(1000)
})

test('a kind never runs more at once than it may', async () => {
  const { hub } = await world()
  let now = 0
  let most = 0
  const worker = new Worker(hub, [kindOf(async () => {
    most = Math.max(most, ++now)
    await Bun.sleep(2)
    now--
    return undefined
  })])
  await put(hub, ...Array.from({ length: 30 }, (_, n) => job(n)))
  await worker.idle()
  expect(most).toBe(4)
  expect(await hub.read.select().from(jobs)).toEqual([])
  await worker.stop(1000)
})

test('a job may ask for another run', async () => {
  const { hub, clock } = await world()
  let runs = 0
  const worker = new Worker(hub, [kindOf(async () => async () => ({ result: ++runs < 3 ? { again: clock.now() + 10_000 } : undefined }))])
  await put(hub, job(1))
  for (let n = 0; n < 4; n++) {
    await worker.idle()
    clock.advance(10_000)
  }
  expect(runs).toBe(3)
  expect(await hub.read.select().from(jobs)).toEqual([])
  await worker.stop(1000)
})

test('the jobs of a hub that died go to another, and the dead one’s late end is not written', async () => {
  const { hub, clock } = await world()
  const dead: Hub = { ...hub, id: 'hub_dead' }
  await record(hub, async tx => {
    await tx.insert(hubs).values({ id: dead.id, host: 'x', version: 'x', startedAt: clock.now(), seenAt: clock.now() })
    return { result: undefined }
  })
  let release = () => {}
  const held = new Promise<void>(resolve => { release = resolve })
  let wrote = ''
  const slow = new Worker(dead, [kindOf(async () => {
    await held
    return async () => { wrote += 'dead '; return { result: undefined } }
  })])
  await put(dead, job(1))
  while ((await hub.read.select().from(jobs))[0]?.state !== 'running') { slow.wake(); await Bun.sleep(1) }

  expect(await record(hub, async tx => ({ result: await reap(tx, hub) }))).toBe(0)
  clock.advance(16_000)
  await record(hub, async tx => {
    await tx.update(hubs).set({ seenAt: clock.now() }).where(eq(hubs.id, hub.id))
    return { result: await reap(tx, hub) }
  })
  const live = new Worker(hub, [kindOf(async () => async () => { wrote += 'live '; return { result: undefined } })])
  live.wake()
  await live.idle()
  release()
  await slow.stop(2000)
  // The dead one's step may run, but its transaction is undone because the job is gone.
  expect(wrote.startsWith('live')).toBe(true)
  expect(await hub.read.select().from(jobs)).toEqual([])
  await live.stop(1000)
})

test('stopping waits for what runs and takes nothing more', async () => {
  const { hub } = await world()
  const ended: number[] = []
  const worker = new Worker(hub, [kindOf(async (_, one) => {
    await Bun.sleep(20)
    ended.push(Number(one.payload.n))
    return undefined
  }, { concurrency: 1 })])
  await put(hub, job(1), job(2))
  worker.wake()
  while (worker.counts()['test.run'] === 0) await Bun.sleep(1)
  await worker.stop(5000)
  expect(ended).toEqual([1])
  expect(await hub.read.select().from(jobs)).toHaveLength(1)
})

test('many jobs are added in one change', async () => {
  const { hub } = await world()
  await record(hub, async tx => {
    await enqueue(tx, hub, Array.from({ length: 450 }, (_, n) => job(n)))
    return { result: undefined }
  })
  expect(await hub.read.select({ id: jobs.id }).from(jobs)).toHaveLength(450)
})
