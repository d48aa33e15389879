import type { Table } from 'drizzle-orm'
import type { Hub } from '../hub'
import { networkPolicy } from '../net/egress'
import { FetchFailed } from '../net/fetch-failure'
import { guardedFetch } from '../net/guarded-fetch'
import { egressOf } from '../net/hub-egress'
import { captured, redactSignatures, redactValues, roundedTimings, type CapturedResponse } from './response-capture'
import { describeMessage, type Message } from './message-headers'
import { signatures } from './sign'
import { liveSecrets, type SecretRow } from './signing-secrets'

/** Maximum duration of an attempt, including reading the response. */
export const maxAttemptMs = 30_000

const limits = { maxBodyBytes: 64 * 1024, maxReturnedBytes: 16 * 1024, overflow: 'drop' } as const

/** A message to post. */
interface SignedMessage {
  url: string
  message: Message
  body: string
  /** Custom headers. The headers of the message take precedence. Their values are secrets. */
  headers?: Record<string, string>
  /** Where the signing secrets are stored. */
  table: Table
  row: SecretRow
  /** When the attempt starts (ms UTC). */
  startedAt: number
  timeoutSeconds: number
  /** The workspace's stored network policy. */
  policy: { allow_private: boolean; allow_ranges: readonly string[] }
}

/** The result of a post, without secrets and signatures. */
export interface Posted {
  /** Null if the message was delivered, otherwise `http_<status>` or the error class. */
  reason: string | null
  requestHeaders: Record<string, string>
  durationMs: number
  timings: Record<string, number | null>
  statusCode: number | null
  /** Null if there was no response. */
  response: CapturedResponse | null
  /** `Retry-After` header of the response, if any. */
  retryAfter: string | null
  errorClass: string | null
  errorMessage: string | null
}

/**
 * Signs a message and posts it, guarded against private addresses. The message is delivered if the receiver responds with a
 * status from 200 to 299 and the body, or its first 64 KiB, arrives before the timeout. Redirects are not followed and count as
 * failures.
 * @throws DecryptionFailed if the signing secret can't be decrypted
 */
export async function postSigned(hub: Hub, post: SignedMessage): Promise<Posted> {
  const { url, message, headers: custom = {}, table, row, startedAt, timeoutSeconds, policy } = post
  const timestampSeconds = Math.floor(startedAt / 1_000)
  const body = new TextEncoder().encode(post.body)
  const headers = describeMessage(message, timestampSeconds)
  const signed = signatures({ ...(await liveSecrets(hub, table, row, startedAt)), id: message.id, timestampSeconds, body })
  const redactedValues = Object.fromEntries(Object.keys(custom).map(name => [name, '[redacted]']))
  const requestHeaders = { ...headers, ...redactedValues, ...redactSignatures(signed) }
  const totalMs = timeoutSeconds * 1_000
  try {
    const response = await guardedFetch(
      { url, method: 'POST', headers: { ...custom, ...headers, ...signed }, body },
      {
        egress: egressOf(hub),
        policy: networkPolicy(policy, { carriesSecret: true }),
        limits: { ...limits, totalMs, connectMs: Math.min(5_000, totalMs) },
      },
    )
    const { status, timings } = response
    const delivered = status >= 200 && status <= 299
    return {
      reason: delivered ? null : `http_${status}`,
      requestHeaders,
      ...roundedTimings(timings),
      statusCode: status,
      response: captured(response, text => redactValues(text, custom)),
      retryAfter: response.headers.get('retry-after'),
      errorClass: delivered ? null : 'http_status',
      errorMessage: delivered ? null : `The server responded with status ${status}.`,
    }
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    const { timings, errorClass, message: errorMessage } = error
    const nothing = { statusCode: null, response: null, retryAfter: null }
    return { reason: errorClass, requestHeaders, ...roundedTimings(timings), ...nothing, errorClass, errorMessage }
  }
}
