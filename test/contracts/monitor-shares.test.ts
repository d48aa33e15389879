import { expect, test } from 'bun:test'
import { record } from '../../src/core/change'
import { hubs } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import { newId } from '../../src/core/ids'
import { leaseMs, shareCount, shareOf, Shares } from '../../src/features/monitors/live/shares'
import { monitorGaps, monitorShares } from '../../src/features/monitors/tables'
import { renewPresence } from '../../src/hub/presence'
import { world, type World } from '../support/world'

/** A world whose hub has released its shares. */
async function idle(): Promise<World> {
  const w = await world()
  await w.monitoring.stop()
  return w
}

/** Another hub on the same database, for shares only. */
async function another(hub: Hub): Promise<Hub> {
  const other = { ...hub, id: newId('hub') }
  const now = hub.clock.now()
  const row = { id: other.id, host: 'other', version: '0', startedAt: now, seenAt: now, masterKeyId: hub.keys.masterKeyId }
  await record(hub, async tx => ({ result: await tx.insert(hubs).values(row) }))
  return other
}

const ownersOf = async (hub: Hub): Promise<(string | null)[]> =>
  (await hub.read.select().from(monitorShares)).sort((a, b) => a.share - b.share).map(one => one.hubId)

test('a single hub takes every share at once, without recording a gap', async () => {
  const { hub } = await idle()
  const shares = new Shares(hub)
  const { claimed, lost, surplus } = await shares.divide()
  expect([claimed.length, lost, surplus]).toEqual([shareCount, [], []])
  expect(new Set(await ownersOf(hub))).toEqual(new Set([hub.id]))
  expect(await hub.read.select().from(monitorGaps)).toEqual([])
  expect((await shares.divide()).claimed).toEqual([])
})

test('hubs divide the shares evenly, and no share ever has two owners', async () => {
  const { hub } = await idle()
  const all = [hub, await another(hub), await another(hub)].map(one => new Shares(one))
  for (let round = 0; round < 3; round++)
    for (const shares of all) {
      await shares.free((await shares.divide()).surplus)
      const held = all.flatMap(one => one.held)
      expect(new Set(held).size).toBe(held.length)
    }
  expect(all.map(one => one.held.length).sort()).toEqual([84, 86, 86])
  expect(await hub.read.select().from(monitorGaps)).toEqual([])
})

test('hubs that claim shares at the same time get each share once', async () => {
  const { hub } = await idle()
  const all = [hub, await another(hub)].map(one => new Shares(one))
  await Promise.all(all.map(one => one.divide()))
  await Promise.all(all.map(one => one.divide()))
  expect(all.flatMap(one => one.held).sort((a, b) => a - b)).toEqual(Array.from({ length: shareCount }, (_, share) => share))
})

test('the shares of a dead hub are taken when their lease ends, and the gap is recorded', async () => {
  const { hub, clock } = await idle()
  const dead = new Shares(await another(hub))
  const mine = new Shares(hub)
  await dead.divide()
  await mine.divide()
  const diedAt = clock.now()
  for (let waited = 2000; waited < leaseMs; waited += 2000) {
    clock.advance(2000)
    await renewPresence(hub)
    expect((await mine.divide()).claimed).toEqual([])
  }
  clock.advance(2000)
  await renewPresence(hub)
  const { claimed } = await mine.divide()
  expect(claimed).toHaveLength(shareCount / 2)
  expect(dead.held).toEqual([])
  const gaps = await hub.read.select({ from: monitorGaps.from, to: monitorGaps.to, shares: monitorGaps.shares }).from(monitorGaps)
  expect(gaps).toEqual([{ from: diedAt, to: clock.now(), shares: claimed }])
})

test('a hub that was considered dead has lost its shares', async () => {
  const { hub, clock } = await idle()
  const slow = new Shares(await another(hub))
  const mine = new Shares(hub)
  await slow.divide()
  await mine.divide()
  for (let waited = 0; waited < leaseMs + 2000; waited += 2000) {
    clock.advance(2000)
    await renewPresence(hub)
  }
  await mine.divide()
  const { lost, claimed } = await slow.divide()
  expect([lost.length, claimed, slow.held]).toEqual([shareCount / 2, [], []])
})

test('after a pause of the whole installation, hubs leave each other time to renew their leases', async () => {
  const { hub, clock } = await idle()
  const other = await another(hub)
  const theirs = new Shares(other)
  const mine = new Shares(hub)
  await renewPresence(hub)
  await theirs.divide()
  await mine.divide()
  clock.advance(60_000)
  // Before and after this hub notices the pause.
  expect((await mine.divide()).claimed).toEqual([])
  await renewPresence(hub)
  expect((await mine.divide()).claimed).toEqual([])
  clock.advance(2000)
  await renewPresence(other)
  expect((await theirs.divide()).lost).toEqual([])
  // A hub that doesn't come back is replaced after all.
  for (let waited = 0; waited < leaseMs; waited += 2000) {
    clock.advance(2000)
    await renewPresence(hub)
    await mine.divide()
  }
  clock.advance(2000)
  await renewPresence(hub)
  await mine.divide()
  expect(mine.held).toHaveLength(shareCount)
})

test('a hub whose round is late keeps its shares, until the round is stuck', async () => {
  const { hub, clock } = await idle()
  const slow = new Shares(hub)
  await slow.divide()
  const startedAt = clock.now()
  const other = await another(hub)
  const theirs = new Shares(other)
  const pass = async () => {
    clock.advance(1000)
    for (const one of [hub, other]) await renewPresence(one)
    await slow.renewIfLate()
  }
  while (clock.now() - startedAt <= 30_000) {
    await pass()
    expect([(await theirs.divide()).claimed, slow.held.length]).toEqual([[], shareCount])
  }
  for (let waited = 0; waited <= leaseMs; waited += 1000) await pass()
  expect((await theirs.divide()).claimed.length).toBeGreaterThan(0)
})

test('a hub that stops releases its shares at once, and a short pause is no gap', async () => {
  const { hub, clock } = await idle()
  const leaving = new Shares(await another(hub))
  const mine = new Shares(hub)
  await leaving.divide()
  await mine.divide()
  await leaving.leave()
  await record(hub, async tx => ({ result: await tx.update(hubs).set({ seenAt: 0 }) }))
  clock.advance(5000)
  expect((await mine.divide()).claimed).toHaveLength(shareCount / 2)
  expect(mine.held).toHaveLength(shareCount)
  expect(await hub.read.select().from(monitorGaps)).toEqual([])
})

test('a machine that slept keeps its shares and has a gap; one whose database was unavailable has none', async () => {
  const { hub, clock } = await idle()
  const shares = new Shares(hub)
  await shares.divide()
  clock.advance(3600_000)
  expect(shares.held).toEqual([])
  await shares.divide()
  const slept = { from: clock.now() - 3600_000, to: clock.now(), shares: null }
  const gaps = () => hub.read.select({ from: monitorGaps.from, to: monitorGaps.to, shares: monitorGaps.shares }).from(monitorGaps)
  expect(await gaps()).toEqual([slept])
  const fault = new Shares({ ...hub, store: { ...hub.store, transact: () => Promise.reject(new Error('away')) } })
  Object.assign(fault, { leases: new Map(), roundAt: clock.now() })
  for (let n = 0; n < 6; n++) {
    clock.advance(5000)
    expect(fault.divide()).rejects.toThrow('away')
  }
  Object.assign(fault, { hub })
  await fault.divide()
  expect([fault.held.length, await gaps()]).toEqual([shareCount, [slept]])
})

test('monitors spread evenly over the shares', () => {
  const seen = Array.from({ length: shareCount }, () => 0)
  for (let n = 0; n < 25_600; n++) seen[shareOf(newId('mon'))]!++
  expect(Math.min(...seen)).toBeGreaterThan(50)
  expect(Math.max(...seen)).toBeLessThan(160)
})
