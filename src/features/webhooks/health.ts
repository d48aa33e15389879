import { and, eq, gt, isNotNull, or, sql } from 'drizzle-orm'
import { target } from '../../core/audit'
import { jobContext, systemActor, type AuditDraft, type EventDraft } from '../../core/change'
import { instant } from '../../core/clock'
import { prepared } from '../../core/db/prepared'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { closeBreaker } from './breaker'
import { deliverKind } from './delivery-jobs'
import { lastSuccess } from './delivery-rows'
import { endpointView } from './endpoint-view'
import { holdWaiting } from './standing'
import { webhookEndpoints } from './tables'

type Endpoint = typeof webhookEndpoints.$inferSelect
type Judged = { endpoint: Endpoint | null; audits: AuditDraft[]; events: EventDraft[] }
type Outcome = { ok: true } | { ok: false; gone: boolean; manual: boolean }

// Once may be a mistake of a deployment; the second time in a row the receiver means it.
const goneToDisable = 2

/**
 * Keeps count of how an endpoint does. After a failure the endpoint comes back as it stands, and stays so until the
 * transaction ends; null when it was deleted. A resend that fails is not counted: whoever looks for the fault must not make
 * it worse.
 */
export async function noteOutcome(tx: Tx, endpointId: string, outcome: Outcome): Promise<Endpoint | null> {
  if (outcome.ok) {
    const [recovered] = await setBack(tx).execute({ id: endpointId })
    if (recovered) await closeBreaker(tx, recovered)
    return null
  }
  const { gone, manual } = outcome
  const [row] = await tx
    .update(webhookEndpoints)
    .set({
      failedAttempts: sql`${webhookEndpoints.failedAttempts} + ${manual ? 0 : 1}`,
      ...(!manual && { goneInARow: gone ? sql`${webhookEndpoints.goneInARow} + 1` : 0 }),
    })
    .where(eq(webhookEndpoints.id, endpointId))
    .returning()
  return row ?? null
}

// Most tries succeed after others that did; they write nothing.
const setBack = (tx: Tx) =>
  prepared<Pick<Endpoint, 'id' | 'workspaceId'>[], Tx>(tx, 'webhook-endpoint-well', handle =>
    handle
      .update(webhookEndpoints)
      .set({ failedAttempts: 0, goneInARow: 0 })
      .where(
        and(
          eq(webhookEndpoints.id, sql.placeholder('id')),
          or(
            gt(webhookEndpoints.failedAttempts, 0),
            gt(webhookEndpoints.goneInARow, 0),
            gt(webhookEndpoints.refusedInARow, 0),
            isNotNull(webhookEndpoints.breakerUntil),
          ),
        ),
      )
      .returning({ id: webhookEndpoints.id, workspaceId: webhookEndpoints.workspaceId }),
  )

/**
 * Disables an endpoint that answered 410 twice in a row, by which a receiver says that it wants no more (Standard Webhooks
 * 1.0.0). Returns it as it then stands, and what is to be told of it.
 */
export async function disableWhenGone(tx: Tx, hub: Hub, endpoint: Endpoint | null): Promise<Judged> {
  const stays = !endpoint || endpoint.status === 'disabled' || endpoint.goneInARow < goneToDisable
  if (stays) return { endpoint, audits: [], events: [] }
  const now = hub.clock.now()
  const [after] = await tx
    .update(webhookEndpoints)
    .set({ status: 'disabled', disabledReason: 'gone', version: endpoint.version + 1, updatedAt: now })
    .where(eq(webhookEndpoints.id, endpoint.id))
    .returning()
  await holdWaiting(tx, endpoint, 'endpoint_disabled', now)
  const { id, workspaceId, url, description, failedAttempts } = after!
  return {
    endpoint: after!,
    audits: [
      {
        workspaceId,
        action: 'webhooks.endpoint.disable',
        actor: systemActor(deliverKind),
        context: jobContext,
        targets: [target('webhook_endpoint', { id, name: url })],
        before: endpointView(endpoint, now),
        after: endpointView(after!, now),
        reason: 'It answered 410 twice in a row.',
      },
    ],
    events: [
      {
        workspaceId,
        kind: 'webhook.endpoint_disabled',
        resource: { type: 'webhook_endpoint', id },
        data: {
          endpoint: { id, url, description },
          reason: 'gone',
          failed_attempts: failedAttempts,
          last_success_at: instant(await lastSuccess(tx, id)),
          disabled_at: instant(now),
        },
      },
    ],
  }
}
