import { and, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { forIds } from '../../../core/db/id-list'
import { prepared } from '../../../core/db/prepared'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { closeBreaker } from './breaker'
import { deliverKind } from './delivery-jobs'
import { lockEndpoint } from './holds'
import { disable, disableReasonFor, type DisableResult } from '../endpoints/disable'
import { webhookEndpoints } from '../endpoints/tables'

type Endpoint = typeof webhookEndpoints.$inferSelect

const successUpdateMs = 60_000

/**
 * Counts a failure of an endpoint and returns the endpoint, locked until the transaction ends; null if it was deleted. Failed
 * resends don't count, so that troubleshooting can't get the endpoint disabled.
 */
export async function recordFailure(
  tx: Tx,
  endpointId: string,
  { gone, manual }: { gone: boolean; manual: boolean },
  now: number,
): Promise<Endpoint | null> {
  const [row] = await tx
    .update(webhookEndpoints)
    .set({
      failedAttempts: sql`${webhookEndpoints.failedAttempts} + ${manual ? 0 : 1}`,
      ...(!manual && {
        consecutiveGone: gone ? sql`${webhookEndpoints.consecutiveGone} + 1` : 0,
        failingSince: sql`coalesce(${webhookEndpoints.failingSince}, ${now})`,
        lastFailedAt: now,
      }),
    })
    .where(eq(webhookEndpoints.id, endpointId))
    .returning()
  return row ?? null
}

/**
 * Records that endpoints work: their failures no longer count, and their breakers close.
 * @param locked ids of endpoints to lock until the transaction ends, even if they don't change
 */
export async function markWorking(
  tx: Tx,
  endpointIds: readonly string[],
  now: number,
  locked: ReadonlySet<string>,
): Promise<void> {
  const updatedBefore = now - successUpdateMs
  // Most successes follow another success and don't change the row.
  const outdated = await forIds(endpointIds, (size, list, values) =>
    prepared<{ id: string }[], Tx>(tx, `webhook-endpoints-outdated|${size}`, handle =>
      handle
        .select({ id: webhookEndpoints.id })
        .from(webhookEndpoints)
        .where(and(sql`${webhookEndpoints.id} in ${list}`, isOutdated())),
    ).execute({ ...values, updatedBefore }),
  )
  // In id order, to avoid deadlocks.
  const changing = new Set(outdated.map(one => one.id))
  for (const id of [...changing.union(locked)].sort()) {
    if (locked.has(id)) await lockEndpoint(tx, id)
    if (!changing.has(id)) continue
    const [updated] = await recordSuccess(tx).execute({ id, now, updatedBefore })
    if (updated && (updated.consecutiveFailures > 0 || updated.breakerUntil !== null)) await closeBreaker(tx, updated)
  }
}

const isOutdated = () =>
  or(
    gt(webhookEndpoints.failedAttempts, 0),
    gt(webhookEndpoints.consecutiveGone, 0),
    gt(webhookEndpoints.consecutiveFailures, 0),
    isNotNull(webhookEndpoints.breakerUntil),
    isNull(webhookEndpoints.lastSuccessAt),
    lt(webhookEndpoints.lastSuccessAt, sql.placeholder('updatedBefore')),
  )

const recordSuccess = (tx: Tx) =>
  prepared<Pick<Endpoint, 'id' | 'workspaceId' | 'consecutiveFailures' | 'breakerUntil'>[], Tx>(
    tx,
    'webhook-endpoint-success',
    handle =>
      handle
        .update(webhookEndpoints)
        .set({
          failedAttempts: 0,
          consecutiveGone: 0,
          failingSince: null,
          lastFailedAt: null,
          failingNoticeHours: null,
          lastSuccessAt: sql`${sql.placeholder('now')}`,
        })
        .where(and(eq(webhookEndpoints.id, sql.placeholder('id')), isOutdated()))
        .returning({
          id: webhookEndpoints.id,
          workspaceId: webhookEndpoints.workspaceId,
          consecutiveFailures: webhookEndpoints.consecutiveFailures,
          breakerUntil: webhookEndpoints.breakerUntil,
        }),
  )

/**
 * Disables an endpoint that responded with 410 twice in a row, which means it no longer wants messages (Standard Webhooks 1.0.0),
 * or that has been failing for days. Returns the endpoint and what to record.
 */
export async function disableIfFailing(tx: Tx, hub: Hub, endpoint: Endpoint | null): Promise<DisableResult> {
  const reason = endpoint && disableReasonFor(endpoint, hub.clock.now())
  if (!endpoint || !reason) return { endpoint, audits: [], events: [], notices: [] }
  return await disable(tx, hub, endpoint, reason, deliverKind)
}
