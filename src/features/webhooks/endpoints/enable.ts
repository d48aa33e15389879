import { and, count, eq } from 'drizzle-orm'
import { lockLimit } from '../../../access/plans'
import { pluralize, isOrAre } from '../../../core/pluralize'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { JobDraft } from '../../../core/jobs/draft'
import { conflict, invalid, Problem } from '../../../core/problem'
import { findRow, lockRow, saveRow } from '../../../core/rows'
import { endpointRows, endpointTarget, endpointView } from './view'
import type { Endpoint } from './endpoints'
import { startRecovery } from '../deliveries/recovery'
import type { WebhookEndpointEnable, WebhookEndpointView } from './shapes'
import { markHeldAsInactive, blockReasonOf, releaseJobFor } from '../sending/holds'
import { recoverableStates } from '../deliveries/tables'
import { webhookEndpoints } from './tables'
import { limitManualCalls } from '../sending/manual-limits'

/** Columns of an endpoint that is re-enabled. */
export const reenabledColumns = (now: number) =>
  ({
    status: 'enabled',
    disabledReason: null,
    failedAttempts: 0,
    consecutiveGone: 0,
    failingSince: null,
    lastFailedAt: null,
    failingNoticeHours: null,
    reenabledAt: now,
  }) as const

/**
 * Re-enables an endpoint that was disabled automatically. The replay `held` (default) sends the held deliveries, `none` keeps
 * them held, and `since` resends everything that was not delivered since a given time, including permanently failed deliveries.
 * If the endpoint is already enabled, only the replay is done.
 * @throws Problem 404, 409 for `since` while it is inactive, 412, 422, 429 for `since`, 403 `plan_limit_reached`
 */
export async function enableEndpoint(ctx: Ctx, id: string, input: WebhookEndpointEnable): Promise<WebhookEndpointView> {
  const replay = input.replay ?? 'held'
  const since = sinceOf(ctx, replay, input.since)
  if (since !== null) limitManualCalls(ctx, 'endpoint-recoveries', (await findRow(ctx.hub.read, ctx, endpointRows, id)).id)
  return await change(ctx, 'webhooks.endpoint.enable', async tx => {
    await findRow(tx, ctx, endpointRows, id)
    await lockLimit(tx, 'webhook_endpoints', ctx.workspaceId)
    const row = await lockRow(tx, ctx, endpointRows, id)
    const now = ctx.hub.clock.now()
    const changed = row.status === 'enabled' ? row : await reopen(tx, ctx, row, now)
    const jobs: JobDraft[] = []
    let released = 0
    if (replay === 'held') {
      released = await markHeldAsInactive(tx, row, now)
      if (changed.active && (changed !== row || released > 0)) jobs.push(releaseJobFor(changed))
    }
    if (since !== null) {
      if (blockReasonOf(changed)) throw conflict('The endpoint is inactive. Activate it before replaying missed deliveries.')
      const filter = { since, until: now + 1, status: [...recoverableStates], event: null }
      jobs.push((await startRecovery(tx, ctx, changed, filter)).job)
    }
    const reasons = [
      changed === row ? 'The endpoint was already enabled.' : '',
      released > 0 ? `Held deliveries are sent (${released}).` : '',
      since === null ? '' : `Undelivered messages since ${input.since} are resent.`,
    ]
    return {
      result: endpointView(changed, now),
      target: endpointTarget(row),
      before: endpointView(row, now),
      after: endpointView(changed, now),
      reason: reasons.filter(Boolean).join(' ') || null,
      unchanged: changed === row && released === 0 && since === null,
      jobs,
    }
  })
}

/** @throws Problem 403 `plan_limit_reached` */
async function reopen(tx: Tx, ctx: Ctx, row: Endpoint, now: number): Promise<Endpoint> {
  await refuseAbovePlan(tx, ctx, row)
  return await saveRow(tx, ctx, endpointRows, row, reenabledColumns(now))
}

/** The time to replay from (ms UTC); null for other replays. @throws Problem 422 */
function sinceOf(ctx: Ctx, replay: WebhookEndpointEnable['replay'], since: string | undefined): number | null {
  const invalidSince = (code: string, detail: string) => invalid([{ pointer: '#/since', code, detail }])
  if (replay !== 'since') {
    if (since !== undefined) throw invalidSince('not_allowed', 'is only allowed if `replay` is `since`.')
    return null
  }
  if (since === undefined) throw invalidSince('required', 'is required if `replay` is `since`.')
  if (Date.parse(since) > ctx.hub.clock.now()) throw invalidSince('out_of_range', 'must not be in the future.')
  return Date.parse(since)
}

/** An endpoint disabled by the plan limit can't be enabled manually, and no other endpoint can take its place. */
async function refuseAbovePlan(tx: Tx, ctx: Ctx, row: Endpoint): Promise<void> {
  const max = ctx.limits.webhook_endpoints
  if (max === null || max === undefined) return
  const ofWorkspace = eq(webhookEndpoints.workspaceId, ctx.workspaceId)
  const counted = async (which: Parameters<typeof and>[0]) =>
    (await tx.select({ n: count() }).from(webhookEndpoints).where(and(ofWorkspace, which)))[0]!.n
  const blockedByPlan =
    row.disabledReason === 'plan_limit' || (await counted(eq(webhookEndpoints.disabledReason, 'plan_limit'))) > 0
  if (!blockedByPlan) return
  const used = await counted(eq(webhookEndpoints.status, 'enabled'))
  if (used < max) return
  throw new Problem(
    'plan_limit_reached',
    `The plan allows ${pluralize(max, 'webhook endpoints')}; ${used} ${isOrAre(used)} enabled.`,
    {
      fields: { limit: 'webhook_endpoints', max, used, plan: ctx.planId },
    },
  )
}
