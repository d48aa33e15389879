import { expect, test } from 'bun:test'
import { getTableColumns, getTableName, is, Table } from 'drizzle-orm'
import { readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { jobContext, record, systemActor } from '../../src/core/change'
import { masterKeyFile } from '../../src/core/config'
import { lockFile } from '../../src/core/db/file-lock'
import { dataKeys, hubs } from '../../src/core/db/tables'
import { loadMasterKey, replaceMasterKeys } from '../../src/core/master-key'
import { keyLimits } from '../../src/core/key-use'
import { keyFingerprint, KeyRing, DecryptionFailed, WrongMasterKey, wrappingKeyId } from '../../src/core/secrets'
import { heartbeats } from '../../src/features/heartbeats/tables'
import { reloadMasterKey } from '../../src/hub/keys/reload'
import { dataRotation, rotateData } from '../../src/hub/keys/rotate-data'
import { masterRotation, rotateMaster } from '../../src/hub/keys/rotate-master'
import { sealedColumns } from '../../src/hub/keys/sealed-columns'
import { countByKey } from '../../src/hub/keys/sealed-values'
import { verifyKeys } from '../../src/hub/keys/verify'
import { renewPresence } from '../../src/hub/presence'
import { runSource } from '../support/command'
import { sealSome } from '../support/sealed-values'
import { world, type World } from '../support/world'

const by = { actor: systemActor('test'), context: jobContext }
const silent = () => {}
const oldKey = new Uint8Array(32).fill(7)
const newKey = new Uint8Array(32).fill(9)
const schedule = { kind: 'period', period_seconds: 600, grace_seconds: 60 }

/** A rotation that never waits: the test hub reloads its key file and updates its row in between. */
const rotation = (w: World) => rotateMaster(w.hub, { by, newKey, waitMs: 0, report: silent })
const reread = async (w: World) => {
  await reloadMasterKey(w.hub)
  await renewPresence(w.hub)
}

test('every sealed column is in the list used by rotations', async () => {
  const files = [...new Bun.Glob('src/**/*tables.ts').scanSync('.')]
  const found: string[] = []
  for (const file of files) {
    for (const table of Object.values((await import(`../../${file}`)) as object)) {
      if (!is(table, Table)) continue
      for (const column of Object.values(getTableColumns(table)))
        if (column.name.endsWith('_sealed')) found.push(`${getTableName(table)}.${column.name}`)
    }
  }
  expect(found.length).toBeGreaterThanOrEqual(3)
  expect(sealedColumns.map(one => one.name).sort()).toEqual(found.sort())
})

test('sealed columns use the same place as the features', async () => {
  const w = await world()
  await sealSome(w)
  const found = await verifyKeys(w.hub, by)
  expect(found.failures).toEqual([])
  expect(new Set(found.counts.map(one => one.column))).toEqual(new Set(sealedColumns.map(one => one.name)))
})

test('a master key rotation waits for hubs without the new key, lists them, and continues when they have it', async () => {
  const w = await world()
  const { beat } = await sealSome(w)
  const file = masterKeyFile(w.hub.config)
  await w.acme.call('POST', '/v1/heartbeats', { name: 'second', schedule })
  const cursor: string = (await w.acme.call('GET', '/v1/heartbeats?limit=1')).body.pagination.next_cursor
  const before = w.hub.keys.tag('secret')
  // Another hub on a machine whose key file has not been changed yet.
  const now = w.clock.now()
  await record(w.hub, async tx => ({
    result: await tx
      .insert(hubs)
      .values({ id: 'hub_far', host: 'far', version: '1', startedAt: now, seenAt: now, masterKeyId: keyFingerprint(oldKey) }),
  }))
  await expect(rotation(w)).rejects.toThrow(/have not loaded the key .*far \(hub_far\) has/)
  expect(loadMasterKey(file, false)).toEqual({ key: Buffer.from(newKey), previous: Buffer.from(oldKey), created: false })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await wrappingKeyId(w.hub.read)).toBe(keyFingerprint(oldKey))
  // New data keys are still wrapped with the key that all hubs have.
  const fresh = await record(w.hub, async tx => ({ result: await w.hub.keys.addDataKey(tx, w.rival.workspaceId) }))
  expect(fresh.masterKeyId).toBe(keyFingerprint(oldKey))

  expect((await masterRotation(w.hub)).steps).toEqual(['adopt', 'rewrap', 'drop previous'])
  await reread(w)
  await record(w.hub, async tx => ({
    result: await tx
      .update(hubs)
      .set({ masterKeyId: keyFingerprint(newKey) })
      .where(eq(hubs.id, 'hub_far')),
  }))
  expect(await rotateMaster(w.hub, { by, waitMs: 0, report: silent })).toBe(keyFingerprint(newKey))
  expect(readFileSync(file, 'utf8')).toBe(`${Buffer.from(newKey).toString('base64')}\n`)
  expect(await w.hub.read.$count(dataKeys, eq(dataKeys.masterKeyId, keyFingerprint(oldKey)))).toBe(0)
  await reread(w)
  expect(w.hub.keys.has(keyFingerprint(oldKey))).toBe(false)
  expect((await verifyKeys(w.hub, by)).failures).toEqual([])
  expect((await w.acme.call('GET', `/v1/heartbeats/${beat.id}`)).body.uuid).toBe(beat.uuid)

  // Derived keys don't change with the master key.
  expect(w.hub.keys.tag('secret')).toBe(before)
  expect((await w.acme.call('GET', `/v1/heartbeats?limit=1&cursor=${cursor}`)).status).toBe(200)
  expect(await w.audited()).toEqual(expect.arrayContaining(['account.master_key.rotate', 'account.master_key.retire']))
  // A process that starts with only the old key is rejected.
  const stale = new KeyRing(oldKey, w.hub.read, w.clock)
  await expect(record(w.hub, async tx => ({ result: await stale.checkCanary(tx) }))).rejects.toBeInstanceOf(WrongMasterKey)
})

test('only one rotation of a key file can run at a time', async () => {
  const w = await world()
  const file = masterKeyFile(w.hub.config)
  const before = readFileSync(file, 'utf8')
  const unlock = lockFile(`${realpathSync(file)}.lock`)!
  await expect(rotation(w)).rejects.toThrow(/Another master key rotation is running/)
  expect(readFileSync(file, 'utf8')).toBe(before)
  unlock()
  await expect(rotation(w)).rejects.toThrow(/have not loaded the key/)
})

test('a hub keeps its keys if the changed file is invalid', async () => {
  const w = await world()
  const file = masterKeyFile(w.hub.config)
  writeFileSync(file, `${Buffer.from(newKey).toString('base64')}\n`)
  await reloadMasterKey(w.hub)
  expect(w.hub.keys.masterKeyId).toBe(keyFingerprint(oldKey))
  writeFileSync(file, 'half of a li')
  await reloadMasterKey(w.hub)
  expect(w.hub.keys.masterKeyId).toBe(keyFingerprint(oldKey))
  writeFileSync(file, `${Buffer.from(newKey).toString('base64')}\n${Buffer.from(oldKey).toString('hex')}\n`)
  await reloadMasterKey(w.hub)
  expect(w.hub.keys.masterKeyId).toBe(keyFingerprint(newKey))
})

test('a key file with an invalid second line or a third line is rejected', async () => {
  const w = await world()
  const file = masterKeyFile(w.hub.config)
  const line = Buffer.from(oldKey).toString('base64')
  writeFileSync(file, `${line}\nshort\n`)
  expect(() => loadMasterKey(file, false)).toThrow(/The second line of/)
  writeFileSync(file, `${line}\n${line}\n${line}\n`)
  expect(() => loadMasterKey(file, false)).toThrow(/has 3 lines/)
  replaceMasterKeys(file, { current: newKey, previous: oldKey })
  expect(loadMasterKey(file, false).previous).toEqual(Buffer.from(oldKey))
})

test('a data key rotation re-encrypts all values and deletes the old keys', async () => {
  const w = await world()
  const { beat, key } = await sealSome(w)
  const before = await countByKey(w.hub.read)
  const plan = await dataRotation(w.hub)
  expect(plan).toEqual({ startedAt: null, workspaces: 2, values: 23, keys: 2 })
  expect(await countByKey(w.hub.read)).toEqual(before)
  const done = await rotateData(w.hub, { by, graceMs: 0, report: silent })
  expect(done).toEqual({ startedAt: expect.any(Number), workspaces: 2, values: 23, keys: 2 })
  const after = await countByKey(w.hub.read)
  expect([...after.keys()].filter(id => before.has(id))).toEqual([])
  expect((await w.hub.read.select().from(dataKeys)).map(row => row.id).sort()).toEqual(['dek_instance', ...after.keys()].sort())
  expect((await verifyKeys(w.hub, by)).failures).toEqual([])
  expect((await w.acme.call('GET', `/v1/heartbeats/${beat.id}`)).body).toEqual(beat)
  expect((await w.acme.call('GET', '/v1/heartbeats/ping-key')).body).toEqual(key)
  expect(await w.audited()).toEqual(expect.arrayContaining(['account.data_keys.rotate', 'account.secrets.verify']))
})

test('a rotation of one workspace does not affect others', async () => {
  const w = await world()
  await sealSome(w)
  const theirs = async () =>
    (await w.hub.read.select().from(dataKeys).where(eq(dataKeys.workspaceId, w.rival.workspaceId))).map(row => row.id)
  const before = await theirs()
  await rotateData(w.hub, { by, workspaceId: w.acme.workspaceId, graceMs: 0, report: silent })
  expect(await theirs()).toEqual(before)
})

test('a value that can’t be decrypted is reported with its place, and its key is kept', async () => {
  const w = await world()
  const { beat } = await sealSome(w)
  const [row] = await w.hub.read.select().from(heartbeats).where(eq(heartbeats.id, beat.id))
  await record(w.hub, async tx => ({
    result: await tx
      .update(heartbeats)
      .set({ uuidSealed: `${row!.uuidSealed.slice(0, -4)}AAAA` })
      .where(eq(heartbeats.id, beat.id)),
  }))
  const found = await verifyKeys(w.hub, by)
  expect(found.failures).toEqual([
    expect.stringContaining(`heartbeats.uuid_sealed of ${beat.id}: The encrypted value cannot be decrypted`),
  ])
  expect(found.values).toBe(22)
  expect(await w.audited()).toContain('account.secrets.verify failure')
  await expect(rotateData(w.hub, { by, graceMs: 0, report: silent })).rejects.toBeInstanceOf(DecryptionFailed)
  const keyId = row!.uuidSealed.split('.')[1]!
  expect(await w.hub.read.$count(dataKeys, eq(dataKeys.id, keyId))).toBe(1)
})

test('a data key older than a year is not used for new values', async () => {
  const w = await world()
  await sealSome(w)
  const mine = () => w.hub.read.$count(dataKeys, eq(dataKeys.workspaceId, w.rival.workspaceId))
  w.clock.advance(keyLimits.ageMs - 1)
  await w.rival.call('POST', '/v1/heartbeats', { name: 'before', schedule })
  expect(await mine()).toBe(1)
  w.clock.advance(1)
  await w.rival.call('POST', '/v1/heartbeats', { name: 'after', schedule })
  await w.rival.call('POST', '/v1/heartbeats', { name: 'after that', schedule })
  expect(await mine()).toBe(2)
  expect((await verifyKeys(w.hub, by)).failures).toEqual([])
})

test('the public key of the audit log does not change when the master key is rotated', async () => {
  const w = await world()
  const { config } = w.hub
  const publicKey = async () =>
    (
      await runSource(['audit', 'public-key'], {
        BAILIWICK_DATA: config.data,
        BAILIWICK_MASTER_KEY_FILE: config.masterKeyFile!,
        BAILIWICK_DATABASE_URL: config.databaseUrl ?? '',
      })
    ).out
  const before = await publicKey()
  expect(before).toStartWith('-----BEGIN PUBLIC KEY-----')
  await expect(rotation(w)).rejects.toThrow(/have not loaded the key/)
  await reread(w)
  await rotation(w)
  expect(loadMasterKey(config.masterKeyFile!, false).key).toEqual(Buffer.from(newKey))
  expect(await publicKey()).toBe(before)
}, 180_000)
