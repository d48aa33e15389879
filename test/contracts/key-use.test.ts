import { expect, test } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { dataKeys } from '../../src/core/db/tables'
import { encryptionsOf, keyLimits, type KeyLimits } from '../../src/core/key-use'
import { KeyRing } from '../../src/core/secrets'
import { keyStatus } from '../../src/hub/keys/key-status'
import { world, type World } from '../support/world'

const master = new Uint8Array(32).fill(7)
const ringOf = (w: World, bounds: Partial<KeyLimits> = {}) =>
  new KeyRing(master, w.hub.read, w.clock, { ...keyLimits, encryptions: 10, block: 5, ...bounds })
const place = (w: World, row = 'hb_1') => ({
  table: 'heartbeats',
  column: 'uuid_sealed',
  row,
  workspaceId: w.rival.workspaceId,
})
const seal = (w: World, ring: KeyRing, text = 'x') => record(w.hub, async tx => ({ result: await ring.seal(tx, place(w), text) }))
const keysOf = (w: World) =>
  w.hub.read.select().from(dataKeys).where(eq(dataKeys.workspaceId, w.rival.workspaceId)).orderBy(asc(dataKeys.createdAt))
const keyOf = (sealed: string) => sealed.split('.')[1]!

test('a data key is replaced when it reaches its limit, and its values can still be decrypted', async () => {
  const w = await world()
  const ring = ringOf(w)
  const sealed: string[] = []
  for (let n = 0; n < 25; n++) sealed.push(await seal(w, ring, `value ${n}`))
  const keys = await keysOf(w)
  expect(keys).toHaveLength(3)
  expect(keys.map(key => sealed.filter(one => keyOf(one) === key.id).length)).toEqual([10, 10, 5])
  for (const [n, one] of sealed.entries()) expect(await ring.open(place(w), one)).toBe(`value ${n}`)
  // Another process that has not loaded any of them.
  expect(await ringOf(w).open(place(w), sealed[0]!)).toBe('value 0')
})

test('a transaction that exceeds the limit continues with the next key', async () => {
  const w = await world()
  const ring = ringOf(w)
  const sealed = await record(w.hub, async tx => {
    const result: string[] = []
    for (let n = 0; n < 12; n++) result.push(await ring.seal(tx, place(w), 'x'))
    return { result }
  })
  expect(new Set(sealed.map(keyOf)).size).toBe(2)
})

test('unused reservations of a dead process count as used', async () => {
  const w = await world()
  const [first] = [await seal(w, ringOf(w))]
  expect(await encryptionsOf(w.hub.read, keyOf(first!))).toBe(5)
  const second = await seal(w, ringOf(w))
  expect([keyOf(second), await encryptionsOf(w.hub.read, keyOf(second))]).toEqual([keyOf(first!), 10])
  // Two of ten were used, but the third process finds none left.
  expect(keyOf(await seal(w, ringOf(w)))).not.toBe(keyOf(first!))
})

test('encryptions of a change that was rolled back are counted with the next one', async () => {
  const w = await world()
  const ring = ringOf(w, { encryptions: 1_000 })
  const before = keyOf(await seal(w, ringOf(w, { encryptions: 1_000 })))
  const rolledBack = record(w.hub, async tx => {
    for (let n = 0; n < 3; n++) await ring.seal(tx, place(w), 'x')
    throw new Error('no')
  })
  await expect(rolledBack).rejects.toThrow('no')
  expect(await encryptionsOf(w.hub.read, before)).toBe(5)
  expect(keyOf(await seal(w, ring))).toBe(before)
  expect(await encryptionsOf(w.hub.read, before)).toBe(5 + 5 + 3)
})

test('concurrent encryptions use one key up to its limit, and all are counted', async () => {
  const w = await world()
  const ring = ringOf(w, { encryptions: 100, block: 10 })
  const sealed = await Promise.all(Array.from({ length: 90 }, () => seal(w, ring)))
  const counts = await Promise.all((await keysOf(w)).map(async key => [key.id, await encryptionsOf(w.hub.read, key.id)] as const))
  for (const [id, counted] of counts) {
    const used = sealed.filter(one => keyOf(one) === id).length
    expect(counted).toBeGreaterThanOrEqual(used)
    expect(used).toBeLessThanOrEqual(100)
  }
})

test('a key is replaced after a year, even if it was rarely used', async () => {
  const w = await world()
  const ring = ringOf(w)
  const first = await seal(w, ring)
  w.clock.advance(keyLimits.ageMs - 1)
  expect(keyOf(await seal(w, ring))).toBe(keyOf(first))
  w.clock.advance(1)
  expect(keyOf(await seal(w, ring))).not.toBe(keyOf(first))
})

test('the key status includes the number of encryptions', async () => {
  const w = await world()
  const key = keyOf(await seal(w, ringOf(w)))
  expect((await keyStatus(w.hub)).dataKeys.find(one => one.id === key)!.encryptions).toBe(5)
})
