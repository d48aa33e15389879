import { sql } from 'drizzle-orm'
import { numbered, isOrAre } from '../core/numbered'
import { giveNotices } from '../core/change'
import type { Ctx } from '../core/ctx'
import { counters } from '../core/db/tables'
import type { Tx } from '../core/db/transaction'
import type { NoticeDraft } from '../core/notices'
import { Problem } from '../core/problem'
import type { PlanLimits, plans } from './tables'
import { limitNames } from './workspace-shapes'

type PlanRow = Omit<typeof plans.$inferInsert, 'createdAt' | 'updatedAt' | 'version'>

const retention = (log: number, audit: number | null, results: number, incidents: number | null = null) => ({
  monitor_results_days: results,
  incident_days: incidents,
  delivery_log_days: log,
  event_feed_days: log,
  audit_days: audit,
  dns_history_days: 365,
})

/** The plans that a new installation starts with. They are rows: the operator edits them, and nothing else in the program names a limit. */
export const firstPlans: PlanRow[] = [
  {
    id: 'free',
    title: 'Free',
    apiAccess: 'read',
    isDefault: true,
    limits: {
      requests_per_minute_per_token: 60,
      requests_per_hour_per_workspace: 1_000,
      webhook_endpoints: 2,
      deliveries_per_minute: 120,
      tokens: 5,
      heartbeats: 20,
      dns_zones: 3,
      dns_records: 500,
      concurrent_requests_per_token: 20,
      monitors: 20,
      monitor_interval_seconds: 60,
      ...retention(7, 30, 7, 365),
    },
  },
  {
    id: 'pro',
    title: 'Pro',
    apiAccess: 'full',
    isDefault: false,
    limits: {
      requests_per_minute_per_token: 600,
      requests_per_hour_per_workspace: 20_000,
      webhook_endpoints: 10,
      deliveries_per_minute: 3_000,
      tokens: 50,
      heartbeats: 1_000,
      dns_zones: 100,
      dns_records: 10_000,
      concurrent_requests_per_token: 20,
      monitors: 1_000,
      monitor_interval_seconds: 10,
      ...retention(30, 365, 30, 365),
    },
  },
  {
    id: 'business',
    title: 'Business',
    apiAccess: 'full',
    isDefault: false,
    limits: {
      requests_per_minute_per_token: 3_000,
      requests_per_hour_per_workspace: 100_000,
      webhook_endpoints: 50,
      deliveries_per_minute: 30_000,
      tokens: 500,
      heartbeats: 10_000,
      dns_zones: 2_000,
      dns_records: 100_000,
      concurrent_requests_per_token: 20,
      monitors: 10_000,
      monitor_interval_seconds: 5,
      ...retention(90, null, 90),
    },
  },
  {
    id: 'unlimited',
    title: 'Unlimited',
    apiAccess: 'full',
    isDefault: false,
    limits: {
      requests_per_minute_per_token: null,
      requests_per_hour_per_workspace: null,
      webhook_endpoints: null,
      deliveries_per_minute: null,
      tokens: null,
      heartbeats: null,
      dns_zones: null,
      dns_records: null,
      concurrent_requests_per_token: null,
      monitors: null,
      monitor_interval_seconds: null,
      ...retention(90, null, 30),
    },
  },
]

/**
 * The limits of a plan as they are read: one that was written down before a limit existed has what a new installation would give it,
 * and a plan of the operator's own has none.
 */
export const limitsOfPlan = (plan: { id: string; limits: Partial<PlanLimits> }): PlanLimits => ({
  ...unlimited,
  ...firstPlans.find(one => one.id === plan.id)?.limits,
  ...plan.limits,
})

/** No limit on anything. */
export const unlimited = Object.fromEntries(limitNames.map(name => [name, null])) as PlanLimits

/**
 * Refuses one more of what the plan counts. The count and the insert that follows are one transaction, and transactions of one
 * workspace that count the same thing take turns, so two that arrive together cannot both be the last.
 * Where one more brings it near the limit or to it, the workspace is told here, so that nobody who counts can forget it.
 * @param count how many the workspace has, asked for after the turn was taken
 * @throws Problem 403 `plan_limit_reached`
 */
export async function refuseOverLimit(tx: Tx, ctx: Ctx, limit: keyof PlanLimits, count: () => Promise<number>): Promise<void> {
  const most = ctx.limits[limit]
  if (most === null || most === undefined) return
  await takeTurns(tx, limit, ctx.workspaceId)
  const used = await count()
  if (used < most) {
    const { workspaceId, planId } = ctx
    return await giveNotices(tx, ctx.hub, limitNotices({ workspaceId, limit, max: most, used, planId }))
  }
  throw new Problem(
    'plan_limit_reached',
    `The plan allows ${numbered(most, limit.replaceAll('_', ' '))}; ${used} ${isOrAre(used)} in use.`,
    {
      members: { limit, max: most, used, plan: ctx.planId },
    },
  )
}

/** Makes the transactions of a workspace that count the same thing wait for each other. */
export async function takeTurns(tx: Tx, limit: keyof PlanLimits, workspaceId: string): Promise<void> {
  await tx
    .insert(counters)
    .values({ name: `limit:${limit}:${workspaceId}`, value: 1 })
    .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + 1` } })
}

// Percent of a limit at which its workspace is told (platform.md S7).
const warnedAt = [
  { percent: 80, kind: 'plan.limit_near' },
  { percent: 100, kind: 'plan.limit_reached' },
] as const

/**
 * What one more than `used` gives notice of: the highest mark that it crosses. Use that falls below a mark and comes back crosses
 * it again.
 */
export function limitNotices(of: {
  workspaceId: string
  limit: keyof PlanLimits
  max: number
  used: number
  planId: string
}): NoticeDraft[] {
  const { workspaceId, limit, max, planId } = of
  const used = of.used + 1
  const crossed = warnedAt.findLast(({ percent }) => used * 100 >= max * percent && (used - 1) * 100 < max * percent)
  if (!crossed) return []
  const what = limit.replaceAll('_', ' ')
  const more = crossed.percent === 100 ? ' No more can be made.' : ''
  return [
    {
      workspaceId,
      kind: crossed.kind,
      resource: null,
      text: `${used} of the ${numbered(max, what)} that the plan allows ${isOrAre(used)} in use.${more}`,
      details: { limit, max, used, plan: planId, percent: crossed.percent },
      matter: limit,
    },
  ]
}
