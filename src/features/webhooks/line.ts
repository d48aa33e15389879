import { and, asc, eq, exists, inArray, isNotNull, isNull, lt, ne, or, sql } from 'drizzle-orm'
import { aliased } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { JobDraft } from '../../core/jobs/queue'
import { deliverJobFor, type Delivery } from './delivery-jobs'
import { webhookDeliveries } from './tables'

// An endpoint that keeps the order has a line for each resource: its deliveries that have not ended, by their turn. Only the
// first is sent; the others are held `behind_earlier`. Whoever ends the first, or lets one into the line, holds the endpoint
// still (`heldStill`), so that no delivery is left behind one that is gone.

/** Why a delivery waits that is not the first of its line. */
export const behindEarlier = 'behind_earlier'

type InLine = Pick<Delivery, 'endpointId' | 'resourceId' | 'turn'>

/** Whether some delivery before this one has not ended. What no line holds is behind nothing. */
export async function isBehind(tx: Tx, delivery: InLine): Promise<boolean> {
  if (delivery.turn === null) return false
  const [one] = await tx
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(lineOf(delivery), lt(webhookDeliveries.turn, delivery.turn)))
    .limit(1)
  return one !== undefined
}

/** Lets the first of a delivery's line go, if it waits for nothing else; returns the job of its try. */
export async function moveUp(tx: Tx, delivery: InLine, now: number, how: { recovery?: boolean } = {}): Promise<JobDraft[]> {
  if (delivery.turn === null) return []
  const [first] = await tx
    .select({ id: webhookDeliveries.id, reason: webhookDeliveries.reason })
    .from(webhookDeliveries)
    .where(lineOf(delivery))
    .orderBy(asc(webhookDeliveries.turn))
    .limit(1)
  if (first?.reason !== behindEarlier) return []
  const freed = await tx
    .update(webhookDeliveries)
    .set({ ...waitsForNothing, nextAttemptAt: now, updatedAt: now })
    .where(and(eq(webhookDeliveries.id, first.id), isBehindEarlier))
    .returning()
  return freed.map(row => deliverJobFor(row, now, row.endedAs === null ? how : { recovery: true }))
}

/** `moveUp` for each of the lines that some deliveries are in. */
export async function moveUpAll(
  tx: Tx,
  deliveries: readonly InLine[],
  now: number,
  how: { recovery?: boolean } = {},
): Promise<JobDraft[]> {
  const lines = new Map(deliveries.filter(one => one.turn !== null).map(one => [one.resourceId, one]))
  const jobs: JobDraft[] = []
  for (const one of lines.values()) jobs.push(...(await moveUp(tx, one, now, how)))
  return jobs
}

/**
 * Sends what waits for its try back behind those that were let into its line before it, so that a later try does not overtake them.
 * What is in flight ends its try first.
 */
export async function fallBack(tx: Tx, endpoint: Pick<Delivery, 'workspaceId'> & { id: string }, now: number): Promise<void> {
  const earlier = aliased(webhookDeliveries, 'earlier')
  const isBehindHeld = tx
    .select({ id: earlier.id })
    .from(earlier)
    .where(
      and(
        eq(earlier.endpointId, endpoint.id),
        eq(earlier.resourceId, webhookDeliveries.resourceId),
        lt(earlier.turn, webhookDeliveries.turn),
        isNotNull(earlier.turn),
        isNull(earlier.finishedAt),
        eq(earlier.status, 'held'),
        ne(earlier.reason, 'endpoint_disabled'),
      ),
    )
  await tx
    .update(webhookDeliveries)
    .set({ status: 'held', reason: behindEarlier, nextAttemptAt: null, updatedAt: now })
    .where(
      and(
        // The workspace is named for the index, which holds the few that wait and not the many that are held.
        eq(webhookDeliveries.workspaceId, endpoint.workspaceId),
        inArray(webhookDeliveries.status, ['pending', 'retrying']),
        eq(webhookDeliveries.endpointId, endpoint.id),
        isNotNull(webhookDeliveries.turn),
        exists(isBehindHeld),
      ),
    )
}

/** The state of a delivery that is to be tried as soon as it can be. */
export const waitsForNothing = {
  status: sql`case when ${webhookDeliveries.attemptCount} > 0 then 'retrying' else 'pending' end`,
  reason: null,
}

const isBehindEarlier = and(eq(webhookDeliveries.status, 'held'), eq(webhookDeliveries.reason, behindEarlier))!

// What stayed held when its endpoint was enabled without a replay may never be sent: nothing waits for it.
const lineOf = ({ endpointId, resourceId }: InLine) =>
  and(
    eq(webhookDeliveries.endpointId, endpointId),
    eq(webhookDeliveries.resourceId, resourceId!),
    isNotNull(webhookDeliveries.turn),
    isNull(webhookDeliveries.finishedAt),
    or(ne(webhookDeliveries.status, 'held'), ne(webhookDeliveries.reason, 'endpoint_disabled')),
  )
