import { and, asc, count, eq, gt, gte, inArray, isNull, lt, ne, or, type SQL } from 'drizzle-orm'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import type { EventKind } from '../../core/events'
import type { JobDraft } from '../../core/jobs/queue'
import { conflict, invalid, notFound } from '../../core/problem'
import type { ActionKind } from '../actions/kind'
import type { ActionView } from '../actions/shapes'
import { startAction } from '../actions/start'
import { deliverJobFor, type Delivery } from './delivery-jobs'
import { obstacles } from './deliveries'
import { endpointOf, endpointTarget, type Endpoint } from './endpoints'
import { behindEarlier, fallBack, moveUpAll, waitsForNothing } from './line'
import type { WebhookRecoveryInput } from './delivery-shapes'
import { heldStill, obstacleOf } from './standing'
import { isFinal, recoverableStates, webhookDeliveries, type RecoverableState } from './tables'
import { refuseTooOften } from './too-often'

/** Which deliveries are sent again: made from `since` up to `until` (ms UTC). */
type Wanted = { since: number; until: number; status: RecoverableState[]; event: EventKind[] | null }

/** `after` is the last delivery that was looked at. */
type State = { after: string; queued: number; skipped: number }

// A transaction is kept short, since it holds up every other write of the process.
const mostAtOnce = 500

/**
 * Starts the sending again of what an endpoint did not take in a stretch of time, oldest first and no faster than its limits
 * allow. One that had ended gets one try, and ends as before if that fails; one that waited for a retry is tried now and keeps
 * its schedule.
 * @throws Problem 404, 409 while the endpoint takes nothing or is recovered already, 422, 429
 */
export async function recoverEndpoint(ctx: Ctx, id: string, input: WebhookRecoveryInput): Promise<ActionView> {
  const wanted: Wanted = {
    since: Date.parse(input.since),
    // With what was made in this very millisecond.
    until: input.until === undefined ? ctx.hub.clock.now() + 1 : Date.parse(input.until),
    status: input.status ?? [...recoverableStates],
    event: input.event ?? null,
  }
  if (wanted.since >= wanted.until) {
    throw invalid([
      input.until === undefined
        ? { pointer: '#/since', code: 'out_of_range', detail: 'must not lie in the future.' }
        : { pointer: '#/until', code: 'out_of_range', detail: 'must be after `since`.' },
    ])
  }
  await endpointOf(ctx.hub.read, ctx, id)
  refuseTooOften(ctx, 'endpoint-recoveries', id)
  return await change(ctx, recoverAction.audit, async tx => {
    await endpointOf(tx, ctx, id)
    const endpoint = await heldStill(tx, id)
    if (!endpoint) throw notFound('webhook endpoint')
    const obstacle = obstacleOf(endpoint)
    if (obstacle) throw conflict(obstacles[obstacle])
    const { action, job, matched } = await startRecovery(tx, ctx, endpoint, wanted)
    return {
      result: action,
      target: endpointTarget(endpoint),
      reason: `${input.since} to ${input.until ?? instant(wanted.until - 1)}: ${matched} deliveries`,
      jobs: [job],
    }
  })
}

/**
 * Starts the action of a recovery as a step of the caller's change, which holds the endpoint still; its job is one of the change's.
 * @throws Problem 409 `resource_locked` while another works on the endpoint
 */
export async function startRecovery(
  tx: Tx,
  ctx: Ctx,
  endpoint: Endpoint,
  wanted: Wanted,
): Promise<{ action: ActionView; job: JobDraft; matched: number }> {
  const [found] = await tx
    .select({ n: count() })
    .from(webhookDeliveries)
    .where(matching(endpoint.id, wanted, ''))
  const matched = found!.n
  const started = await startAction(tx, ctx, recoverAction, {
    resources: [{ type: 'webhook_endpoint', id: endpoint.id }],
    input: wanted,
    result: { matched, queued: 0, skipped: 0 },
  })
  return { ...started, matched }
}

export const recoverAction: ActionKind<Wanted, State> = {
  type: 'webhook_endpoint.recover',
  area: 'webhooks',
  audit: 'webhooks.endpoint.recover',
  cancellable: true,
  resumable: true,
  concurrency: 4,
  leaseMs: 60_000,
  run:
    async (hub, { resources, input, state, result }) =>
    async tx => {
      const matched = result!.matched as number
      const { after, ...counted } = state ?? { after: '', queued: 0, skipped: 0 }
      const endpoint = await heldStill(tx, resources[0]!.id)
      const obstacle = obstacleOf(endpoint)
      if (!endpoint || obstacle)
        return { result: { failed: conflict(obstacles[obstacle ?? 'endpoint_deleted']), result: { matched, ...counted } } }
      const { jobs, sent, looked, last } = await sendAgain(tx, endpoint, input, after, hub.clock.now())
      const queued = counted.queued + sent
      const skipped = counted.skipped + looked - sent
      if (looked < mostAtOnce) return { result: { done: { matched, queued, skipped } }, jobs }
      return {
        result: {
          state: { after: last, queued, skipped },
          progress: Math.min(99, (100 * (queued + skipped)) / Math.max(1, matched)),
          result: { matched, queued, skipped },
        },
        jobs,
      }
    },
}

/** Puts the next few behind `after` to be sent. */
async function sendAgain(
  tx: Tx,
  endpoint: Endpoint,
  wanted: Wanted,
  after: string,
  now: number,
): Promise<{ jobs: JobDraft[]; sent: number; looked: number; last: string }> {
  const rows = await tx
    .select()
    .from(webhookDeliveries)
    .where(matching(endpoint.id, wanted, after))
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
  const sent = jobs.length + lined.length
  if (lined.length > 0) await fallBack(tx, endpoint, now)
  jobs.push(...(await moveUpAll(tx, lined, now, { recovery: true })))
  return { jobs, sent, looked: rows.length, last: rows.at(-1)?.id ?? after }
}

const matching = (endpointId: string, { since, until, status, event }: Wanted, after: string): SQL | undefined =>
  and(
    eq(webhookDeliveries.endpointId, endpointId),
    gt(webhookDeliveries.id, after),
    inArray(webhookDeliveries.status, status),
    // Those that wait for their turn go out by themselves.
    or(isNull(webhookDeliveries.reason), ne(webhookDeliveries.reason, behindEarlier)),
    gte(webhookDeliveries.createdAt, since),
    lt(webhookDeliveries.createdAt, until),
    event === null ? undefined : inArray(webhookDeliveries.event, event),
  )
