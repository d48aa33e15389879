import { newId } from '../../core/ids'
import type { Delivery } from './delivery-jobs'
import type { AttemptTrigger, webhookAttempts } from './tables'

/** What is known of a try that its process did not live to end, for the log of attempts. */
export const lostTry = (delivery: Delivery, url: string, trigger: AttemptTrigger) =>
  ({
    id: newId('att'),
    deliveryId: delivery.id,
    number: delivery.attemptCount + 1,
    trigger,
    // When it was marked as in flight.
    startedAt: delivery.updatedAt,
    durationMs: 0,
    statusCode: null,
    errorClass: 'aborted',
    errorMessage: 'The try was cut off on the side of the hub: the message may have arrived. It was tried again.',
    request: { url, headers: {} },
    response: null,
    timings: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: null },
  }) satisfies typeof webhookAttempts.$inferInsert
