import { and, asc, eq, inArray, or, sql } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import type { Tx } from '../../../core/db/transaction'
import type { JobKind } from '../../../core/jobs/job'
import type { JobDraft } from '../../../core/jobs/draft'
import { unlimitedBackoff } from '../../../core/outgoing/retry-schedule'
import { deliverJobFor } from './delivery-jobs'
import { waitingForEarlier, restoredReason, holdBehindEarlier, releaseNextOfEach, readyToSend } from './ordering'
import { webhookDeliveries } from '../deliveries/tables'
import { webhookEndpoints } from '../endpoints/tables'

type Endpoint = typeof webhookEndpoints.$inferSelect

/** Why nothing is sent to an endpoint. */
type BlockReason = 'endpoint_deleted' | 'endpoint_disabled' | 'endpoint_inactive'

export function blockReasonOf(endpoint: Pick<Endpoint, 'active' | 'status'> | null | undefined): BlockReason | null {
  if (!endpoint) return 'endpoint_deleted'
  if (endpoint.status === 'disabled') return 'endpoint_disabled'
  return endpoint.active ? null : 'endpoint_inactive'
}

/**
 * Locks the endpoint until the transaction ends. Required before holding a delivery: otherwise the endpoint could be resumed, and
 * its held deliveries released, at the same time, and this one would stay held.
 */
export async function lockEndpoint(tx: Tx, endpointId: string): Promise<Endpoint | null> {
  // Updating the row locks it on both database engines.
  const [row] = await prepared<Endpoint[], Tx>(tx, 'webhook-endpoint-lock', handle =>
    handle
      .update(webhookEndpoints)
      .set({ version: sql`${webhookEndpoints.version}` })
      .where(eq(webhookEndpoints.id, sql.placeholder('id')))
      .returning(),
  ).execute({ id: endpointId })
  return row ?? null
}

/**
 * Holds the waiting deliveries of an inactive or disabled endpoint, including those that wait for an earlier one. Attempts in flight
 * finish first.
 */
export async function holdPending(
  tx: Tx,
  endpoint: Pick<Endpoint, 'id' | 'workspaceId'>,
  reason: BlockReason,
  now: number,
): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ status: 'held', reason, nextAttemptAt: null, updatedAt: now })
    .where(waitingFor(endpoint))
  await tx
    .update(webhookDeliveries)
    .set({ reason, updatedAt: now })
    .where(and(heldFor(endpoint), eq(webhookDeliveries.reason, waitingForEarlier)))
}

/**
 * Holds all deliveries that were not finished when a backup was made: most were probably delivered since. They are sent only if they
 * are resent. Later deliveries don't wait for them. Returns their number.
 */
export async function holdRestored(tx: Tx, now: number): Promise<number> {
  const held = await tx
    .update(webhookDeliveries)
    .set({
      status: 'held',
      reason: restoredReason,
      nextAttemptAt: null,
      // Voids their jobs.
      version: sql`${webhookDeliveries.version} + 1`,
      updatedAt: now,
    })
    .where(
      or(
        inArray(webhookDeliveries.status, ['pending', 'in_flight', 'retrying']),
        and(eq(webhookDeliveries.status, 'held'), eq(webhookDeliveries.reason, waitingForEarlier)),
      ),
    )
    .returning({ id: webhookDeliveries.id })
  return held.length
}

/** Cancels the waiting and held deliveries of an endpoint that is being deleted. */
export async function cancelPending(tx: Tx, endpoint: Pick<Endpoint, 'id' | 'workspaceId'>, now: number): Promise<void> {
  const end = { status: 'canceled', reason: 'endpoint_deleted', nextAttemptAt: null, finishedAt: now, updatedAt: now } as const
  await tx.update(webhookDeliveries).set(end).where(waitingFor(endpoint))
  await tx.update(webhookDeliveries).set(end).where(heldFor(endpoint))
}

/**
 * Marks the deliveries that were held while the endpoint was disabled as waiting only for the endpoint to be active. If it is
 * ordered, later deliveries wait for them. Returns their number.
 */
export async function markHeldAsInactive(
  tx: Tx,
  endpoint: Pick<Endpoint, 'id' | 'workspaceId' | 'ordering'>,
  now: number,
): Promise<number> {
  const marked = await tx
    .update(webhookDeliveries)
    .set({ reason: 'endpoint_inactive', updatedAt: now })
    .where(and(heldFor(endpoint), eq(webhookDeliveries.reason, 'endpoint_disabled')))
    .returning({ id: webhookDeliveries.id })
  if (marked.length > 0 && endpoint.ordering === 'per_resource') await holdBehindEarlier(tx, endpoint, now)
  return marked.length
}

const releaseKind = 'webhooks.release'
const releaseBatchSize = 500

/** The job that sends deliveries held because the endpoint was inactive or ordered and no longer is. */
export const releaseJobFor = (endpoint: Pick<Endpoint, 'id'>): JobDraft => ({
  kind: releaseKind,
  payload: { endpoint_id: endpoint.id },
  uniqueKey: endpoint.id,
})

export const releaseJob: JobKind<{ endpoint_id: string }> = {
  kind: releaseKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: unlimitedBackoff,
  run: async (hub, job) => async tx => {
    const endpoint = await lockEndpoint(tx, job.payload.endpoint_id)
    if (!endpoint || blockReasonOf(endpoint) !== null) return { result: undefined }
    const isOrdered = endpoint.ordering === 'per_resource'
    const held = await tx
      .select({ id: webhookDeliveries.id, orderPosition: webhookDeliveries.orderPosition })
      .from(webhookDeliveries)
      .where(
        and(
          heldFor(endpoint),
          inArray(webhookDeliveries.reason, isOrdered ? ['endpoint_inactive'] : ['endpoint_inactive', waitingForEarlier]),
        ),
      )
      .orderBy(asc(webhookDeliveries.id))
      .limit(releaseBatchSize)
    if (held.length === 0) return { result: undefined }
    const now = hub.clock.now()
    const [queued, unordered] = [
      held.filter(row => isOrdered && row.orderPosition !== null),
      held.filter(row => !isOrdered || row.orderPosition === null),
    ]
    const jobs: JobDraft[] = []
    if (unordered.length > 0) {
      const released = await tx
        .update(webhookDeliveries)
        .set({ ...readyToSend, nextAttemptAt: now, updatedAt: now })
        .where(among(unordered))
        .returning()
      jobs.push(...released.map(row => deliverJobFor(row, now)))
    }
    if (queued.length > 0) {
      const ordered = await tx
        .update(webhookDeliveries)
        .set({ reason: waitingForEarlier, updatedAt: now })
        .where(among(queued))
        .returning()
      jobs.push(...(await releaseNextOfEach(tx, ordered, now)))
    }
    return { result: undefined, jobs: held.length === releaseBatchSize ? [...jobs, releaseJobFor(endpoint)] : jobs }
  },
}

const among = (rows: readonly { id: string }[]) =>
  inArray(
    webhookDeliveries.id,
    rows.map(row => row.id),
  )

// Include the workspace, so that the index on the status is used: few deliveries are waiting, but many are finished.
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
