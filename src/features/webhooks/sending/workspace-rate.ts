import { eq, sql } from 'drizzle-orm'
import { limitsOfPlan } from '../../../access/plans'
import { plans, workspaces } from '../../../access/tables'
import { forUpdate } from '../../../core/db/dialect'
import { prepared } from '../../../core/db/prepared'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { Allowance } from '../../../core/jobs/lanes'
import { windowEndsAt, remainingIn, inWindow, totalOf, addAttempts, type AttemptWindow } from './attempt-window'
import { webhookRateWindows } from './tables'

/**
 * Returns how many attempts the plan lets a workspace start now; null if there is no limit. Call it in the transaction that
 * counts them.
 */
export async function workspaceAllowance(tx: Tx, hub: Hub, workspaceId: string): Promise<Allowance | null> {
  const perMinute = await limitOf(tx, workspaceId)
  if (perMinute === null) return null
  const window = await lockWindow(tx, workspaceId)
  return window === null ? { left: 0, until: null } : remainingIn(window, perMinute, hub.clock.now())
}

/** Also null if the workspace was deleted: its jobs may still exist for a moment. */
async function limitOf(tx: Tx, workspaceId: string): Promise<number | null> {
  // Prepared, because it runs for every claim, even without a limit.
  const query = prepared(tx, 'webhook-workspace-limits', (read: Tx) =>
    read
      .select({ id: plans.id, limits: plans.limits, overrides: workspaces.limitOverrides })
      .from(workspaces)
      .innerJoin(plans, eq(plans.id, workspaces.planId))
      .where(eq(workspaces.id, sql.placeholder('workspaceId'))),
  )
  const [row] = await query.execute({ workspaceId })
  return row === undefined ? null : limitsOfPlan(row, row.overrides).deliveries_per_minute
}

/** Counts attempts that start now in a workspace with a limit. */
export async function countAttempts(
  tx: Tx,
  workspaceId: string,
  before: AttemptWindow,
  count: number,
  now: number,
): Promise<void> {
  await tx
    .update(webhookRateWindows)
    .set({ attempts: addAttempts(before, count, now) })
    .where(eq(webhookRateWindows.workspaceId, workspaceId))
}

/** Returns the attempts of a workspace in the last minute, and when all of them have left the window (ms UTC). */
export async function deliveriesLastMinute(
  read: Reader,
  workspaceId: string,
  now: number,
): Promise<{ used: number; fullAt?: number }> {
  const [row] = await read.select().from(webhookRateWindows).where(eq(webhookRateWindows.workspaceId, workspaceId))
  const counted = inWindow(row?.attempts ?? [], now)
  return { used: totalOf(counted), fullAt: windowEndsAt(counted) }
}

/**
 * Locks the window of a workspace until the transaction ends; null while another one holds the lock. Never waits, to avoid
 * deadlocks.
 */
async function lockWindow(tx: Tx, workspaceId: string): Promise<AttemptWindow | null> {
  const own = eq(webhookRateWindows.workspaceId, workspaceId)
  const [unlocked] = await forUpdate(tx.select().from(webhookRateWindows).where(own), 'skip')
  if (unlocked) return unlocked.attempts
  const [locked] = await tx.select().from(webhookRateWindows).where(own)
  if (locked) return null
  const [created] = await tx.insert(webhookRateWindows).values({ workspaceId, attempts: [] }).onConflictDoNothing().returning()
  return created?.attempts ?? null
}
