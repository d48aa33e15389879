import { eq, lt, max, ne, sql } from 'drizzle-orm'
import { record } from '../core/change'
import { counters, hubs } from '../core/db/tables'
import type { Tx } from '../core/db/transaction'
import { isPostgres } from '../core/db/dialect'
import type { Hub } from '../core/hub'
import { reap } from '../core/jobs/queue'
import { version } from '../core/version'
import { extendDueTimes } from '../features/heartbeats/downtime'

// Shorter gaps are the pauses of a busy machine; nobody's ping was lost in them.
const leastDowntimeMs = 3000
const deadMs = 24 * 3600 * 1000

/**
 * Enters this hub among the running ones. If none was running for a while, what was due meanwhile is put off by that time:
 * jobs could not reach a hub that was not there, and their pings must not be called missed.
 */
export async function joinHubs(hub: Hub, host: string): Promise<void> {
  const put = await record(hub, async tx => {
    await takeTurns(tx)
    const now = hub.clock.now()
    const [last] = await tx.select({ seenAt: max(hubs.seenAt) }).from(hubs)
    const away = last?.seenAt == null ? 0 : now - Number(last.seenAt)
    // SQLite has one hub at a time: whoever else is listed is gone, and its leases with it.
    await tx.delete(hubs).where(isPostgres ? lt(hubs.seenAt, now - deadMs) : ne(hubs.id, hub.id))
    // A rotation of the master key sees this hub from now on, or was done before: then the key that is wanted is looked at again.
    await hub.keys.checkCanary(tx)
    await tx.insert(hubs).values({ id: hub.id, host, version, startedAt: now, seenAt: now, masterKeyId: hub.keys.masterKeyId })
    const jobs = await reap(tx, hub)
    return { result: { away, moved: away >= leastDowntimeMs ? await extendDueTimes(tx, now, away) : 0, jobs } }
  })
  if (put.moved > 0)
    hub.log.info({ away_ms: put.away, heartbeats: put.moved }, 'due times were put off by the time no hub was running')
  if (put.jobs > 0) hub.log.info({ jobs: put.jobs }, 'jobs of a hub that is gone were freed')
}

/**
 * Renews this hub's row. A gap since the last renewal means the machine slept or stood still; if no other hub was there
 * meanwhile, due times are put off as after a restart.
 * @returns the number of heartbeats that were put off
 */
export async function renewPresence(hub: Hub): Promise<number> {
  const now = hub.clock.now()
  return await record(hub, async tx => {
    const [mine] = await tx.select({ seenAt: hubs.seenAt }).from(hubs).where(eq(hubs.id, hub.id))
    const gap = now - Number(mine?.seenAt ?? now)
    if (gap < leastDowntimeMs) {
      await tx.update(hubs).set({ seenAt: now, masterKeyId: hub.keys.masterKeyId }).where(eq(hubs.id, hub.id))
      return { result: 0 }
    }
    await takeTurns(tx)
    const [last] = await tx.select({ seenAt: max(hubs.seenAt) }).from(hubs)
    const away = now - Number(last?.seenAt ?? now)
    await tx.update(hubs).set({ seenAt: now, masterKeyId: hub.keys.masterKeyId }).where(eq(hubs.id, hub.id))
    return { result: away >= leastDowntimeMs ? await extendDueTimes(tx, now, away) : 0 }
  })
}

export async function leaveHubs(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    // The row stays as the mark of when somebody was last there.
    await tx.update(hubs).set({ seenAt: hub.clock.now(), masterKeyId: null }).where(eq(hubs.id, hub.id))
    return { result: undefined }
  })
}

/** Hubs that start together do this one after the other, so that one of them alone finds the gap. */
async function takeTurns(tx: Tx): Promise<void> {
  await tx
    .insert(counters)
    .values({ name: 'presence', value: 1 })
    .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + 1` } })
}
