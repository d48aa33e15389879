import { eq, count, and, ne } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import { unlimited } from '../../access/limit-table'
import { limitsChanged, limitsOfPlan } from '../../access/plans'
import { plans, workspaces } from '../../access/tables'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import { violation } from '../../core/db/errors'
import type { Tx } from '../../core/db/transaction'
import { editableView, inputColumns, memberView, patchColumns } from '../../core/members'
import { invalid, conflict } from '../../core/problem'
import { changedRow, findRow, insertRow, lockRow, refuseDuplicate, removeRow, saveRow, targetOf } from '../../core/rows'
import { onePage, type Page } from '../../core/shapes'
import { rowsOf } from '../../registry'
import { planMembers, type PlanInput, type PlanPatch, type PlanView } from './shapes'

type Row = typeof plans.$inferSelect

const rows = rowsOf('plan', plans, { label: 'title', owner: null })

/** Lists all plans. */
export const listPlans = async (ctx: Ctx): Promise<Page<PlanView>> =>
  onePage((await ctx.hub.read.select().from(plans).orderBy(plans.createdAt, plans.id)).map(planView))

/** @throws Problem 404 */
export const getPlan = async (ctx: Ctx, id: string): Promise<PlanView> => planView(await findRow(ctx.hub.read, ctx, rows, id))

/** @throws Problem 409 `already_exists` */
export const createPlan = (ctx: Ctx, input: PlanInput): Promise<PlanView> =>
  refuseDuplicate(`A plan with the ID ${input.id} already exists.`, () =>
    change(ctx, 'account.plan.create', async tx => {
      await lockPlans(tx)
      const row = await insertRow(tx, ctx, rows, {
        id: input.id,
        ...inputColumns(planMembers, input),
        limits: { ...unlimited, ...input.limits },
        isDefault: input.default ?? false,
      })
      if (row.isDefault) await clearOtherDefault(tx, ctx, row)
      return await changedRow(rows, null, row, planView)
    }),
  )

/** Updates a plan, effective immediately for every workspace on it. @throws Problem 404, 412, 422 */
export async function updatePlan(ctx: Ctx, id: string, patch: PlanPatch): Promise<PlanView> {
  const view = await change(ctx, 'account.plan.update', async tx => {
    await lockPlans(tx)
    const row = await lockRow(tx, ctx, rows, id)
    if (row.isDefault && patch.default === false) {
      throw invalid([
        {
          pointer: '#/default',
          code: 'required',
          detail: 'must not be false for the default plan. Set `default` to true on another plan instead.',
        },
      ])
    }
    const after = await saveRow(tx, ctx, rows, row, {
      ...patchColumns(planMembers, patch),
      limits: { ...row.limits, ...patch.limits },
      isDefault: patch.default ?? row.isDefault,
    })
    if (after.isDefault) await clearOtherDefault(tx, ctx, after)
    return {
      ...(await changedRow(rows, row, after, planView)),
      jobs: after === row || patch.limits === undefined ? [] : [limitsChanged({ plan_id: id, after: '' })],
    }
  })
  await forgetCallers(ctx.hub)
  return view
}

/** @throws Problem 404, 412, 409 for the default plan and for a plan that workspaces use */
export async function deletePlan(ctx: Ctx, id: string): Promise<void> {
  try {
    await change(ctx, 'account.plan.delete', async tx => {
      await lockPlans(tx)
      const row = await lockRow(tx, ctx, rows, id)
      if (row.isDefault) throw conflict('This is the default plan for new workspaces. Set another plan as the default first.')
      const [used] = await tx.select({ n: count() }).from(workspaces).where(eq(workspaces.planId, id))
      if (used!.n > 0)
        throw conflict(`${used!.n} workspace${used!.n === 1 ? ' uses' : 's use'} this plan. Move them to another plan first.`)
      await removeRow(tx, rows, row)
      return { result: undefined, target: targetOf(rows, row), before: planView(row) }
    })
  } catch (error) {
    if (violation(error) === 'foreign_key') throw conflict('A workspace was just moved to this plan.')
    throw error
  }
}

/** Locks all plans until the transaction ends, so that concurrent changes cannot leave two default plans. */
const lockPlans = (tx: Tx): Promise<Row[]> => forUpdate(tx.select().from(plans).orderBy(plans.id))

async function clearOtherDefault(tx: Tx, ctx: Ctx, row: Row): Promise<void> {
  const [before] = await tx
    .select()
    .from(plans)
    .where(and(eq(plans.isDefault, true), ne(plans.id, row.id)))
  if (before) await saveRow(tx, ctx, rows, before, { isDefault: false })
}

const planView = (row: Row): PlanView => ({
  id: row.id,
  ...memberView(planMembers, row),
  limits: limitsOfPlan(row),
  default: row.isDefault,
  ...editableView(row),
})
