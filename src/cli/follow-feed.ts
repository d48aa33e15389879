import { setTimeout as pause } from 'node:timers/promises'
import { FetchFailed } from '../core/net/fetch-failure'
import type { GuardedResponse } from '../core/net/guarded-fetch'
import { version } from '../core/version'
import type { EventView } from '../features/events/shapes'
import { fetchUnrestricted } from './unrestricted-fetch'
import { Failure } from './failure'

const waitSeconds = 30
const minRetryDelayMs = 1_000
const maxRetryDelayMs = 30_000

interface FeedOptions {
  hub: URL
  token: string
  /** Event kinds; empty for all that the token can read. */
  kinds: readonly string[]
  /** Start with events at or after this time (RFC 3339); null starts with new events. */
  since: string | null
  signal: AbortSignal
  /** Reports connection problems to the user. */
  report(text: string): void
}

/**
 * Yields pages of events until aborted. The first page may be empty and shows that the connection works. Retries with increasing
 * delays while the hub is unavailable, and then continues without missing events.
 * @throws Failure if the hub rejects the request
 */
export async function* followFeed({ hub, token, kinds, since, signal, report }: FeedOptions): AsyncGenerator<EventView[]> {
  let after = since === null ? 'latest' : 'oldest'
  let retryDelayMs = minRetryDelayMs
  let isUnavailable = false
  while (!signal.aborted) {
    const url = new URL('/v1/events', hub)
    url.searchParams.set('after', after)
    url.searchParams.set('limit', '100')
    if (kinds.length > 0) url.searchParams.set('kind', kinds.join(','))
    if (since !== null) url.searchParams.set('occurred_at[gte]', since)
    const hasCursor = after !== 'latest' && after !== 'oldest'
    const response = await request(url, token, hasCursor, signal)
    if (signal.aborted) return
    if (typeof response === 'string' || response.status === 429 || response.status >= 500) {
      const reason = typeof response === 'string' ? response : `status ${response.status}`
      const retryAfterMs = typeof response === 'string' ? 0 : Number(response.headers.get('retry-after') ?? 0) * 1_000
      const ms = Math.min(Math.max(retryDelayMs, retryAfterMs || 0), maxRetryDelayMs)
      report(`The hub is unavailable (${reason}). Retrying in ${Math.round(ms / 1_000)} s.`)
      isUnavailable = true
      retryDelayMs = Math.min(retryDelayMs * 2, maxRetryDelayMs)
      await pause(ms, undefined, { signal }).catch(() => {})
      continue
    }
    const body = bodyOf(hub, response)
    if (response.status === 410) {
      report('Some events expired before they could be forwarded. Continuing with the oldest available event.')
      after = 'oldest'
      continue
    }
    if (response.status !== 200)
      throw new Failure(`The hub rejected the request (${response.status}): ${body.detail ?? 'no details given'}`)
    if (isUnavailable) report('The hub is available again.')
    isUnavailable = false
    retryDelayMs = minRetryDelayMs
    yield body.data!
    after = body.pagination!.next_cursor
  }
}

/** Returns the response of the hub, or the reason why there is none. */
async function request(url: URL, token: string, mayWait: boolean, signal: AbortSignal): Promise<GuardedResponse | string> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'user-agent': `bailiwick-listen/${version}`,
    ...(mayWait && { prefer: `wait=${waitSeconds}` }),
  }
  const limits = { totalMs: (waitSeconds + 15) * 1_000, maxBodyBytes: 128 * 1024 * 1024, overflow: 'fail' } as const
  try {
    return await fetchUnrestricted({ url: url.href, headers, signal }, limits)
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    return error.message.replace(/\.$/, '')
  }
}

type Body = { data?: EventView[]; pagination?: { next_cursor: string }; detail?: string }

function bodyOf(hub: URL, response: GuardedResponse): Body {
  try {
    const body = JSON.parse(new TextDecoder().decode(response.body)) as Body
    if (response.status !== 200 || (Array.isArray(body.data) && typeof body.pagination?.next_cursor === 'string')) return body
  } catch {
    // Not a response of the API.
  }
  throw new Failure(`${hub.origin} is not a compatible Bailiwick hub (status ${response.status}).`)
}
