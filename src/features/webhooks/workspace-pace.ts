import { eq, sql } from 'drizzle-orm'
import { plans, workspaces } from '../../access/tables'
import { locking } from '../../core/db/dialect'
import { prepared } from '../../core/db/prepared'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { Allowance } from '../../core/jobs/lanes'
import { allLeftAt, leftOf, stillCounted, sumOf, withMore, type Begun } from './begun-tries'
import { webhookPaces } from './tables'

/** What the plan lets a workspace send now, in the transaction that then counts what it begins; null without a limit. */
export async function workspaceAllowance(tx: Tx, hub: Hub, workspaceId: string): Promise<Allowance | null> {
  const perMinute = await limitOf(tx, workspaceId)
  if (perMinute === null) return null
  const begun = await begunInHand(tx, workspaceId)
  return begun === null ? { left: 0, until: null } : leftOf(begun, perMinute, hub.clock.now())
}

/** Null also for a workspace that is gone: jobs outlive it by a moment. */
async function limitOf(tx: Tx, workspaceId: string): Promise<number | null> {
  // Asked for at each claim, also where there is no limit.
  const query = prepared(tx, 'webhook-workspace-limits', (read: Tx) =>
    read
      .select({ limits: plans.limits, overrides: workspaces.limitOverrides })
      .from(workspaces)
      .innerJoin(plans, eq(plans.id, workspaces.planId))
      .where(eq(workspaces.id, sql.placeholder('workspaceId'))),
  )
  const [row] = await query.execute({ workspaceId })
  return row === undefined ? null : ({ ...row.limits, ...row.overrides }.deliveries_per_minute ?? null)
}

/** Counts tries that begin now against a workspace that has a limit. */
export async function countBegun(tx: Tx, workspaceId: string, before: Begun, count: number, now: number): Promise<void> {
  await tx
    .update(webhookPaces)
    .set({ begun: withMore(before, count, now) })
    .where(eq(webhookPaces.workspaceId, workspaceId))
}

/** How many of a minute's tries a workspace with a limit has used, and when the last of them counts no more (ms UTC). */
export async function deliveriesOfMinute(
  read: Reader,
  workspaceId: string,
  now: number,
): Promise<{ used: number; wholeAt?: number }> {
  const [row] = await read.select().from(webhookPaces).where(eq(webhookPaces.workspaceId, workspaceId))
  const counted = stillCounted(row?.begun ?? [], now)
  return { used: sumOf(counted), wholeAt: allLeftAt(counted) }
}

/** What a workspace began, locked until the transaction ends; null while another one has it. Nobody waits, so that nobody waits in a ring. */
async function begunInHand(tx: Tx, workspaceId: string): Promise<Begun | null> {
  const own = eq(webhookPaces.workspaceId, workspaceId)
  const [free] = await locking(tx.select().from(webhookPaces).where(own), 'skip')
  if (free) return free.begun
  const [held] = await tx.select().from(webhookPaces).where(own)
  if (held) return null
  const [made] = await tx.insert(webhookPaces).values({ workspaceId, begun: [] }).onConflictDoNothing().returning()
  return made?.begun ?? null
}
