import { and, count, eq, inArray, max, ne, sql } from 'drizzle-orm'
import type { RecordResult } from '../../../core/change-result'
import { prepared } from '../../../core/db/prepared'
import type { Reader, Tx } from '../../../core/db/transaction'
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

/**
 * Records an attempt. A successful one finishes the delivery at `now` (ms UTC). Returns false if the delivery was deleted with
 * its workspace or resent in the meantime.
 */
export async function recordAttempt(tx: Tx, delivery: Delivery, result: AttemptResult, now: number): Promise<boolean> {
  const { row } = result
  const values = {
    id: delivery.id,
    version: delivery.version,
    number: row.number,
    statusCode: row.statusCode ?? null,
    errorClass: row.errorClass ?? null,
  }
  const rows = await (result.reason === null ? delivered(tx).execute({ ...values, now }) : failed(tx).execute(values))
  if (rows.length === 0) return false
  touchDelivery(tx, delivery)
  await addAttempt(tx).execute({
    ...row,
    ...values,
    id: newId('att'),
    deliveryId: delivery.id,
    errorMessage: row.errorMessage ?? null,
    response: row.response ?? null,
  })
  return true
}

type Ids = { id: string }[]

const stillOpen = () =>
  and(
    eq(webhookDeliveries.id, sql.placeholder('id')),
    eq(webhookDeliveries.version, sql.placeholder('version')),
    inArray(webhookDeliveries.status, [...open]),
  )

const attemptColumns = () => ({
  attemptCount: sql`${sql.placeholder('number')}`,
  lastStatusCode: sql`${sql.placeholder('statusCode')}`,
  lastErrorClass: sql`${sql.placeholder('errorClass')}`,
})

const failed = (tx: Tx) =>
  prepared<Ids, Tx>(tx, 'webhook-delivery-failed', handle =>
    handle.update(webhookDeliveries).set(attemptColumns()).where(stillOpen()).returning({ id: webhookDeliveries.id }),
  )

const delivered = (tx: Tx) =>
  prepared<Ids, Tx>(tx, 'webhook-delivery-delivered', handle =>
    handle
      .update(webhookDeliveries)
      .set({
        ...attemptColumns(),
        status: 'delivered',
        reason: null,
        nextAttemptAt: null,
        finishedAt: sql`${sql.placeholder('now')}`,
        endedAs: null,
        updatedAt: sql`${sql.placeholder('now')}`,
      })
      .where(stillOpen())
      .returning({ id: webhookDeliveries.id }),
  )

const addAttempt = (tx: Tx) =>
  prepared<Ids, Tx>(tx, 'webhook-attempt-add', handle =>
    handle
      .insert(webhookAttempts)
      .values({
        id: sql.placeholder('id'),
        deliveryId: sql.placeholder('deliveryId'),
        number: sql.placeholder('number'),
        trigger: sql.placeholder('trigger'),
        startedAt: sql.placeholder('startedAt'),
        durationMs: sql.placeholder('durationMs'),
        statusCode: sql.placeholder('statusCode'),
        errorClass: sql.placeholder('errorClass'),
        errorMessage: sql.placeholder('errorMessage'),
        request: sql.placeholder('request'),
        response: sql.placeholder('response'),
        timings: sql.placeholder('timings'),
      })
      .returning({ id: webhookAttempts.id }),
  )

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
