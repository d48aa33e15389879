import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { insertRows, insertRowsReturning, skipExisting } from '../../src/core/db/insert-rows'
import { jobs } from '../../src/core/db/tables'
import { updateRows } from '../../src/core/db/update-rows'
import { newId } from '../../src/core/ids'
import { world } from '../support/world'

const row = (n: number, more: Partial<typeof jobs.$inferInsert> = {}): typeof jobs.$inferInsert => ({
  id: newId('job'),
  kind: 'test.batch',
  lane: '',
  state: 'ready',
  priority: 100,
  runAt: n,
  attempts: 0,
  lostRuns: 0,
  payload: { n },
  uniqueKey: null,
  createdAt: 0,
  ...more,
})

test('any number of rows is inserted, and rows that exist can be skipped', async () => {
  const { hub } = await world()
  const rows = Array.from({ length: 300 }, (_, n) => row(n, { uniqueKey: `k${n}` }))
  await record(hub, async tx => {
    await insertRows(tx, jobs, rows.slice(0, 131))
    const added = await insertRowsReturning(
      tx,
      jobs,
      rows.map(one => ({ ...one, id: newId('job') })),
      skipExisting,
    )
    expect(added).toHaveLength(169)
    return { result: undefined }
  })
  const stored = await hub.read.select().from(jobs).where(eq(jobs.kind, 'test.batch')).orderBy(jobs.runAt)
  expect(stored.map(one => one.payload)).toEqual(rows.map(one => one.payload))
  expect(stored.slice(0, 131).map(one => one.id)).toEqual(rows.slice(0, 131).map(one => one.id))
})

test('rows are updated to values of their own, unless they changed in the meantime', async () => {
  const { hub } = await world()
  const rows = Array.from({ length: 150 }, (_, n) => row(n, { lastError: n % 2 ? 'before' : null }))
  const updated = await record(hub, async tx => {
    await insertRows(tx, jobs, rows)
    const changed = rows.map(({ id, attempts }, n) => ({
      id,
      payload: { changed: n },
      lastError: n % 2 ? null : 'after',
      failedAt: n,
      before: { attempts: n === 7 ? 1 : attempts! },
    }))
    const update = { name: 'test', set: ['payload', 'lastError', 'failedAt'], where: ['attempts'] } as const
    return { result: await updateRows(tx, jobs, update, changed) }
  })
  expect([...updated].sort()).toEqual(rows.filter((_, n) => n !== 7).map(one => one.id))
  const stored = await hub.read.select().from(jobs).where(eq(jobs.kind, 'test.batch')).orderBy(jobs.runAt)
  expect(stored[7]).toMatchObject({ payload: { n: 7 }, lastError: 'before', failedAt: null })
  expect(stored[8]).toMatchObject({ payload: { changed: 8 }, lastError: 'after', failedAt: 8 })
  expect(stored[9]).toMatchObject({ payload: { changed: 9 }, lastError: null, failedAt: 9 })
})
