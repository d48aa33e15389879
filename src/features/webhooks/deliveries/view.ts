import { instant } from '../../../core/clock'
import { editableView } from '../../../core/members'
import type { Delivery } from '../sending/delivery-jobs'
import type { WebhookAttemptView, WebhookDeliveryView } from './shapes'
import type { webhookAttempts } from './tables'

export function deliveryView(row: Delivery): WebhookDeliveryView {
  return {
    id: row.id,
    message_id: row.messageId,
    event_id: row.eventId,
    endpoint_id: row.endpointId,
    event: row.event,
    test: row.eventId === null,
    resource: resourceOf(row),
    sequence: row.sequence,
    occurred_at: instant(row.occurredAt),
    status: row.status,
    reason: row.reason,
    attempt_count: row.attemptCount,
    last_status_code: row.lastStatusCode,
    last_error_class: row.lastErrorClass,
    next_attempt_at: instant(row.nextAttemptAt),
    finished_at: instant(row.finishedAt),
    expunged_at: instant(row.expungedAt),
    ...editableView(row),
  }
}

/** @param body the body of the delivery, the same for all attempts; null if it may not be shown */
export function attemptView(row: typeof webhookAttempts.$inferSelect, body: string | null): WebhookAttemptView {
  return {
    id: row.id,
    number: row.number,
    trigger: row.trigger,
    started_at: instant(row.startedAt),
    duration_ms: row.durationMs,
    status_code: row.statusCode,
    error_class: row.errorClass,
    error_message: row.errorMessage,
    request: { ...row.request, body },
    response: row.response,
    timings: row.timings as WebhookAttemptView['timings'],
  }
}

function resourceOf({ resourceType: type, resourceId: id }: Delivery): WebhookDeliveryView['resource'] {
  return type === null || id === null ? null : { type, id }
}
