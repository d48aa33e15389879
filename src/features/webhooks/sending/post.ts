import type { StoredPolicy } from '../../../access/network-policy'
import { instant } from '../../../core/clock'
import type { Hub } from '../../../core/hub'
import type { Message } from '../../../core/outgoing/message-headers'
import { postSigned } from '../../../core/outgoing/signed-post'
import type { SecretRow } from '../../../core/outgoing/signing-secrets'
import type { Delivery } from './delivery-jobs'
import { openHeaders, type HeadersRow } from '../endpoints/custom-headers'
import { webhookEndpoints } from '../endpoints/tables'
import { type AttemptTrigger, type webhookAttempts } from '../deliveries/tables'

/** One attempt of a delivery. */
interface Attempt {
  delivery: Delivery
  endpoint: SecretRow & HeadersRow & Pick<typeof webhookEndpoints.$inferSelect, 'timeoutSeconds'>
  /** The body of the message, the same for all attempts. */
  body: string
  trigger: AttemptTrigger
  /** The workspace's stored network policy. */
  policy: StoredPolicy
}

/** The result of an attempt. */
export interface AttemptResult {
  /** Row for the attempt log. */
  row: Omit<typeof webhookAttempts.$inferInsert, 'id' | 'deliveryId'>
  /** Null if the message was delivered, otherwise `http_<status>` or the error class. */
  reason: string | null
  /** The receiver no longer wants messages (HTTP 410). */
  gone: boolean
  /** Retry-After header of the response, if any. */
  retryAfter: string | null
}

/**
 * Posts a message once, as `postSigned` does.
 * @throws DecryptionFailed if the secret can't be decrypted
 */
export async function post(hub: Hub, { delivery, endpoint, body, trigger, policy }: Attempt): Promise<AttemptResult> {
  const startedAt = hub.clock.now()
  const number = delivery.attemptCount + 1
  const { reason, requestHeaders, retryAfter, ...outcome } = await postSigned(hub, {
    url: endpoint.url,
    message: messageOf(delivery, number),
    body,
    headers: await openHeaders(hub, endpoint),
    table: webhookEndpoints,
    row: endpoint,
    startedAt,
    timeoutSeconds: endpoint.timeoutSeconds,
    policy,
  })
  return {
    row: { number, trigger, startedAt, request: { url: endpoint.url, headers: requestHeaders }, ...outcome },
    reason,
    gone: outcome.statusCode === 410,
    retryAfter,
  }
}

function messageOf(delivery: Delivery, attempt: number): Message {
  const { resourceType, resourceId } = delivery
  return {
    id: delivery.messageId,
    event: delivery.event,
    deliveryId: delivery.id,
    attempt,
    workspaceId: delivery.workspaceId,
    resource: resourceType !== null && resourceId !== null ? { type: resourceType, id: resourceId } : null,
    sequence: delivery.sequence,
    occurredAt: instant(delivery.occurredAt),
    isTest: delivery.eventId === null,
  }
}
