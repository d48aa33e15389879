import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { GroupCommit, type Writer } from '../../src/core/db/group-commit'
import { LogFlush } from '../../src/core/db/log-flush'
import { prepared } from '../../src/core/db/prepared'
import { openSqlite, sqliteWriter } from '../../src/core/db/store'
import { counters } from '../../src/core/db/tables'
import type { Tx } from '../../src/core/db/transaction'

// The single writer of SQLite; PostgreSQL has no equivalent.

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-group-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

async function group(
  timeoutMs?: number,
  flush?: () => Promise<void>,
): Promise<{ group: GroupCommit; opened: Writer[]; names(): unknown[] }> {
  const file = join(folder, `${++files}.db`)
  await (await openSqlite(file)).close()
  const opened: Writer[] = []
  const groupCommit = new GroupCommit(
    () => {
      const writer = sqliteWriter(file)
      opened.push(writer)
      return writer
    },
    { timeoutMs, flush },
  )
  const { db } = sqliteWriter(file)
  return { group: groupCommit, opened, names: () => db.query('select name from counters order by name').values().flat() }
}

const put = (name: string) => (tx: Tx) =>
  tx
    .insert(counters)
    .values({ name, value: 1 })
    .then(() => name)
const endings = (runs: Promise<unknown>[]) => Promise.all(runs.map(run => run.catch(error => error.code ?? error.name)))
/** Values too large for a page of a small database. */
const tooMuch = async (tx: Tx) => {
  for (let n = 0; n < 100; n++) await put(`${'x'.repeat(1000)} ${n}`)(tx)
}

test('a full disk fails the callback that hit it and those rolled back with it, and the queue continues', async () => {
  const here = await group()
  await here.group.run(put('before'))
  const { db } = here.opened[0]!
  const { page_count: pages } = db.query('PRAGMA page_count').get() as { page_count: number }
  db.run(`PRAGMA max_page_count=${pages + 4}`)
  const first = [here.group.run(put('a')), here.group.run(tooMuch), here.group.run(put('b'))]
  expect(await endings(first)).toEqual(['SQLITE_FULL', 'SQLITE_FULL', 'b'])
  // No callback was done before it, and the next one must not fail.
  expect(await endings([here.group.run(tooMuch), here.group.run(put('c'))])).toEqual(['SQLITE_FULL', 'c'])
  expect(here.names()).toEqual(['b', 'before', 'c'])
  db.run('PRAGMA max_page_count=1000000')
  await here.group.run(tooMuch)
  expect(here.names()).toHaveLength(103)
})

test('a callback can’t write after SQLite rolled back its transaction', async () => {
  const here = await group()
  await here.group.run(put('before'))
  const { db } = here.opened[0]!
  const { page_count: pages } = db.query('PRAGMA page_count').get() as { page_count: number }
  db.run(`PRAGMA max_page_count=${pages + 4}`)
  let late: PromiseSettledResult<unknown>[] = []
  const run = here.group.run(async tx => {
    await tooMuch(tx).catch(() => {})
    const row = { name: sql.placeholder('name'), value: 1 }
    const insert = prepared(tx, 'late', () => tx.insert(counters).values(row as never)).execute({ name: 'late prepared' })
    late = await Promise.allSettled([insert, put('late new')(tx)])
  })
  expect(await endings([run])).toHaveLength(1)
  expect(late.map(one => one.status)).toEqual(['rejected', 'rejected'])
  expect(here.names()).toEqual(['before'])
})

test('a callback that timed out is rolled back and can’t write into later transactions', async () => {
  const here = await group(400)
  let late: Promise<PromiseSettledResult<unknown>[]> | null = null
  const wake = Promise.withResolvers<void>()
  const row = { name: sql.placeholder('name'), value: 1 }
  const insert = (tx: Tx, name: string) => prepared(tx, 'late', () => tx.insert(counters).values(row as never)).execute({ name })
  const slow = here.group.run(async tx => {
    await insert(tx, 'slow')
    await wake.promise
    // With a prepared statement and with a new one.
    late = Promise.allSettled([insert(tx, 'late prepared'), put('late new')(tx)])
  })
  const before = await endings([here.group.run(put('a')), slow, here.group.run(put('b'))])
  expect(before).toEqual(['a', 'TimedOut', 'b'])
  await here.group.run(async tx => {
    await put('c')(tx)
    wake.resolve()
    await Bun.sleep(5)
    await insert(tx, 'd')
  })
  expect((await late!).map(one => one.status)).toEqual(['rejected', 'rejected'])
  expect(here.names()).toEqual(['a', 'b', 'c', 'd'])
  expect(here.opened).toHaveLength(2)
})

test('during a long transaction other work runs, and it isn’t timed out while it runs statements', async () => {
  const here = await group(50)
  let ticks = 0
  const timer = setInterval(() => ticks++, 5)
  const done = here.group.run(async tx => {
    const since = performance.now()
    for (let n = 0; performance.now() - since < 300; n++) await put(`many ${n}`)(tx)
    return ticks
  })
  expect(await done).toBeGreaterThan(3)
  clearInterval(timer)
  expect(here.opened).toHaveLength(1)
})

test('if the connection can’t be reopened, every caller gets the error, and opening is retried', async () => {
  let fail = true
  const file = join(folder, 'again.db')
  await (await openSqlite(file)).close()
  const here = new GroupCommit(() => {
    if (fail) throw new Error('too many open files')
    return sqliteWriter(file)
  })
  expect(await endings([here.run(put('a')), here.run(put('b'))])).toEqual(['Error', 'Error'])
  fail = false
  expect(await here.run(put('c'))).toBe('c')
})

/** A group whose flushes end when the test ends them. */
async function slowDisk() {
  const flushes: PromiseWithResolvers<void>[] = []
  const here = await group(undefined, () => {
    flushes.push(Promise.withResolvers())
    return flushes.at(-1)!.promise
  })
  const ended: unknown[] = []
  const run = (name: string, fn = put(name)) =>
    here.group.run(fn as (tx: Tx) => Promise<unknown>).then(
      () => ended.push(name),
      error => ended.push(`${name}: ${error.message}`),
    )
  /** Until a callback with these rows was committed. */
  const committed = async (...names: string[]) => {
    while (here.names().length < names.length) await Bun.sleep(1)
    expect(here.names()).toEqual(names)
  }
  return { here, flushes, ended, run, committed }
}
const count = (tx: Tx) => tx.$count(counters) as Promise<unknown> as Promise<string>

test('a change is reported only after a flush that started after its commit', async () => {
  const { here, flushes, ended, run, committed } = await slowDisk()
  const a = run('a')
  await committed('a')
  const b = run('b')
  await committed('a', 'b')
  expect([flushes.length, ended]).toEqual([2, []])
  flushes[0]!.resolve()
  await a
  expect(ended).toEqual(['a'])
  const closed = here.group.close().then(() => ended.push('closed'))
  flushes[1]!.resolve()
  await Promise.all([b, closed])
  expect(ended).toEqual(['a', 'b', 'closed'])
})

test('a transaction that only reads is not flushed, but waits until what it read is on disk', async () => {
  const { flushes, ended, run, committed } = await slowDisk()
  const a = run('a')
  await committed('a')
  const counted = Promise.withResolvers<void>()
  const read = (tx: Tx) => count(tx).finally(() => counted.resolve())
  const early = run('early', read)
  await counted.promise
  await Bun.sleep(5)
  expect([flushes.length, ended]).toEqual([1, []])
  flushes[0]!.resolve()
  await Promise.all([a, early])
  await run('late', read)
  expect([flushes.length, ended]).toEqual([1, ['a', 'early', 'late']])
})

test('after a failed flush, its group and all later changes are refused', async () => {
  const { flushes, ended, run, committed } = await slowDisk()
  const a = run('a')
  await committed('a')
  const b = run('b')
  await committed('a', 'b')
  flushes[0]!.reject(new Error('EIO'))
  flushes[1]!.reject(new Error('EIO'))
  await Promise.all([a, b])
  await run('c')
  expect(ended).toEqual(['a: EIO', 'b: EIO', 'c: EIO'])
  await committed('a', 'b')
})

test('a log that can’t be flushed once is never reported as flushed again', async () => {
  const file = join(folder, `${++files}.db`)
  const log = new LogFlush(file)
  const [first, joined] = [log.flush(), log.flush()]
  expect(joined).toBe(first)
  await expect(first).rejects.toThrow('can’t be flushed to disk: ENOENT')
  writeFileSync(`${file}-wal`, '')
  await expect(log.flush()).rejects.toThrow('can’t be flushed to disk: ENOENT')
  const healthy = new LogFlush(file)
  const running = healthy.flush()
  await Promise.resolve()
  // It may have started before the last commit.
  const next = healthy.flush()
  expect(next).not.toBe(running)
  await next
  await healthy.close()
})

test('statistics from when a table was small are deleted, because SQLite would read the whole table', async () => {
  const file = join(folder, `${++files}.db`)
  await (await openSqlite(file)).close()
  const database = new Database(file)
  database.run("insert into events values ('evt_1', 'ws_1', 1, 'msg_1', 'monitor.alert', 'monitor', 'mon_1', 1, 0, '{}')")
  database.run('analyze')
  database.close()
  await (await openSqlite(file)).close()
  using reopened = new Database(file)
  expect(reopened.query("explain query plan select * from events where id in ('evt_1', 'evt_2')").all()).toMatchObject([
    { detail: expect.stringContaining('SEARCH events USING INDEX') },
  ])
})
