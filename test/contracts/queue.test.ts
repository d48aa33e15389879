import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { eq, sql } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { sqliteFile } from '../../src/core/config'
import { isPostgres } from '../../src/core/db/dialect'
import { counters, hubs, jobs } from '../../src/core/db/tables'
import type { Tx } from '../../src/core/db/transaction'
import type { Hub } from '../../src/core/hub'
import { dueJobs, lease } from '../../src/core/jobs/claim'
import type { JobKind } from '../../src/core/jobs/job'
import { enqueue, reap } from '../../src/core/jobs/queue'
import type { JobDraft } from '../../src/core/jobs/draft'
import { Worker } from '../../src/core/jobs/worker'
import { openLog } from '../../src/core/log'
import type { ManualClock } from '../support/manual-clock'
import { world } from '../support/world'

const put = (hub: Hub, ...drafts: JobDraft[]) => record(hub, async () => ({ result: undefined, jobs: drafts }))
const take = (hub: Hub, kind: string, limit: number, leaseMs = 30_000) =>
  record(hub, async tx => ({ result: await lease(tx, hub, await dueJobs(tx, hub, kind, limit), leaseMs) }))
const job = (n: number, more: Partial<JobDraft> = {}): JobDraft => ({ kind: 'test.run', payload: { n }, ...more })

/** A kind with the given `run`; fails permanently after `tries` runs. */
const kindOf = (run: JobKind['run'], more: Partial<JobKind> = {}): JobKind => ({
  kind: 'test.run',
  concurrency: 4,
  leaseMs: 30_000,
  retryAfter: attempts => (attempts >= 3 ? null : attempts * 1000),
  run,
  ...more,
})

/** The query plans of the engine. */
async function plansOf({ config }: Hub, queries: string[]): Promise<string[]> {
  if (!isPostgres) {
    using db = new Database(sqliteFile(config), { readonly: true })
    return queries.map(query => db.query(`explain query plan ${query}`).values().flat().join('\n'))
  }
  const db = new SQL(config.databaseUrl!, { max: 1 })
  await db.unsafe('analyze jobs')
  const plans: string[] = []
  for (const query of queries) plans.push((await db.unsafe(`explain ${query}`).values()).flat().join('\n'))
  await db.close()
  return plans
}

test('no two claims get the same job, and priorities are respected', async () => {
  const { hub } = await world()
  await put(hub, ...Array.from({ length: 60 }, (_, n) => job(n, { priority: n % 2 ? 10 : 100 })))
  const claims = await Promise.all(Array.from({ length: 8 }, () => take(hub, 'test.run', 5)))
  const claimed = claims.flat()
  expect(new Set(claimed.map(one => one.id)).size).toBe(claimed.length)
  // PostgreSQL may skip rows locked by another claim, but never claims a lower priority before a higher one.
  for (const one of claims)
    expect(one.map(row => Number(row.payload.n) % 2)).toEqual([...one.map(row => Number(row.payload.n) % 2)].sort().reverse())
  expect(claimed.every(one => one.attempts === 1)).toBe(true)
})

test('a claim goes through the priorities in order and stops at its limit', async () => {
  const { hub, clock } = await world()
  const later = { runAt: clock.now() + 60_000 }
  await put(
    hub,
    job(1, { priority: 100 }),
    job(2, { priority: 5 }),
    job(3, { priority: -3 }),
    job(4, { priority: 5, runAt: clock.now() - 1 }),
    job(5, { priority: -3, ...later }),
    job(6, { priority: 7, ...later }),
  )
  expect((await take(hub, 'test.run', 3)).map(one => one.payload.n)).toEqual([3, 4, 2])
  expect((await take(hub, 'test.run', 3)).map(one => one.payload.n)).toEqual([1])
  expect(await take(hub, 'test.run', 3)).toEqual([])
})

test('finding the next job scans neither scheduled nor due jobs', async () => {
  const { hub, clock } = await world()
  await put(hub, ...Array.from({ length: 3000 }, (_, n) => job(n, { priority: n % 2 ? 10 : 100, runAt: clock.now() + n - 1500 })))
  const one = `state = 'ready' and kind = 'test.run'`
  const plans = await plansOf(hub, [
    `select min(run_at) from jobs where ${one}`,
    `select min(priority) from jobs where ${one} and lane = '' and priority > 10`,
    `select id from jobs where ${one} and lane = '' and priority = 10 and run_at <= ${clock.now()} order by run_at limit 20`,
    `select min(+run_at) from jobs where ${one} and lane = 'ws_1/whe_1'`,
  ])
  expect(plans.map(plan => /jobs_\w+/.exec(plan)?.[0])).toEqual(['jobs_next', 'jobs_due', 'jobs_due', 'jobs_due'])
  expect(plans.filter(plan => /sort|temp b-tree|\bscan jobs\b/i.test(plan))).toEqual([])
})

test('a job is not claimed before its time', async () => {
  const { hub, clock } = await world()
  await put(hub, job(1, { runAt: clock.now() + 5000 }))
  expect(await take(hub, 'test.run', 5)).toEqual([])
  clock.advance(5000)
  expect(await take(hub, 'test.run', 5)).toHaveLength(1)
})

test('only one job with the same key can wait, not counting a running one', async () => {
  const { hub } = await world()
  await put(hub, job(1, { uniqueKey: 'k' }), job(2, { uniqueKey: 'k' }))
  expect((await take(hub, 'test.run', 5)).map(one => one.payload.n)).toEqual([1])
  await put(hub, job(3, { uniqueKey: 'k' }))
  expect((await take(hub, 'test.run', 5)).map(one => one.payload.n)).toEqual([3])
})

test('the result of a job and its deletion are one transaction', async () => {
  const { hub } = await world()
  let fail = true
  const worker = new Worker(hub, [
    kindOf(async () => async tx => {
      await tx.insert(counters).values({ name: 'result', value: 1 })
      if (fail) throw new Error('the disk is full')
      return { result: undefined }
    }),
  ])
  await put(hub, job(1))
  await worker.idle()
  expect(await hub.read.select().from(counters).where(eq(counters.name, 'result'))).toHaveLength(0)
  expect((await hub.read.select().from(jobs))[0]).toMatchObject({ state: 'ready', attempts: 1, lastError: 'the disk is full' })
  fail = false
  await worker.stop(1000)
})

test('a failing job is retried on schedule, then marked as failed with its error', async () => {
  const { hub, clock } = await world()
  const runs: number[] = []
  const start = clock.now()
  const worker = new Worker(hub, [
    kindOf(async () => {
      runs.push(clock.now() - start)
      throw new Error('broken')
    }),
  ])
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

test('a kind never exceeds its concurrency', async () => {
  const { hub } = await world()
  let now = 0
  let max = 0
  const worker = new Worker(hub, [
    kindOf(async () => {
      max = Math.max(max, ++now)
      await Bun.sleep(2)
      now--
      return undefined
    }),
  ])
  await put(hub, ...Array.from({ length: 30 }, (_, n) => job(n)))
  await worker.idle()
  expect(max).toBe(4)
  expect(await hub.read.select().from(jobs)).toEqual([])
  await worker.stop(1000)
})

test('a job can request another run', async () => {
  const { hub, clock } = await world()
  let runs = 0
  const worker = new Worker(hub, [
    kindOf(async () => async () => ({ result: ++runs < 3 ? { again: clock.now() + 10_000 } : undefined })),
  ])
  await put(hub, job(1))
  for (let n = 0; n < 4; n++) {
    await worker.idle()
    clock.advance(10_000)
  }
  expect(runs).toBe(3)
  expect(await hub.read.select().from(jobs)).toEqual([])
  await worker.stop(1000)
})

test('jobs of a dead hub are claimed by another, and late results of the dead hub are not recorded', async () => {
  const { hub, clock } = await world()
  const dead: Hub = { ...hub, id: 'hub_dead' }
  await record(hub, async tx => {
    await tx.insert(hubs).values({ id: dead.id, host: 'x', version: 'x', startedAt: clock.now(), seenAt: clock.now() })
    return { result: undefined }
  })
  let release = () => {}
  const blocked = new Promise<void>(resolve => {
    release = resolve
  })
  let wrote = ''
  const slow = new Worker(dead, [
    kindOf(async () => {
      await blocked
      return async () => {
        wrote += 'dead '
        return { result: undefined }
      }
    }),
  ])
  await put(dead, job(1))
  while ((await hub.read.select().from(jobs))[0]?.state !== 'running') {
    slow.wake()
    await Bun.sleep(1)
  }

  expect(await record(hub, async tx => ({ result: await reap(tx, hub) }))).toBe(0)
  clock.advance(16_000)
  await record(hub, async tx => {
    await tx.update(hubs).set({ seenAt: clock.now() }).where(eq(hubs.id, hub.id))
    return { result: await reap(tx, hub) }
  })
  const live = new Worker(hub, [
    kindOf(async () => async () => {
      wrote += 'live '
      return { result: undefined }
    }),
  ])
  live.wake()
  await live.idle()
  release()
  await slow.stop(2000)
  // The dead hub's function may run, but its transaction is rolled back because the job is gone.
  expect(wrote.startsWith('live')).toBe(true)
  expect(await hub.read.select().from(jobs)).toEqual([])
  await live.stop(1000)
})

test('a run with an expired lease records nothing, even if the same process has claimed the job again', async () => {
  const { hub, clock } = await world()
  const gates: PromiseWithResolvers<void>[] = []
  const wrote: number[] = []
  const worker = new Worker(hub, [
    kindOf(async () => {
      const run = gates.push(Promise.withResolvers<void>())
      await gates[run - 1]!.promise
      return async () => {
        wrote.push(run)
        return { result: undefined }
      }
    }),
  ])
  await put(hub, job(1))
  const untilStarted = async (runs: number) => {
    while (gates.length < runs) {
      worker.wake()
      await Bun.sleep(1)
    }
  }
  await untilStarted(1)
  // As after a suspended machine: the run continues late.
  clock.advance(30_001)
  await record(hub, async tx => ({ result: await reap(tx, hub) }))
  await untilStarted(2)
  gates[0]!.resolve()
  await Bun.sleep(30)
  expect(await hub.read.select().from(jobs)).toMatchObject([{ state: 'running', attempts: 1, lostRuns: 1 }])
  gates[1]!.resolve()
  await worker.stop(2000)
  expect(wrote.at(-1)).toBe(2)
  expect(await hub.read.select().from(jobs)).toEqual([])
})

/** An error of a connection that was lost. */
const lostConnection = () => Object.assign(new Error('Connection closed'), { code: 'ERR_POSTGRES_CONNECTION_CLOSED' })

test('during an outage, the result of a run is kept until it can be recorded, and the run is not repeated', async () => {
  const { hub } = await world()
  const { transact } = hub.store
  let runs = 0
  let tries = 0
  const worker = new Worker(hub, [
    kindOf(async () => {
      runs++
      hub.store.transact = async fn => {
        tries++
        if (tries === 2) hub.store.transact = transact
        // The outcome of the second commit is unknown to the hub.
        if (tries === 2) await transact(fn)
        throw lostConnection()
      }
      return async tx => ({ result: await add(tx) })
    }),
  ])
  const add = async (tx: Tx) => void (await tx.insert(counters).values({ name: 'runs', value: 1 }).onConflictDoNothing())
  await put(hub, job(1))
  worker.wake()
  await worker.idle()
  expect([runs, tries]).toEqual([1, 2])
  expect(await hub.read.select().from(jobs)).toEqual([])
  await worker.stop(2000)
}, 180_000)

test('a run that fails because of an outage is retried without counting as an attempt', async () => {
  const { hub, clock } = await world()
  let runs = 0
  const worker = new Worker(hub, [
    kindOf(async () => {
      if (++runs <= 5) throw lostConnection()
      return undefined
    }),
  ])
  await put(hub, job(1))
  for (let n = 0; n < 6; n++) {
    worker.wake()
    await worker.idle()
    clock.advance(1000)
  }
  expect(runs).toBe(6)
  expect(await hub.read.select().from(jobs)).toEqual([])
  await worker.stop(2000)
})

test('a job whose claim was committed although the connection was lost is run soon', async () => {
  const { hub } = await world()
  const { transact } = hub.store
  let runs = 0
  const worker = new Worker(hub, [kindOf(async () => void runs++ as undefined)])
  await put(hub, job(1))
  hub.store.transact = async fn => {
    hub.store.transact = transact
    await transact(fn)
    throw lostConnection()
  }
  worker.wake()
  await worker.idle()
  expect(runs).toBe(1)
  expect(await hub.read.select().from(jobs)).toEqual([])
  await worker.stop(2000)
})

test('of several replacing drafts in one change, the last one wins', async () => {
  const { hub } = await world()
  await put(hub, ...[1, 2, 3].map(n => job(n, { uniqueKey: 'k', replaces: true })), job(4, { uniqueKey: 'l', replaces: true }))
  expect((await take(hub, 'test.run', 5)).map(one => one.payload.n).sort()).toEqual([3, 4])
})

test('of several replacing drafts in one change, a kind that may run early keeps the earliest time', async () => {
  const { hub, clock } = await world()
  const draft = (n: number, ms: number) => job(n, { uniqueKey: 'k', replaces: true, earliest: true, runAt: clock.now() + ms })
  await put(hub, draft(1, 2000), draft(2, 1000), draft(3, 3000))
  const [stored] = await hub.read.select().from(jobs)
  expect([stored!.payload, stored!.runAt]).toEqual([{ n: 3 }, clock.now() + 1000])
})

/** Claims due jobs and loses them, like a process that dies; returns their number. */
async function loseRun(hub: Hub, clock: ManualClock): Promise<number> {
  // Longer than any delay after a loss.
  clock.advance(900_000)
  const claimed = await take(hub, 'test.run', 5)
  clock.advance(30_001)
  await record(hub, async tx => ({ result: await reap(tx, hub) }))
  return claimed.length
}

test('a job lost with its process 25 times in a row is marked as failed', async () => {
  const { hub, clock } = await world()
  await put(hub, job(1))
  for (let n = 0; n < 24; n++) expect(await loseRun(hub, clock)).toBe(1)
  expect((await hub.read.select().from(jobs))[0]).toMatchObject({ state: 'ready', lostRuns: 24, attempts: 0 })
  expect(await loseRun(hub, clock)).toBe(1)
  expect((await hub.read.select().from(jobs))[0]).toMatchObject({
    state: 'failed',
    attempts: 25,
    failedAt: clock.now(),
    lockedBy: null,
    lastError: 'Started 25 times in a row and never finished.',
  })
})

test('a job lost repeatedly waits longer each time, and lets others run', async () => {
  const { hub, clock } = await world()
  await put(hub, job(1))
  for (const seconds of [0, 1, 4, 9]) {
    await loseRun(hub, clock)
    const delay = Math.max(0, (await hub.read.select().from(jobs))[0]!.runAt - clock.now())
    expect(delay).toBeGreaterThanOrEqual(seconds * 500)
    expect(delay).toBeLessThanOrEqual(seconds * 1500)
  }
  await put(hub, job(2))
  expect((await take(hub, 'test.run', 1)).map(one => one.payload.n)).toEqual([2])
  clock.advance(13_500)
  expect((await take(hub, 'test.run', 1)).map(one => one.payload.n)).toEqual([1])
})

test('jobs lost together repeatedly run at different times', async () => {
  const { hub, clock } = await world()
  await put(hub, ...Array.from({ length: 5 }, (_, n) => job(n)))
  for (let n = 0; n < 10; n++) expect(await loseRun(hub, clock)).toBe(5)
  const times = (await hub.read.select().from(jobs)).map(one => one.runAt)
  expect(new Set(times).size).toBeGreaterThan(1)
})

test('finished runs are not counted as lost: a job that retries forever survives a kill', async () => {
  const { hub, clock } = await world()
  const worker = new Worker(hub, [
    kindOf(
      async () => {
        throw new Error('broken')
      },
      { retryAfter: () => 1000 },
    ),
  ])
  await put(hub, job(1))
  await worker.idle()
  for (let n = 0; n < 30; n++) {
    clock.advance(1000)
    await worker.idle()
  }
  await worker.stop(1000)
  clock.advance(1000)
  for (let n = 0; n < 24; n++) expect(await loseRun(hub, clock)).toBe(1)
  expect((await hub.read.select().from(jobs))[0]).toMatchObject({ state: 'ready', attempts: 31, lostRuns: 24 })

  const again = new Worker(hub, [
    kindOf(
      async () => {
        throw new Error('broken')
      },
      { retryAfter: () => 1000 },
    ),
  ])
  clock.advance(900_000)
  await again.idle()
  await again.stop(1000)
  expect((await hub.read.select().from(jobs))[0]).toMatchObject({ state: 'ready', lostRuns: 0 })
})

test('values in database errors are neither logged nor stored with the job', async () => {
  const { hub } = await world()
  const lines: string[] = []
  const spied: Hub = {
    ...hub,
    log: openLog('debug', {
      write: line => {
        lines.push(line)
      },
    }),
  }
  const planted = 'planted-secret'
  await record(hub, async tx => {
    await tx.insert(counters).values({ name: planted, value: 1 })
    return { result: undefined }
  })
  const faults: ((tx: Tx) => Promise<unknown>)[] = [
    tx => tx.insert(counters).values({ name: planted, value: 2 }),
    tx => tx.insert(counters).values({ name: `${planted} 2`, value: null as never }),
    tx => tx.insert(counters).values({ name: planted, value: planted as never, more: planted } as never),
    tx => tx.select({ n: sql`cast(${planted} as integer) + no_such_column` }).from(counters),
  ]
  for (const [n, fault] of faults.entries()) {
    const worker = new Worker(spied, [
      kindOf(async () => async tx => ({ result: (await fault(tx), undefined) }), { kind: `write.${n}`, retryAfter: () => null }),
      kindOf(async () => void (await fault(hub.read as Tx)), { kind: `read.${n}`, retryAfter: () => null }),
    ])
    await put(hub, job(n, { kind: `write.${n}` }), job(n, { kind: `read.${n}` }))
    await worker.idle()
    await worker.stop(1000)
  }
  const rows = await hub.read.select().from(jobs)
  expect(rows.map(row => row.state)).toEqual(rows.map(() => 'failed'))
  expect(rows).toHaveLength(2 * faults.length)
  expect(lines.filter(line => line.includes('a job failed'))).toHaveLength(rows.length)
  expect(`${lines.join('')}${rows.map(row => row.lastError).join('\n')}`).not.toContain(planted)
  // The error itself is still reported.
  expect(rows.find(row => row.kind === 'write.0')!.lastError).toMatch(/unique constraint/i)
})

test('stopping waits for running jobs and stops claiming', async () => {
  const { hub } = await world()
  const ended: number[] = []
  const worker = new Worker(hub, [
    kindOf(
      async (_, one) => {
        await Bun.sleep(20)
        ended.push(Number(one.payload.n))
        return undefined
      },
      { concurrency: 1 },
    ),
  ])
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
    await enqueue(
      tx,
      hub,
      Array.from({ length: 450 }, (_, n) => job(n)),
    )
    return { result: undefined }
  })
  expect(await hub.read.select({ id: jobs.id }).from(jobs)).toHaveLength(450)
})
