import { eq, or } from 'drizzle-orm'
import { jobContext, record, systemActor } from '../core/change'
import { instanceFacts } from '../core/db/tables'
import type { Reader } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { newId, newUuid4 } from '../core/ids'
import { initialPlans, limitsOfPlan } from './plans'
import type { PlanLimits } from './limit-table'
import { plans, workspaces } from './tables'

type Workspace = typeof workspaces.$inferSelect

/** What a new workspace has, unless it is the operator’s. */
export const workspaceDefaults = {
  isOperator: false,
  networkPolicy: { allow_private: false, allow_ranges: [] },
  limitOverrides: {},
} satisfies Partial<Workspace>

/** Name of the operator's workspace, which the first start creates. */
export const initialWorkspaceName = 'default'

/**
 * Initializes an empty database: the canary of the master key, the plans, and the operator's workspace `default`.
 * Idempotent, and safe when several processes start at the same time.
 * @throws WrongMasterKey
 */
export async function prepareInstance(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    await hub.keys.checkCanary(tx)
    const now = hub.clock.now()
    // The process that inserts this row creates the rest; the others find it.
    const first = await tx
      .insert(instanceFacts)
      .values({ name: 'instance_id', value: newUuid4() })
      .onConflictDoNothing()
      .returning({ name: instanceFacts.name })
    if (first.length === 0) return { result: undefined }
    const stamps = { version: 1, createdAt: now, updatedAt: now }
    await tx.insert(plans).values(initialPlans.map(plan => ({ ...plan, ...stamps })))
    const id = newId('ws')
    await tx.insert(workspaces).values({
      id,
      name: initialWorkspaceName,
      planId: 'unlimited',
      ...workspaceDefaults,
      isOperator: true,
      networkPolicy: { allow_private: true, allow_ranges: [] },
      ...stamps,
    })
    return {
      result: undefined,
      audits: [
        {
          workspaceId: id,
          action: 'account.workspace.create',
          actor: systemActor('first start'),
          context: jobContext,
          targets: [{ type: 'workspace', id, name: initialWorkspaceName }],
        },
      ],
    }
  })
}

/** The operator's workspace, created at first start. */
export async function operatorWorkspace(read: Reader): Promise<Workspace> {
  const [row] = await read.select().from(workspaces).where(eq(workspaces.isOperator, true))
  return row!
}

/** A workspace by id or by name. */
export async function findWorkspace(read: Reader, idOrName: string): Promise<Workspace | null> {
  const [row] = await read
    .select()
    .from(workspaces)
    .where(or(eq(workspaces.id, idOrName), eq(workspaces.name, idOrName)))
  return row ?? null
}

/** The limits of a workspace: those of its plan, with its overrides. */
export const limitsOf = async (read: Reader, workspaceId: string): Promise<PlanLimits> => (await planOf(read, workspaceId)).limits

/** The plan of a workspace, and its limits with overrides applied. */
export async function planOf(read: Reader, workspaceId: string): Promise<{ planId: string; limits: PlanLimits }> {
  const [row] = await read
    .select({ planId: plans.id, limits: plans.limits, overrides: workspaces.limitOverrides })
    .from(workspaces)
    .innerJoin(plans, eq(plans.id, workspaces.planId))
    .where(eq(workspaces.id, workspaceId))
  return { planId: row!.planId, limits: limitsOfPlan({ id: row!.planId, limits: row!.limits }, row!.overrides) }
}
