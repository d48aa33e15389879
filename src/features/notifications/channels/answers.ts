import type { GuardedResponse } from '../../../core/net/guarded-fetch'
import { retryAfterMs } from '../../../core/net/retry-after'
import { toldLine } from '../../../core/told-line'
import { ChannelError, type ChannelFailure } from './channel'

// Waits beyond this are not believed: a channel must not be silenced for good by one answer.
const longestWaitMs = 3_600_000
const longestSaid = 200

/** The body of an answer as one line for people. */
export const saidIn = (answer: GuardedResponse): string => toldLine(new TextDecoder().decode(answer.body), longestSaid)

/** The body of an answer as JSON; an empty object where it is none. */
export function jsonIn(answer: GuardedResponse): Record<string, any> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(answer.body))
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/**
 * Passes an answer that took the message (2xx) and makes an error of any other.
 * @param gone statuses by which the other side says that the address or the token is no longer good
 * @param told what it said, where that is not simply the body; `retryAfterMs` where it is not in the header
 * @returns what the other side said
 * @throws ChannelError
 */
export function judged(
  answer: GuardedResponse,
  nowMs: number,
  gone: readonly number[],
  told: { said?: string; retryAfterMs?: number | null } = {},
): string {
  const said = told.said ?? saidIn(answer)
  if (answer.status >= 200 && answer.status <= 299) return said === '' ? `Status ${answer.status}` : said
  const failure: ChannelFailure = gone.includes(answer.status) ? 'gone' : isPassing(answer.status) ? 'passing' : 'refused'
  const header = answer.headers.get('retry-after')
  const wait = told.retryAfterMs ?? (header === null ? null : retryAfterMs(header, nowMs))
  throw new ChannelError(
    failure,
    `It answered with status ${answer.status}${said === '' ? '.' : `: ${said}`}`,
    wait === null ? null : Math.min(wait, longestWaitMs),
  )
}

/** Timeouts, early and too many requests (RFC 9110 15.5.9, RFC 8470 5.2, RFC 6585 4) and faults of the server. */
const isPassing = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500
