import { and, asc, eq, exists, inArray, isNotNull, isNull, lt, ne, notInArray, or, sql } from 'drizzle-orm'
import { aliased } from '../../../core/db/dialect'
import { forIds } from '../../../core/db/id-list'
import { prepared } from '../../../core/db/prepared'
import type { Tx } from '../../../core/db/transaction'
import type { JobDraft } from '../../../core/jobs/draft'
import { deliverJobFor, type Delivery } from './delivery-jobs'
import { webhookDeliveries } from '../deliveries/tables'

// An ordered endpoint has a queue per resource: its unfinished deliveries by position. Only the first is sent; the others are
// held with the reason `waiting_for_earlier`. Adding to a queue or finishing its first delivery requires a lock on the endpoint
// (`lockEndpoint`); otherwise a delivery could keep waiting for one that has already finished.

/** Reason of a held delivery that is not the first of its queue. */
export const waitingForEarlier = 'waiting_for_earlier'
/** Reason of a held delivery that was not finished when the backup was made from which the installation was restored. */
export const restoredReason = 'restored'
// Held deliveries that may never be sent, so nothing waits for them: the endpoint was enabled without a replay, or see above.
const skippedReasons = ['endpoint_disabled', restoredReason]

type Ordered = Pick<Delivery, 'endpointId' | 'resourceId' | 'orderPosition'>

/** Whether an earlier delivery of the same queue is unfinished. Always false for unordered deliveries. */
export async function hasEarlierOpen(tx: Tx, delivery: Ordered): Promise<boolean> {
  if (delivery.orderPosition === null) return false
  const [one] = await tx
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(openInOrder(delivery), lt(webhookDeliveries.orderPosition, delivery.orderPosition)))
    .limit(1)
  return one !== undefined
}

export const queueKey = (endpointId: string, resourceId: string): string => `${endpointId} ${resourceId}`

/** The keys of those queues of ordered endpoints that have unfinished deliveries. */
export async function openQueues(tx: Tx, endpointIds: readonly string[], resourceIds: readonly string[]): Promise<Set<string>> {
  const open = new Set<string>()
  for (const endpointId of endpointIds) {
    const found = await forIds(resourceIds, (size, list, values) =>
      prepared<{ resourceId: string }[], Tx>(
        tx,
        `webhook-open-queues|${size}`,
        handle =>
          handle
            .selectDistinct({ resourceId: webhookDeliveries.resourceId })
            .from(webhookDeliveries)
            .where(
              and(
                eq(webhookDeliveries.endpointId, sql.placeholder('endpointId')),
                sql`${webhookDeliveries.resourceId} in ${list}`,
                isOpenInOrder,
              ),
            ) as never,
      ).execute({ ...values, endpointId }),
    )
    for (const { resourceId } of found) open.add(queueKey(endpointId, resourceId))
  }
  return open
}

/** Releases the first delivery of a queue, if it waits for nothing else, and returns its job. */
export async function releaseNext(
  tx: Tx,
  { endpointId, resourceId, orderPosition }: Ordered,
  now: number,
  options: { recovery?: boolean } = {},
): Promise<JobDraft[]> {
  if (orderPosition === null) return []
  const [first] = await firstOfQueue(tx).execute({ endpointId, resourceId })
  if (first?.reason !== waitingForEarlier) return []
  const released = await tx
    .update(webhookDeliveries)
    .set({ ...readyToSend, nextAttemptAt: now, updatedAt: now })
    .where(and(eq(webhookDeliveries.id, first.id), isBehindEarlier))
    .returning()
  return released.map(row => deliverJobFor(row, now, row.endedAs === null ? options : { recovery: true }))
}

const firstOfQueue = (tx: Tx) =>
  prepared<Pick<Delivery, 'id' | 'reason'>[], Tx>(tx, 'webhook-queue-first', handle =>
    handle
      .select({ id: webhookDeliveries.id, reason: webhookDeliveries.reason })
      .from(webhookDeliveries)
      .where(
        and(
          eq(webhookDeliveries.endpointId, sql.placeholder('endpointId')),
          eq(webhookDeliveries.resourceId, sql.placeholder('resourceId')),
          isOpenInOrder,
        ),
      )
      .orderBy(asc(webhookDeliveries.orderPosition))
      .limit(1),
  )

/** Calls `releaseNext` for the queue of each delivery. */
export async function releaseNextOfEach(
  tx: Tx,
  deliveries: readonly Ordered[],
  now: number,
  options: { recovery?: boolean } = {},
): Promise<JobDraft[]> {
  const queues = new Map(deliveries.filter(one => one.orderPosition !== null).map(one => [one.resourceId, one]))
  const jobs: JobDraft[] = []
  for (const one of queues.values()) jobs.push(...(await releaseNext(tx, one, now, options)))
  return jobs
}

/**
 * Holds deliveries that are waiting for an attempt if an earlier delivery of their queue is held, so that they can't overtake it.
 * Attempts in flight finish first.
 */
export async function holdBehindEarlier(
  tx: Tx,
  endpoint: Pick<Delivery, 'workspaceId'> & { id: string },
  now: number,
): Promise<void> {
  const earlier = aliased(webhookDeliveries, 'earlier')
  const isBehindHeld = tx
    .select({ id: earlier.id })
    .from(earlier)
    .where(
      and(
        eq(earlier.endpointId, endpoint.id),
        eq(earlier.resourceId, webhookDeliveries.resourceId),
        lt(earlier.orderPosition, webhookDeliveries.orderPosition),
        isNotNull(earlier.orderPosition),
        isNull(earlier.finishedAt),
        eq(earlier.status, 'held'),
        notInArray(earlier.reason, skippedReasons),
      ),
    )
  await tx
    .update(webhookDeliveries)
    .set({ status: 'held', reason: waitingForEarlier, nextAttemptAt: null, updatedAt: now })
    .where(
      and(
        // Include the workspace, so that the index on the status is used: few deliveries are waiting, but many may be held.
        eq(webhookDeliveries.workspaceId, endpoint.workspaceId),
        inArray(webhookDeliveries.status, ['pending', 'retrying']),
        eq(webhookDeliveries.endpointId, endpoint.id),
        isNotNull(webhookDeliveries.orderPosition),
        exists(isBehindHeld),
      ),
    )
}

/** Columns of a delivery that is ready for its next attempt. */
export const readyToSend = {
  status: sql`case when ${webhookDeliveries.attemptCount} > 0 then 'retrying' else 'pending' end`,
  reason: null,
}

const isBehindEarlier = and(eq(webhookDeliveries.status, 'held'), eq(webhookDeliveries.reason, waitingForEarlier))!

const isOpenInOrder = and(
  isNotNull(webhookDeliveries.orderPosition),
  isNull(webhookDeliveries.finishedAt),
  or(ne(webhookDeliveries.status, 'held'), notInArray(webhookDeliveries.reason, skippedReasons)),
)!

const openInOrder = ({ endpointId, resourceId }: Ordered) =>
  and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.resourceId, resourceId!), isOpenInOrder)
