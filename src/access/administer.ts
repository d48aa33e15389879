import { Type } from '@sinclair/typebox'
import { eq, isNotNull, isNull } from 'drizzle-orm'
import { target } from '../core/audit'
import { change, isAlready } from '../core/change'
import { instant } from '../core/clock'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import { violation } from '../core/db/errors'
import type { Tx } from '../core/db/transaction'
import { newId } from '../core/ids'
import { requireMatch } from '../core/if-match'
import { listPage, searchFilter, timeFilters, type Listing } from '../core/list'
import { isAllowRange } from '../core/net/egress'
import { invalid, notFound, Problem } from '../core/problem'
import type { Page } from '../core/shapes'
import { forgetCallers } from './callers'
import { limitsChanged } from './limit-changes'
import { limitsOfPlan } from './plans'
import { plans, workspaces } from './tables'
import type { LimitName, PlanView, WorkspaceInput, WorkspacePatch, WorkspaceView } from './workspace-shapes'

type Row = typeof workspaces.$inferSelect

/** Every plan, the operator's to edit and everybody's to see. */
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

export const planView = (row: typeof plans.$inferSelect): PlanView => ({
  id: row.id,
  title: row.title,
  api_access: row.apiAccess,
  limits: limitsOfPlan(row),
  default: row.isDefault,
  version: row.version,
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})

export const workspaceListing: Listing<Row> = {
  name: 'workspaces',
  table: workspaces as never,
  id: workspaces.id,
  idOf: row => row.id,
  owner: workspaces.id,
  defaultSort: 'id',
  filters: {
    suspended: {
      schema: Type.Boolean({ description: 'Only workspaces that are, or are not, suspended.' }),
      where: value => (value ? isNotNull(workspaces.suspendedAt) : isNull(workspaces.suspendedAt)),
      variant: String,
    },
    q: searchFilter([workspaces.name], 'Only workspaces whose name holds this text.'),
    ...timeFilters('created_at', workspaces.createdAt),
  },
  sorts: {
    name: { column: workspaces.name, read: row => row.name },
    created_at: { column: workspaces.createdAt, read: row => row.createdAt },
  },
}
const everyWorkspace: Listing<Row> = { ...workspaceListing, name: 'every-workspace', owner: null }

/** The workspaces the caller may see: all for the operator, their own for everybody else. */
export const listWorkspaces = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<WorkspaceView>> =>
  ctx.operator ? listPage(ctx, everyWorkspace, query, workspaceView) : listPage(ctx, workspaceListing, query, workspaceView)

/** @throws Problem 404 */
export async function getWorkspace(ctx: Ctx, id: string): Promise<WorkspaceView> {
  return workspaceView(seen(ctx, await ctx.hub.read.select().from(workspaces).where(eq(workspaces.id, id))))
}

/** Makes a workspace for a customer. @throws Problem 409 `already_exists`, 422 */
export async function createWorkspace(ctx: Ctx, input: WorkspaceInput): Promise<WorkspaceView> {
  return await unlessTaken(input.name, () =>
    change(ctx, 'account.workspace.create', async tx => {
      const now = ctx.hub.clock.now()
      const planId = await planOf(tx, input.plan)
      const [row] = await tx
        .insert(workspaces)
        .values({
          id: newId('ws'),
          name: input.name,
          planId,
          isOperator: false,
          networkPolicy: { allow_private: false, allow_ranges: [] },
          limitOverrides: {},
          version: 1,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
      return { result: workspaceView(row!), target: target('workspace', row!), after: workspaceView(row!) }
    }),
  )
}

/** Renames a workspace, moves it to another plan, overrides limits of the plan, or says where calls on its behalf may go. @throws Problem 404, 409, 412, 422 */
export async function updateWorkspace(ctx: Ctx, id: string, patch: WorkspacePatch): Promise<WorkspaceView> {
  patch.network_policy?.allow_ranges.forEach((range, place) => {
    if (!isAllowRange(range))
      throw invalid([
        {
          pointer: `#/network_policy/allow_ranges/${place}`,
          code: 'format',
          detail: 'must be a CIDR range, an address, a host name, or *.name.',
        },
      ])
  })
  const view = await unlessTaken(patch.name ?? '', () =>
    change(ctx, 'account.workspace.update', async tx => {
      const row = seen(ctx, await locking(tx.select().from(workspaces).where(eq(workspaces.id, id))))
      requireMatch(ctx, row)
      const columns = {
        name: patch.name,
        planId: patch.plan === undefined ? row.planId : await planOf(tx, patch.plan),
        networkPolicy: patch.network_policy,
        limitOverrides: overriddenBy(row.limitOverrides, patch.limit_overrides ?? {}),
      }
      if (isAlready(row, columns)) return { result: workspaceView(row), target: target('workspace', row), unchanged: true }
      const [after] = await tx
        .update(workspaces)
        .set({ ...columns, version: row.version + 1, updatedAt: ctx.hub.clock.now() })
        .where(eq(workspaces.id, id))
        .returning()
      return {
        result: workspaceView(after!),
        target: target('workspace', row),
        before: workspaceView(row),
        after: workspaceView(after!),
        jobs: patch.plan === undefined && patch.limit_overrides === undefined ? [] : [limitsChanged({ workspace_id: id })],
      }
    }),
  )
  forgetCallers(ctx.hub)
  return view
}

/** The row, where the caller may know of it. */
function seen(ctx: Ctx, [row]: Row[]): Row {
  if (!row || (!ctx.operator && row.id !== ctx.workspaceId)) throw notFound('workspace')
  return row
}

async function planOf(tx: Tx, id: string | undefined): Promise<string> {
  const [row] = await tx
    .select({ id: plans.id })
    .from(plans)
    .where(id === undefined ? eq(plans.isDefault, true) : eq(plans.id, id))
  if (!row) throw invalid([{ pointer: '#/plan', code: 'unknown', detail: 'names no plan; GET /v1/plans lists them.' }])
  return row.id
}

/** Overrides after a merge patch. A stored null is no limit; null in the patch is the plan's limit again. */
function overriddenBy(now: Row['limitOverrides'], patch: NonNullable<WorkspacePatch['limit_overrides']>): Row['limitOverrides'] {
  const merged = { ...now }
  for (const [name, most] of Object.entries(patch) as [LimitName, number | 'unlimited' | null][]) {
    if (most === null) delete merged[name]
    else merged[name] = most === 'unlimited' ? null : most
  }
  return merged
}

async function unlessTaken<T>(name: string, fn: () => Promise<T>): Promise<T> {
  try {
    return await fn()
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', `There is a workspace named ${name} already.`)
    throw error
  }
}

/** A workspace as the API shows it. */
export const workspaceView = (row: Row): WorkspaceView => ({
  id: row.id,
  name: row.name,
  plan: row.planId,
  operator: row.isOperator,
  network_policy: row.networkPolicy,
  limit_overrides: Object.fromEntries(Object.entries(row.limitOverrides).map(([name, most]) => [name, most ?? 'unlimited'])),
  suspended_at: instant(row.suspendedAt),
  suspension_reason: row.suspensionReason,
  version: row.version,
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})
