import { and, count, eq, inArray, max, ne, sql } from 'drizzle-orm'
import type { Recorded } from '../../core/change'
import { prepared } from '../../core/db/prepared'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { touch } from '../../core/touches'
import type { Delivery } from './delivery-jobs'
import { moveUp, type waitsForNothing } from './line'
import type { Tried } from './post'
import { heldStill } from './standing'
import { webhookAttempts, webhookDeliveries, type DeliveryState, type FinalState } from './tables'

// What a job may find its delivery in. In flight: the process that made the try died, and this job is the same one, taken over.
const open: readonly DeliveryState[] = ['pending', 'retrying', 'in_flight']

/** Whether a delivery still waits for its try, or is in one. */
export const openDelivery = ({ status }: Delivery): boolean => open.includes(status)

/** Changes a delivery that is still open, unless a resend came first. */
export async function moveDelivery(tx: Tx, delivery: Delivery, to: Partial<Delivery> | typeof waitsForNothing): Promise<void> {
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

/** Tells who listens that a delivery is another than before. */
export const touchDelivery = (
  tx: Tx,
  { workspaceId, id, endpointId }: Pick<Delivery, 'workspaceId' | 'id' | 'endpointId'>,
): void => touch(tx, { workspaceId, action: 'webhooks.delivery.move', type: 'webhook_delivery', id, within: endpointId })

/**
 * Ends a delivery that was not taken; one that had ended before it was sent again goes back to that end. The jobs are of what waited
 * behind it.
 */
export async function endDelivery(
  tx: Tx,
  hub: Hub,
  delivery: Delivery,
  as: { status: Exclude<FinalState, 'delivered'>; reason: string | null },
): Promise<Recorded<undefined>> {
  const { endedAs } = delivery
  const now = hub.clock.now()
  // The endpoint before its deliveries: what waits behind this one is let go in the same transaction.
  if (delivery.turn !== null) await heldStill(tx, delivery.endpointId)
  await moveDelivery(tx, delivery, {
    status: (endedAs ?? as).status,
    reason: (endedAs ?? as).reason,
    finishedAt: endedAs ? endedAs.finished_at : now,
    nextAttemptAt: null,
    endedAs: null,
    updatedAt: now,
  })
  return { result: undefined, jobs: await moveUp(tx, delivery, now) }
}

/**
 * Writes a try down; one that was taken ends its delivery at `now` (ms UTC). False when the delivery is gone, with its workspace, or a
 * resend came first.
 */
export async function logTry(tx: Tx, delivery: Delivery, tried: Tried, now: number): Promise<boolean> {
  const { row } = tried
  const values = {
    id: delivery.id,
    version: delivery.version,
    number: row.number,
    statusCode: row.statusCode ?? null,
    errorClass: row.errorClass ?? null,
  }
  const rows = await (tried.reason === null ? delivered(tx).execute({ ...values, now }) : counted(tx).execute(values))
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

const tried = () => ({
  attemptCount: sql`${sql.placeholder('number')}`,
  lastStatusCode: sql`${sql.placeholder('statusCode')}`,
  lastErrorClass: sql`${sql.placeholder('errorClass')}`,
})

const counted = (tx: Tx) =>
  prepared<Ids, Tx>(tx, 'webhook-delivery-tried', handle =>
    handle.update(webhookDeliveries).set(tried()).where(stillOpen()).returning({ id: webhookDeliveries.id }),
  )

const delivered = (tx: Tx) =>
  prepared<Ids, Tx>(tx, 'webhook-delivery-delivered', handle =>
    handle
      .update(webhookDeliveries)
      .set({
        ...tried(),
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

/** Tries of the schedule so far: a resend takes the place of the one that waited and uses none up, nor does one cut off on our side. */
export async function scheduledTries(tx: Tx, deliveryId: string): Promise<number> {
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

/** When an endpoint last took a message (ms UTC), as far as the log reaches. */
export async function lastSuccess(read: Reader, endpointId: string): Promise<number | null> {
  const [row] = await read
    .select({ at: max(webhookDeliveries.finishedAt) })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.status, 'delivered')))
  return row?.at == null ? null : Number(row.at)
}
