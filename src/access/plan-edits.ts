import { and, count, eq, ne } from 'drizzle-orm'
import { target } from '../core/audit'
import { change, isAlready } from '../core/change'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import { violation } from '../core/db/errors'
import type { Tx } from '../core/db/transaction'
import { requireMatch } from '../core/if-match'
import { conflict, invalid, notFound, Problem } from '../core/problem'
import { planView } from './administer'
import { forgetCallers } from './callers'
import { limitsChanged } from './limit-changes'
import type { PlanInput, PlanPatch } from './plan-shapes'
import { unlimited } from './plans'
import { plans, workspaces } from './tables'
import type { PlanView } from './workspace-shapes'

type Row = typeof plans.$inferSelect

/** @throws Problem 409 `already_exists` */
export async function createPlan(ctx: Ctx, input: PlanInput): Promise<PlanView> {
  try {
    return await change(ctx, 'account.plan.create', async tx => {
      const now = ctx.hub.clock.now()
      await takeAll(tx)
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
      if (row!.isDefault) await onlyDefault(tx, row!, now)
      return { result: planView(row!), target: planTarget(row!), after: planView(row!) }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', `There is a plan ${input.id} already.`)
    throw error
  }
}

/** Edits a plan; it holds at once for every workspace on it. @throws Problem 404, 412, 422 */
export async function updatePlan(ctx: Ctx, id: string, patch: PlanPatch): Promise<PlanView> {
  const view = await change(ctx, 'account.plan.update', async tx => {
    const row = planOf(await takeAll(tx), id)
    requireMatch(ctx, row)
    if (row.isDefault && patch.default === false) {
      throw invalid([
        { pointer: '#/default', code: 'required', detail: 'is taken from this plan by making another one the default.' },
      ])
    }
    const now = ctx.hub.clock.now()
    const columns = {
      title: patch.title,
      apiAccess: patch.api_access,
      limits: { ...row.limits, ...patch.limits },
      isDefault: patch.default,
    }
    if (isAlready(row, columns)) return { result: planView(row), target: planTarget(row), unchanged: true }
    const [after] = await tx
      .update(plans)
      .set({ ...columns, version: row.version + 1, updatedAt: now })
      .where(eq(plans.id, id))
      .returning()
    if (after!.isDefault) await onlyDefault(tx, after!, now)
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

/** @throws Problem 404, 412, 409 for the default and for one that workspaces are on */
export async function deletePlan(ctx: Ctx, id: string): Promise<void> {
  try {
    await change(ctx, 'account.plan.delete', async tx => {
      const row = planOf(await takeAll(tx), id)
      requireMatch(ctx, row)
      if (row.isDefault) throw conflict('New workspaces get this plan. Make another one the default first.')
      const [used] = await tx.select({ n: count() }).from(workspaces).where(eq(workspaces.planId, id))
      if (used!.n > 0)
        throw conflict(`${used!.n} workspace${used!.n === 1 ? ' is' : 's are'} on this plan. Move them to another first.`)
      await tx.delete(plans).where(eq(plans.id, id))
      return { result: undefined, target: planTarget(row), before: planView(row) }
    })
  } catch (error) {
    if (violation(error) === 'foreign_key') throw conflict('A workspace was put on this plan just now.')
    throw error
  }
}

/** Every plan, held until the change is done: whoever edits plans takes turns, so that one alone is the default. */
const takeAll = (tx: Tx): Promise<Row[]> => locking(tx.select().from(plans).orderBy(plans.id))

function planOf(rows: Row[], id: string): Row {
  const row = rows.find(one => one.id === id)
  if (!row) throw notFound('plan')
  return row
}

async function onlyDefault(tx: Tx, row: Row, now: number): Promise<void> {
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
