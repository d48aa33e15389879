import { and, count, eq } from 'drizzle-orm'
import { takeTurns } from '../../access/plans'
import { numbered, isOrAre } from '../../core/numbered'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { requireMatch } from '../../core/if-match'
import type { JobDraft } from '../../core/jobs/queue'
import { conflict, invalid, notFound, Problem } from '../../core/problem'
import { endpointTarget, endpointView } from './endpoint-view'
import { endpointOf, type Endpoint } from './endpoints'
import { startRecovery } from './recovery'
import type { WebhookEndpointEnable, WebhookEndpointView } from './shapes'
import { heldStill, holdForSwitchOnly, obstacleOf, releaseJobFor } from './standing'
import { recoverableStates, webhookEndpoints } from './tables'
import { refuseTooOften } from './too-often'

/** What an endpoint begins anew with when it is taken back into service. */
export const reopened = (row: Endpoint, now: number) =>
  ({
    status: 'enabled',
    disabledReason: null,
    failedAttempts: 0,
    goneInARow: 0,
    failingSince: null,
    lastFailedAt: null,
    failingToldHours: null,
    reopenedAt: now,
    version: row.version + 1,
    updatedAt: now,
  }) as const

/**
 * Enables an endpoint that the service disabled. `held`, unless told otherwise, sends what was held meanwhile; `none` leaves it held;
 * `since` sends what did not arrive since a time, what was given up before included. One that is enabled already is sent the same,
 * such as what an earlier `none` left held.
 * @throws Problem 404, 409 for `since` while it is paused, 412, 422, 429 for `since`, 403 `plan_limit_reached`
 */
export async function enableEndpoint(ctx: Ctx, id: string, input: WebhookEndpointEnable): Promise<WebhookEndpointView> {
  const replay = input.replay ?? 'held'
  const since = sinceOf(ctx, replay, input.since)
  if (since !== null) refuseTooOften(ctx, 'endpoint-recoveries', (await endpointOf(ctx.hub.read, ctx, id)).id)
  return await change(ctx, 'webhooks.endpoint.enable', async tx => {
    await endpointOf(tx, ctx, id)
    await takeTurns(tx, 'webhook_endpoints', ctx.workspaceId)
    const row = await heldStill(tx, id)
    if (!row) throw notFound('webhook endpoint')
    requireMatch(ctx, row)
    const now = ctx.hub.clock.now()
    const changed = row.status === 'enabled' ? row : await reopen(tx, ctx, row, now)
    const jobs: JobDraft[] = []
    let freed = 0
    if (replay === 'held') {
      freed = await holdForSwitchOnly(tx, row, now)
      if (changed.active && (changed !== row || freed > 0)) jobs.push(releaseJobFor(changed))
    }
    if (since !== null) {
      if (obstacleOf(changed)) throw conflict('The endpoint is paused. Make it active before sending what it missed.')
      const wanted = { since, until: now + 1, status: [...recoverableStates], event: null }
      jobs.push((await startRecovery(tx, ctx, changed, wanted)).job)
    }
    const reasons = [
      changed === row ? 'It was enabled before.' : '',
      freed > 0 ? `What was held is sent (${freed}).` : '',
      since === null ? '' : `What did not arrive since ${input.since} is sent again.`,
    ]
    return {
      result: endpointView(changed, now),
      target: endpointTarget(row),
      before: endpointView(row, now),
      after: endpointView(changed, now),
      reason: reasons.filter(Boolean).join(' ') || null,
      unchanged: changed === row && freed === 0 && since === null,
      jobs,
    }
  })
}

/** @throws Problem 403 `plan_limit_reached` */
async function reopen(tx: Tx, ctx: Ctx, row: Endpoint, now: number): Promise<Endpoint> {
  await refuseAbovePlan(tx, ctx, row)
  const [changed] = await tx.update(webhookEndpoints).set(reopened(row, now)).where(eq(webhookEndpoints.id, row.id)).returning()
  return changed!
}

/** The time to send from (ms UTC); null where `replay` is another. @throws Problem 422 */
function sinceOf(ctx: Ctx, replay: WebhookEndpointEnable['replay'], since: string | undefined): number | null {
  const wrong = (code: string, detail: string) => invalid([{ pointer: '#/since', code, detail }])
  if (replay !== 'since') {
    if (since !== undefined) throw wrong('not_allowed', 'goes with the replay `since` alone.')
    return null
  }
  if (since === undefined) throw wrong('required', 'is required for the replay `since`.')
  if (Date.parse(since) > ctx.hub.clock.now()) throw wrong('out_of_range', 'must not lie in the future.')
  return Date.parse(since)
}

/** What the plan keeps out of service does not come back by hand, nor does another in its stead. */
async function refuseAbovePlan(tx: Tx, ctx: Ctx, row: Endpoint): Promise<void> {
  const max = ctx.limits.webhook_endpoints
  if (max === null || max === undefined) return
  const ofWorkspace = eq(webhookEndpoints.workspaceId, ctx.workspaceId)
  const counted = async (which: Parameters<typeof and>[0]) =>
    (await tx.select({ n: count() }).from(webhookEndpoints).where(and(ofWorkspace, which)))[0]!.n
  const kept = row.disabledReason === 'plan_limit' || (await counted(eq(webhookEndpoints.disabledReason, 'plan_limit'))) > 0
  if (!kept) return
  const used = await counted(eq(webhookEndpoints.status, 'enabled'))
  if (used < max) return
  throw new Problem(
    'plan_limit_reached',
    `The plan allows ${numbered(max, 'webhook endpoints')} in service; ${used} ${isOrAre(used)}.`,
    {
      members: { limit: 'webhook_endpoints', max, used, plan: ctx.planId },
    },
  )
}
