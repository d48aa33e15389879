import { and, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { prepared } from '../../core/db/prepared'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { closeBreaker } from './breaker'
import { deliverKind } from './delivery-jobs'
import { disable, verdict, type Judged } from './disabling'
import { webhookEndpoints } from './tables'

type Endpoint = typeof webhookEndpoints.$inferSelect
type Outcome = { ok: true } | { ok: false; gone: boolean; manual: boolean }

const successNotedMs = 60_000

/**
 * Keeps count of how an endpoint does. After a failure the endpoint comes back as it stands, and stays so until the
 * transaction ends; null when it was deleted. A resend that fails is not counted: whoever looks for the fault must not make
 * it worse.
 */
export async function noteOutcome(tx: Tx, endpointId: string, outcome: Outcome, now: number): Promise<Endpoint | null> {
  if (outcome.ok) {
    const [noted] = await noteSuccess(tx).execute({ id: endpointId, now, notedBefore: now - successNotedMs })
    if (noted && (noted.refusedInARow > 0 || noted.breakerUntil !== null)) await closeBreaker(tx, noted)
    return null
  }
  const { gone, manual } = outcome
  const [row] = await tx
    .update(webhookEndpoints)
    .set({
      failedAttempts: sql`${webhookEndpoints.failedAttempts} + ${manual ? 0 : 1}`,
      ...(!manual && {
        goneInARow: gone ? sql`${webhookEndpoints.goneInARow} + 1` : 0,
        failingSince: sql`coalesce(${webhookEndpoints.failingSince}, ${now})`,
        lastFailedAt: now,
      }),
    })
    .where(eq(webhookEndpoints.id, endpointId))
    .returning()
  return row ?? null
}

// Most tries succeed after others that did; they write nothing.
const noteSuccess = (tx: Tx) =>
  prepared<Pick<Endpoint, 'id' | 'workspaceId' | 'refusedInARow' | 'breakerUntil'>[], Tx>(tx, 'webhook-endpoint-well', handle =>
    handle
      .update(webhookEndpoints)
      .set({
        failedAttempts: 0,
        goneInARow: 0,
        failingSince: null,
        lastFailedAt: null,
        failingToldHours: null,
        lastSuccessAt: sql`${sql.placeholder('now')}`,
      })
      .where(
        and(
          eq(webhookEndpoints.id, sql.placeholder('id')),
          or(
            gt(webhookEndpoints.failedAttempts, 0),
            gt(webhookEndpoints.goneInARow, 0),
            gt(webhookEndpoints.refusedInARow, 0),
            isNotNull(webhookEndpoints.breakerUntil),
            isNull(webhookEndpoints.lastSuccessAt),
            lt(webhookEndpoints.lastSuccessAt, sql.placeholder('notedBefore')),
          ),
        ),
      )
      .returning({
        id: webhookEndpoints.id,
        workspaceId: webhookEndpoints.workspaceId,
        refusedInARow: webhookEndpoints.refusedInARow,
        breakerUntil: webhookEndpoints.breakerUntil,
      }),
  )

/**
 * Disables an endpoint that answered 410 twice in a row, by which a receiver says that it wants no more (Standard Webhooks
 * 1.0.0), and one that has failed for days. Returns it as it then stands, and what is to be told of it.
 */
export async function disableWhenDue(tx: Tx, hub: Hub, endpoint: Endpoint | null): Promise<Judged> {
  const reason = endpoint && verdict(endpoint, hub.clock.now())
  if (!endpoint || !reason) return { endpoint, audits: [], events: [], notices: [] }
  return await disable(tx, hub, endpoint, reason, deliverKind)
}
