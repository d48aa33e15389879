import { prefixesWhere } from '../../../registry'
import { Type } from '@sinclair/typebox'
import { sql } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { refuseForbiddenUrl } from '../../../access/network-policy'
import { limitsChanged, refuseOverLimit } from '../../../access/plans'
import { change, isUnchanged } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { EventKind } from '../../../core/event-kinds'
import { eventKind, eventKinds } from '../../event-kinds'
import { isId, newId } from '../../../core/ids'
import { listingOf, listPage } from '../../../core/list'
import { flagFilter, searchFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { inputColumns, patchColumns } from '../../../core/members'
import { maxScheduleSeconds } from '../../../core/outgoing/retry-schedule'
import { onlySecret, secretOf } from '../../../core/outgoing/signing-secrets'
import type { Permission } from '../../../core/permissions'
import { invalid, Problem } from '../../../core/problem'
import { findRow, insertRow, lockRow, removeRow, saveRow } from '../../../core/rows'
import { Words, type Page } from '../../../core/shapes'
import { closeBreaker, closedBreaker } from '../sending/breaker'
import { subscribesTo, eventPattern } from './event-filter'
import { endpointRows, endpointTarget, endpointView } from './view'
import { headerColumns, mergeHeaders, openHeaders, refuseHeadersForNewOrigin, type CustomHeaders } from './custom-headers'
import {
  endpointMembers,
  endpointStates,
  type WebhookEndpointInput,
  type WebhookEndpointPatch,
  type WebhookEndpointView,
} from './shapes'
import { cancelPending, holdPending, blockReasonOf, releaseJobFor } from '../sending/holds'
import { webhookEndpoints } from './tables'

export type Endpoint = typeof webhookEndpoints.$inferSelect

export const endpointListing = listingOf('webhook-endpoints', webhookEndpoints, {
  isSmall: true,
  filters: {
    active: flagFilter(webhookEndpoints.active, 'True for active endpoints, false for inactive ones.'),
    status: wordsFilter(webhookEndpoints.status, endpointStates, 'Only endpoints with these statuses.'),
    failing: {
      schema: Type.Boolean({ description: 'True for endpoints that are failing, false for all others.' }),
      where(value, bind) {
        const { status, active, failingSince } = webhookEndpoints
        const failing = sql`(${status} = ${bind('enabled')} and ${active} = ${bind(true)} and ${failingSince} is not null)`
        return value ? failing : sql`not ${failing}`
      },
      variant: String,
    },
    event: {
      schema: Words(
        eventKinds.map(one => one.kind),
        { description: 'Only endpoints subscribed to this event kind.' },
      ),
      where: (value, bind) => subscribesTo(bind(eventPattern(value as EventKind))),
    },
    q: searchFilter(
      [webhookEndpoints.url, webhookEndpoints.description],
      'Only endpoints whose URL or description contains all words of this text.',
    ),
    ...timeFilters('created_at', webhookEndpoints.createdAt),
  },
  sorts: ['url', 'created_at'],
})

export const listEndpoints = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<WebhookEndpointView>> =>
  listPage(ctx, endpointListing, query, row => viewEndpoint(ctx, row))

/** @throws Problem 404 */
export const getEndpoint = async (ctx: Ctx, id: string): Promise<WebhookEndpointView> =>
  viewEndpoint(ctx, await findRow(ctx.hub.read, ctx, endpointRows, id))

/** An endpoint as the API returns it to the caller. */
export const viewEndpoint = (ctx: Ctx, row: Endpoint): WebhookEndpointView => endpointView(row, ctx.hub.clock.now())

/**
 * Creates an endpoint. The secret is only in the result.
 * @throws Problem 422, 403 `insufficient_permission` or `plan_limit_reached`
 */
export async function createEndpoint(ctx: Ctx, input: WebhookEndpointInput): Promise<WebhookEndpointView & { secret: string }> {
  requireReadableKinds(ctx, input.events)
  const secret = secretOf(input)
  const headers = mergeHeaders({}, input.headers ?? {})
  refuseInvalidResourceIds(input.filters)
  refuseLongSchedule(input.retry_schedule)
  await refuseForbiddenUrl(ctx, input.url)
  return await change(ctx, 'webhooks.endpoint.create', async tx => {
    await refuseOverLimit(tx, ctx, 'webhook_endpoint')
    const own = { id: newId('whe'), workspaceId: ctx.workspaceId }
    const row = await insertRow(tx, ctx, endpointRows, {
      ...own,
      ...inputColumns(endpointMembers, input),
      resourceIds: input.filters?.resource_ids ?? null,
      rateReservedUntilUs: null,
      status: 'enabled',
      disabledReason: null,
      ...(await onlySecret(tx, ctx.hub, webhookEndpoints, own, secret)),
      ...(await headerColumns(tx, ctx.hub, own, headers)),
      failedAttempts: 0,
      consecutiveGone: 0,
      ...closedBreaker,
    })
    const view = viewEndpoint(ctx, row)
    return { result: { ...view, secret }, target: endpointTarget(row), after: { ...view, ...auditedHeaders(headers) } }
  })
}

/**
 * Updates an endpoint. Pausing it holds its pending deliveries, resuming it sends them. If it is no longer ordered, deliveries
 * that wait for an earlier one are sent.
 * @throws Problem 404, 412, 422, 403 `insufficient_permission`
 */
export async function updateEndpoint(ctx: Ctx, id: string, patch: WebhookEndpointPatch): Promise<WebhookEndpointView> {
  requireReadableKinds(ctx, newlyReceivedKinds(await findRow(ctx.hub.read, ctx, endpointRows, id), patch))
  refuseLongSchedule(patch.retry_schedule)
  refuseInvalidResourceIds(patch.filters)
  if (patch.url !== undefined) await refuseForbiddenUrl(ctx, patch.url)
  return await change(ctx, 'webhooks.endpoint.update', async tx => {
    const row = await lockRow(tx, ctx, endpointRows, id)
    requireReadableKinds(ctx, newlyReceivedKinds(row, patch))
    refuseHeadersForNewOrigin(row, patch)
    const headers = await openHeaders(ctx.hub, row, tx)
    const newHeaders = patch.headers === undefined ? headers : mergeHeaders(headers, patch.headers)
    const now = ctx.hub.clock.now()
    const set = { ...patchColumns(endpointMembers, patch), resourceIds: patch.filters?.resource_ids }
    if (isUnchanged(row, set) && isDeepStrictEqual(newHeaders, headers))
      return { result: endpointView(row, now), target: endpointTarget(row), unchanged: true }
    const changed = await saveRow(tx, ctx, endpointRows, row, {
      ...set,
      // Reservations under the old limit don't apply to the new one.
      ...(patch.max_per_second !== undefined && { rateReservedUntilUs: null }),
      ...(patch.headers !== undefined && (await headerColumns(tx, ctx.hub, row, newHeaders))),
    })
    // Failures don't count against a new URL or an endpoint that was inactive.
    if (changed.url !== row.url || changed.active !== row.active) await closeBreaker(tx, row)
    if (row.active && !changed.active) await holdPending(tx, changed, 'endpoint_inactive', now)
    const unordered = row.ordering === 'per_resource' && changed.ordering === 'none'
    const released = (!row.active || unordered) && blockReasonOf(changed) === null
    return {
      result: endpointView(changed, now),
      target: endpointTarget(row),
      before: { ...endpointView(row, now), ...auditedHeaders(headers) },
      after: { ...endpointView(changed, now), ...auditedHeaders(newHeaders) },
      jobs: released ? [releaseJobFor(changed)] : [],
    }
  })
}

/**
 * Deletes an endpoint and cancels its unfinished deliveries. The delivery log is kept.
 * @throws Problem 404, 412
 */
export async function deleteEndpoint(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'webhooks.endpoint.delete', async tx => {
    const row = await lockRow(tx, ctx, endpointRows, id)
    await removeRow(tx, endpointRows, row)
    const now = ctx.hub.clock.now()
    await closeBreaker(tx, row)
    await cancelPending(tx, row, now)
    return {
      result: undefined,
      target: endpointTarget(row),
      before: endpointView(row, now),
      // An endpoint disabled by the plan limit may be re-enabled now.
      jobs: ctx.limits.webhook_endpoints == null ? [] : [limitsChanged({ workspace_id: ctx.workspaceId })],
    }
  })
}

/** Header values for the audit log, which stores only a keyed hash of them. */
const auditedHeaders = (headers: CustomHeaders) => (Object.keys(headers).length > 0 ? { headers } : {})

/**
 * Event kinds that would be sent to a new receiver: the added ones, or all of them if the URL changes or the filter is widened.
 * Without this check, a token could read areas it has no permission for by pointing an endpoint at itself.
 */
function newlyReceivedKinds(row: Endpoint, patch: WebhookEndpointPatch): EventKind[] {
  const kinds = patch.events ?? row.events
  const elsewhere = patch.url !== undefined && patch.url !== row.url
  return elsewhere || widensFilter(row, patch) ? kinds : kinds.filter(kind => !row.events.includes(kind))
}

/** Whether the patch lets through events about resources that were filtered out before. */
function widensFilter(row: Endpoint, { filters }: WebhookEndpointPatch): boolean {
  if (!filters || row.resourceIds === null) return false
  return filters.resource_ids === null || filters.resource_ids.some(id => !row.resourceIds!.includes(id))
}

/** @throws Problem 403 naming the permission, or `restricted_token` */
function requireReadableKinds(ctx: Ctx, kinds: readonly EventKind[]): void {
  if (kinds.length > 0 && ctx.resourceIds !== null) {
    throw new Problem(
      'restricted_token',
      'Endpoints receive events of the whole workspace, so a token that is restricted to some resources can’t change their ' +
        'events, filters, or URL.',
    )
  }
  for (const kind of kinds) {
    const needed: Permission = `${eventKind(kind)!.area}.read`
    if (!ctx.permissions.has(needed)) {
      throw new Problem('insufficient_permission', `Receiving ${kind} requires the \`${needed}\` permission.`, {
        fields: { required_permission: needed },
      })
    }
  }
}

/** An endpoint that filters by an invalid ID would never receive anything. @throws Problem 422 */
function refuseInvalidResourceIds(filters: WebhookEndpointInput['filters']): void {
  const errors = (filters?.resource_ids ?? []).flatMap((id, index) =>
    prefixesWhere(entry => entry.hasEvents).some(prefix => isId(id, prefix))
      ? []
      : [
          {
            pointer: `#/filters/resource_ids/${index}`,
            code: 'format',
            detail: 'must be the ID of a resource that has events, such as hb_01jd8f3q7eeb9bv0w0r8c7hq2m.',
          },
        ],
  )
  if (errors.length > 0) throw invalid(errors)
}

/** @throws Problem 422 */
function refuseLongSchedule(schedule: readonly number[] | null | undefined): void {
  const total = (schedule ?? []).reduce((sum, seconds) => sum + seconds, 0)
  if (total <= maxScheduleSeconds) return
  throw invalid([
    {
      pointer: '#/retry_schedule',
      code: 'out_of_range',
      detail: `must add up to at most ${maxScheduleSeconds} seconds (8 days).`,
    },
  ])
}
