import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../core/db/transaction'
import type { JobKind } from '../../core/jobs/job'
import type { JobDraft } from '../../core/jobs/queue'
import { deliverJobFor, untilDone } from './delivery-jobs'
import { behindEarlier, fallBack, moveUpAll, waitsForNothing } from './line'
import { webhookDeliveries, webhookEndpoints } from './tables'

type Endpoint = typeof webhookEndpoints.$inferSelect

/** Why nothing is sent to an endpoint now; null when it may be sent to. */
export type Obstacle = 'endpoint_deleted' | 'endpoint_disabled' | 'endpoint_inactive'

export function obstacleOf(endpoint: Pick<Endpoint, 'active' | 'status'> | null | undefined): Obstacle | null {
  if (!endpoint) return 'endpoint_deleted'
  if (endpoint.status === 'disabled') return 'endpoint_disabled'
  return endpoint.active ? null : 'endpoint_inactive'
}

/**
 * The endpoint as it stands now, which stays so until the caller's transaction ends: whoever holds something back must not
 * miss that the endpoint was opened, and what it had held released, at the same moment.
 */
export async function heldStill(tx: Tx, endpointId: string): Promise<Endpoint | null> {
  // Writing the row is the lock that both engines have.
  const [row] = await tx
    .update(webhookEndpoints)
    .set({ version: sql`${webhookEndpoints.version}` })
    .where(eq(webhookEndpoints.id, endpointId))
    .returning()
  return row ?? null
}

/**
 * Holds what waits for an endpoint that was paused or disabled, what waits for its turn too. What is in flight ends its try first.
 */
export async function holdWaiting(
  tx: Tx,
  endpoint: Pick<Endpoint, 'id' | 'workspaceId'>,
  reason: Obstacle,
  now: number,
): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ status: 'held', reason, nextAttemptAt: null, updatedAt: now })
    .where(waitingFor(endpoint))
  await tx
    .update(webhookDeliveries)
    .set({ reason, updatedAt: now })
    .where(and(heldFor(endpoint), eq(webhookDeliveries.reason, behindEarlier)))
}

/** Cancels what waits for, or is held for, an endpoint that is being deleted. */
export async function cancelWaiting(tx: Tx, endpoint: Pick<Endpoint, 'id' | 'workspaceId'>, now: number): Promise<void> {
  const end = { status: 'cancelled', reason: 'endpoint_deleted', nextAttemptAt: null, finishedAt: now, updatedAt: now } as const
  await tx.update(webhookDeliveries).set(end).where(waitingFor(endpoint))
  await tx.update(webhookDeliveries).set(end).where(heldFor(endpoint))
}

/**
 * Makes what was held while the endpoint was disabled wait for nothing but its switch, and where the order is kept what comes after it
 * wait for that; returns how many were held.
 */
export async function holdForSwitchOnly(
  tx: Tx,
  endpoint: Pick<Endpoint, 'id' | 'workspaceId' | 'ordering'>,
  now: number,
): Promise<number> {
  const freed = await tx
    .update(webhookDeliveries)
    .set({ reason: 'endpoint_inactive', updatedAt: now })
    .where(and(heldFor(endpoint), eq(webhookDeliveries.reason, 'endpoint_disabled')))
    .returning({ id: webhookDeliveries.id })
  if (freed.length > 0 && endpoint.ordering === 'per_resource') await fallBack(tx, endpoint, now)
  return freed.length
}

const releaseKind = 'webhooks.release'
const releasedAtOnce = 500

/** The job that sends what was held while an endpoint was switched off, or for an order that it keeps no more. */
export const releaseJobFor = (endpoint: Pick<Endpoint, 'id'>): JobDraft => ({
  kind: releaseKind,
  payload: { endpoint_id: endpoint.id },
  uniqueKey: endpoint.id,
})

export const releaseJob: JobKind<{ endpoint_id: string }> = {
  kind: releaseKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: untilDone,
  run: async (hub, job) => async tx => {
    const endpoint = await heldStill(tx, job.payload.endpoint_id)
    if (!endpoint || obstacleOf(endpoint) !== null) return { result: undefined }
    const kept = endpoint.ordering === 'per_resource'
    const held = await tx
      .select({ id: webhookDeliveries.id, turn: webhookDeliveries.turn })
      .from(webhookDeliveries)
      .where(
        and(
          heldFor(endpoint),
          inArray(webhookDeliveries.reason, kept ? ['endpoint_inactive'] : ['endpoint_inactive', behindEarlier]),
        ),
      )
      .orderBy(asc(webhookDeliveries.id))
      .limit(releasedAtOnce)
    if (held.length === 0) return { result: undefined }
    const now = hub.clock.now()
    const [inLine, free] = [held.filter(row => kept && row.turn !== null), held.filter(row => !kept || row.turn === null)]
    const jobs: JobDraft[] = []
    if (free.length > 0) {
      const released = await tx
        .update(webhookDeliveries)
        .set({ ...waitsForNothing, nextAttemptAt: now, updatedAt: now })
        .where(among(free))
        .returning()
      jobs.push(...released.map(row => deliverJobFor(row, now)))
    }
    if (inLine.length > 0) {
      const lined = await tx
        .update(webhookDeliveries)
        .set({ reason: behindEarlier, updatedAt: now })
        .where(among(inLine))
        .returning()
      jobs.push(...(await moveUpAll(tx, lined, now)))
    }
    return { result: undefined, jobs: held.length === releasedAtOnce ? [...jobs, releaseJobFor(endpoint)] : jobs }
  },
}

const among = (rows: readonly { id: string }[]) =>
  inArray(
    webhookDeliveries.id,
    rows.map(row => row.id),
  )

// The workspace is named for the index, which holds the few that wait and not the many that are done.
const waitingFor = (endpoint: Pick<Endpoint, 'id' | 'workspaceId'>) =>
  and(
    eq(webhookDeliveries.workspaceId, endpoint.workspaceId),
    inArray(webhookDeliveries.status, ['pending', 'retrying']),
    eq(webhookDeliveries.endpointId, endpoint.id),
  )
const heldFor = (endpoint: Pick<Endpoint, 'id' | 'workspaceId'>) =>
  and(
    eq(webhookDeliveries.workspaceId, endpoint.workspaceId),
    eq(webhookDeliveries.status, 'held'),
    eq(webhookDeliveries.endpointId, endpoint.id),
  )
