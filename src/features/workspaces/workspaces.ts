import { Type } from '@sinclair/typebox'
import { isNotNull, isNull, eq } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import type { LimitName } from '../../access/limit-table'
import { limitsChanged } from '../../access/plans'
import { workspaces, plans } from '../../access/tables'
import { target } from '../../core/audit'
import { editableView } from '../../core/members'
import { change, isUnchanged } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import { violation } from '../../core/db/errors'
import type { Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { type Listing, searchFilter, timeFilters, listPage } from '../../core/list'
import { isAllowRange } from '../../core/net/egress'
import { invalid, notFound, Problem } from '../../core/problem'
import type { Page } from '../../core/shapes'
import type { WorkspaceInput, WorkspacePatch, WorkspaceView } from './shapes'

type Row = typeof workspaces.$inferSelect

export const workspaceListing: Listing<Row> = {
  name: 'workspaces',
  table: workspaces as never,
  id: workspaces.id,
  idOf: row => row.id,
  owner: workspaces.id,
  defaultSort: 'id',
  filters: {
    suspended: {
      schema: Type.Boolean({ description: 'Only workspaces that are suspended, or only those that are not.' }),
      where: value => (value ? isNotNull(workspaces.suspendedAt) : isNull(workspaces.suspendedAt)),
      variant: String,
    },
    q: searchFilter([workspaces.name], 'Only workspaces whose name contains this text.'),
    ...timeFilters('created_at', workspaces.createdAt),
  },
  sorts: {
    name: { column: workspaces.name, read: row => row.name },
    created_at: { column: workspaces.createdAt, read: row => row.createdAt },
  },
}
const allWorkspacesListing: Listing<Row> = { ...workspaceListing, name: 'every-workspace', owner: null }

/** The workspaces that the caller may see: all for the operator, otherwise the caller's own. */
export const listWorkspaces = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<WorkspaceView>> =>
  ctx.operator ? listPage(ctx, allWorkspacesListing, query, workspaceView) : listPage(ctx, workspaceListing, query, workspaceView)

/** @throws Problem 404 */
export async function getWorkspace(ctx: Ctx, id: string): Promise<WorkspaceView> {
  return workspaceView(visible(ctx, await ctx.hub.read.select().from(workspaces).where(eq(workspaces.id, id))))
}

/** Creates a workspace. @throws Problem 409 `already_exists`, 422 */
export async function createWorkspace(ctx: Ctx, input: WorkspaceInput): Promise<WorkspaceView> {
  return await withUniqueName(input.name, () =>
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

/** Updates the name, plan, limit overrides and network policy of a workspace. @throws Problem 404, 409, 412, 422 */
export async function updateWorkspace(ctx: Ctx, id: string, patch: WorkspacePatch): Promise<WorkspaceView> {
  patch.network_policy?.allow_ranges.forEach((range, place) => {
    if (!isAllowRange(range))
      throw invalid([
        {
          pointer: `#/network_policy/allow_ranges/${place}`,
          code: 'format',
          detail: 'must be a CIDR range, an IP address, a hostname or *.name.',
        },
      ])
  })
  const view = await withUniqueName(patch.name ?? '', () =>
    change(ctx, 'account.workspace.update', async tx => {
      const row = visible(ctx, await forUpdate(tx.select().from(workspaces).where(eq(workspaces.id, id))))
      requireMatch(ctx, row)
      const columns = {
        name: patch.name,
        planId: patch.plan === undefined ? row.planId : await planOf(tx, patch.plan),
        networkPolicy: patch.network_policy,
        limitOverrides: mergedOverrides(row.limitOverrides, patch.limit_overrides ?? {}),
      }
      if (isUnchanged(row, columns)) return { result: workspaceView(row), target: target('workspace', row), unchanged: true }
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

/** The workspace, if the caller may see it. */
function visible(ctx: Ctx, [row]: Row[]): Row {
  if (!row || (!ctx.operator && row.id !== ctx.workspaceId)) throw notFound('workspace')
  return row
}

async function planOf(tx: Tx, id: string | undefined): Promise<string> {
  const [row] = await tx
    .select({ id: plans.id })
    .from(plans)
    .where(id === undefined ? eq(plans.isDefault, true) : eq(plans.id, id))
  if (!row) throw invalid([{ pointer: '#/plan', code: 'unknown', detail: 'is not a plan; see GET /v1/plans.' }])
  return row.id
}

/** Applies a merge patch to overrides. A stored null means no limit; null in the patch restores the plan's limit. */
function mergedOverrides(
  current: Row['limitOverrides'],
  patch: NonNullable<WorkspacePatch['limit_overrides']>,
): Row['limitOverrides'] {
  const merged = { ...current }
  for (const [name, max] of Object.entries(patch) as [LimitName, number | 'unlimited' | null][]) {
    if (max === null) delete merged[name]
    else merged[name] = max === 'unlimited' ? null : max
  }
  return merged
}

async function withUniqueName<T>(name: string, fn: () => Promise<T>): Promise<T> {
  try {
    return await fn()
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', `A workspace named ${name} already exists.`)
    throw error
  }
}

/** A workspace as shown in the API. */
export const workspaceView = (row: Row): WorkspaceView => ({
  id: row.id,
  name: row.name,
  plan: row.planId,
  operator: row.isOperator,
  network_policy: row.networkPolicy,
  limit_overrides: Object.fromEntries(Object.entries(row.limitOverrides).map(([name, max]) => [name, max ?? 'unlimited'])),
  suspended_at: instant(row.suspendedAt),
  suspension_reason: row.suspensionReason,
  ...editableView(row),
})
