import { and, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { closeBreaker } from './breaker'
import { deliverKind } from './delivery-jobs'
import { disable, disableReasonFor, type DisableResult } from '../endpoints/disable'
import { webhookEndpoints } from '../endpoints/tables'

type Endpoint = typeof webhookEndpoints.$inferSelect
type Outcome = { ok: true } | { ok: false; gone: boolean; manual: boolean }

const successUpdateMs = 60_000

/**
 * Counts the successes and failures of an endpoint. After a failure, returns the endpoint, locked until the transaction ends;
 * null if it was deleted. Failed resends don't count, so that troubleshooting can't get the endpoint disabled.
 */
export async function recordOutcome(tx: Tx, endpointId: string, outcome: Outcome, now: number): Promise<Endpoint | null> {
  if (outcome.ok) {
    const [updated] = await recordSuccess(tx).execute({ id: endpointId, now, updatedBefore: now - successUpdateMs })
    if (updated && (updated.consecutiveFailures > 0 || updated.breakerUntil !== null)) await closeBreaker(tx, updated)
    return null
  }
  const { gone, manual } = outcome
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

// Most successes follow another success and don't change the row.
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
        .where(
          and(
            eq(webhookEndpoints.id, sql.placeholder('id')),
            or(
              gt(webhookEndpoints.failedAttempts, 0),
              gt(webhookEndpoints.consecutiveGone, 0),
              gt(webhookEndpoints.consecutiveFailures, 0),
              isNotNull(webhookEndpoints.breakerUntil),
              isNull(webhookEndpoints.lastSuccessAt),
              lt(webhookEndpoints.lastSuccessAt, sql.placeholder('updatedBefore')),
            ),
          ),
        )
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
