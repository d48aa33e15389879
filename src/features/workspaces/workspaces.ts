import { Type } from '@sinclair/typebox'
import { isNotNull, isNull, eq } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import type { LimitName } from '../../access/limit-table'
import { limitsChanged } from '../../access/plans'
import { workspaces, plans } from '../../access/tables'
import { workspaceDefaults } from '../../access/workspaces'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { listingOf, listPage } from '../../core/list'
import type { Listing } from '../../core/listing'
import { searchFilter, timeFilters } from '../../core/list-filters'
import { editableView } from '../../core/members'
import { isAllowRange } from '../../core/net/egress'
import { invalid } from '../../core/problem'
import { changedRow, findRow, insertRow, lockRow, refuseDuplicate, saveRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import { rowsOf } from '../../registry'
import type { WorkspaceInput, WorkspacePatch, WorkspaceView } from './shapes'

type Row = typeof workspaces.$inferSelect

export const workspaceRows = rowsOf('workspace', workspaces, { owner: workspaces.id })

export const workspaceListing = listingOf('workspaces', workspaces, {
  isSmall: true,
  owner: workspaces.id,
  defaultSort: 'id',
  filters: {
    suspended: {
      schema: Type.Boolean({ description: 'True for suspended workspaces, false for workspaces that are not suspended.' }),
      where: value => (value ? isNotNull(workspaces.suspendedAt) : isNull(workspaces.suspendedAt)),
      variant: String,
    },
    q: searchFilter([workspaces.name], 'Only workspaces whose name contains all words of this text.'),
    ...timeFilters('created_at', workspaces.createdAt),
  },
  sorts: ['name', 'created_at'],
})
const allWorkspacesListing: Listing<Row> = { ...workspaceListing, name: 'every-workspace', owner: null }

/** The workspaces that the caller may see: all for the operator, otherwise the caller's own. */
export const listWorkspaces = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<WorkspaceView>> =>
  ctx.operator ? listPage(ctx, allWorkspacesListing, query, workspaceView) : listPage(ctx, workspaceListing, query, workspaceView)

/** @throws Problem 404, also for another workspace unless the caller is the operator */
export const getWorkspace = async (ctx: Ctx, id: string): Promise<WorkspaceView> =>
  workspaceView(await findRow(ctx.hub.read, ctx, workspaceRows, id, ctx.operator ? id : ctx.workspaceId))

/** Creates a workspace. @throws Problem 409 `already_exists`, 422 */
export const createWorkspace = (ctx: Ctx, input: WorkspaceInput): Promise<WorkspaceView> =>
  refuseDuplicateName(input.name, () =>
    change(ctx, 'account.workspace.create', async tx => {
      const planId = await planOf(tx, input.plan)
      const row = await insertRow(tx, ctx, workspaceRows, { ...workspaceDefaults, name: input.name, planId })
      return await changedRow(workspaceRows, null, row, workspaceView)
    }),
  )

/** Updates the name, plan, limit overrides and network policy of a workspace. @throws Problem 404, 409, 412, 422 */
export async function updateWorkspace(ctx: Ctx, id: string, patch: WorkspacePatch): Promise<WorkspaceView> {
  patch.network_policy?.allow_ranges.forEach((range, place) => {
    if (!isAllowRange(range))
      throw invalid([
        {
          pointer: `#/network_policy/allow_ranges/${place}`,
          code: 'format',
          detail: 'must be a CIDR range, an IP address, a hostname, or a pattern such as *.example.com.',
        },
      ])
  })
  const view = await refuseDuplicateName(patch.name ?? '', () =>
    change(ctx, 'account.workspace.update', async tx => {
      const row = await lockRow(tx, ctx, workspaceRows, id, id)
      const after = await saveRow(tx, ctx, workspaceRows, row, {
        name: patch.name,
        planId: patch.plan === undefined ? row.planId : await planOf(tx, patch.plan),
        networkPolicy: patch.network_policy,
        limitOverrides: mergedOverrides(row.limitOverrides, patch.limit_overrides ?? {}),
      })
      const affectsLimits = after !== row && (patch.plan !== undefined || patch.limit_overrides !== undefined)
      return {
        ...(await changedRow(workspaceRows, row, after, workspaceView)),
        jobs: affectsLimits ? [limitsChanged({ workspace_id: id })] : [],
      }
    }),
  )
  await forgetCallers(ctx.hub)
  return view
}

async function planOf(tx: Tx, id: string | undefined): Promise<string> {
  const [row] = await tx
    .select({ id: plans.id })
    .from(plans)
    .where(id === undefined ? eq(plans.isDefault, true) : eq(plans.id, id))
  if (!row)
    throw invalid([{ pointer: '#/plan', code: 'unknown', detail: 'is not the ID of a plan. GET /v1/plans lists all plans.' }])
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

const refuseDuplicateName = <T>(name: string, fn: () => Promise<T>): Promise<T> =>
  refuseDuplicate(`A workspace named ${name} already exists.`, fn)

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
