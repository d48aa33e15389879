import { eq, lt, max, ne, sql } from 'drizzle-orm'
import { record } from '../core/change'
import { counters, hubs } from '../core/db/tables'
import type { Tx } from '../core/db/transaction'
import { isPostgres } from '../core/db/dialect'
import { prepared } from '../core/db/prepared'
import type { Hub } from '../core/hub'
import { reap } from '../core/jobs/queue'
import { noteRenewal } from '../core/live-hubs'
import { version } from '../core/version'
import { extendDueTimes } from '../features/heartbeats/status/downtime'
import { extendSilence } from '../features/servers/agents/silence'

// Shorter gaps are normal pauses of a busy machine, in which no pings were lost.
const minDowntimeMs = 3000
const deadMs = 24 * 3600 * 1000

/**
 * Registers this hub as running. If no hub was running for a while, extends due times by that time: pings that couldn't reach a
 * hub must not count as missed.
 */
export async function registerHub(hub: Hub, host: string): Promise<void> {
  const joined = await record(hub, async tx => {
    await serialize(tx)
    const now = hub.clock.now()
    const [last] = await tx.select({ seenAt: max(hubs.seenAt) }).from(hubs)
    const downtime = last?.seenAt == null ? 0 : now - Number(last.seenAt)
    // SQLite allows only one hub at a time, so all other entries are outdated.
    await tx.delete(hubs).where(isPostgres ? lt(hubs.seenAt, now - deadMs) : ne(hubs.id, hub.id))
    // From now on, a rotation of the master key includes this hub. If one finished before, check the key again.
    await hub.keys.checkCanary(tx)
    await tx.insert(hubs).values({ id: hub.id, host, version, startedAt: now, seenAt: now, masterKeyId: hub.keys.masterKeyId })
    const jobs = await reap(tx, hub)
    return { result: { now, downtime, extended: downtime >= minDowntimeMs ? await extendAll(tx, now, downtime) : 0, jobs } }
  })
  renewedAt.set(hub, joined.now)
  if (joined.extended > 0)
    hub.log.info(
      { downtime_ms: joined.downtime, heartbeats: joined.extended },
      'extended due times by the time no hub was running',
    )
  if (joined.jobs > 0) hub.log.info({ jobs: joined.jobs }, 'released jobs of a hub that is no longer running')
}

/**
 * Renews this hub's registration. A gap since the last renewal means that the machine was suspended or stalled. If no other hub was
 * running meanwhile, extends due times as after a restart.
 * @returns the number of heartbeats whose due times were extended
 */
export async function renewPresence(hub: Hub): Promise<number> {
  const now = hub.clock.now()
  const gap = now - (renewedAt.get(hub) ?? now)
  const renews = async (tx: Tx) => {
    const renewal = prepared<unknown, Tx>(tx, 'renew-presence', handle =>
      handle
        .update(hubs)
        .set({ seenAt: sql`${sql.placeholder('now')}`, masterKeyId: sql`${sql.placeholder('key')}` })
        .where(eq(hubs.id, sql.placeholder('id'))),
    )
    const renew = () => renewal.execute({ id: hub.id, now, key: hub.keys.masterKeyId })
    if (gap < minDowntimeMs) {
      await renew()
      return { result: 0 }
    }
    await serialize(tx)
    const [last] = await tx.select({ seenAt: max(hubs.seenAt) }).from(hubs)
    const downtime = now - Number(last?.seenAt ?? now)
    await renew()
    return { result: downtime >= minDowntimeMs ? await extendAll(tx, now, downtime) : 0 }
  }
  const extended = await record(hub, renews, gap < minDowntimeMs)
  renewedAt.set(hub, now)
  noteRenewal(hub, now)
  return extended
}

/** Extends the due times of heartbeats and agents. @returns the number of heartbeats */
async function extendAll(tx: Tx, now: number, downtime: number): Promise<number> {
  await extendSilence(tx, now, downtime)
  return await extendDueTimes(tx, now, downtime)
}

/** When each hub of this process last renewed its registration (ms UTC). */
const renewedAt = new WeakMap<Hub, number>()

export async function unregisterHub(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    // The row is kept, because the next hub to start needs the time of the last renewal.
    await tx.update(hubs).set({ seenAt: hub.clock.now(), masterKeyId: null }).where(eq(hubs.id, hub.id))
    return { result: undefined }
  })
}

/** Makes hubs that start at the same time wait for each other, so that only one of them finds the gap. */
async function serialize(tx: Tx): Promise<void> {
  await tx
    .insert(counters)
    .values({ name: 'presence', value: 1 })
    .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + 1` } })
}
