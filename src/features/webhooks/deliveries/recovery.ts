import { and, asc, count, eq, gt, gte, inArray, isNull, lt, ne, or, type SQL } from 'drizzle-orm'
import { change } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { EventKind } from '../../../core/event-kinds'
import type { JobDraft } from '../../../core/jobs/draft'
import { conflict, invalid, notFound } from '../../../core/problem'
import { findRow } from '../../../core/rows'
import type { ActionKind } from '../../actions/kind'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { deliverJobFor, type Delivery } from '../sending/delivery-jobs'
import { blockedDetails } from './deliveries'
import type { Endpoint } from '../endpoints/endpoints'
import { endpointRows, endpointTarget } from '../endpoints/view'
import { waitingForEarlier, holdBehindEarlier, releaseNextOfEach, readyToSend } from '../sending/ordering'
import type { WebhookRecoveryInput } from './shapes'
import { lockEndpoint, blockReasonOf } from '../sending/holds'
import { isFinal, recoverableStates, webhookDeliveries, type RecoverableState } from './tables'
import { limitManualCalls } from '../sending/manual-limits'

/** Which deliveries to resend: created from `since` until `until` (ms UTC, exclusive). */
type RecoveryFilter = { since: number; until: number; status: RecoverableState[]; event: EventKind[] | null }

/** `after` is the last delivery that was processed. */
type State = { after: string; queued: number; skipped: number }

// Keeps transactions short, because each one blocks all other writes of the process.
const batchSize = 500

/**
 * Starts resending the undelivered messages of a time range, oldest first and within the limits of the endpoint. A finished
 * delivery gets one attempt, and keeps its previous final status if that fails. One that waits for a retry is attempted now and
 * keeps its schedule.
 * @throws Problem 404, 409 while the endpoint is inactive or disabled, or another recovery is running, 422, 429
 */
export async function recoverEndpoint(ctx: Ctx, id: string, input: WebhookRecoveryInput): Promise<ActionView> {
  const filter: RecoveryFilter = {
    since: Date.parse(input.since),
    // Includes deliveries created in this millisecond.
    until: input.until === undefined ? ctx.hub.clock.now() + 1 : Date.parse(input.until),
    status: input.status ?? [...recoverableStates],
    event: input.event ?? null,
  }
  if (filter.since >= filter.until) {
    throw invalid([
      input.until === undefined
        ? { pointer: '#/since', code: 'out_of_range', detail: 'must not be in the future.' }
        : { pointer: '#/until', code: 'out_of_range', detail: 'must be after `since`.' },
    ])
  }
  await findRow(ctx.hub.read, ctx, endpointRows, id)
  limitManualCalls(ctx, 'endpoint-recoveries', id)
  return await change(ctx, recoverAction.audit, async tx => {
    await findRow(tx, ctx, endpointRows, id)
    const endpoint = await lockEndpoint(tx, id)
    if (!endpoint) throw notFound('webhook endpoint')
    const blocked = blockReasonOf(endpoint)
    if (blocked) throw conflict(blockedDetails[blocked])
    const { action, job, matched } = await startRecovery(tx, ctx, endpoint, filter)
    return {
      result: action,
      target: endpointTarget(endpoint),
      reason: `${input.since} to ${input.until ?? instant(filter.until - 1)}: ${matched} deliveries`,
      jobs: [job],
    }
  })
}

/**
 * Starts the action of a recovery in the caller's transaction, which must have locked the endpoint and must enqueue the job.
 * @throws Problem 409 `resource_locked` while another recovery of the endpoint is running
 */
export async function startRecovery(
  tx: Tx,
  ctx: Ctx,
  endpoint: Endpoint,
  filter: RecoveryFilter,
): Promise<{ action: ActionView; job: JobDraft; matched: number }> {
  const [found] = await tx
    .select({ n: count() })
    .from(webhookDeliveries)
    .where(matching(endpoint.id, filter, ''))
  const matched = found!.n
  const started = await startAction(tx, ctx, recoverAction, {
    resources: [{ type: 'webhook_endpoint', id: endpoint.id }],
    input: filter,
    result: { matched, queued: 0, skipped: 0 },
  })
  return { ...started, matched }
}

export const recoverAction: ActionKind<RecoveryFilter, State> = {
  type: 'webhook_endpoint.recover',
  area: 'webhooks',
  audit: 'webhooks.endpoint.recover',
  cancelable: true,
  resumable: true,
  concurrency: 4,
  leaseMs: 60_000,
  run:
    async (hub, { resources, input, state, result }) =>
    async tx => {
      const matched = result!.matched as number
      const { after, ...counts } = state ?? { after: '', queued: 0, skipped: 0 }
      const endpoint = await lockEndpoint(tx, resources[0]!.id)
      const blocked = blockReasonOf(endpoint)
      if (!endpoint || blocked)
        return { result: { failed: conflict(blockedDetails[blocked ?? 'endpoint_deleted']), result: { matched, ...counts } } }
      const { jobs, sent, processed, last } = await resendBatch(tx, endpoint, input, after, hub.clock.now())
      const queued = counts.queued + sent
      const skipped = counts.skipped + processed - sent
      if (processed < batchSize) return { result: { done: { matched, queued, skipped } }, jobs }
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

/** Queues the next batch after `after`. */
async function resendBatch(
  tx: Tx,
  endpoint: Endpoint,
  filter: RecoveryFilter,
  after: string,
  now: number,
): Promise<{ jobs: JobDraft[]; sent: number; processed: number; last: string }> {
  const rows = await tx
    .select()
    .from(webhookDeliveries)
    .where(matching(endpoint.id, filter, after))
    .orderBy(asc(webhookDeliveries.id))
    .limit(batchSize)
  const jobs: JobDraft[] = []
  const ordered: Delivery[] = []
  for (const row of rows) {
    const { status, reason, finishedAt } = row
    const isOrdered = endpoint.ordering === 'per_resource' && row.orderPosition !== null
    const [changed] = await tx
      .update(webhookDeliveries)
      .set({
        ...(isOrdered
          ? { status: 'held', reason: waitingForEarlier, nextAttemptAt: null }
          : { ...readyToSend, nextAttemptAt: now }),
        finishedAt: null,
        endedAs: isFinal(status) ? { status, reason, finished_at: finishedAt } : row.endedAs,
        // Voids earlier jobs.
        version: row.version + 1,
        updatedAt: now,
      })
      .where(
        and(eq(webhookDeliveries.id, row.id), eq(webhookDeliveries.version, row.version), eq(webhookDeliveries.status, status)),
      )
      .returning()
    // An attempt has just started.
    if (!changed) continue
    if (isOrdered) ordered.push(changed)
    else jobs.push(deliverJobFor(changed, now, { recovery: true }))
  }
  const sent = jobs.length + ordered.length
  if (ordered.length > 0) await holdBehindEarlier(tx, endpoint, now)
  jobs.push(...(await releaseNextOfEach(tx, ordered, now, { recovery: true })))
  return { jobs, sent, processed: rows.length, last: rows.at(-1)?.id ?? after }
}

const matching = (endpointId: string, { since, until, status, event }: RecoveryFilter, after: string): SQL | undefined =>
  and(
    eq(webhookDeliveries.endpointId, endpointId),
    gt(webhookDeliveries.id, after),
    inArray(webhookDeliveries.status, status),
    // Deliveries that wait for an earlier one are sent automatically.
    or(isNull(webhookDeliveries.reason), ne(webhookDeliveries.reason, waitingForEarlier)),
    gte(webhookDeliveries.createdAt, since),
    lt(webhookDeliveries.createdAt, until),
    event === null ? undefined : inArray(webhookDeliveries.event, event),
  )
