import { isDeepStrictEqual } from 'node:util'
import { Type } from '@sinclair/typebox'
import { and, count, eq, sql } from 'drizzle-orm'
import { limitsChanged } from '../../access/limit-changes'
import { refuseOverLimit } from '../../access/plans'
import { change, isAlready } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { eventKind, eventKinds, eventResources, type EventKind } from '../../core/events'
import { isId, newId } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { listPage, searchFilter, timeFilters, wordsFilter, type Listing } from '../../core/list'
import type { Permission } from '../../core/permissions'
import { invalid, notFound, Problem } from '../../core/problem'
import { Words, type Page } from '../../core/shapes'
import { closeBreaker, closed } from './breaker'
import { chose, chosenPattern } from './chosen'
import { endpointTarget, endpointView } from './endpoint-view'
import { headerColumns, mergeHeaders, openHeaders, refuseCarriedAway, type CustomHeaders } from './custom-headers'
import { hintOf, sealedIn } from './live-secrets'
import { longestSchedule } from './retry-schedule'
import type { WebhookEndpointInput, WebhookEndpointPatch, WebhookEndpointView } from './shapes'
import { checkSecret, InvalidSecret, newSecret } from './sign'
import { cancelWaiting, holdWaiting, obstacleOf, releaseJobFor } from './standing'
import { endpointStates, webhookEndpoints } from './tables'
import { refuseTarget } from './target'

const defaultTimeoutSeconds = 15

export { endpointTarget }
export type Endpoint = typeof webhookEndpoints.$inferSelect

export const endpointListing: Listing<Endpoint> = {
  name: 'webhook-endpoints',
  table: webhookEndpoints as never,
  id: webhookEndpoints.id,
  idOf: row => row.id,
  owner: webhookEndpoints.workspaceId,
  defaultSort: '-id',
  filters: {
    active: {
      schema: Type.Boolean({ description: 'Only those that are switched on, or off.' }),
      where: (value, place) => sql`${webhookEndpoints.active} = ${place(value)}`,
    },
    status: wordsFilter(webhookEndpoints.status, endpointStates, 'Only those of these states.'),
    event: {
      schema: Words(
        eventKinds.map(one => one.kind),
        { description: 'Only those that chose this kind.' },
      ),
      where: (value, place) => chose(place(chosenPattern(value as EventKind))),
    },
    q: searchFilter([webhookEndpoints.url, webhookEndpoints.description], 'Only those whose URL or description holds this text.'),
    ...timeFilters('created_at', webhookEndpoints.createdAt),
  },
  sorts: {
    url: { column: webhookEndpoints.url, read: row => row.url },
    created_at: { column: webhookEndpoints.createdAt, read: row => row.createdAt },
  },
}

export const listEndpoints = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<WebhookEndpointView>> =>
  listPage(ctx, endpointListing, query, row => endpointSeenBy(ctx, row))

/** @throws Problem 404 */
export const getEndpoint = async (ctx: Ctx, id: string): Promise<WebhookEndpointView> =>
  endpointSeenBy(ctx, await endpointOf(ctx.hub.read, ctx, id))

/** An endpoint as the API shows it to the caller. */
export const endpointSeenBy = (ctx: Ctx, row: Endpoint): WebhookEndpointView => endpointView(row, ctx.hub.clock.now())

/**
 * Makes an endpoint; its secret is in the result and nowhere else.
 * @throws Problem 422, 403 `insufficient_permission` or `plan_limit_reached`
 */
export async function createEndpoint(ctx: Ctx, input: WebhookEndpointInput): Promise<WebhookEndpointView & { secret: string }> {
  refuseUnreadable(ctx, input.events)
  const secret = secretFrom(input)
  const headers = mergeHeaders({}, input.headers ?? {})
  refuseNoIds(input.filters)
  refuseTooLong(input.retry_schedule)
  await refuseTarget(ctx, input.url)
  return await change(ctx, 'webhooks.endpoint.create', async tx => {
    await refuseOverLimit(tx, ctx, 'webhook_endpoints', () => countEndpoints(tx, ctx.workspaceId))
    const id = newId('whe')
    const now = ctx.hub.clock.now()
    const place = sealedIn({ id, workspaceId: ctx.workspaceId }, 'secret_sealed')
    const [row] = await tx
      .insert(webhookEndpoints)
      .values({
        id,
        workspaceId: ctx.workspaceId,
        url: input.url,
        description: input.description ?? '',
        events: input.events,
        resourceIds: input.filters?.resource_ids ?? null,
        active: input.active ?? true,
        retrySchedule: input.retry_schedule ?? null,
        timeoutSeconds: input.timeout_seconds ?? defaultTimeoutSeconds,
        maxPerSecond: input.max_per_second ?? null,
        ordering: input.ordering ?? 'none',
        pacedUntilUs: null,
        status: 'enabled',
        disabledReason: null,
        secretSealed: await ctx.hub.keys.seal(tx, place, secret),
        secretHint: hintOf(secret),
        nextSecretSealed: null,
        nextSecretHint: null,
        rotatesAt: null,
        ...(await headerColumns(tx, ctx.hub, { id, workspaceId: ctx.workspaceId }, headers)),
        failedAttempts: 0,
        goneInARow: 0,
        ...closed,
        version: 1,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    const view = endpointView(row!, now)
    return { result: { ...view, secret }, target: endpointTarget(row!), after: { ...view, ...told(headers) } }
  })
}

/**
 * Edits an endpoint. Switched off, what waits for it is held; switched on, what was held is sent. Without an order to keep, what
 * waited for its turn is sent.
 * @throws Problem 404, 412, 422, 403 `insufficient_permission`
 */
export async function updateEndpoint(ctx: Ctx, id: string, patch: WebhookEndpointPatch): Promise<WebhookEndpointView> {
  refuseUnreadable(ctx, newlySent(await endpointOf(ctx.hub.read, ctx, id), patch))
  refuseTooLong(patch.retry_schedule)
  refuseNoIds(patch.filters)
  if (patch.url !== undefined) await refuseTarget(ctx, patch.url)
  return await change(ctx, 'webhooks.endpoint.update', async tx => {
    const row = await endpointOf(tx, ctx, id)
    requireMatch(ctx, row)
    refuseUnreadable(ctx, newlySent(row, patch))
    refuseCarriedAway(row, patch)
    const { headers: headersPatch, filters, retry_schedule, timeout_seconds, max_per_second, ...columns } = patch
    const headers = await openHeaders(ctx.hub, row, tx)
    const newHeaders = headersPatch === undefined ? headers : mergeHeaders(headers, headersPatch)
    const now = ctx.hub.clock.now()
    const set = {
      ...columns,
      retrySchedule: retry_schedule,
      timeoutSeconds: timeout_seconds,
      maxPerSecond: max_per_second,
      resourceIds: filters?.resource_ids,
    }
    if (isAlready(row, set) && isDeepStrictEqual(newHeaders, headers))
      return { result: endpointView(row, now), target: endpointTarget(row), unchanged: true }
    const [changed] = await tx
      .update(webhookEndpoints)
      .set({
        ...set,
        // Turns given out under the old limit bind nobody under the new one.
        ...(max_per_second !== undefined && { pacedUntilUs: null }),
        ...(headersPatch !== undefined && (await headerColumns(tx, ctx.hub, row, newHeaders))),
        version: row.version + 1,
        updatedAt: now,
      })
      .where(and(eq(webhookEndpoints.id, id), eq(webhookEndpoints.version, row.version)))
      .returning()
    if (!changed) throw new Problem('conflict', 'The endpoint was edited at the same moment. Read it again before editing it.')
    // What was held against the endpoint is not held against another address, nor against one that was switched off meanwhile.
    if (changed.url !== row.url || changed.active !== row.active) await closeBreaker(tx, row)
    if (row.active && !changed.active) await holdWaiting(tx, changed, 'endpoint_inactive', now)
    const freed = row.ordering === 'per_resource' && changed.ordering === 'none'
    const released = (!row.active || freed) && obstacleOf(changed) === null
    return {
      result: endpointView(changed, now),
      target: endpointTarget(row),
      before: { ...endpointView(row, now), ...told(headers) },
      after: { ...endpointView(changed, now), ...told(newHeaders) },
      jobs: released ? [releaseJobFor(changed)] : [],
    }
  })
}

/**
 * Deletes an endpoint and cancels what waits for it; the log of its deliveries stays.
 * @throws Problem 404, 412
 */
export async function deleteEndpoint(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'webhooks.endpoint.delete', async tx => {
    const row = await endpointOf(tx, ctx, id)
    requireMatch(ctx, row)
    await tx.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id))
    const now = ctx.hub.clock.now()
    await closeBreaker(tx, row)
    await cancelWaiting(tx, row, now)
    return {
      result: undefined,
      target: endpointTarget(row),
      before: endpointView(row, now),
      // Its place may go to one that the plan keeps out of service.
      jobs: ctx.limits.webhook_endpoints == null ? [] : [limitsChanged({ workspace_id: ctx.workspaceId })],
    }
  })
}

/** @throws Problem 404 */
export async function endpointOf(read: Reader, ctx: Ctx, id: string): Promise<Endpoint> {
  const [row] = await read
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, id), eq(webhookEndpoints.workspaceId, ctx.workspaceId)))
  if (!row) throw notFound('webhook endpoint')
  return row
}

/** Header values for the audit log, which keeps a tag of them: whether they changed, and no more. */
const told = (headers: CustomHeaders) => (Object.keys(headers).length > 0 ? { headers } : {})

/**
 * Kinds whose events would go where they did not go before: those added, and with a new URL or other resources all of them.
 * Otherwise a token could read an area that is closed to it by pointing an endpoint at itself.
 */
function newlySent(row: Endpoint, patch: WebhookEndpointPatch): EventKind[] {
  const kinds = patch.events ?? row.events
  const elsewhere = patch.url !== undefined && patch.url !== row.url
  return elsewhere || opensUp(row, patch) ? kinds : kinds.filter(kind => !row.events.includes(kind))
}

/** Whether events about resources that were kept out would come through. */
function opensUp(row: Endpoint, { filters }: WebhookEndpointPatch): boolean {
  if (!filters || row.resourceIds === null) return false
  return filters.resource_ids === null || filters.resource_ids.some(id => !row.resourceIds!.includes(id))
}

/** @throws Problem 403 naming the permission, or `narrowed_token` */
function refuseUnreadable(ctx: Ctx, kinds: readonly EventKind[]): void {
  if (kinds.length > 0 && ctx.resourceIds !== null) {
    throw new Problem(
      'narrowed_token',
      'An endpoint is told of the whole workspace: a token narrowed to some resources may not choose kinds or where they go.',
    )
  }
  for (const kind of kinds) {
    const needed: Permission = `${eventKind(kind)!.area}.read`
    if (!ctx.permissions.has(needed)) {
      throw new Problem('insufficient_permission', `To receive ${kind} needs the permission ${needed}.`, {
        members: { required_permission: needed },
      })
    }
  }
}

/** What is no id is the id of nothing: such an endpoint would be silent for ever. @throws Problem 422 */
function refuseNoIds(filters: WebhookEndpointInput['filters']): void {
  const errors = (filters?.resource_ids ?? []).flatMap((id, place) =>
    eventResources.some(prefix => isId(id, prefix))
      ? []
      : [
          {
            pointer: `#/filters/resource_ids/${place}`,
            code: 'format',
            detail: 'must be the id of a resource that events are about, such as hb_01jd8f3q7eeb9bv0w0r8c7hq2m.',
          },
        ],
  )
  if (errors.length > 0) throw invalid(errors)
}

/** @throws Problem 422 */
function refuseTooLong(schedule: readonly number[] | null | undefined): void {
  const total = (schedule ?? []).reduce((sum, seconds) => sum + seconds, 0)
  if (total <= longestSchedule) return
  throw invalid([
    { pointer: '#/retry_schedule', code: 'out_of_range', detail: `must add up to ${longestSchedule} seconds (8 days) at most.` },
  ])
}

/**
 * The caller's own secret, or a new one.
 * @throws Problem 422
 */
export function secretFrom(input: { secret?: string }): string {
  if (input.secret === undefined) return newSecret()
  try {
    checkSecret(input.secret)
  } catch (error) {
    if (error instanceof InvalidSecret) throw invalid([{ pointer: '#/secret', code: 'format', detail: error.message }])
    throw error
  }
  return input.secret
}

/** Endpoints that count against the plan. */
export async function countEndpoints(read: Reader, workspaceId: string): Promise<number> {
  const [row] = await read.select({ n: count() }).from(webhookEndpoints).where(eq(webhookEndpoints.workspaceId, workspaceId))
  return row!.n
}
