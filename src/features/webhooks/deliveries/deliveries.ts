import { Type } from '@sinclair/typebox'
import { and, asc, eq, sql, gt, inArray } from 'drizzle-orm'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { events } from '../../../core/db/tables'
import { eventKind, eventKinds } from '../../event-kinds'
import { requireMatch } from '../../../core/if-match'
import { listingOf, listPage } from '../../../core/list'
import { textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { canAccess } from '../../../core/resource-access'
import { conflict } from '../../../core/problem'
import { changedRow, findRow } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
import { attemptView, deliveryView } from './view'
import { deliverJobFor, type Delivery } from '../sending/delivery-jobs'
import type { WebhookDeliveryDetail, WebhookDeliveryView } from './shapes'
import { lockEndpoint, blockReasonOf } from '../sending/holds'
import { deliveryStates, errorClasses, isFinal, webhookAttempts, webhookDeliveries } from './tables'
import { limitManualCalls } from '../sending/manual-limits'
import { webhookEndpoints } from '../endpoints/tables'
import { relationTo, type Relations } from '../../../core/relation'
import { relationToEvent } from '../../events/relations'
import { endpointListing, viewEndpoint } from '../endpoints/endpoints'

const undeliveredStates = deliveryStates.filter(state => state !== 'delivered')

export const deliveryRows = rowsOf('webhook_delivery', webhookDeliveries, {
  name: 'webhook delivery',
  label: 'event',
  accessTo: row => row.endpointId,
})

export const deliveryListing = listingOf('webhook-deliveries', webhookDeliveries, {
  accessColumn: webhookDeliveries.endpointId,
  filters: {
    status: wordsFilter(webhookDeliveries.status, deliveryStates, 'Only deliveries with these statuses.'),
    undelivered: {
      schema: Type.Boolean({
        description: 'True for deliveries that have not been delivered, whatever their status, false for delivered ones.',
      }),
      // Lists the statuses, so that the index on the status is used.
      where: (value, bind) =>
        sql`${webhookDeliveries.status} in (${sql.join((value ? undeliveredStates : ['delivered']).map(bind), sql`, `)})`,
      variant: String,
      finds: value => ({ equal: webhookDeliveries.status, values: value ? undeliveredStates : ['delivered'] }),
    },
    error_class: wordsFilter(
      webhookDeliveries.lastErrorClass,
      errorClasses,
      'Only deliveries whose last attempt failed with one of these error classes.',
    ),
    status_code: {
      schema: Type.Integer({
        minimum: 100,
        maximum: 999,
        description: 'Only deliveries whose last response had this HTTP status.',
      }),
      where: (value, bind) => sql`${webhookDeliveries.lastStatusCode} = ${bind(value)}`,
    },
    event: wordsFilter(
      webhookDeliveries.event,
      eventKinds.map(one => one.kind),
      'Only deliveries of these event kinds.',
    ),
    endpoint_id: textFilter(webhookDeliveries.endpointId, 'Only deliveries to the endpoint with this ID.'),
    // An event has one delivery for each endpoint.
    event_id: {
      ...textFilter(webhookDeliveries.eventId, 'Only deliveries of the event with this ID.'),
      finds: () => 'few',
    },
    resource_id: textFilter(webhookDeliveries.resourceId, 'Only deliveries of events about the resource with this ID.'),
    ...timeFilters('created_at', webhookDeliveries.createdAt),
  },
  sorts: ['created_at'],
})

export async function listDeliveries(ctx: Ctx, query: Record<string, unknown>): Promise<Page<WebhookDeliveryView>> {
  const page = await listPage(ctx, deliveryListing, query, row => row)
  const breakers = await openBreakers(ctx, page.data)
  return { ...page, data: page.data.map(row => deliveryView(withBreaker(row, breakers))) }
}

/** @throws Problem 404 */
export async function getDelivery(ctx: Ctx, id: string): Promise<WebhookDeliveryDetail> {
  const row = await findRow(ctx.hub.read, ctx, deliveryRows, id)
  const attempts = await ctx.hub.read
    .select()
    .from(webhookAttempts)
    .where(eq(webhookAttempts.deliveryId, id))
    .orderBy(asc(webhookAttempts.number))
  const body = await readableBody(ctx, row)
  const shown = withBreaker(row, await openBreakers(ctx, [row]))
  return { ...deliveryView(shown), attempts: attempts.map(one => attemptView(one, body)) }
}

/**
 * Sends a delivery again immediately, with the same ID and body and a new signature. It replaces the scheduled retry, and the
 * schedule continues from here. A finished delivery that fails again keeps its previous final status.
 * @throws Problem 404, 409 while it is in flight or its endpoint is inactive, disabled, or deleted, 412, 429
 */
export async function resendDelivery(ctx: Ctx, id: string): Promise<WebhookDeliveryView> {
  limitManualCalls(ctx, 'endpoint-resends', (await findRow(ctx.hub.read, ctx, deliveryRows, id)).endpointId)
  return await change(ctx, 'webhooks.delivery.resend', async tx => {
    const row = await findRow(tx, ctx, deliveryRows, id)
    requireMatch(ctx, row)
    const blocked = blockReasonOf(await lockEndpoint(tx, row.endpointId))
    if (blocked) throw conflict(blockedDetails[blocked])
    if (row.eventId === null && row.testBody === null)
      throw conflict('The body of this test message was removed, so it can’t be resent.')
    if (row.status === 'in_flight')
      throw conflict('The delivery is being sent right now. Try again when the attempt has finished.')
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
    if (!changed) throw conflict('The delivery has just been updated. Get it again and retry.')
    return {
      ...(await changedRow(deliveryRows, row, changed, deliveryView)),
      jobs: [deliverJobFor(changed, now, { manual: true })],
    }
  })
}

/** Why a delivery can't be sent. */
export const blockedDetails = {
  endpoint_deleted: 'The endpoint was deleted.',
  endpoint_disabled: 'The endpoint is disabled. Enable it first.',
  endpoint_inactive: 'The endpoint is inactive. Activate it first.',
} as const

/** The body, if the caller may read the area of the event: the log must not bypass that permission. */
async function readableBody(ctx: Ctx, row: Delivery): Promise<string | null> {
  if (row.eventId === null) return row.testBody
  const area = eventKind(row.event)?.area
  if ((area && !ctx.permissions.has(`${area}.read`)) || !canAccess(ctx, row.resourceId)) return null
  const [event] = await ctx.hub.read.select({ body: events.body }).from(events).where(eq(events.id, row.eventId))
  return event?.body ?? null
}

/** Until when (ms UTC) the breaker is open, by endpoint ID. */
type OpenBreakers = ReadonlyMap<string, number>

const waits = ({ status }: Delivery): boolean => status === 'pending' || status === 'retrying'

/**
 * Returns the open breakers that some deliveries wait for. Looked up when deliveries are shown: a failing endpoint may have ten
 * thousand of them, too many to update each time its breaker opens.
 */
async function openBreakers(ctx: Ctx, rows: readonly Delivery[]): Promise<OpenBreakers> {
  const ids = [...new Set(rows.filter(waits).map(row => row.endpointId))]
  if (ids.length === 0) return new Map()
  const open = await ctx.hub.read
    .select({ id: webhookEndpoints.id, until: webhookEndpoints.breakerUntil })
    .from(webhookEndpoints)
    .where(and(inArray(webhookEndpoints.id, ids), gt(webhookEndpoints.breakerUntil, ctx.hub.clock.now())))
  return new Map(open.map(row => [row.id, row.until!]))
}

/** Adds the open breaker to a delivery, unless its next attempt is due later anyway. */
function withBreaker(row: Delivery, breakers: OpenBreakers): Delivery {
  const until = breakers.get(row.endpointId)
  if (until === undefined || !waits(row) || (row.nextAttemptAt ?? 0) >= until) return row
  return { ...row, reason: 'breaker_open', nextAttemptAt: until }
}

/** @param eventRelations relations of events */
export const deliveryRelations = (eventRelations: Relations): Relations => ({
  endpoint: relationTo(endpointListing, {
    idOf: (delivery: WebhookDeliveryView) => delivery.endpoint_id,
    permission: 'webhooks.read',
    view: viewEndpoint,
  }),
  event: relationToEvent((delivery: WebhookDeliveryView) => delivery.event_id, eventRelations),
  // Without loading the event and its data.
  resource: { ...eventRelations.resource!, idOf: (delivery: WebhookDeliveryView) => delivery.resource?.id ?? null },
})
