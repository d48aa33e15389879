import { eq, count, and, ne } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import { unlimited } from '../../access/limit-table'
import { limitsChanged, limitsOfPlan } from '../../access/plans'
import { plans, workspaces } from '../../access/tables'
import { target } from '../../core/audit'
import { editableView } from '../../core/members'
import { change, isUnchanged } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import { violation } from '../../core/db/errors'
import type { Tx } from '../../core/db/transaction'
import { requireMatch } from '../../core/if-match'
import { notFound, Problem, invalid, conflict } from '../../core/problem'
import type { PlanInput, PlanPatch, PlanView } from './shapes'

type Row = typeof plans.$inferSelect

/** Lists all plans. */
export async function listPlans(ctx: Ctx): Promise<{ data: PlanView[] }> {
  const rows = await ctx.hub.read.select().from(plans).orderBy(plans.createdAt, plans.id)
  return { data: rows.map(planView) }
}

/** @throws Problem 404 */
export async function getPlan(ctx: Ctx, id: string): Promise<PlanView> {
  const [row] = await ctx.hub.read.select().from(plans).where(eq(plans.id, id))
  if (!row) throw notFound('plan')
  return planView(row)
}

/** @throws Problem 409 `already_exists` */
export async function createPlan(ctx: Ctx, input: PlanInput): Promise<PlanView> {
  try {
    return await change(ctx, 'account.plan.create', async tx => {
      const now = ctx.hub.clock.now()
      await lockPlans(tx)
      const [row] = await tx
        .insert(plans)
        .values({
          id: input.id,
          title: input.title,
          apiAccess: input.api_access ?? 'full',
          limits: { ...unlimited, ...input.limits },
          isDefault: input.default ?? false,
          version: 1,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
      if (row!.isDefault) await clearOtherDefault(tx, row!, now)
      return { result: planView(row!), target: planTarget(row!), after: planView(row!) }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', `A plan with the ID ${input.id} already exists.`)
    throw error
  }
}

/** Updates a plan, effective immediately for every workspace on it. @throws Problem 404, 412, 422 */
export async function updatePlan(ctx: Ctx, id: string, patch: PlanPatch): Promise<PlanView> {
  const view = await change(ctx, 'account.plan.update', async tx => {
    const row = planOf(await lockPlans(tx), id)
    requireMatch(ctx, row)
    if (row.isDefault && patch.default === false) {
      throw invalid([
        { pointer: '#/default', code: 'required', detail: 'can’t be set to false; set `default` on another plan instead.' },
      ])
    }
    const now = ctx.hub.clock.now()
    const columns = {
      title: patch.title,
      apiAccess: patch.api_access,
      limits: { ...row.limits, ...patch.limits },
      isDefault: patch.default,
    }
    if (isUnchanged(row, columns)) return { result: planView(row), target: planTarget(row), unchanged: true }
    const [after] = await tx
      .update(plans)
      .set({ ...columns, version: row.version + 1, updatedAt: now })
      .where(eq(plans.id, id))
      .returning()
    if (after!.isDefault) await clearOtherDefault(tx, after!, now)
    return {
      result: planView(after!),
      target: planTarget(row),
      before: planView(row),
      after: planView(after!),
      jobs: patch.limits === undefined ? [] : [limitsChanged({ plan_id: id, after: '' })],
    }
  })
  forgetCallers(ctx.hub)
  return view
}

/** @throws Problem 404, 412, 409 for the default plan and for a plan that workspaces use */
export async function deletePlan(ctx: Ctx, id: string): Promise<void> {
  try {
    await change(ctx, 'account.plan.delete', async tx => {
      const row = planOf(await lockPlans(tx), id)
      requireMatch(ctx, row)
      if (row.isDefault) throw conflict('This is the default plan for new workspaces. Set another plan as the default first.')
      const [used] = await tx.select({ n: count() }).from(workspaces).where(eq(workspaces.planId, id))
      if (used!.n > 0)
        throw conflict(`${used!.n} workspace${used!.n === 1 ? ' uses' : 's use'} this plan. Move them to another plan first.`)
      await tx.delete(plans).where(eq(plans.id, id))
      return { result: undefined, target: planTarget(row), before: planView(row) }
    })
  } catch (error) {
    if (violation(error) === 'foreign_key') throw conflict('A workspace was just moved to this plan.')
    throw error
  }
}

/** Locks all plans until the transaction ends, so that concurrent changes cannot leave two default plans. */
const lockPlans = (tx: Tx): Promise<Row[]> => forUpdate(tx.select().from(plans).orderBy(plans.id))

function planOf(rows: Row[], id: string): Row {
  const row = rows.find(one => one.id === id)
  if (!row) throw notFound('plan')
  return row
}

async function clearOtherDefault(tx: Tx, row: Row, now: number): Promise<void> {
  const [before] = await tx
    .select()
    .from(plans)
    .where(and(eq(plans.isDefault, true), ne(plans.id, row.id)))
  if (!before) return
  await tx
    .update(plans)
    .set({ isDefault: false, version: before.version + 1, updatedAt: now })
    .where(eq(plans.id, before.id))
}

const planTarget = (row: Row) => target('plan', { id: row.id, name: row.title })

const planView = (row: Row): PlanView => ({
  id: row.id,
  title: row.title,
  api_access: row.apiAccess,
  limits: limitsOfPlan(row),
  default: row.isDefault,
  ...editableView(row),
})
