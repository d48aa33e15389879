import { jobContext, systemActor } from '../../../core/change'
import type { AuditDraft, EventDraft } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import { saveRow } from '../../../core/rows'
import { closeBreaker } from '../sending/breaker'
import { lastSuccess } from '../sending/delivery-rows'
import { endpointRows, endpointTarget, endpointView } from './view'
import { holdPending } from '../sending/holds'
import type { webhookEndpoints } from './tables'

type Endpoint = typeof webhookEndpoints.$inferSelect

/** Why an endpoint was disabled automatically. */
type DisabledReason = 'gone' | 'failing' | 'plan_limit'

/** An endpoint, and what to record if it was disabled. */
export interface DisableResult {
  endpoint: Endpoint | null
  audits: AuditDraft[]
  events: EventDraft[]
  notices: NoticeDraft[]
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// A single 410 may be a mistake during a deployment.
const maxConsecutiveGone = 2
// All three must be met: no success for days, and enough failures over a long enough time to rule out a short outage.
const minFailedAttempts = 10
const minFailingMs = 24 * hourMs
const maxWithoutSuccessMs = 5 * dayMs

/** Why an endpoint must be disabled because of its failures; null if it can stay enabled. */
export function disableReasonFor(endpoint: Endpoint, now: number): 'gone' | 'failing' | null {
  if (endpoint.status === 'disabled') return null
  if (endpoint.consecutiveGone >= maxConsecutiveGone) return 'gone'
  const { failedAttempts, failingSince, lastFailedAt } = endpoint
  if (!endpoint.active || failingSince === null || lastFailedAt === null) return null
  const disableAt = Math.max(endpoint.lastSuccessAt ?? 0, endpoint.reenabledAt ?? endpoint.createdAt) + maxWithoutSuccessMs
  return failedAttempts >= minFailedAttempts && lastFailedAt - failingSince >= minFailingMs && now >= disableAt ? 'failing' : null
}

/**
 * Disables an endpoint that the caller has locked, and holds its pending deliveries.
 * @param actor the job or scheduled task that disables it
 */
export async function disable(
  tx: Tx,
  hub: Hub,
  endpoint: Endpoint,
  reason: DisabledReason,
  actor: string,
): Promise<DisableResult> {
  const now = hub.clock.now()
  const after = await saveRow(tx, { hub }, endpointRows, endpoint, { status: 'disabled', disabledReason: reason })
  await closeBreaker(tx, endpoint)
  await holdPending(tx, endpoint, 'endpoint_disabled', now)
  const { id, workspaceId, url, description, failedAttempts } = after
  const lastSuccessAt = instant((await lastSuccess(tx, endpoint.id)) ?? endpoint.lastSuccessAt)
  return {
    endpoint: after,
    audits: [
      {
        workspaceId,
        action: 'webhooks.endpoint.disable',
        actor: systemActor(actor),
        context: jobContext,
        targets: [endpointTarget(after)],
        before: endpointView(endpoint, now),
        after: endpointView(after, now),
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
        resource: endpointTarget(after),
        text: `${shortUrl(url)} was disabled. ${reasons[reason]} New deliveries are held. ${remedies[reason]}`,
        details: { reason, failed_attempts: failedAttempts, last_success_at: lastSuccessAt, disabled_at: instant(now) },
        dedupKey: id,
      },
    ],
  }
}

const reasons: Record<DisabledReason, string> = {
  gone: 'It responded with 410 Gone twice in a row.',
  failing: 'No delivery has succeeded for 5 days.',
  plan_limit: 'The plan allows fewer webhook endpoints.',
}
const reenable = 'Once it works, enable it again; the held deliveries are then sent.'
const remedies: Record<DisabledReason, string> = {
  gone: reenable,
  failing: reenable,
  plan_limit: 'It is enabled again automatically when the plan allows it or another endpoint is deleted.',
}

/** Truncates a long URL for use in a sentence. */
export const shortUrl = (url: string): string => (url.length > 200 ? `${url.slice(0, 199)}…` : url)
