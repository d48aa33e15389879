import type { Hub } from '../../core/hub'
import { networkPolicy } from '../../core/net/egress'
import { FetchFailed } from '../../core/net/fetch-failure'
import type { FetchTimings } from '../../core/net/fetch-timings'
import { guardedFetch, type GuardedResponse } from '../../core/net/guarded-fetch'
import { egressOf } from '../../core/net/hub-egress'
import { signatures, type SignatureHeaders } from './sign'

/** The longest that one try may take, with every byte of the answer it reads. */
export const longestTryMs = 30_000

const limits = { bodyBytes: 64 * 1024, keepBytes: 16 * 1024, overflow: 'drop' } as const

/** A message to post once. */
export interface SignedMessage {
  url: string
  /** What is signed and sent. */
  body: Uint8Array<ArrayBuffer>
  /** Beside those of the signatures, which win. */
  headers: Record<string, string>
  /** The value of `webhook-id`. */
  id: string
  /** Unix seconds of this try. */
  timestampSeconds: number
  /** What it is signed with; during a rotation the old secret and the next. */
  secret: string
  nextSecret: string | null
  timeoutSeconds: number
  /** The workspace's stored network policy. */
  policy: { allow_private: boolean; allow_ranges: readonly string[] }
}

/** What came of it. */
export interface Posted {
  signed: SignatureHeaders
  timings: FetchTimings
  /** Null where no answer came. */
  answer: GuardedResponse | null
  errorClass: string | null
  errorMessage: string | null
  /** Null when the receiver took the message, else `http_<status>` or the class of the error. */
  reason: string | null
}

/**
 * Signs a message and posts it, past the guard against private addresses. A receiver takes it by answering with a status from 200 to
 * 299 and its body, or the first 64 KiB of it, in time; a redirect is not followed and does not count.
 */
export async function postSigned(hub: Hub, message: SignedMessage): Promise<Posted> {
  const { url, body, headers, timeoutSeconds, policy } = message
  const signed = signatures(message)
  const totalMs = timeoutSeconds * 1_000
  try {
    const answer = await guardedFetch(
      { url, method: 'POST', headers: { ...headers, ...signed }, body },
      {
        egress: egressOf(hub),
        policy: networkPolicy(policy, { carriesSecret: true }),
        limits: { ...limits, totalMs, connectMs: Math.min(5_000, totalMs) },
      },
    )
    const taken = answer.status >= 200 && answer.status <= 299
    return {
      signed,
      timings: answer.timings,
      answer,
      errorClass: taken ? null : 'http_status',
      errorMessage: taken ? null : `The server answered with status ${answer.status}.`,
      reason: taken ? null : `http_${answer.status}`,
    }
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    const { timings, errorClass, message: errorMessage } = error
    return { signed, timings, answer: null, errorClass, errorMessage, reason: errorClass }
  }
}
