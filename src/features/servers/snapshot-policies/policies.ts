import { and, eq, inArray, isNull } from 'drizzle-orm'
import { refuseOverLimit } from '../../../access/plans'
import { change } from '../../../core/change'
import { instant } from '../../../core/clock'
import { InvalidCron, parseCron } from '../../../core/cron'
import type { Ctx } from '../../../core/ctx'
import { listingOf, listPage } from '../../../core/list'
import { flagFilter, searchFilter, timeFilters } from '../../../core/list-filters'
import { editableView, inputColumns, memberView, patchColumns } from '../../../core/members'
import { invalid, type FieldProblem } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { changedRow, deleteRow, findRow, insertRow, lockRow, saveRow, uniqueName } from '../../../core/rows'
import { canonicalTimezone } from '../../../core/wall-clock'
import { rowsOf } from '../../../registry'
import { selectorProblem } from '../labels'
import { requireCurrency } from '../spend'
import { servers } from '../tables'
import { policyMembers, type SnapshotPolicyInput, type SnapshotPolicyPatch, type SnapshotPolicyView } from './shapes'
import { snapshotPolicies } from './tables'

export type PolicyRow = typeof snapshotPolicies.$inferSelect

export const policyRows = rowsOf('snapshot_policy', snapshotPolicies)

export const policyListing = listingOf('snapshot-policies', snapshotPolicies, {
  isSmall: true,
  filters: {
    paused: flagFilter(snapshotPolicies.paused, 'True for policies that are paused, false for the others.'),
    q: searchFilter([snapshotPolicies.name], 'Only policies whose name contains all words of this text.'),
    ...timeFilters('created_at', snapshotPolicies.createdAt),
  },
  sorts: ['name', 'created_at'],
})

const view = (row: PolicyRow): SnapshotPolicyView => ({
  id: row.id,
  ...memberView(policyMembers, row),
  next_at: instant(row.nextAt),
  last_run: row.lastRun,
  ...editableView(row),
})

export const listPolicies = (ctx: Ctx, query: Record<string, unknown>) => listPage(ctx, policyListing, query, view)

/** @throws Problem 404 */
export const getPolicy = async (ctx: Ctx, id: string): Promise<SnapshotPolicyView> =>
  view(await findRow(ctx.hub.read, ctx, policyRows, id))

/** When a policy runs next, after a time; null if it is paused. */
export const nextRunOf = ({ schedule, paused }: Pick<PolicyRow, 'schedule' | 'paused'>, after: number): number | null =>
  paused ? null : parseCron(schedule.cron, canonicalTimezone(schedule.timezone)!).next(after)

/** @throws Problem 409 for a duplicate name or too many policies, 422 */
export async function createPolicy(ctx: Ctx, input: SnapshotPolicyInput): Promise<SnapshotPolicyView> {
  await requireValid(ctx, input)
  const columns = inputColumns(policyMembers, input)
  requirePriced(columns)
  return await uniqueName(policyRows, input.name, () =>
    change(ctx, 'cloud.snapshot_policy.create', async tx => {
      await refuseOverLimit(tx, ctx, 'snapshot_policy')
      const nextAt = nextRunOf(columns, ctx.hub.clock.now())
      const row = await insertRow(tx, ctx, policyRows, { ...columns, nextAt, lastRun: null, run: null, failures: 0 })
      return await changedRow(policyRows, null, row, view)
    }),
  )
}

/** @throws Problem 404, 409, 412, 422 */
export async function updatePolicy(ctx: Ctx, id: string, patch: SnapshotPolicyPatch): Promise<SnapshotPolicyView> {
  await requireValid(ctx, patch)
  return await uniqueName(policyRows, patch.name ?? '', () =>
    change(ctx, 'cloud.snapshot_policy.update', async tx => {
      const before = await lockRow(tx, ctx, policyRows, id)
      const columns = patchColumns(policyMembers, patch)
      requirePriced({ ...before, ...columns })
      const isTimed = patch.schedule !== undefined || patch.paused !== undefined
      const nextAt = isTimed ? nextRunOf({ ...before, ...columns }, ctx.hub.clock.now()) : before.nextAt
      return await changedRow(policyRows, before, await saveRow(tx, ctx, policyRows, before, { ...columns, nextAt }), view)
    }),
  )
}

/** Deletes a policy. Its snapshots are kept. @throws Problem 404, 412 */
export const deletePolicy = (ctx: Ctx, id: string): Promise<void> =>
  deleteRow(ctx, 'cloud.snapshot_policy.delete', policyRows, id, view)

/** Lets a policy run now, even if it is paused. @throws Problem 404, 412 */
export const runPolicy = (ctx: Ctx, id: string): Promise<SnapshotPolicyView> =>
  change(ctx, 'cloud.snapshot_policy.run', async tx => {
    const before = await lockRow(tx, ctx, policyRows, id)
    const [row] = await tx
      .update(snapshotPolicies)
      .set({ nextAt: ctx.hub.clock.now() })
      .where(eq(snapshotPolicies.id, id))
      .returning()
    return await changedRow(policyRows, before, row!, view)
  })

/** @throws Problem 422 for a price without its currency */
const requirePriced = ({ maxMonthlyPrice, currency }: Pick<PolicyRow, 'maxMonthlyPrice' | 'currency'>): void =>
  requireCurrency({
    ...(maxMonthlyPrice !== null && { max_monthly_price: maxMonthlyPrice }),
    ...(currency !== null && { currency }),
  })

/** @throws Problem 422 */
async function requireValid(ctx: Ctx, input: SnapshotPolicyPatch): Promise<void> {
  const { schedule, keep, label_selector: selector, server_ids: ids = [] } = input
  const problems: FieldProblem[] = []
  const refuse = (field: string, code: string, detail: string) => problems.push({ pointer: `#/${field}`, code, detail })
  const zone = schedule && canonicalTimezone(schedule.timezone)
  if (zone === null) refuse('schedule/timezone', 'format', 'must be an IANA time zone, such as Europe/Berlin.')
  if (schedule && zone) {
    try {
      if (parseCron(schedule.cron, zone).next(ctx.hub.clock.now()) === null)
        refuse('schedule/cron', 'never', 'never runs. Choose a date that exists.')
    } catch (error) {
      if (!(error instanceof InvalidCron)) throw error
      refuse('schedule/cron', 'format', error.message)
    }
  }
  if (keep && Object.values(keep).every(one => one === 0))
    refuse('keep', 'empty', 'must keep at least one snapshot. Set one of the numbers to 1 or more.')
  const invalidSelector = selectorProblem(selector, '#/label_selector')
  if (invalidSelector) problems.push(invalidSelector)
  const found =
    ids.length === 0
      ? []
      : await ctx.hub.read
          .select({ id: servers.id })
          .from(servers)
          .where(and(inArray(servers.id, ids), eq(servers.workspaceId, ctx.workspaceId), isNull(servers.deletedAt)))
  for (const [at, id] of ids.entries())
    if (!found.some(one => one.id === id) || !canAccess(ctx, id))
      refuse(`server_ids/${at}`, 'not_found', 'There is no server with this ID.')
  if (problems.length > 0) throw invalid(problems)
}
