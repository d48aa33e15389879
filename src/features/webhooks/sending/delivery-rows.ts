import { and, count, eq, inArray, max, ne } from 'drizzle-orm'
import type { RecordResult } from '../../../core/change-result'
import { insertRows } from '../../../core/db/insert-rows'
import type { Reader, Tx } from '../../../core/db/transaction'
import { updateRows } from '../../../core/db/update-rows'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { addChangeHint } from '../../../core/change-hints'
import type { Delivery } from './delivery-jobs'
import { releaseNext, type readyToSend } from './ordering'
import type { AttemptResult } from './post'
import { lockEndpoint } from './holds'
import { webhookAttempts, webhookDeliveries, type DeliveryState, type FinalState } from '../deliveries/tables'

// Statuses in which a job may find its delivery. If in flight, the process that sent it died, and this is the same job, run
// again.
const open: readonly DeliveryState[] = ['pending', 'retrying', 'in_flight']

/** Whether a delivery is waiting for an attempt or in one. */
export const isOpen = ({ status }: Delivery): boolean => open.includes(status)

/** Updates a delivery that is still open, unless it was resent in the meantime. */
export async function updateOpenDelivery(tx: Tx, delivery: Delivery, to: Partial<Delivery> | typeof readyToSend): Promise<void> {
  touchDelivery(tx, delivery)
  await tx
    .update(webhookDeliveries)
    .set(to)
    .where(
      and(
        eq(webhookDeliveries.id, delivery.id),
        eq(webhookDeliveries.version, delivery.version),
        inArray(webhookDeliveries.status, [...open]),
      ),
    )
}

/** Notifies live listeners that a delivery has changed. */
export const touchDelivery = (
  tx: Tx,
  { workspaceId, id, endpointId }: Pick<Delivery, 'workspaceId' | 'id' | 'endpointId'>,
): void =>
  addChangeHint(tx, { workspaceId, action: 'webhooks.delivery.update', type: 'webhook_delivery', id, parentId: endpointId })

/**
 * Finishes a delivery that was not delivered. If it was resent after it had finished, it returns to its previous final status.
 * Returns the jobs of the deliveries that waited for it.
 */
export async function finishDelivery(
  tx: Tx,
  hub: Hub,
  delivery: Delivery,
  as: { status: Exclude<FinalState, 'delivered'>; reason: string | null },
): Promise<RecordResult<undefined>> {
  const { endedAs } = delivery
  const now = hub.clock.now()
  // Lock the endpoint before its deliveries: the next delivery in order is released in this transaction.
  if (delivery.orderPosition !== null) await lockEndpoint(tx, delivery.endpointId)
  await updateOpenDelivery(tx, delivery, {
    status: (endedAs ?? as).status,
    reason: (endedAs ?? as).reason,
    finishedAt: endedAs ? endedAs.finished_at : now,
    nextAttemptAt: null,
    endedAs: null,
    updatedAt: now,
  })
  return { result: undefined, jobs: await releaseNext(tx, delivery, now) }
}

/** Records a failed attempt. Returns false if the delivery was deleted with its workspace or resent in the meantime. */
export async function recordAttempt(tx: Tx, delivery: Delivery, result: AttemptResult): Promise<boolean> {
  return (await recordAttempts(tx, [{ delivery, result, to: {} }], 'failed', [])).size > 0
}

/** Records successful attempts, which finish their deliveries at `now` (ms UTC). */
export async function recordSuccesses(
  tx: Tx,
  all: readonly { delivery: Delivery; result: AttemptResult }[],
  now: number,
): Promise<void> {
  const to = {
    status: 'delivered',
    reason: null,
    nextAttemptAt: null,
    finishedAt: now,
    endedAs: null,
    updatedAt: now,
  } as const
  await recordAttempts(
    tx,
    all.map(one => ({ ...one, to })),
    'delivered',
    ['status', 'reason', 'nextAttemptAt', 'finishedAt', 'endedAs', 'updatedAt'],
  )
}

type Column = keyof Delivery

/** Records attempts of deliveries that were neither deleted nor resent in the meantime. Returns the ids of those. */
async function recordAttempts(
  tx: Tx,
  all: readonly { delivery: Delivery; result: AttemptResult; to: Partial<Delivery> }[],
  name: string,
  set: readonly Column[],
): Promise<Set<string>> {
  const recorded = await updateRows<typeof webhookDeliveries, Column, 'version'>(
    tx,
    webhookDeliveries,
    { name, set: ['attemptCount', 'lastStatusCode', 'lastErrorClass', ...set], where: ['version'], and: isStillOpen },
    all.map(({ delivery, result: { row }, to }) => ({
      ...delivery,
      before: delivery,
      ...to,
      attemptCount: row.number,
      lastStatusCode: row.statusCode ?? null,
      lastErrorClass: row.errorClass ?? null,
    })),
  )
  const attempts: (typeof webhookAttempts.$inferInsert)[] = []
  for (const { delivery, result } of all) {
    if (!recorded.has(delivery.id)) continue
    touchDelivery(tx, delivery)
    attempts.push({ ...result.row, id: newId('att'), deliveryId: delivery.id })
  }
  await insertRows(tx, webhookAttempts, attempts)
  return recorded
}

const isStillOpen = inArray(webhookDeliveries.status, [...open])

/** Counts the attempts of the schedule so far. Resends, recoveries and attempts that were aborted on our side don't count. */
export async function countScheduledAttempts(tx: Tx, deliveryId: string): Promise<number> {
  const [row] = await tx
    .select({ n: count() })
    .from(webhookAttempts)
    .where(
      and(
        eq(webhookAttempts.deliveryId, deliveryId),
        eq(webhookAttempts.trigger, 'auto'),
        ne(webhookAttempts.errorClass, 'aborted'),
      ),
    )
  return Math.max(1, row!.n)
}

/** When a delivery to an endpoint last succeeded (ms UTC), within the retention of the log. */
export async function lastSuccess(read: Reader, endpointId: string): Promise<number | null> {
  const [row] = await read
    .select({ at: max(webhookDeliveries.finishedAt) })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.status, 'delivered')))
  return row?.at == null ? null : Number(row.at)
}
