import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isPostgres } from '../../src/core/db/dialect'
import { Checkpoints, LogCheckpoints } from '../../src/core/db/checkpoints'
import { sqliteDamage } from '../../src/core/db/backup/copy-sqlite'
import { openSeries } from '../../src/core/db/series'
import { hourMs, hourOf } from '../../src/core/db/series/hours'
import type { SeriesStore } from '../../src/core/db/series/store'
import { openSqlite, type Store } from '../../src/core/db/store'
import { counters } from '../../src/core/db/tables'
import { openLog } from '../../src/core/log'
import { checkSeries } from '../../src/features/monitors/series/check-series'
import { seriesKinds } from '../../src/features/series-kinds'
import { resultBeat } from '../support/monitor-series'

// The thread that copies the write-ahead log of SQLite; PostgreSQL has no equivalent.

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-checkpoints-'))
const file = join(folder, 'hub.db')
let checkpoints: Checkpoints
let store: Store
beforeAll(async () => {
  checkpoints = new Checkpoints(resolve('src/bin/checkpoints.ts'), openLog('silent'))
  store = await openSqlite(file, { isDurable: false, checkpoints })
})
afterAll(async () => {
  await store.close()
  await checkpoints.stop()
  rmSync(folder, { recursive: true, force: true })
})

let rows = 0
/** About 20 pages. */
const write = () =>
  store.transact(async tx => {
    for (let n = 0; n < 10; n++) await tx.insert(counters).values({ name: `${'x'.repeat(2500)} ${++rows}`, value: 1 })
  })
const log = (db: Database) => db.query('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number }
/** Writes until the log starts again from its beginning. */
async function restarted(db: Database): Promise<void> {
  for (let before = 0; ;) {
    await write()
    const pages = log(db).log
    if (pages < before) return
    before = pages
  }
}

test('the log is copied to the file and restarted, while the database is read and written', async () => {
  using other = new Database(file, { readonly: true })
  for (let n = 0; n < 3; n++) {
    await restarted(other)
    expect(await store.read.$count(counters)).toBe(rows)
  }
  expect(statSync(file).size).toBeGreaterThan(3_000 * 4096)
})

test('during a long read of another process, the log grows, and is restarted afterwards', async () => {
  using other = new Database(file, { readonly: true })
  using observer = new Database(file, { readonly: true })
  other.run('BEGIN')
  const counted = () => other.query('select count(*) as count from counters').get()
  const before = counted()
  const { log: pages } = log(observer)
  for (let n = 0; n < 200; n++) await write()
  expect(log(observer).log).toBeGreaterThan(pages + 3000)
  expect(counted()).toEqual(before)
  other.run('COMMIT')
  await restarted(observer)
  expect(await store.read.$count(counters)).toBe(rows)
})

test('a commit doesn’t restart a log that a command copied, because it would wait for the disk', async () => {
  using db = new Database(file, { readwrite: true })
  // Copies everything, as the connection of a command may.
  db.run('PRAGMA wal_checkpoint(PASSIVE)')
  const { log: pages } = log(db)
  await store.transact(async tx => void (await tx.insert(counters).values({ name: 'after the copy', value: 1 })))
  rows++
  expect(log(db).log).toBeGreaterThan(pages)
})

test('if the thread ends, commits copy the log', async () => {
  checkpoints['thread'].terminate()
  using other = new Database(file, { readonly: true })
  await restarted(other)
  await restarted(other)
  expect(await store.read.$count(counters)).toBe(rows)
  expect(sqliteDamage(file)).toBeNull()
})

test('a copy that fails is repeated when the log has grown further, and a restart that fails keeps nobody waiting', async () => {
  const db = (log: number, checkpointed: number) =>
    ({ query: () => ({ get: () => ({ busy: 0, log, checkpointed }) }) }) as unknown as Database
  const orders: string[] = []
  const copied = new LogCheckpoints(kind => orders.push(kind))
  expect(copied.committed(db(999, 0))).toBeNull()
  expect(copied.committed(db(1000, 0))).toBeNull()
  expect(copied.committed(db(1500, 0))).toBeNull()
  expect(orders).toEqual(['copy'])
  copied.done(true)
  copied.committed(db(1500, 0))
  copied.committed(db(2499, 0))
  expect(orders).toEqual(['copy'])
  copied.committed(db(2500, 0))
  copied.done(false)
  // Too much was written during the copy to keep writes waiting.
  copied.committed(db(3600, 2500))
  copied.committed(db(4600, 2500))
  copied.done(false)
  const restarted = copied.committed(db(4700, 4600))
  expect(orders).toEqual(['copy', 'copy', 'copy', 'restart'])
  copied.done(true)
  await restarted
  // A log without limit is worse than a wait.
  copied.committed(db(17_000, 0))
  copied.committed(db(18_000, 0))
  copied.done(false)
  expect(copied.committed(db(18_500, 1000))).toBeInstanceOf(Promise)
  expect(orders.slice(4)).toEqual(['copy', 'restart'])
})

test.skipIf(isPostgres)('a damaged file is renamed although the thread uses it, and the next one keeps its own log', async () => {
  const data = mkdtempSync(join(folder, 'series-'))
  const thread = new Checkpoints(resolve('src/bin/checkpoints.ts'), openLog('silent'))
  const place = { data, databaseUrl: null, now: Date.now, checkpoints: thread }
  const series = openSeries(place, seriesKinds)
  const at = hourMs * 480_000
  const append = (count: number) =>
    series.of(checkSeries).append(Array.from({ length: count }, (_, n) => ({ ...resultBeat(n, at), error: null })))
  const rows = async (store: SeriesStore) => {
    let count = 0
    for await (const some of store.of(checkSeries).rowsOf(hourOf(at), null)) count += some.length
    return count
  }
  // About 160 pages each.
  for (let n = 0; n < 8; n++) await append(20_000)
  const damaged = join(data, 'series.db')
  writeFileSync(damaged, readFileSync(damaged).fill(0xa5, 4096))
  await expect(rows(series)).rejects.toThrow()
  const renamed = series.takeDamagedFile()!
  await append(1)
  expect(existsSync(renamed)).toBe(true)
  const again = openSeries({ ...place, checkpoints: null }, seriesKinds)
  expect(await rows(again)).toBe(1)
  await again.close()
  await series.close()
  await thread.stop()
})
