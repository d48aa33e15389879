import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { migrations } from '../../migrations/list'
import { monitorStatuses, statusRank } from '../../src/features/monitors/shapes'
import { MigrationRefused, migratePostgres, migrateSqlite, type Migration } from '../../src/core/db/migrate'

const server = process.env.BAILIWICK_DATABASE_URL

const first: Migration = {
  tag: '0000_first',
  sql: `create table parents (id text primary key not null, name text);
--> statement-breakpoint
create table children (id text primary key not null, parent_id text not null references parents(id) on delete cascade);`,
}
// How drizzle-kit rebuilds a table on SQLite: it disables foreign keys inside the transaction, where that has no effect.
const rebuild: Migration = {
  tag: '0001_rebuild',
  sql: `PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE __new_parents (id text PRIMARY KEY NOT NULL, name text NOT NULL);--> statement-breakpoint
INSERT INTO __new_parents(id, name) SELECT id, name FROM parents;--> statement-breakpoint
DROP TABLE parents;--> statement-breakpoint
ALTER TABLE __new_parents RENAME TO parents;--> statement-breakpoint
PRAGMA foreign_keys=ON;`,
}

function database(): Database {
  const db = new Database(':memory:')
  db.run('PRAGMA foreign_keys=ON')
  return db
}

describe('on SQLite', () => {
  test('existing monitors get the rank of their status', () => {
    const db = database()
    const at = migrations.sqlite.findIndex(one => one.tag === '0002_monitor_status_rank')
    migrateSqlite(db, migrations.sqlite.slice(0, at))
    db.run('PRAGMA foreign_keys=OFF')
    const columns = db.query("select name from pragma_table_info('monitors')").all() as { name: string }[]
    for (const [number, status] of monitorStatuses.entries()) {
      const values = columns.map(({ name }) => (name === 'status' ? status : number))
      db.run(`insert into monitors(${columns.map(one => one.name).join()}) values (${columns.map(() => '?').join()})`, values)
    }
    // Without the check for workspaces, which these monitors don't have.
    for (const { sql } of migrations.sqlite.slice(at, at + 2)) db.run(sql)
    const ranks = Object.fromEntries(db.query('select status, status_rank from monitors').values())
    expect(ranks).toEqual(Object.fromEntries(monitorStatuses.map(one => [one, statusRank(one)])))
  })

  test('each step is applied once, in order', () => {
    const db = database()
    expect(migrateSqlite(db, [first])).toEqual(['0000_first'])
    expect(migrateSqlite(db, [first, rebuild])).toEqual(['0001_rebuild'])
    expect(migrateSqlite(db, [first, rebuild])).toEqual([])
  })

  test('rebuilding a parent table keeps its children', () => {
    const db = database()
    migrateSqlite(db, [first])
    db.run(`insert into parents values ('p', 'one')`)
    db.run(`insert into children values ('c', 'p')`)
    migrateSqlite(db, [first, rebuild])
    expect(db.query('select * from children').all()).toEqual([{ id: 'c', parent_id: 'p' }])
    expect(db.query('select * from parents').all()).toEqual([{ id: 'p', name: 'one' }])
    // The foreign key still works.
    expect(() => db.run(`insert into children values ('d', 'nobody')`)).toThrow('FOREIGN KEY')
    db.run(`delete from parents`)
    expect(db.query('select * from children').all()).toEqual([])
  })

  test('a step that would leave children without a parent is rolled back', () => {
    const db = database()
    migrateSqlite(db, [first])
    db.run(`insert into parents values ('p', 'one')`)
    db.run(`insert into children values ('c', 'p')`)
    const orphan = { tag: '0001_orphan', sql: 'delete from parents;' }
    expect(() => migrateSqlite(db, [first, orphan])).toThrow(MigrationRefused)
    expect(db.query('select count(*) as n from parents').get()).toEqual({ n: 1 })
    expect(migrateSqlite(db, [first, rebuild])).toEqual(['0001_rebuild'])
  })

  test('a step that was changed after it was applied is rejected', () => {
    const db = database()
    migrateSqlite(db, [first])
    expect(() => migrateSqlite(db, [{ ...first, sql: `${first.sql} ` }])).toThrow('0000_first differs')
  })

  test('a database of a newer version is rejected', () => {
    const db = database()
    migrateSqlite(db, [first, rebuild])
    expect(() => migrateSqlite(db, [first])).toThrow('0001_rebuild, which this version does not know')
  })
})

test.skipIf(!server)('on PostgreSQL, a changed step and a newer database are rejected', async () => {
  await withNewDatabase(async url => {
    const sql = new SQL(url, { max: 1 })
    try {
      const second = { tag: '0001_second', sql: 'create table more (id text primary key)' }
      expect(await migratePostgres(sql, [first, second])).toEqual(['0000_first', '0001_second'])
      expect(await migratePostgres(sql, [first, second])).toEqual([])
      expect(migratePostgres(sql, [{ ...first, sql: `${first.sql} ` }, second])).rejects.toThrow('0000_first differs')
      expect(migratePostgres(sql, [first])).rejects.toThrow('0001_second, which this version does not know')
    } finally {
      await sql.close()
    }
  })
})

describe('certificates and notices of the version before', () => {
  const at = (engine: 'sqlite' | 'postgres') => migrations[engine].findIndex(one => one.tag.startsWith('0007'))
  interface Before {
    run(sql: string): Promise<Record<string, unknown>[]>
    columnsOf(table: string): Promise<string[]>
  }
  const text = (value: unknown) => `'${String(value).replaceAll("'", "''")}'`
  const add = async ({ run, columnsOf }: Before, table: string, row: Record<string, unknown>) => {
    const columns = await columnsOf(table)
    await run(`insert into ${table}(${columns.join()}) values (${columns.map(name => text(row[name] ?? 0)).join()})`)
  }
  const contents = (...crl_urls: string[]) =>
    JSON.stringify({ dns_names: ['\0 "crl_urls":["x"]'], crl_urls, ocsp_urls: ['http://o'] })
  const addRows = async (db: Before) => {
    const urls = { one: ['http://crl/1'], two: ['http://[::1]/a"b\\c', 'http://crl/2'], none: [] }
    for (const [id, own] of Object.entries(urls)) await add(db, 'certificates', { id, sha256: id, contents: contents(...own) })
    const kind = 'agents.unheard'
    await add(db, 'notices', { id: 'old', kind, dedup_key: `${kind} all`, text: kind })
    await add(db, 'notices', { id: 'other', kind: 'agent.silent', dedup_key: 'agent.silent 1' })
    const message = JSON.stringify({ kind, title: `"kind":"${kind}"` })
    await add(db, 'notifications', { id: 'old', kind, dedup_key: `${kind} 1 old`, message })
    await add(db, 'notification_channels', { id: 'some', name: 'some', topics: JSON.stringify(['incidents', kind]) })
    await add(db, 'notification_channels', { id: 'all', name: 'all', topics: JSON.stringify(['notices']) })
  }
  const expectUpdated = async ({ run }: Before) => {
    const rows = async (sql: string) => (await run(sql)).map(row => Object.values(row))
    const due = await rows('select id, crl_url, crl_due_at from certificates order by id')
    expect(due.map(([id, url, at]) => [id, url, at === null ? null : Number(at)])).toEqual([
      ['none', null, null],
      ['one', 'http://crl/1', 0],
      ['two', 'http://[::1]/a"b\\c', 0],
    ])
    const kind = 'agents.disconnected'
    expect(await rows('select id, kind, dedup_key from notices order by id')).toEqual([
      ['old', kind, `${kind} all`],
      ['other', 'agent.silent', 'agent.silent 1'],
    ])
    expect(await rows('select kind, dedup_key, message from notifications')).toEqual([
      [kind, `${kind} 1 old`, JSON.stringify({ kind, title: '"kind":"agents.unheard"' })],
    ])
    expect(await rows('select topics from notification_channels order by id')).toEqual([
      ['["notices"]'],
      [`["incidents","${kind}"]`],
    ])
  }

  test('are updated on SQLite', async () => {
    const db = database()
    migrateSqlite(db, migrations.sqlite.slice(0, at('sqlite')))
    db.run('PRAGMA foreign_keys=OFF')
    const before: Before = {
      run: async sql => db.query(sql).all() as Record<string, unknown>[],
      columnsOf: async table => db.query(`select name from pragma_table_info('${table}')`).values().flat() as string[],
    }
    await addRows(before)
    // Without the check for workspaces, which these rows don't have.
    for (const { sql } of migrations.sqlite.slice(at('sqlite'))) db.run(sql)
    await expectUpdated(before)
  })

  test.skipIf(!server)('are updated on PostgreSQL', async () => {
    await withNewDatabase(async url => {
      const sql = new SQL(url, { max: 1 })
      const run = (text: string) => sql.unsafe(text) as Promise<Record<string, unknown>[]>
      const columnsOf = async (table: string) =>
        (await run(`select column_name as name from information_schema.columns where table_name = '${table}'`)).map(
          row => row.name as string,
        )
      try {
        await migratePostgres(sql, migrations.postgres.slice(0, at('postgres')))
        await run('set session_replication_role = replica')
        await addRows({ run, columnsOf })
        await migratePostgres(sql)
        await expectUpdated({ run, columnsOf })
      } finally {
        await sql.close()
      }
    })
  })
})

test('three processes that start at once on an empty database create one installation', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-start-'))
  const key = join(folder, 'key')
  writeFileSync(key, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
  const start = async (url: string | null) => {
    const env = { ...process.env, BAILIWICK_DATA: folder, BAILIWICK_MASTER_KEY_FILE: key, BAILIWICK_DATABASE_URL: url ?? '' }
    const runs = [1, 2, 3].map(n =>
      Bun.spawn([process.execPath, 'src/bin/hub.ts', 'token', 'create', '--name', `number ${n}`, '--full'], {
        env,
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    )
    const ends = await Promise.all(
      runs.map(async run => ({
        out: await new Response(run.stdout).text(),
        err: await new Response(run.stderr).text(),
        code: await run.exited,
      })),
    )
    expect(ends.map(({ code, err }) => ({ code, err }))).toEqual(Array.from({ length: 3 }, () => ({ code: 0, err: '' })))
    expect(new Set(ends.map(one => one.out)).size).toBe(3)
  }
  const facts = `select (select count(*) from workspaces) as workspaces, (select count(*) from tokens) as tokens, (select count(*) from _migrations) as steps`
  const expected = (steps: number) => ({ workspaces: 1, tokens: 3, steps })
  try {
    if (server) {
      await withNewDatabase(async url => {
        await start(url)
        const sql = new SQL(url, { max: 1 })
        const [row] = await sql.unsafe(facts)
        await sql.close()
        expect(Object.fromEntries(Object.entries(row).map(([name, n]) => [name, Number(n)]))).toEqual(
          expected(migrations.postgres.length),
        )
      })
    } else {
      await start(null)
      const db = new Database(join(folder, 'bailiwick.db'), { readonly: true })
      expect(db.query(facts).get()).toEqual(expected(migrations.sqlite.length))
      db.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 180_000)

test('the list of steps contains the generated and the manual ones, and is the same for both engines', () => {
  const manualFolder = 'src/core/db/written'
  for (const engine of ['sqlite', 'postgres'] as const) {
    const journal = JSON.parse(readFileSync(`migrations/${engine}/meta/_journal.json`, 'utf8')) as { entries: { tag: string }[] }
    const generated = journal.entries.map(entry => entry.tag)
    const manual = readdirSync(manualFolder)
      .filter(file => file.endsWith(`.${engine}.sql`))
      .map(file => file.slice(0, file.indexOf('.')))
    const listed = migrations[engine].map(step => step.tag)
    expect(listed.filter(tag => generated.includes(tag))).toEqual(generated)
    expect(listed.filter(tag => !generated.includes(tag)).sort()).toEqual(manual.sort())
    // A manual step follows the generated one with the same number.
    const numbers = listed.map(tag => Number(tag.split('_')[0]))
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    for (const { tag, sql } of migrations[engine])
      expect(sql).toBe(
        readFileSync(manual.includes(tag) ? `${manualFolder}/${tag}.${engine}.sql` : `migrations/${engine}/${tag}.sql`, 'utf8'),
      )
  }
  expect(migrations.sqlite.map(step => step.tag)).toEqual(migrations.postgres.map(step => step.tag))
})

async function withNewDatabase(fn: (url: string) => Promise<void>): Promise<void> {
  const name = `migrations_${process.pid}_${crypto.randomUUID().slice(0, 8)}`
  const admin = new SQL(server!, { max: 1 })
  await admin.unsafe(`create database ${name}`)
  try {
    const url = new URL(server!)
    url.pathname = `/${name}`
    await fn(url.href)
  } finally {
    await admin.unsafe(`drop database if exists ${name} with (force)`)
    await admin.close()
  }
}
