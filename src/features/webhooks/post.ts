import { instant } from '../../core/clock'
import type { Hub } from '../../core/hub'
import type { FetchTimings } from '../../core/net/fetch-timings'
import type { Delivery } from './delivery-jobs'
import { openHeaders, withoutValues, type CustomHeaders, type HeadersRow } from './custom-headers'
import { liveSecrets, type SecretRow } from './live-secrets'
import { describeMessage, type Message } from './message-headers'
import type { SignatureHeaders } from './sign'
import { postSigned } from './signed-post'
import type { AttemptTrigger, webhookAttempts, webhookEndpoints } from './tables'

/** One try of one delivery. */
export interface Try {
  delivery: Delivery
  endpoint: SecretRow & HeadersRow & Pick<typeof webhookEndpoints.$inferSelect, 'timeoutSeconds'>
  /** The message's body: the same bytes on every try. */
  body: string
  trigger: AttemptTrigger
  /** The workspace's stored network policy. */
  policy: { allow_private: boolean; allow_ranges: readonly string[] }
}

/** What came of a try. */
export interface Tried {
  /** For the log of attempts. */
  row: Omit<typeof webhookAttempts.$inferInsert, 'id' | 'deliveryId'>
  /** Null when the receiver took the message, else `http_<status>` or the class of the error. */
  reason: string | null
  /** The receiver asked to be sent nothing any more (HTTP 410). */
  gone: boolean
  /** The receiver's Retry-After, if it sent one. */
  retryAfter: string | null
}

/**
 * Posts a message once, as `postSigned` does.
 * @throws NotOpened when the secret does not open
 */
export async function post(hub: Hub, { delivery, endpoint, body, trigger, policy }: Try): Promise<Tried> {
  const startedAt = hub.clock.now()
  const custom = await openHeaders(hub, endpoint)
  const live = await liveSecrets(hub, endpoint, startedAt)
  const timestampSeconds = Math.floor(startedAt / 1_000)
  const number = delivery.attemptCount + 1
  const described = describeMessage(messageOf(delivery, number), timestampSeconds)
  const { signed, timings, answer, errorClass, errorMessage, reason } = await postSigned(hub, {
    url: endpoint.url,
    body: new TextEncoder().encode(body),
    headers: { ...custom, ...described },
    ...live,
    id: delivery.messageId,
    timestampSeconds,
    timeoutSeconds: endpoint.timeoutSeconds,
    policy,
  })
  return {
    row: {
      number,
      trigger,
      startedAt,
      request: { url: endpoint.url, headers: { ...described, ...hidden(custom), ...redacted(signed) } },
      ...spent(timings),
      statusCode: answer?.status ?? null,
      response: answer && {
        headers: Object.fromEntries([...answer.headers].map(([name, value]) => [name, withoutValues(value, custom)])),
        body: withoutValues(readable(answer.body), custom),
        body_truncated: answer.bodyTruncated,
      },
      errorClass,
      errorMessage,
    },
    reason,
    gone: answer?.status === 410,
    retryAfter: answer?.headers.get('retry-after') ?? null,
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

/** The signature headers as the log shows them: what kind they were, not what they said. */
function redacted(signed: SignatureHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(signed).map(([name, value]: [string, string]) => [name, value.replaceAll(/([=,])[^ ]+/g, '$1[redacted]')]),
  )
}

const hidden = (custom: CustomHeaders): Record<string, string> =>
  Object.fromEntries(Object.keys(custom).map(name => [name, '[redacted]']))

function spent(timings: FetchTimings): { durationMs: number; timings: Record<string, number | null> } {
  const tenths = (ms: number | null) => (ms === null ? null : Math.round(ms * 10) / 10)
  return {
    durationMs: Math.round(timings.total_ms),
    timings: Object.fromEntries(Object.entries(timings).map(([phase, ms]) => [phase, tenths(ms)])),
  }
}

/** Whatever a receiver sends, as text that both databases store: PostgreSQL refuses NUL. */
function readable(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll('\0', '')
}
