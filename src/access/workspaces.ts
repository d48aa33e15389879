import { eq, or } from 'drizzle-orm'
import { jobContext, record, systemActor } from '../core/change'
import { instanceFacts } from '../core/db/tables'
import type { Reader } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { newId, newUuid4 } from '../core/ids'
import { firstPlans, limitsOfPlan } from './plans'
import { plans, workspaces, type PlanLimits } from './tables'

export type Workspace = typeof workspaces.$inferSelect

/** Name of the workspace that the first start makes: the operator's own. */
export const firstWorkspace = 'default'

/**
 * Makes what an empty database needs: the canary of the master key, the plans, and the operator's workspace `default`.
 * Safe to repeat, and safe when several processes start at once.
 * @throws WrongMasterKey
 */
export async function prepareInstance(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    await hub.keys.checkCanary(tx)
    const now = hub.clock.now()
    // Whoever inserts this row first makes the rest; the others find it there.
    const first = await tx
      .insert(instanceFacts)
      .values({ name: 'instance_id', value: newUuid4() })
      .onConflictDoNothing()
      .returning({ name: instanceFacts.name })
    if (first.length === 0) return { result: undefined }
    const stamps = { version: 1, createdAt: now, updatedAt: now }
    await tx.insert(plans).values(firstPlans.map(plan => ({ ...plan, ...stamps })))
    const id = newId('ws')
    await tx.insert(workspaces).values({
      id,
      name: firstWorkspace,
      planId: 'unlimited',
      isOperator: true,
      networkPolicy: { allow_private: true, allow_ranges: [] },
      limitOverrides: {},
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
          targets: [{ type: 'workspace', id, name: firstWorkspace }],
        },
      ],
    }
  })
}

/** The operator's own workspace, which the first start made. */
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

/** The limits of a workspace: its plan's, with its overrides. */
export const limitsOf = async (read: Reader, workspaceId: string): Promise<PlanLimits> => (await planOf(read, workspaceId)).limits

/** The plan of a workspace, and its limits as they hold there. */
export async function planOf(read: Reader, workspaceId: string): Promise<{ planId: string; limits: PlanLimits }> {
  const [row] = await read
    .select({ planId: plans.id, limits: plans.limits, overrides: workspaces.limitOverrides })
    .from(workspaces)
    .innerJoin(plans, eq(plans.id, workspaces.planId))
    .where(eq(workspaces.id, workspaceId))
  return { planId: row!.planId, limits: { ...limitsOfPlan({ id: row!.planId, limits: row!.limits }), ...row!.overrides } }
}
