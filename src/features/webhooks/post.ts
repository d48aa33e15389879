import { instant } from '../../core/clock'
import type { Hub } from '../../core/hub'
import { networkPolicy } from '../../core/net/egress'
import { FetchFailed } from '../../core/net/fetch-failure'
import type { FetchTimings } from '../../core/net/fetch-timings'
import { guardedFetch } from '../../core/net/guarded-fetch'
import { egressOf } from '../../core/net/hub-egress'
import { version } from '../../core/version'
import type { Delivery } from './delivery-jobs'
import { openHeaders, withoutValues, type CustomHeaders, type HeadersRow } from './custom-headers'
import { liveSecrets, type SecretRow } from './live-secrets'
import { signatures, type SignatureHeaders } from './sign'
import type { AttemptTrigger, webhookAttempts, webhookEndpoints } from './tables'

/** The longest that an endpoint may let one try take, with every byte of the answer it reads. */
export const longestTryMs = 30_000

const limits = { bodyBytes: 64 * 1024, keepBytes: 16 * 1024, overflow: 'drop' } as const

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
 * Posts a message once. A receiver takes it by answering with a status from 200 to 299 and its body, or the first 64 KiB of
 * it, in time; a redirect is not followed and does not count.
 * @throws NotOpened when the secret does not open
 */
export async function post(hub: Hub, { delivery, endpoint, body, trigger, policy }: Try): Promise<Tried> {
  const startedAt = hub.clock.now()
  const custom = await openHeaders(hub, endpoint)
  const live = await liveSecrets(hub, endpoint, startedAt)
  const timestampSeconds = Math.floor(startedAt / 1_000)
  const bytes = new TextEncoder().encode(body)
  const number = delivery.attemptCount + 1
  const described = describe(delivery, number, timestampSeconds)
  const signed = signatures({ ...live, id: delivery.messageId, timestampSeconds, body: bytes })
  const request = { url: endpoint.url, headers: { ...described, ...hidden(custom), ...redacted(signed) } }
  const totalMs = endpoint.timeoutSeconds * 1_000
  const tried = { number, trigger, startedAt, request }
  try {
    const answer = await guardedFetch(
      { url: endpoint.url, method: 'POST', headers: { ...custom, ...described, ...signed }, body: bytes },
      {
        egress: egressOf(hub),
        policy: networkPolicy(policy, { carriesSecret: true }),
        limits: { ...limits, totalMs, connectMs: Math.min(5_000, totalMs) },
      },
    )
    const taken = answer.status >= 200 && answer.status <= 299
    const response = {
      headers: Object.fromEntries([...answer.headers].map(([name, value]) => [name, withoutValues(value, custom)])),
      body: withoutValues(readable(answer.body), custom),
      body_truncated: answer.bodyTruncated,
    }
    return {
      row: {
        ...tried,
        ...spent(answer.timings),
        statusCode: answer.status,
        response,
        errorClass: taken ? null : 'http_status',
        errorMessage: taken ? null : `The server answered with status ${answer.status}.`,
      },
      reason: taken ? null : `http_${answer.status}`,
      gone: answer.status === 410,
      retryAfter: answer.headers.get('retry-after'),
    }
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    return {
      row: {
        ...tried,
        ...spent(error.timings),
        statusCode: null,
        response: null,
        errorClass: error.errorClass,
        errorMessage: error.message,
      },
      reason: error.errorClass,
      gone: false,
      retryAfter: null,
    }
  }
}

/** All that is said of a message outside its body. `X-Service-Resource` is `<type>/<id>`, such as `heartbeat/hb_…`. */
function describe(delivery: Delivery, number: number, timestampSeconds: number): Record<string, string> {
  const { resourceType, resourceId, sequence } = delivery
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'User-Agent': `Bailiwick-Webhooks/${version}`,
    'X-Service-Event': delivery.event,
    'X-Service-Timestamp': String(timestampSeconds),
    'X-Service-Delivery': delivery.id,
    'X-Service-Attempt': String(number),
    'X-Service-Workspace': delivery.workspaceId,
    ...(resourceType !== null && resourceId !== null && { 'X-Service-Resource': `${resourceType}/${resourceId}` }),
    ...(sequence !== null && { 'X-Service-Sequence': String(sequence) }),
    'X-Service-Occurred-At': instant(delivery.occurredAt),
    ...(delivery.eventId === null && { 'X-Service-Test': '1' }),
    'webhook-id': delivery.messageId,
    'webhook-timestamp': String(timestampSeconds),
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
