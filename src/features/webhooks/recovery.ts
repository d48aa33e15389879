import { and, asc, count, eq, gt, gte, inArray, isNull, lt, ne, or, type SQL } from 'drizzle-orm'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import type { EventKind } from '../../core/events'
import type { JobKind } from '../../core/jobs/job'
import type { JobDraft } from '../../core/jobs/queue'
import { conflict, invalid, notFound } from '../../core/problem'
import { deliverJobFor, untilDone, type Delivery } from './delivery-jobs'
import { obstacles } from './deliveries'
import { endpointOf, endpointTarget, type Endpoint } from './endpoints'
import type { WebhookRecoveryInput, WebhookRecoveryView } from './shapes'
import { behindEarlier, moveUpAll, waitsForNothing } from './line'
import { heldStill, obstacleOf } from './standing'
import { isFinal, recoverableStates, webhookDeliveries, type RecoverableState } from './tables'
import { refuseTooOften } from './too-often'

/** Which deliveries are sent again: made from `since` up to `until` (ms UTC). */
type Wanted = { since: number; until: number; status: readonly RecoverableState[]; event: EventKind | null }

// A transaction is kept short, since it holds up every other write of the process.
const mostAtOnce = 500

/**
 * Sends again what an endpoint did not take in a stretch of time, oldest first and no faster than its limits allow. One that had
 * ended gets one try, and ends as before if that fails; one that waited for a retry is tried now and keeps its schedule.
 * @throws Problem 404, 409 while the endpoint takes nothing, 422, 429
 */
export async function recoverEndpoint(ctx: Ctx, id: string, input: WebhookRecoveryInput): Promise<WebhookRecoveryView> {
  const wanted: Wanted = {
    since: Date.parse(input.since),
    until: Date.parse(input.until),
    status: input.status ?? recoverableStates,
    event: input.event ?? null,
  }
  if (wanted.since >= wanted.until) {
    throw invalid([{ pointer: '#/until', code: 'out_of_range', detail: 'must be after `since`.' }])
  }
  await endpointOf(ctx.hub.read, ctx, id)
  refuseTooOften(ctx, 'endpoint-recoveries', id)
  return await change(ctx, 'webhooks.endpoint.recover', async tx => {
    await endpointOf(tx, ctx, id)
    const endpoint = await heldStill(tx, id)
    if (!endpoint) throw notFound('webhook endpoint')
    const obstacle = obstacleOf(endpoint)
    if (obstacle) throw conflict(obstacles[obstacle])
    const [found] = await tx
      .select({ n: count() })
      .from(webhookDeliveries)
      .where(matching(endpoint, wanted, ''))
    const matched = found!.n
    const { jobs, queued } = await sendAgain(tx, endpoint, wanted, '', ctx.hub.clock.now())
    return {
      result: { matched, queued },
      target: endpointTarget(endpoint),
      reason: `${input.since} to ${input.until}: ${matched} deliveries`,
      jobs,
    }
  })
}

const recoverKind = 'webhooks.recover'

/** Goes on where the request, or the job before, left off. */
export const recoverJob: JobKind<Wanted & { endpoint_id: string; after: string }> = {
  kind: recoverKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: untilDone,
  run: async (hub, job) => async tx => {
    const { endpoint_id, after, ...wanted } = job.payload
    const endpoint = await heldStill(tx, endpoint_id)
    if (!endpoint || obstacleOf(endpoint) !== null) return { result: undefined }
    return { result: undefined, jobs: (await sendAgain(tx, endpoint, wanted, after, hub.clock.now())).jobs }
  },
}

/** Puts the next few behind `after` to be sent, with a job for the rest. */
export async function sendAgain(
  tx: Tx,
  endpoint: Endpoint,
  wanted: Wanted,
  after: string,
  now: number,
): Promise<{ jobs: JobDraft[]; queued: number }> {
  const rows = await tx
    .select()
    .from(webhookDeliveries)
    .where(matching(endpoint, wanted, after))
    .orderBy(asc(webhookDeliveries.id))
    .limit(mostAtOnce)
  const jobs: JobDraft[] = []
  const lined: Delivery[] = []
  for (const row of rows) {
    const { status, reason, finishedAt } = row
    const inLine = endpoint.ordering === 'per_resource' && row.turn !== null
    const [changed] = await tx
      .update(webhookDeliveries)
      .set({
        ...(inLine ? { status: 'held', reason: behindEarlier, nextAttemptAt: null } : { ...waitsForNothing, nextAttemptAt: now }),
        finishedAt: null,
        endedAs: isFinal(status) ? { status, reason, finished_at: finishedAt } : row.endedAs,
        // What was under way before is void.
        version: row.version + 1,
        updatedAt: now,
      })
      .where(
        and(eq(webhookDeliveries.id, row.id), eq(webhookDeliveries.version, row.version), eq(webhookDeliveries.status, status)),
      )
      .returning()
    // Its try began at this very moment.
    if (!changed) continue
    if (inLine) lined.push(changed)
    else jobs.push(deliverJobFor(changed, now, { recovery: true }))
  }
  const queued = jobs.length + lined.length
  jobs.push(...(await moveUpAll(tx, lined, now, { recovery: true })))
  if (rows.length === mostAtOnce) {
    jobs.push({ kind: recoverKind, payload: { ...wanted, endpoint_id: endpoint.id, after: rows.at(-1)!.id } })
  }
  return { jobs, queued }
}

const matching = (endpoint: Endpoint, { since, until, status, event }: Wanted, after: string): SQL | undefined =>
  and(
    eq(webhookDeliveries.endpointId, endpoint.id),
    gt(webhookDeliveries.id, after),
    inArray(webhookDeliveries.status, [...status]),
    // Those that wait for their turn go out by themselves.
    or(isNull(webhookDeliveries.reason), ne(webhookDeliveries.reason, behindEarlier)),
    gte(webhookDeliveries.createdAt, since),
    lt(webhookDeliveries.createdAt, until),
    event === null ? undefined : eq(webhookDeliveries.event, event),
  )
