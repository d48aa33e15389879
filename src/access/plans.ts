import type { JobDraft } from '../core/jobs/draft'
import { and, count, eq, sql } from 'drizzle-orm'
import { pluralize, isOrAre } from '../core/pluralize'
import { sendNotices } from '../core/change'
import type { Ctx } from '../core/ctx'
import { forUpdate } from '../core/db/dialect'
import { prepared } from '../core/db/prepared'
import { counters } from '../core/db/tables'
import type { Reader, Tx } from '../core/db/transaction'
import type { NoticeDraft } from '../core/notices'
import { conflict, Problem } from '../core/problem'
import { entryOf, resourceTypes, type ResourceType } from '../registry'
import { initialLimits, limitTable, unlimited, type CountedLimit, type PlanLimits } from './limit-table'
import { workspaces, type plans } from './tables'

type PlanRow = Omit<typeof plans.$inferInsert, 'createdAt' | 'updatedAt' | 'version'>

/** The plans of a new installation. They are stored as rows that the operator can edit. */
export const initialPlans: PlanRow[] = [
  { id: 'free', title: 'Free', apiAccess: 'read', isDefault: true, limits: initialLimits('free') },
  { id: 'pro', title: 'Pro', apiAccess: 'full', isDefault: false, limits: initialLimits('pro') },
  { id: 'business', title: 'Business', apiAccess: 'full', isDefault: false, limits: initialLimits('business') },
  { id: 'unlimited', title: 'Unlimited', apiAccess: 'full', isDefault: false, limits: initialLimits('unlimited') },
]

/**
 * The limits of a plan, or of a workspace on it if its overrides are given. A limit that did not exist when the plan was stored gets
 * the value of the initial plan with the same id; in plans created by the operator it is unlimited.
 */
export const limitsOfPlan = (
  plan: { id: string; limits: Partial<PlanLimits> },
  overrides: Partial<PlanLimits> = {},
): PlanLimits => ({
  ...unlimited,
  ...initialPlans.find(one => one.id === plan.id)?.limits,
  ...plan.limits,
  ...overrides,
})

/**
 * Refuses new resources if the workspace would have more than the maximum. The count and the following insert are in one transaction and
 * hold a lock, so that two concurrent requests can’t both create the last allowed one. Also sends the notices for a plan limit that
 * is nearly or just reached.
 * @param added how many resources are to be created
 * @throws Problem 403 `plan_limit_reached`; 409 for a limit that is the same on every plan
 */
export async function refuseOverLimit(tx: Tx, ctx: Ctx, type: ResourceType, added = 1): Promise<void> {
  const { workspaceId, planId } = ctx
  const { limit, plural } = entryOf(type)
  if (typeof limit === 'number') {
    await forUpdate(tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, workspaceId)))
    if ((await countOf(tx, type, workspaceId)) + added > limit) throw conflict(`A workspace can have at most ${limit} ${plural}.`)
    return
  }
  const max = limit && ctx.limits[limit]
  if (!limit || max === null || max === undefined) return
  await lockLimit(tx, limit, workspaceId)
  const used = await countOf(tx, type, workspaceId)
  if (used + added <= max) return await sendNotices(tx, ctx.hub, limitNotices({ workspaceId, limit, max, used, added, planId }))
  const remedy =
    added === 1
      ? 'Delete one first'
      : `The request would create ${added}. Create at most ${Math.max(0, max - used)}, delete some first`
  throw new Problem(
    'plan_limit_reached',
    `Limit reached: the plan allows ${pluralize(max, limitTable[limit].noun)}, and ${used} ${isOrAre(used)} in use. ${remedy}, or ask the operator for another plan.`,
    { fields: { limit, max, used, plan: planId } },
  )
}

/** The number of resources of a workspace that count against their limit. */
export async function countOf(read: Reader, type: ResourceType, workspaceId: string): Promise<number> {
  const { table, endedBy = [] } = entryOf(type)
  const counted = prepared<{ n: number }[]>(read, `count-of|${type}`, handle => {
    const conditions = [
      sql`${sql.identifier('workspace_id')} = ${sql.placeholder('workspaceId')}`,
      ...endedBy.map(column => sql`${sql.identifier(column)} is null`),
    ]
    return handle
      .select({ n: count() })
      .from(sql`${sql.identifier(table!)}` as never)
      .where(and(...conditions)) as never
  })
  const rows = await counted.execute({ workspaceId })
  return rows[0]!.n
}

/** The plan limits that count resources, with what they count. */
export const countedResources: ReadonlyMap<CountedLimit, ResourceType> = new Map(
  resourceTypes.flatMap(type => {
    const { limit } = entryOf(type)
    return typeof limit === 'string' ? [[limit, type]] : []
  }),
)

/** Makes transactions of a workspace that count against the same limit wait for each other. */
export async function lockLimit(tx: Tx, limit: CountedLimit, workspaceId: string): Promise<void> {
  const lock = prepared<unknown, Tx>(tx, 'limit-lock', handle =>
    handle
      .insert(counters)
      .values({ name: sql.placeholder('name'), value: 1 })
      .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + 1` } }),
  )
  await lock.execute({ name: `limit:${limit}:${workspaceId}` })
}

// Percentages of a limit at which the workspace is notified.
const warningLevels = [
  { percent: 80, kind: 'plan.limit_near' },
  { percent: 100, kind: 'plan.limit_reached' },
] as const

/**
 * The notice for adding items to `used`: the highest level that it crosses. A level is crossed again after usage dropped below
 * it.
 */
export function limitNotices(of: {
  workspaceId: string
  limit: CountedLimit
  max: number
  used: number
  /** Default: 1. */
  added?: number
  planId: string
}): NoticeDraft[] {
  const { workspaceId, limit, max, planId } = of
  const used = of.used + (of.added ?? 1)
  const crossed = warningLevels.findLast(({ percent }) => used * 100 >= max * percent && of.used * 100 < max * percent)
  if (!crossed) return []
  const more = crossed.percent === 100 ? ' You can’t create more.' : ''
  return [
    {
      workspaceId,
      kind: crossed.kind,
      resource: null,
      text: `${used} of ${pluralize(max, limitTable[limit].noun)} allowed by the plan ${isOrAre(used)} in use.${more}`,
      details: { limit, max, used, plan: planId, percent: crossed.percent },
      dedupKey: limit,
    },
  ]
}

export const limitsChangedKind = 'limits.compare'

/** What to compare with its limits: one workspace, or the workspaces of a plan with an id greater than `after`. */
export type LimitsChanged = { workspace_id: string } | { plan_id: string; after: string }

/** The job that compares usage with limits after either changed. */
export const limitsChanged = (payload: LimitsChanged): JobDraft => ({ kind: limitsChangedKind, payload })
