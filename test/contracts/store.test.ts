import type { SQL } from 'bun'
import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { count, eq, sql } from 'drizzle-orm'
import { change, jobContext, record, systemActor } from '../../src/core/change'
import { auditEntries, counters, events, jobs } from '../../src/core/db/tables'
import { prepared } from '../../src/core/db/prepared'
import { NestedTransaction, type Reader } from '../../src/core/db/transaction'
import { sqliteFile } from '../../src/core/config'
import { isPostgres } from '../../src/core/db/dialect'
import { openSqlite } from '../../src/core/db/store'
import { violation } from '../../src/core/db/errors'
import { plans, workspaces } from '../../src/access/tables'
import { eventKind } from '../../src/features/event-kinds'
import { renewPresence } from '../../src/hub/presence'
import { fullCtx } from '../support/full-ctx'
import { world, type World } from '../support/world'

const bump = (w: World, name: string) =>
  record(w.hub, async tx => {
    await tx.insert(counters).values({ name, value: 1 })
    return { result: undefined }
  })
const has = async (w: World, name: string) =>
  (await w.hub.read.select().from(counters).where(eq(counters.name, name))).length === 1

const ctxOf = (w: World) => fullCtx(w.hub, w.acme.workspaceId)

test('of changes committed together, only the failing one is rolled back', async () => {
  const w = await world()
  const results = await Promise.allSettled([
    bump(w, 'a'),
    record(w.hub, async tx => {
      await tx.insert(counters).values({ name: 'b', value: 1 })
      throw new Error('no')
    }),
    bump(w, 'a'),
    bump(w, 'c'),
  ])
  expect(results.map(one => one.status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
  expect([await has(w, 'a'), await has(w, 'b'), await has(w, 'c')]).toEqual([true, false, true])
})

test('a change whose jobs can’t be stored leaves none of its other rows behind', async () => {
  const w = await world()
  const rows = async () => (await w.hub.read.select({ n: count() }).from(auditEntries))[0]!.n
  const before = await rows()
  const about = { actor: systemActor('test'), context: jobContext, targets: [], workspaceId: w.acme.workspaceId }
  const audits = Array.from({ length: 1000 }, () => ({ ...about, action: 'account.resource.read' as const }))
  const failing = record(w.hub, async () => ({ result: undefined, audits, jobs: [{ kind: null as never, payload: {} }] }))
  const [failed] = await Promise.allSettled([failing, bump(w, 'a')])
  expect(failed.status === 'rejected' && violation(failed.reason)).toBe('not_null')
  expect(await has(w, 'a')).toBe(true)
  expect(await rows()).toBe(before)
})

test('a prepared statement is built once for all transactions and readers', async () => {
  const w = await world()
  let built = 0
  const find = (read: Reader) =>
    prepared(read, 'test-built-once', handle => {
      built++
      return handle
        .select()
        .from(counters)
        .where(eq(counters.name, sql.placeholder('name')))
    }).execute({ name: 'built-once' })
  await bump(w, 'built-once')
  const expected = [{ name: 'built-once', value: 1, head: null }]
  for (let n = 0; n < 2; n++) await record(w.hub, async tx => ({ result: expect(await find(tx)).toEqual(expected) }))
  expect(await find(w.hub.read)).toEqual(expected)
  expect(built).toBe(1)
})

test.skipIf(!isPostgres)('after the counters are locked, the rows of a change are sent in one round trip', async () => {
  const w = await world()
  let [inFlight, trips] = [0, 0]
  await record(w.hub, async tx => {
    const { session } = tx as unknown as { session: { client: SQL } }
    const { client } = session
    const tracked = async <T>(query: Promise<T>): Promise<T> => {
      if (inFlight++ === 0) trips++
      try {
        return await query
      } finally {
        inFlight--
      }
    }
    const unsafe = (...args: Parameters<SQL['unsafe']>) => {
      const query = client.unsafe(...args)
      return {
        values: () => tracked(query.values()),
        // oxlint-disable-next-line unicorn/no-thenable -- like a query of Bun, it is sent when it is awaited
        then: (...on: Parameters<Promise<unknown>['then']>) => tracked(query.execute()).then(...on),
      }
    }
    session.client = { unsafe } as never
    const { workspaceId } = w.acme
    const resource = { type: 'monitor', id: 'mon_1' }
    return {
      result: undefined,
      audits: [{ workspaceId, action: 'monitor.update', actor: systemActor('test'), context: jobContext, targets: [] }],
      events: [{ workspaceId, kind: 'monitor.alert', resource, data: eventKind('monitor.alert')!.example as never }],
      jobs: [{ kind: 'test.none', payload: {} }],
    }
  })
  expect(trips).toBe(2)
})

test.skipIf(isPostgres)('a change that was made before compiles no statement', async () => {
  const w = await world()
  const create = () =>
    w.acme.call('POST', '/v1/heartbeats', { name: 'job', schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 } })
  // Once, the use of the data key is checked.
  for (let n = 0; n < 2; n++) await create()
  const compiled = spyOn(Database.prototype, 'prepare')
  await create()
  expect(compiled.mock.calls).toEqual([])
  compiled.mockRestore()
})

test('a reader never sees uncommitted data', async () => {
  const w = await world()
  await record(w.hub, async tx => {
    await tx.insert(counters).values({ name: 'seen', value: 1 })
    expect(await has(w, 'seen')).toBe(false)
    return { result: undefined }
  })
  expect(await has(w, 'seen')).toBe(true)
})

test.skipIf(isPostgres)(
  'the version changes with commits of this process and of others, but not with renewals of leases',
  async () => {
    const w = await world()
    const seen = new Set([w.hub.store.version()])
    const isNew = () => seen.size < seen.add(w.hub.store.version()).size
    expect(isNew()).toBe(false)
    await bump(w, 'a')
    expect(isNew()).toBe(true)
    await renewPresence(w.hub)
    expect(isNew()).toBe(false)
    const other = await openSqlite(sqliteFile(w.hub.config), { isDurable: false })
    expect(isNew()).toBe(false)
    await other.transact(tx => tx.insert(counters).values({ name: 'b', value: 1 }))
    expect(isNew()).toBe(true)
    await other.close()
    isNew()
    expect(isNew()).toBe(false)
  },
)

test('a nested transaction is rejected and rolls back both', async () => {
  const w = await world()
  const outer = record(w.hub, async tx => {
    await tx.insert(counters).values({ name: 'outer', value: 1 })
    await bump(w, 'inner')
    return { result: undefined }
  })
  await expect(outer).rejects.toBeInstanceOf(NestedTransaction)
  expect([await has(w, 'outer'), await has(w, 'inner')]).toEqual([false, false])
})

test('a failing change leaves no row, audit event, event or job', async () => {
  const w = await world()
  const counted = async () =>
    Promise.all([auditEntries, events, jobs].map(async table => (await w.hub.read.select({ n: count() }).from(table))[0]!.n))
  const before = await counted()
  const alert = eventKind('monitor.alert')!
  const attempt = (fail: boolean) =>
    change(ctxOf(w), 'heartbeat.update', async tx => {
      await tx.insert(counters).values({ name: `half ${fail}`, value: 1 })
      return {
        result: undefined,
        target: { type: 'heartbeat', id: 'hb_1', name: null },
        events: [
          {
            workspaceId: w.acme.workspaceId,
            kind: 'monitor.alert',
            resource: { type: 'heartbeat', id: 'hb_1' },
            data: alert.example as never,
          },
        ],
        jobs: [{ kind: fail ? (null as never) : 'webhooks.dispatch', payload: { event_id: 'none' }, runAt: w.clock.now() + 1e9 }],
      }
    })
  await expect(attempt(true)).rejects.toThrow()
  expect(await counted()).toEqual(before)
  expect(await has(w, 'half true')).toBe(false)
  await attempt(false)
  expect(await counted()).toEqual([before[0]! + 1, before[1]! + 1, before[2]! + 2])
})

test('audit numbers are gapless despite failures', async () => {
  const w = await world()
  await Promise.allSettled(
    Array.from({ length: 40 }, (_, n) =>
      change(ctxOf(w), 'heartbeat.update', async () => {
        if (n % 3 === 0) throw new Error('no')
        return { result: undefined, target: { type: 'heartbeat', id: `hb_${n}`, name: null } }
      }),
    ),
  )
  const rows = await w.hub.read
    .select({ seq: auditEntries.seq })
    .from(auditEntries)
    .where(eq(auditEntries.workspaceId, w.acme.workspaceId))
    .orderBy(auditEntries.seq)
  expect(rows.map(row => row.seq)).toEqual(rows.map((_, place) => place + 1))
})

test('constraint violations are the same on both engines', async () => {
  const w = await world()
  const refused = async (write: () => Promise<unknown>) =>
    violation(
      await write().then(
        () => null,
        error => error,
      ),
    )
  await bump(w, 'once')
  expect(await refused(() => bump(w, 'once'))).toBe('unique')
  const orphan = () =>
    record(w.hub, async tx => {
      await tx.insert(workspaces).values({
        id: 'ws_x',
        name: 'x',
        planId: 'none',
        isOperator: false,
        networkPolicy: { allow_private: false, allow_ranges: [] },
        limitOverrides: {},
        version: 1,
        createdAt: 0,
        updatedAt: 0,
      })
      return { result: undefined }
    })
  expect(await refused(orphan)).toBe('foreign_key')
  const empty = () =>
    record(w.hub, async tx => {
      await tx.insert(plans).values({ id: 'x' } as never)
      return { result: undefined }
    })
  expect(await refused(empty)).toBe('not_null')
})

test('concurrent increments of a counter all count', async () => {
  const w = await world()
  const [before] = await w.hub.read
    .select()
    .from(counters)
    .where(eq(counters.name, `audit:${w.acme.workspaceId}`))
  await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      change(ctxOf(w), 'heartbeat.update', async () => ({
        result: undefined,
        target: { type: 'heartbeat', id: `hb_${n}`, name: null },
      })),
    ),
  )
  const [after] = await w.hub.read
    .select()
    .from(counters)
    .where(eq(counters.name, `audit:${w.acme.workspaceId}`))
  expect(after!.value).toBe(before!.value + 50)
})

test('two changes that write to the audit logs of the same workspaces never deadlock', async () => {
  const w = await world()
  let runs = 0
  const write = (workspaceIds: string[]) =>
    record(w.hub, async () => {
      runs++
      const about = { actor: systemActor('test'), context: jobContext, targets: [] }
      const audits = workspaceIds.flatMap(workspaceId =>
        Array.from({ length: 30 }, () => ({ ...about, workspaceId, action: 'account.resource.read' as const })),
      )
      return { result: undefined, audits }
    })
  const both = [w.acme.workspaceId, w.rival.workspaceId]
  await Promise.all([write(both), write(both.toReversed())])
  // A deadlock would have caused a retry.
  expect(runs).toBe(2)
})
