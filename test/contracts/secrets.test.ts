import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { isPostgres } from '../../src/core/db/dialect'
import { openPostgres } from '../../src/core/db/store'
import { dataKeys } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import { KeyRing, DecryptionFailed, WrongMasterKey, type Place } from '../../src/core/secrets'
import { rotateHeartbeat, updateHeartbeat } from '../../src/features/heartbeats/heartbeats'
import { fullCtx } from '../support/full-ctx'
import { world, type World } from '../support/world'

const place = (w: World, more: Partial<Place> = {}): Place => ({
  table: 'heartbeats',
  column: 'uuid_sealed',
  row: 'hb_1',
  workspaceId: w.acme.workspaceId,
  ...more,
})
const seal = (w: World, at: Place, secret: string) =>
  record(w.hub, async tx => ({ result: await w.hub.keys.seal(tx, at, secret) }))

test('a sealed value can only be opened in its place', async () => {
  const w = await world()
  const sealed = await seal(w, place(w), 'the secret')
  expect(sealed).toMatch(/^bw1\.dek_[^.]+\.[\w-]+\.[\w-]+$/)
  expect(await w.hub.keys.open(place(w), sealed)).toBe('the secret')
  for (const other of [{ row: 'hb_2' }, { column: 'other' }, { table: 'other' }, { workspaceId: w.rival.workspaceId }]) {
    await expect(w.hub.keys.open(place(w, other), sealed)).rejects.toBeInstanceOf(DecryptionFailed)
  }
  const parts = sealed.split('.')
  const flipped = parts[3]!.startsWith('A') ? `B${parts[3]!.slice(1)}` : `A${parts[3]!.slice(1)}`
  for (const bad of [
    '',
    'plain',
    `bw2.${parts.slice(1).join('.')}`,
    [...parts.slice(0, 3), flipped].join('.'),
    [parts[0], 'dek_none', parts[2], parts[3]].join('.'),
  ]) {
    await expect(w.hub.keys.open(place(w), bad)).rejects.toBeInstanceOf(DecryptionFailed)
  }
})

test('each workspace has its own key, and sealing a secret twice gives different values', async () => {
  const w = await world()
  const mine = await seal(w, place(w), 'x')
  const again = await seal(w, place(w), 'x')
  const theirs = await seal(w, place(w, { workspaceId: w.rival.workspaceId }), 'x')
  expect(mine).not.toBe(again)
  expect(mine.split('.')[1]).toBe(again.split('.')[1]!)
  expect(theirs.split('.')[1]).not.toBe(mine.split('.')[1]!)
})

test('a key created by a change that was rolled back is not used by the next one', async () => {
  const w = await world()
  await record(w.hub, async tx => {
    await w.hub.keys.seal(tx, place(w, { workspaceId: w.rival.workspaceId }), 'x')
    throw new Error('no')
  }).catch(() => {})
  const sealed = await seal(w, place(w, { workspaceId: w.rival.workspaceId }), 'y')
  expect(await w.hub.keys.open(place(w, { workspaceId: w.rival.workspaceId }), sealed)).toBe('y')
  expect(await w.hub.read.select().from(dataKeys).where(eq(dataKeys.workspaceId, w.rival.workspaceId))).toHaveLength(1)
})

test('another process can open sealed values, and another master key is rejected', async () => {
  const w = await world()
  const sealed = await seal(w, place(w), 'the secret')
  const same = new KeyRing(new Uint8Array(32).fill(7), w.hub.read, w.clock)
  expect(await same.open(place(w), sealed)).toBe('the secret')
  const other = new KeyRing(new Uint8Array(32).fill(8), w.hub.read, w.clock)
  await expect(other.open(place(w), sealed)).rejects.toBeInstanceOf(DecryptionFailed)
  await expect(record(w.hub, async tx => ({ result: await other.checkCanary(tx) }))).rejects.toBeInstanceOf(WrongMasterKey)
})

test('the tag of a secret only shows whether secrets are equal', async () => {
  const w = await world()
  const { tag } = w.hub.keys
  expect(tag('a')).toBe(tag('a'))
  expect(tag('a')).not.toBe(tag('b'))
  expect(tag('a')).toMatch(/^hmac:[0-9a-f]{16}$/)
})

test('updates that open secrets with an unloaded key don’t wait for a second connection', async () => {
  const w = await world()
  const beats = await Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      const schedule = { kind: 'period', period_seconds: 600, grace_seconds: 60 }
      return (await w.acme.call('POST', '/v1/heartbeats', { name: `beat ${n}`, schedule })).body.id as string
    }),
  )
  const { config } = w.hub
  // Like a hub with two connections that has just started: all updates start before the first key is loaded.
  const store = isPostgres ? await openPostgres(config.databaseUrl!, 2) : w.hub.store
  const hub: Hub = { ...w.hub, store, read: store.read, keys: new KeyRing(new Uint8Array(32).fill(7), store.read, w.clock) }
  await record(hub, async tx => ({ result: await hub.keys.checkCanary(tx) }))
  const ctx = fullCtx(hub, w.acme.workspaceId)
  const edit = (id: string) => updateHeartbeat(ctx, id, { description: 'edited' })
  const edits = Promise.all(beats.map((id, n) => (n % 3 === 0 ? rotateHeartbeat(ctx, id) : edit(id))))
  const ended = await Promise.race([edits.then(() => 'all done'), Bun.sleep(30_000).then(() => 'they wait for each other')])
  expect(ended).toBe('all done')
  if (isPostgres) await store.close()
}, 180_000)
