import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { GroupCommit, type Writer } from '../../src/core/db/group-commit'
import { prepared } from '../../src/core/db/prepared'
import { openSqlite, sqliteWriter } from '../../src/core/db/store'
import { counters } from '../../src/core/db/tables'
import type { Tx } from '../../src/core/db/transaction'

// The one writer of SQLite; PostgreSQL has no counterpart to it.

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-group-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

async function group(longestMs?: number): Promise<{ group: GroupCommit; opened: Writer[]; names(): unknown[] }> {
  const file = join(folder, `${++files}.db`)
  await (await openSqlite(file)).close()
  const opened: Writer[] = []
  const made = new GroupCommit(() => {
    const writer = sqliteWriter(file)
    opened.push(writer)
    return writer
  }, longestMs)
  const { db } = sqliteWriter(file)
  return { group: made, opened, names: () => db.query('select name from counters order by name').values().flat() }
}

const put = (name: string) => (tx: Tx) =>
  tx
    .insert(counters)
    .values({ name, value: 1 })
    .then(() => name)
const endings = (runs: Promise<unknown>[]) => Promise.all(runs.map(run => run.catch(error => error.code ?? error.name)))
/** Values that no page of a small database holds. */
const tooMuch = async (tx: Tx) => {
  for (let n = 0; n < 100; n++) await put(`${'x'.repeat(1000)} ${n}`)(tx)
}

test('a full disk is told to the one who met it and to those whose work went with it, and the queue goes on', async () => {
  const here = await group()
  await here.group.run(put('before'))
  const { db } = here.opened[0]!
  const { page_count: pages } = db.query('PRAGMA page_count').get() as { page_count: number }
  db.run(`PRAGMA max_page_count=${pages + 4}`)
  const first = [here.group.run(put('a')), here.group.run(tooMuch), here.group.run(put('b'))]
  expect(await endings(first)).toEqual(['SQLITE_FULL', 'SQLITE_FULL', 'b'])
  // Nobody was done before: the one behind is not to pay for it.
  expect(await endings([here.group.run(tooMuch), here.group.run(put('c'))])).toEqual(['SQLITE_FULL', 'c'])
  expect(here.names()).toEqual(['b', 'before', 'c'])
  db.run('PRAGMA max_page_count=1000000')
  await here.group.run(tooMuch)
  expect(here.names()).toHaveLength(103)
})

test('a callback that overran is undone, and writes nothing afterwards into what others do', async () => {
  const here = await group(400)
  let late: Promise<PromiseSettledResult<unknown>[]> | null = null
  const wake = Promise.withResolvers<void>()
  const row = { name: sql.placeholder('name'), value: 1 }
  const insert = (tx: Tx, name: string) => prepared(tx, 'late', () => tx.insert(counters).values(row as never)).execute({ name })
  const slow = here.group.run(async tx => {
    await insert(tx, 'slow')
    await wake.promise
    // By a statement that is kept, and by a new one.
    late = Promise.allSettled([insert(tx, 'late kept'), put('late new')(tx)])
  })
  const before = await endings([here.group.run(put('a')), slow, here.group.run(put('b'))])
  expect(before).toEqual(['a', 'Overran', 'b'])
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

test('a connection that cannot be opened again is told to each caller, and asked for anew', async () => {
  let fail = true
  const file = join(folder, 'again.db')
  await (await openSqlite(file)).close()
  const here = new GroupCommit(() => {
    if (fail) throw new Error('no more files')
    return sqliteWriter(file)
  })
  expect(await endings([here.run(put('a')), here.run(put('b'))])).toEqual(['Error', 'Error'])
  fail = false
  expect(await here.run(put('c'))).toBe('c')
})
