import { Type } from '@sinclair/typebox'
import { and, asc, eq, sql } from 'drizzle-orm'
import { target } from '../../core/audit'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { events } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import { eventKind, eventKinds } from '../../core/events'
import { requireMatch } from '../../core/if-match'
import { listPage, textFilter, timeFilters, wordsFilter, type Listing } from '../../core/list'
import { reaches } from '../../core/narrowing'
import { conflict, notFound } from '../../core/problem'
import type { Page } from '../../core/shapes'
import { behindBreaker, openBreakers } from './delivery-breakers'
import { attemptView, deliveryView } from './delivery-view'
import { deliverJobFor, type Delivery } from './delivery-jobs'
import type { WebhookDeliveryDetail, WebhookDeliveryView } from './delivery-shapes'
import { heldStill, obstacleOf } from './standing'
import { deliveryStates, errorClasses, isFinal, webhookAttempts, webhookDeliveries } from './tables'
import { refuseTooOften } from './too-often'

const notArrived = deliveryStates.filter(state => state !== 'delivered')

export const deliveryListing: Listing<Delivery> = {
  name: 'webhook-deliveries',
  table: webhookDeliveries as never,
  id: webhookDeliveries.id,
  idOf: row => row.id,
  owner: webhookDeliveries.workspaceId,
  defaultSort: '-id',
  narrowedBy: webhookDeliveries.endpointId,
  filters: {
    status: wordsFilter(webhookDeliveries.status, deliveryStates, 'Only those of these states.'),
    undelivered: {
      schema: Type.Boolean({
        description: 'True: only those that have not arrived, whatever their state. False: only those that have.',
      }),
      // By name, so that the index on the state is used.
      where: (value, place) =>
        sql`${webhookDeliveries.status} in (${sql.join((value ? notArrived : ['delivered']).map(place), sql`, `)})`,
      variant: String,
    },
    error_class: wordsFilter(webhookDeliveries.lastErrorClass, errorClasses, 'Only those whose last try failed by one of these.'),
    status_code: {
      schema: Type.Integer({
        minimum: 100,
        maximum: 999,
        description: 'Only those whose last try was answered with this status.',
      }),
      where: (value, place) => sql`${webhookDeliveries.lastStatusCode} = ${place(value)}`,
    },
    event: wordsFilter(
      webhookDeliveries.event,
      eventKinds.map(one => one.kind),
      'Only those of these kinds.',
    ),
    endpoint_id: textFilter(webhookDeliveries.endpointId, 'Only those to this endpoint.'),
    event_id: textFilter(webhookDeliveries.eventId, 'Only those of this event.'),
    resource_id: textFilter(webhookDeliveries.resourceId, 'Only those about this resource.'),
    ...timeFilters('created_at', webhookDeliveries.createdAt),
  },
  sorts: { created_at: { column: webhookDeliveries.createdAt, read: row => row.createdAt } },
}

export async function listDeliveries(ctx: Ctx, query: Record<string, unknown>): Promise<Page<WebhookDeliveryView>> {
  const page = await listPage(ctx, deliveryListing, query, row => row)
  const breakers = await openBreakers(ctx, page.data)
  return { ...page, data: page.data.map(row => deliveryView(behindBreaker(row, breakers))) }
}

/** @throws Problem 404 */
export async function getDelivery(ctx: Ctx, id: string): Promise<WebhookDeliveryDetail> {
  const row = await deliveryOf(ctx.hub.read, ctx, id)
  const attempts = await ctx.hub.read
    .select()
    .from(webhookAttempts)
    .where(eq(webhookAttempts.deliveryId, id))
    .orderBy(asc(webhookAttempts.number))
  const body = await readableBody(ctx, row)
  const shown = behindBreaker(row, await openBreakers(ctx, [row]))
  return { ...deliveryView(shown), attempts: attempts.map(one => attemptView(one, body)) }
}

/**
 * Sends a delivery once more and now: the same id and bytes under a new signature. The try that waited is called off, and the
 * schedule goes on from this one; a delivery that had ended and is not taken now stays as it had ended.
 * @throws Problem 404, 409 while it is in flight or its endpoint takes nothing, 412, 429
 */
export async function resendDelivery(ctx: Ctx, id: string): Promise<WebhookDeliveryView> {
  refuseTooOften(ctx, 'endpoint-resends', (await deliveryOf(ctx.hub.read, ctx, id)).endpointId)
  return await change(ctx, 'webhooks.delivery.resend', async tx => {
    const row = await deliveryOf(tx, ctx, id)
    requireMatch(ctx, row)
    const obstacle = obstacleOf(await heldStill(tx, row.endpointId))
    if (obstacle) throw conflict(obstacles[obstacle])
    if (row.eventId === null && row.testBody === null) throw conflict('The body of this test message was expunged.')
    if (row.status === 'in_flight') throw conflict('The delivery is being tried at this moment.')
    const now = ctx.hub.clock.now()
    const endedAs = isFinal(row.status) ? { status: row.status, reason: row.reason, finished_at: row.finishedAt } : row.endedAs
    const [changed] = await tx
      .update(webhookDeliveries)
      .set({
        status: 'pending',
        reason: null,
        nextAttemptAt: now,
        finishedAt: null,
        endedAs,
        version: row.version + 1,
        updatedAt: now,
      })
      .where(
        and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.version, row.version), eq(webhookDeliveries.status, row.status)),
      )
      .returning()
    if (!changed) throw conflict('The delivery was tried at this very moment. Look at it again.')
    return {
      result: deliveryView(changed),
      target: target('webhook_delivery', { id, name: row.event }),
      before: deliveryView(row),
      after: deliveryView(changed),
      jobs: [deliverJobFor(changed, now, { manual: true })],
    }
  })
}

/** What refuses to send again, by the obstacle. */
export const obstacles = {
  endpoint_deleted: 'The endpoint was deleted.',
  endpoint_disabled: 'The endpoint is disabled. Enable it first.',
  endpoint_inactive: 'The endpoint is paused. Make it active first.',
} as const

/** @throws Problem 404 */
export async function deliveryOf(read: Reader, ctx: Ctx, id: string): Promise<Delivery> {
  const [row] = await read
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.workspaceId, ctx.workspaceId)))
  if (!row || !reaches(ctx, row.endpointId)) throw notFound('webhook delivery')
  return row
}

/** The bytes sent, for those who may read the area they tell of: the log must not be a way around that. */
async function readableBody(ctx: Ctx, row: Delivery): Promise<string | null> {
  if (row.eventId === null) return row.testBody
  const area = eventKind(row.event)?.area
  if ((area && !ctx.permissions.has(`${area}.read`)) || !reaches(ctx, row.resourceId)) return null
  const [event] = await ctx.hub.read.select({ body: events.body }).from(events).where(eq(events.id, row.eventId))
  return event?.body ?? null
}
