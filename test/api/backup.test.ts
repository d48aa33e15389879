import { Database } from 'bun:sqlite'
import { beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { and, eq, inArray } from 'drizzle-orm'
import { extract, pack } from 'tar-stream'
import { sessions } from '../../src/access/tables'
import { jobContext, record, systemActor } from '../../src/core/change'
import { quoted } from '../../src/core/db/backup/lines'
import { exportSeries } from '../../src/core/db/backup/series-copy'
import { tableOf } from '../../src/core/db/backup/tables'
import { createTableNamed } from '../../src/core/db/series/schema'
import { hoursADay } from '../../src/core/db/series/hours'
import { tiers } from '../../src/core/db/series/metric-tiers'
import { masterKeyFile, type Config } from '../../src/core/config'
import { isPostgres } from '../../src/core/db/dialect'
import { schemaState, withReadOnlyDatabase } from '../../src/core/db/schema-state'
import { hubs, instanceFacts, jobs } from '../../src/core/db/tables'
import { folderProblem } from '../../src/core/installation'
import { dnsSecondaries } from '../../src/features/dns/transfers/tables'
import { dnsZones } from '../../src/features/dns/zones/tables'
import { heartbeats } from '../../src/features/heartbeats/tables'
import { checksOf } from '../../src/features/monitors/series/check-series'
import { webhookDeliveries } from '../../src/features/webhooks/deliveries/tables'
import { seriesKinds } from '../../src/features/series-kinds'
import { createBackup } from '../../src/hub/backup/create'
import { finishRestore, restoredFact } from '../../src/hub/backup/finish-restore'
import { latestBackup, listBackups } from '../../src/hub/backup/folder'
import { readManifest } from '../../src/hub/backup/archive'
import type { Manifest } from '../../src/hub/backup/manifest'
import { restoreBackup } from '../../src/hub/backup/restore'
import { verifyBackup } from '../../src/hub/backup/verify'
import { verifyKeys } from '../../src/hub/keys/verify'
import { inTempFolder, runInProcess, runSource, withoutProgress } from '../support/command'
import { everyTable, worldWithEveryTable } from '../support/every-table'
import { addPerson } from '../support/people'
import { emptyPlace, world, worldAt, type World } from '../support/world'

const silent = () => {}
const by = { actor: systemActor('test'), context: jobContext }

let w: World
beforeAll(async () => {
  w = await worldWithEveryTable()
  const now = w.clock.now()
  const values = new Map([['temperature.celsius CPU', { n: 3, avg: 50, max: 64 }]])
  await w.hub.series.metrics.append([{ subject: 'srv_1 bmc', at: now, values }], now)
  await w.hub.series.metrics.rollUp(now)
}, 180_000)

const backUp = async (config: Config, folder: string, more: { logical?: boolean; withSeries?: boolean } = {}) =>
  await createBackup(config, { folder, logical: false, withSeries: false, report: silent, ...more })
const restore = (config: Config, file: string) => restoreBackup(config, { file, releaseDeliveries: false, report: silent })

/** Tables that a restore changes. */
const adapted = new Set([
  'audit_entries',
  'counters',
  'heartbeats',
  'hubs',
  'instance_facts',
  'jobs',
  'password_resets',
  'sessions',
])
for (const name of ['webhook_deliveries', 'dns_zones', 'dns_serving']) adapted.add(name)

const tablesIn = (manifest: Manifest) => Object.fromEntries(manifest.tables.map(one => [one.name, one]))
const kept = (manifest: Manifest) => manifest.tables.filter(one => !adapted.has(one.name))

const listed = ['heartbeats', 'monitors', 'dns/zones', 'webhook-endpoints', 'notification-channels', 'audit-streams', 'tokens']
async function contentOf(w: World): Promise<unknown[]> {
  const answers = await Promise.all(listed.map(path => w.acme.call('GET', `/v1/${path}?limit=100`)))
  const checks = checksOf(w.hub)
  const days = await checks.chunkDays()
  const chunks = await Promise.all(days.map(day => checks.chunks(1, day * hoursADay, (day + 1) * hoursADay)))
  expect(chunks.flat().length).toBe(2)
  const metrics: unknown[] = []
  for (const tier of tiers)
    await w.hub.series.metrics.read('srv_1 bmc', tier, 0, Number.MAX_SAFE_INTEGER / 2, (_, ...values) => metrics.push(values))
  expect(metrics).toEqual(tiers.map(() => ['temperature.celsius CPU', 50, 64, 3]))
  const series = [await checks.hours(), chunks]
  expect(answers.map(one => [one.status, one.status === 200 ? '' : one.text])).toEqual(answers.map(() => [200, '']))
  return [answers.map(one => one.body.data.map(steady)), series]
}

/** Without what depends on when it was restored. */
const steady = (row: object) => Object.fromEntries(Object.entries(row).filter(([name]) => !unsteady.has(name)))
const unsteady = new Set(['last_used_at', 'use_count_30d', 'status', 'due_at', 'expected_at', 'down_at', 'serial', 'lag'])

test('a backup contains every table, and its restore has the same content and a working hub', async () => {
  await inTempFolder(async folder => {
    for (const logical of isPostgres ? [true] : [true, false]) {
      const made = await backUp(w.hub.config, folder, { logical, withSeries: true })
      expect(made.manifest).toMatchObject({ form: logical ? 'logical' : 'physical', engine: isPostgres ? 'postgres' : 'sqlite' })
      expect(statSync(made.file).mode & 0o777).toBe(0o600)
      const names = (await everyTable()).map(table => (table as any)[Symbol.for('drizzle:Name')] as string)
      expect(made.manifest.tables.map(one => one.name).sort()).toEqual(names.sort())
      expect(made.manifest.tables.filter(one => one.rows === 0)).toEqual([])
      expect(await verifyBackup(w.hub.config, made.file, silent)).toMatchObject({ hasMasterKey: true })

      const place = await emptyPlace()
      await restore(place, made.file)
      const again = await backUp(place, join(folder, 'again'), { logical: true, withSeries: true })
      expect(kept(again.manifest)).toEqual(kept(made.manifest))
      // Until the next backup, the last one is the one that was restored.
      const facts = (config: Config) =>
        withReadOnlyDatabase(config, rows =>
          rows!<{ value: string }>("select value from instance_facts where name = 'last_backup'"),
        )
      expect(JSON.parse((await facts(place))[0]!.value)).toMatchObject({
        created_at: again.manifest.created_at,
        bytes: again.bytes,
      })
      const other = await emptyPlace()
      await restore(other, made.file)
      expect(JSON.parse((await facts(other))[0]!.value)).toEqual({
        created_at: made.manifest.created_at,
        form: made.manifest.form,
        bytes: made.bytes,
        with_series: true,
      })
      const [before, after] = [tablesIn(made.manifest), tablesIn(again.manifest)]
      expect(after.audit_entries!.rows).toBe(before.audit_entries!.rows + 1)
      expect(after.sessions!.rows).toBe(0)
      for (const name of ['heartbeats', 'jobs', 'webhook_deliveries', 'dns_zones'])
        expect(after[name]!.rows).toBe(before[name]!.rows)
      await verifyBackup(place, again.file, silent)

      const restored = await worldAt(place)
      expect((await verifyKeys(restored.hub, by)).failures).toEqual([])
      expect(await contentOf(restored)).toEqual(await contentOf(w))
      const created = await restored.acme.call('POST', '/v1/dns/zones', { name: `restored-${logical}.example` })
      expect(created.status).toBe(201)
    }
  })
}, 180_000)

test.skipIf(!isPostgres)(
  'a logical backup moves an installation to SQLite and back',
  async () => {
    await inTempFolder(async folder => {
      const made = await backUp(w.hub.config, folder, { withSeries: true })
      const data = join(folder, 'data')
      mkdirSync(data)
      copyFileSync(masterKeyFile(w.hub.config), join(data, 'master.key'))
      const run = async (...args: string[]) => {
        const { code, out, err } = await runSource(args, { BAILIWICK_DATA: data, BAILIWICK_LOG_LEVEL: 'error' })
        expect({ args, code, err: withoutProgress(err) }).toEqual({ args, code: 0, err: '' })
        return out
      }
      await run('restore', made.file)
      expect(await run('keys', 'verify')).toContain(', 0 failed.')
      expect(await run('audit', 'verify')).toContain('all verified')
      const [file] = (await run('backup', '--logical', '--with-series', '--to', join(folder, 'sqlite'))).split('\n')
      const moved = await readManifest(file!)
      expect(moved.engine).toBe('sqlite')
      expect(kept(moved)).toEqual(kept(made.manifest))
      const place = await emptyPlace()
      await restore(place, file!)
      const back = await backUp(place, join(folder, 'back'))
      expect(kept(back.manifest)).toEqual(kept(made.manifest))
      expect(await contentOf(await worldAt(place))).toEqual(await contentOf(w))
    })
  },
  180_000,
)

test.skipIf(!isPostgres)('tables of check results that are dropped during a backup are skipped', async () => {
  await inTempFolder(async folder => {
    const file = join(folder, 'series.db')
    await withReadOnlyDatabase(w.hub.config, async (rows, scan) => {
      const withDropped = async <T>(query: string) => {
        const found = await rows!<T>(query)
        return query.includes('pg_tables') ? [...found, { name: 'series_checks_rows_1' } as T] : found
      }
      expect(await exportSeries(withDropped, scan, file, seriesKinds)).toBe(true)
    })
    using db = new Database(file, { readonly: true })
    const count = (table: string) => db.query<{ n: number }, []>(`select count(*) as n from ${table}`).get()!.n
    expect([count('series_checks_rows_1'), count('series_checks_hours') > 0]).toEqual([0, true])
  })
})

test('a restore refuses a wrong or missing master key, and a target with data', async () => {
  await inTempFolder(async folder => {
    const { file, manifest } = await backUp(w.hub.config, folder, { logical: true })
    const place = await emptyPlace()
    const key = masterKeyFile(place)
    const own = readFileSync(key)
    writeFileSync(key, `${Buffer.alloc(32, 8).toString('base64')}\n`)
    await expect(restore(place, file)).rejects.toThrow(
      new RegExp(`requires the master key with the fingerprint ${manifest.master_keys[0]}, but .* contains [0-9a-f]{16}\\.`),
    )
    await expect(restore({ ...place, masterKeyFile: join(folder, 'none') }, file)).rejects.toThrow(
      /does not exist\. Copy your key/,
    )
    writeFileSync(key, own)
    await expect(restore(w.hub.config, file)).rejects.toThrow(
      isPostgres ? /the database is not empty.* Create a new database\./ : /already contains an installation|in use/,
    )
    if (!isPostgres) {
      writeFileSync(join(place.data, 'notes.txt'), 'mine')
      await expect(restore(place, file)).rejects.toThrow(/is not empty: it contains notes\.txt/)
      expect(readdirSync(place.data).sort()).toEqual(['hub.lock', 'key', 'notes.txt'])
    }
  })
})

test('a damaged backup is refused, and leaves nothing behind', async () => {
  await inTempFolder(async folder => {
    const { file } = await backUp(w.hub.config, folder, { logical: true })
    const bytes = readFileSync(file)
    // A single bit can be without effect: several compressed forms have the same content.
    const changed = Buffer.from(bytes)
    const middle = Math.floor(bytes.length / 2)
    changed.set(
      changed.subarray(middle, middle + 16).map(byte => byte ^ 0xff),
      middle,
    )
    const audit = 'tables/audit_entries.ndjson'
    const variants: Record<string, Buffer | (() => Promise<Buffer>)> = {
      empty: Buffer.alloc(0),
      'not a backup': Buffer.from('not a backup at all, but some text'),
      'half of it': bytes.subarray(0, bytes.length / 2),
      'without its end': bytes.subarray(0, bytes.length - 3000),
      'a few bytes changed': changed,
      'a row removed': () => altered(file, (name, text) => (name === audit ? text.slice(text.indexOf('\n') + 1) : text)),
      'a table removed': () => altered(file, (name, text) => (name === audit ? null : text)),
      'no manifest': () => altered(file, (name, text) => (name === 'manifest.json' ? null : text)),
      'a table that is too long': () => altered(file, (name, text) => (name === audit ? text + text : text)),
      'an unknown file': () => altered(file, (_, text) => text, { '../escaped': 'x' }),
      'an audit event changed, with a new checksum': () =>
        altered(
          file,
          (name, text) => (name === audit ? text.replace('account.token.create', 'account.token.revoke') : text),
          {},
          true,
        ),
    }
    const place = await emptyPlace()
    const before = readdirSync(place.data)
    const broken = join(folder, 'broken.tar.zst')
    for (const [name, content] of Object.entries(variants)) {
      writeFileSync(broken, typeof content === 'function' ? await content() : content)
      const message = await verifyBackup(place, broken, silent).then(
        () => 'intact',
        error => (error as Error).message,
      )
      expect([name, message]).toEqual([name, expect.stringContaining('broken.tar.zst is damaged or not a backup: ')])
      if (!['half of it', 'one bit changed', 'a row removed'].includes(name)) continue
      await expect(restore(place, broken)).rejects.toThrow('is damaged or not a backup')
      expect(readdirSync(place.data).filter(one => one !== 'hub.lock')).toEqual(before)
    }
    expect(existsSync(join(folder, 'escaped'))).toBe(false)
    await restore(place, file)
  })
}, 180_000)

test('only tables of series are created from the names in a backup, and columns have plain names', async () => {
  const statements: string[] = []
  const within = { run: async (statement: string) => void statements.push(statement) }
  const create = (name: string) =>
    createTableNamed({ blobType: 'blob', tableOptions: '', isShared: true }, within, seriesKinds, name)
  for (const prefix of ['series_checks_rows_', 'series_checks_chunks_', 'series_checks_details_', 'series_metric_h1_'])
    for (const end of ['', 'x', '1(a int); drop table users; --', '1\n', '-1']) expect(await create(prefix + end)).toBe(false)
  expect(statements).toEqual([])
  for (const name of ['series_checks_chunks_20000', 'series_metric_m10_20000']) expect(await create(name)).toBe(true)
  using db = new Database(':memory:')
  db.run(`create table series_checks_texts(number integer, "a"") values (1); --" text)`)
  expect(() => tableOf(db, 'series_checks_texts')).toThrow('has a column with an invalid name')
  expect(quoted(['a', 'b"c'])).toBe('"a", "b""c"')
})

test('a backup of a newer version is refused', async () => {
  await inTempFolder(async folder => {
    const { file } = await backUp(w.hub.config, folder)
    const newer = join(folder, 'newer.tar.zst')
    const edited = async (edit: (manifest: any) => void) => {
      const text = (name: string, content: string) => {
        if (name !== 'manifest.json') return content
        const manifest = JSON.parse(content)
        edit(manifest)
        return JSON.stringify(manifest)
      }
      writeFileSync(newer, await altered(file, text))
      return verifyBackup(w.hub.config, newer, silent)
    }
    await expect(edited(manifest => (manifest.format = 2))).rejects.toThrow(/has format 2, which this version can't read/)
    await expect(edited(manifest => manifest.migrations.push({ tag: '9999_later', sha256: 'a'.repeat(64) }))).rejects.toThrow(
      /was made by Bailiwick .*, which is newer than this version/,
    )
    await expect(edited(manifest => (manifest.migrations[0].sha256 = 'a'.repeat(64)))).rejects.toThrow(
      /different version of migration/,
    )
    await expect(edited(manifest => (manifest.created_at = 'yesterday'))).rejects.toThrow(/created_at is not a time/)
    await expect(edited(manifest => (manifest.files = []))).rejects.toThrow(/it doesn't list audit-checkpoints\.ndjson/)
    await expect(edited(manifest => (manifest.series_version = 1))).rejects.toThrow(/it doesn't list series\.db/)
    await expect(edited(manifest => (manifest.tables = 'none'))).rejects.toThrow(/its manifest is invalid: \/tables/)
  })
})

test('a backup of an older version is migrated', async () => {
  await inTempFolder(async folder => {
    const { file } = await backUp(w.hub.config, folder, { logical: true, withSeries: true })
    const older = join(folder, 'older.tar.zst')
    // This migration only creates indexes, so the rows are those of the version before it.
    const without = (text: string) => {
      const manifest = JSON.parse(text)
      manifest.migrations = manifest.migrations.filter((one: { tag: string }) => one.tag !== '0001_list_indexes')
      return JSON.stringify(manifest)
    }
    writeFileSync(older, await altered(file, (name, text) => (name === 'manifest.json' ? without(text) : text)))
    const place = await emptyPlace()
    await restore(place, older)
    expect(await schemaState(place)).toMatchObject({ pending: [], incompatible: null })
    expect(await contentOf(await worldAt(place))).toEqual(await contentOf(w))
  })
})

test.skipIf(isPostgres)('an interrupted restore is detected, and can be repeated', async () => {
  await inTempFolder(async folder => {
    const { file } = await backUp(w.hub.config, folder, { logical: true, withSeries: true })
    const place = await emptyPlace()
    // What a process leaves behind that is killed right before it puts the database into place.
    mkdirSync(join(place.data, 'restoring'))
    writeFileSync(join(place.data, 'restoring', 'bailiwick.db'), 'half')
    writeFileSync(join(place.data, 'series.db'), 'complete')
    await expect(worldAt(place)).rejects.toThrow(/A restore into .* was interrupted\. Run bailiwick restore again/)
    expect(folderProblem(place.data)).toContain('was interrupted')
    await restore(place, file)
    expect(existsSync(join(place.data, 'restoring'))).toBe(false)
    for (const name of ['bailiwick.db', 'series.db']) expect(statSync(join(place.data, name)).mode & 0o777).toBe(0o600)
    expect(await contentOf(await worldAt(place))).toEqual(await contentOf(w))
  })
})

test.skipIf(isPostgres)('a physical backup is refused by PostgreSQL', async () => {
  await inTempFolder(async folder => {
    const { file } = await backUp(w.hub.config, folder)
    const elsewhere = { ...w.hub.config, databaseUrl: 'postgres://127.0.0.1:1/none' }
    await expect(restore(elsewhere, file)).rejects.toThrow('Make a backup with bailiwick backup --logical.')
  })
})

test('a backup that cannot be written says why, and leaves nothing behind', async () => {
  await inTempFolder(async folder => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    await expect(backUp(w.hub.config, file)).rejects.toThrow(/can't be written to .*file: .* Choose another folder with --to\./)
    await expect(backUp({ ...w.hub.config, databaseUrl: null, data: folder }, folder)).rejects.toThrow('No installation found in')
    expect(readdirSync(folder)).toEqual(['file'])
  })
})

test('data restored from a backup is adapted to the time that has passed', async () => {
  const here = await world()
  const { hub, clock, acme } = here
  const hour = 3_600_000
  const schedule = { kind: 'period', period_seconds: 600, grace_seconds: 60 }
  const beat = (await acme.call('POST', '/v1/heartbeats', { name: 'beat', schedule })).body
  await here.anonymous.call('GET', `/ping/${beat.uuid}`)
  const endpoint = (await acme.call('POST', '/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: ['monitor.alert'] }))
    .body
  await here.anonymous.call('GET', `/ping/${beat.uuid}/fail`)
  await here.anonymous.call('GET', `/ping/${beat.uuid}`)
  await here.settle()
  const zone = (await acme.call('POST', '/v1/dns/zones', { name: 'example.com' })).body
  const now = clock.now()
  const user = await addPerson(hub, acme.workspaceId, 'viewer', 'grace@example.com')
  const secondary = { id: 'sec_1', workspaceId: acme.workspaceId, name: 'ns2', address: '192.0.2.1', port: 53, createdAt: now }
  await record(hub, async tx => {
    await tx.insert(dnsSecondaries).values(secondary)
    await tx.insert(sessions).values({
      ...{ id: 'sess_1', tokenHash: 'hash', userId: user.id, workspaceId: acme.workspaceId, ip: '', userAgent: '' },
      ...{ createdAt: now, seenAt: now, expiresAt: now + hour },
    })
    // Stopped before the backup.
    await tx.update(hubs).set({ seenAt: now - 6 * hour - 1_200_000 })
    await tx.update(jobs).set({ state: 'running', lockedBy: 'hub_gone', lockedUntil: now + hour })
    const value = JSON.stringify({
      file: 'a.tar.zst',
      backup_at: new Date(now - 6 * hour).toISOString(),
      restored_at: new Date(now).toISOString(),
      release_deliveries: false,
    })
    await tx.insert(instanceFacts).values({ name: restoredFact, value })
    return { result: undefined }
  })
  const [before] = await hub.read.select().from(heartbeats).where(eq(heartbeats.id, beat.id))
  const waiting = await hub.read
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.endpointId, endpoint.id), inArray(webhookDeliveries.status, ['pending', 'retrying'])))
  expect(waiting.length).toBeGreaterThan(0)
  await here.audited()
  // A backup that is made before a restore has finished can be restored too.
  await inTempFolder(async folder => restore(await emptyPlace(), (await backUp(hub.config, folder)).file))

  await finishRestore(hub)
  expect(await here.audited()).toEqual(['account.instance.restore'])
  const [entry] = (await acme.call('GET', '/v1/audit-events?limit=1')).body.data
  expect(entry).toMatchObject({
    code: 'AC026S',
    actor: { type: 'operator' },
    changes: { after: { gap_seconds: 21_600, sessions_ended: 1, deliveries_held: waiting.length } },
  })
  const [after] = await hub.read.select().from(heartbeats).where(eq(heartbeats.id, beat.id))
  expect(after!.downAt).toBe(before!.downAt! + 6 * hour + 1_200_000)
  expect(await hub.read.select().from(sessions)).toEqual([])
  expect((await hub.read.select().from(jobs).where(eq(jobs.state, 'running'))).length).toBe(0)
  const [served] = await hub.read.select().from(dnsZones).where(eq(dnsZones.id, zone.id))
  expect(served!.serial).toBe(zone.serial + 21_600 + 1000)

  // Held deliveries are only sent when they are resent, and block no later ones.
  await here.settle()
  const { data } = (await acme.call('GET', `/v1/webhook-deliveries?endpoint_id=${endpoint.id}&status=held`)).body
  expect(data.map((one: any) => one.reason)).toEqual(waiting.map(() => 'restored'))
  const since = new Date(now - hour).toISOString()
  expect((await acme.call('POST', `/v1/webhook-endpoints/${endpoint.id}/recover`, { since })).status).toBe(202)
  await here.settle()
  expect((await acme.call('GET', `/v1/webhook-deliveries?endpoint_id=${endpoint.id}&status=held`)).body.data).toEqual([])

  // Only once.
  await finishRestore(hub)
  expect((await here.audited()).filter(one => one === 'account.instance.restore')).toEqual([])
})

test('backup list shows the backups of a folder, and restore latest takes the newest', async () => {
  await inTempFolder(async folder => {
    const run = async (...args: string[]) => {
      const found = await runInProcess([...args, '--data', w.hub.config.data], {
        BAILIWICK_MASTER_KEY_FILE: masterKeyFile(w.hub.config),
        ...(isPostgres && { BAILIWICK_DATABASE_URL: w.hub.config.databaseUrl! }),
      })
      return { ...found, err: withoutProgress(found.err) }
    }
    expect(await run('backup', 'list', '--from', folder)).toEqual({
      code: 0,
      out: `There are no backups in ${folder}.\n`,
      err: '',
    })
    expect(() => latestBackup(folder)).toThrow(`${folder} contains no backups.`)
    const made = await run('backup', '--to', folder)
    expect(made).toMatchObject({ code: 0, err: '' })
    const first = made.out.split('\n')[0]!
    expect(made.out).toMatch(isPostgres ? /^PostgreSQL, logical, \d+ tables/m : /^SQLite, physical, \d+ tables/m)
    const second = (await backUp(w.hub.config, folder)).file
    expect((await listBackups(folder)).map(one => one.file)).toEqual([first, second])
    expect(latestBackup(folder)).toBe(second)
    writeFileSync(second, 'damaged')
    const shown = await run('backup', 'list', '--from', folder)
    expect(shown.out).toMatch(
      new RegExp(`^TIME +ENGINE +FORM +SIZE +VERSION +FILE\n\\S+Z +${isPostgres ? 'PostgreSQL' : 'SQLite'} +`),
    )
    expect(shown.out).toMatch(/^unreadable .*damaged or not a backup/m)
    expect(await run('backup', 'verify', first)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining(`${first} is intact.`),
    })
    expect(await run('backup', 'verify', second)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is damaged or not a backup'),
    })
    expect(await run('backup', 'verify', join(folder, 'none'))).toMatchObject({ code: 1, err: expect.stringContaining('none') })
  })
})

/** Rewrites a backup. @param edit receives and returns bytes as latin1 @param resum whether to correct the checksums in the manifest */
async function altered(
  file: string,
  edit: (name: string, text: string) => string | null,
  more: Record<string, string> = {},
  resum = false,
): Promise<Buffer> {
  const entries: [string, string][] = []
  const archive = extract()
  const read = pipeline(createReadStream(file), createZstdDecompress(), archive as never)
  for await (const entry of archive) {
    const chunks: Uint8Array[] = []
    for await (const chunk of entry as AsyncIterable<unknown>) chunks.push(chunk as Uint8Array)
    const text = edit(entry.header.name, Buffer.concat(chunks).toString('latin1'))
    if (text !== null) entries.push([entry.header.name, text])
  }
  await read
  if (resum) {
    const manifest = JSON.parse(entries[0]![1]) as Manifest
    for (const [name, text] of entries.slice(1)) {
      const sha256 = createHash('sha256').update(text, 'latin1').digest('hex')
      const found = manifest.files.find(one => one.name === name)!
      Object.assign(found, { sha256, bytes: text.length })
      const table = manifest.tables.find(one => name === `tables/${one.name}.ndjson`)
      if (table) table.sha256 = sha256
    }
    entries[0]![1] = JSON.stringify(manifest)
  }
  const out = pack()
  for (const [name, text] of [...entries, ...Object.entries(more)]) out.entry({ name }, Buffer.from(text, 'latin1'))
  out.finalize()
  const compressed: Buffer[] = []
  await pipeline(out as never, createZstdCompress(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) compressed.push(chunk)
  })
  return Buffer.concat(compressed)
}
