import { eq } from 'drizzle-orm'
import { jobContext, systemActor, type AuditDraft, type EventDraft } from '../../core/change'
import { instant } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { NoticeDraft } from '../../core/notices'
import { closeBreaker } from './breaker'
import { lastSuccess } from './delivery-rows'
import { endpointTarget, endpointView } from './endpoint-view'
import { holdWaiting } from './standing'
import { webhookEndpoints } from './tables'

type Endpoint = typeof webhookEndpoints.$inferSelect

/** Why the service stopped sending to an endpoint. */
export type DisabledReason = 'gone' | 'failing' | 'plan_limit'

/** An endpoint as it stands after a look at it, and what is to be told of it. */
export interface Judged {
  endpoint: Endpoint | null
  audits: AuditDraft[]
  events: EventDraft[]
  notices: NoticeDraft[]
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// Once may be a mistake of a deployment; the second time in a row the receiver means it.
const goneToDisable = 2
// All three must hold (webhooks.md S3): long without a success, and failures enough that it is no single outage of an hour.
const failuresToDisable = 10
const failingSpanMs = 24 * hourMs
const withoutSuccessMs = 5 * dayMs

/** Why an endpoint that is in service has to leave it by the tries it had; null where it may stay. */
export function verdict(endpoint: Endpoint, now: number): 'gone' | 'failing' | null {
  if (endpoint.status === 'disabled') return null
  if (endpoint.goneInARow >= goneToDisable) return 'gone'
  const { failedAttempts, failingSince, lastFailedAt } = endpoint
  if (!endpoint.active || failingSince === null || lastFailedAt === null) return null
  const trustedUntil = Math.max(endpoint.lastSuccessAt ?? 0, endpoint.reopenedAt ?? endpoint.createdAt) + withoutSuccessMs
  return failedAttempts >= failuresToDisable && lastFailedAt - failingSince >= failingSpanMs && now >= trustedUntil
    ? 'failing'
    : null
}

/**
 * Takes an endpoint that the caller holds out of service, and holds what waits for it.
 * @param actor the job or the entry of the timetable that does it
 */
export async function disable(tx: Tx, hub: Hub, endpoint: Endpoint, reason: DisabledReason, actor: string): Promise<Judged> {
  const now = hub.clock.now()
  const [after] = await tx
    .update(webhookEndpoints)
    .set({ status: 'disabled', disabledReason: reason, version: endpoint.version + 1, updatedAt: now })
    .where(eq(webhookEndpoints.id, endpoint.id))
    .returning()
  await closeBreaker(tx, endpoint)
  await holdWaiting(tx, endpoint, 'endpoint_disabled', now)
  const { id, workspaceId, url, description, failedAttempts } = after!
  const lastSuccessAt = instant((await lastSuccess(tx, endpoint.id)) ?? endpoint.lastSuccessAt)
  return {
    endpoint: after!,
    audits: [
      {
        workspaceId,
        action: 'webhooks.endpoint.disable',
        actor: systemActor(actor),
        context: jobContext,
        targets: [endpointTarget(after!)],
        before: endpointView(endpoint, now),
        after: endpointView(after!, now),
        reason: reasons[reason],
      },
    ],
    events: [
      {
        workspaceId,
        kind: 'webhook.endpoint_disabled',
        resource: { type: 'webhook_endpoint', id },
        data: {
          endpoint: { id, url, description },
          reason,
          failed_attempts: failedAttempts,
          last_success_at: lastSuccessAt,
          disabled_at: instant(now),
        },
      },
    ],
    notices: [
      {
        workspaceId,
        kind: 'webhook_endpoint.disabled',
        resource: endpointTarget(after!),
        text: `${shortened(url)} was disabled. ${reasons[reason]} What happens from now on is held. ${remedies[reason]}`,
        details: { reason, failed_attempts: failedAttempts, last_success_at: lastSuccessAt, disabled_at: instant(now) },
        matter: id,
      },
    ],
  }
}

const reasons: Record<DisabledReason, string> = {
  gone: 'It answered 410 twice in a row.',
  failing: 'No delivery has succeeded for 5 days.',
  plan_limit: 'The plan allows fewer webhook endpoints.',
}
const again = 'Once it works, enable it again, and choose what of it is sent.'
const remedies: Record<DisabledReason, string> = {
  gone: again,
  failing: again,
  plan_limit: 'It is taken up again when the limit allows it or another endpoint is deleted.',
}

/** A URL in a sentence: long ones carry nothing for people in their tails. */
export const shortened = (url: string): string => (url.length > 200 ? `${url.slice(0, 199)}…` : url)
