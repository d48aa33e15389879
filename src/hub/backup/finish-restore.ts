import { and, eq, exists, max, or, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { sessions } from '../../access/tables'
import { operatorWorkspace } from '../../access/workspaces'
import { systemActor, record } from '../../core/change'
import { hubs, instanceFacts, jobs } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { dnsSecondaries, dnsServing, dnsTransfers } from '../../features/dns/transfers/tables'
import { dnsZones } from '../../features/dns/zones/tables'
import { extendDueTimes, maxExtensionMs } from '../../features/heartbeats/status/downtime'
import { passwordResets } from '../../features/people/password-resets/tables'
import { holdRestored } from '../../features/webhooks/sending/holds'

/** Name of the fact that a restore adds to the data, until {@link finishRestore} has run. */
export const restoredFact = 'restored'

/** Its value. */
export interface RestoredFact {
  file: string
  /** RFC 3339, as is `restored_at`. */
  backup_at: string
  restored_at: string
  release_deliveries: boolean
}

/**
 * Adapts data that was restored from a backup to the time that has passed since, in one transaction. Everything that was in progress
 * is no longer, and what happened in the meantime is unknown.
 */
export async function finishRestore(hub: Hub): Promise<void> {
  const [pending] = await factQuery(hub.read)
  if (!pending) return
  await record(hub, async tx => {
    // Another hub that starts at the same time may have done it.
    const [row] = await tx.delete(instanceFacts).where(eq(instanceFacts.name, restoredFact)).returning()
    if (!row) return { result: undefined }
    const { file, backup_at, restored_at, release_deliveries } = JSON.parse(row.value) as RestoredFact
    const now = hub.clock.now()
    const gapMs = Math.max(0, now - Date.parse(backup_at))
    const [last] = await tx.select({ seenAt: max(hubs.seenAt) }).from(hubs)
    // The hub may have been stopped before the backup.
    const stoppedMs = last?.seenAt == null ? 0 : Math.max(0, Date.parse(backup_at) - Number(last.seenAt))
    // The next hub to start extends due times by the time since then.
    await tx.update(hubs).set({ seenAt: now, masterKeyId: null })
    await extendDueTimes(tx, now, gapMs + stoppedMs, gapMs + maxExtensionMs)
    await skipSerials(tx, gapMs)
    await tx.delete(passwordResets)
    const after = {
      file,
      backup_at,
      restored_at,
      gap_seconds: Math.round(gapMs / 1000),
      jobs_released: await releaseJobs(tx),
      sessions_ended: (await tx.delete(sessions).returning({ id: sessions.id })).length,
      deliveries_held: release_deliveries ? 0 : await holdRestored(tx, now),
    }
    const { id: workspaceId } = await operatorWorkspace(tx)
    return {
      result: undefined,
      audits: [
        {
          workspaceId,
          action: 'account.instance.restore',
          actor: { ...systemActor('command line'), type: 'operator' },
          context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'cli' },
          targets: [],
          before: {},
          after,
        },
      ],
    }
  })
}

const factQuery = (read: Pick<Tx, 'select'>) => read.select().from(instanceFacts).where(eq(instanceFacts.name, restoredFact))

/** Returns running jobs to the queue: their hub is not part of this installation. */
async function releaseJobs(tx: Tx): Promise<number> {
  const released = await tx
    .update(jobs)
    .set({ state: 'ready', lockedBy: null, lockedUntil: null })
    .where(eq(jobs.state, 'running'))
    .returning({ id: jobs.id })
  return released.length
}

// More than one change of a zone per second on average is implausible.
const spareSerials = 1_000
// Serials wrap around: a larger step would look like one backward (RFC 1982).
const maxSerialStep = 2 ** 30

/**
 * Increases the serials of zones that other name servers may have transferred since the backup. Otherwise they would keep their
 * newer copy.
 */
async function skipSerials(tx: Tx, gapMs: number): Promise<void> {
  const step = Math.min(Math.ceil(gapMs / 1000) + spareSerials, maxSerialStep)
  const isTransferred = or(
    exists(tx.select({ id: dnsSecondaries.id }).from(dnsSecondaries).where(eq(dnsSecondaries.workspaceId, dnsZones.workspaceId))),
    exists(tx.select({ zone: dnsTransfers.zone }).from(dnsTransfers).where(eq(dnsTransfers.zone, dnsZones.name))),
  )
  await tx
    .update(dnsZones)
    .set({ serial: skipped(dnsZones.serial, step) })
    .where(and(eq(dnsZones.isServed, true), isTransferred))
  await tx
    .update(dnsServing)
    .set({ catalogSerial: skipped(dnsServing.catalogSerial, step) })
    .where(eq(dnsServing.catalogEnabled, true))
}

/** 32 bits, and never 0. */
const skipped = (serial: SQLiteColumn, step: number): SQL<number> =>
  sql<number>`case when ${serial} + ${sql.raw(String(step))} > 4294967295 then ${serial} + ${sql.raw(String(step))} - 4294967295 else ${serial} + ${sql.raw(String(step))} end`
