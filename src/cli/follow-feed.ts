import { setTimeout as pause } from 'node:timers/promises'
import { FetchFailed } from '../core/net/fetch-failure'
import type { GuardedResponse } from '../core/net/guarded-fetch'
import { version } from '../core/version'
import type { EventView } from '../features/events/shapes'
import { callAnywhere } from './call-anywhere'
import { Failure } from './failure'

const waitSeconds = 30
const shortestPauseMs = 1_000
const longestPauseMs = 30_000

/** Which feed is followed, and from where. */
export interface Following {
  hub: URL
  token: string
  /** Only these kinds; all that the token may read when empty. */
  kinds: readonly string[]
  /** Begin with what happened at or after this time (RFC 3339); null begins with what happens from now on. */
  since: string | null
  /** Ends it. */
  signal: AbortSignal
  /** Told what a person would want to know: that the hub is away, or that it is back. */
  tell(text: string): void
}

/**
 * The events of a hub, page by page, for ever; the first page comes once the place in the feed is known and may be empty. While
 * the hub is away it is tried again, later each time, and nothing is missed.
 * @throws Failure when the hub refuses what is asked
 */
export async function* followFeed({ hub, token, kinds, since, signal, tell }: Following): AsyncGenerator<EventView[]> {
  let after = since === null ? 'latest' : 'oldest'
  let pauseMs = shortestPauseMs
  let away = false
  while (!signal.aborted) {
    const url = new URL('/v1/events', hub)
    url.searchParams.set('after', after)
    url.searchParams.set('limit', '100')
    if (kinds.length > 0) url.searchParams.set('kind', kinds.join(','))
    if (since !== null) url.searchParams.set('occurred_at[gte]', since)
    const settled = after !== 'latest' && after !== 'oldest'
    const asked = await ask(url, token, settled, signal)
    if (signal.aborted) return
    if (typeof asked === 'string' || asked.status === 429 || asked.status >= 500) {
      const why = typeof asked === 'string' ? asked : `it answers with status ${asked.status}`
      const wishedMs = typeof asked === 'string' ? 0 : Number(asked.headers.get('retry-after') ?? 0) * 1_000
      const ms = Math.min(Math.max(pauseMs, wishedMs || 0), longestPauseMs)
      tell(`The hub is away (${why}). Trying again in ${Math.round(ms / 1_000)} s.`)
      away = true
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      await pause(ms, undefined, { signal }).catch(() => {})
      continue
    }
    const body = bodyOf(hub, asked)
    if (asked.status === 410) {
      tell('Events were deleted before they could be sent: the hub keeps them for a while only. Going on with the oldest.')
      after = 'oldest'
      continue
    }
    if (asked.status !== 200) throw new Failure(`The hub refuses (${asked.status}): ${body.detail ?? 'it does not say why'}`)
    if (away) tell('The hub is back.')
    away = false
    pauseMs = shortestPauseMs
    yield body.data!
    after = body.pagination!.next_cursor
  }
}

/** The hub's answer, or why there is none. */
async function ask(url: URL, token: string, mayWait: boolean, signal: AbortSignal): Promise<GuardedResponse | string> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'user-agent': `bailiwick-listen/${version}`,
    ...(mayWait && { prefer: `wait=${waitSeconds}` }),
  }
  const limits = { totalMs: (waitSeconds + 15) * 1_000, bodyBytes: 128 * 1024 * 1024, overflow: 'fail' } as const
  try {
    return await callAnywhere({ url: url.href, headers, signal }, limits)
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    return error.message.replace(/\.$/, '')
  }
}

type Body = { data?: EventView[]; pagination?: { next_cursor: string }; detail?: string }

function bodyOf(hub: URL, answer: GuardedResponse): Body {
  try {
    const body = JSON.parse(new TextDecoder().decode(answer.body)) as Body
    if (answer.status !== 200 || (Array.isArray(body.data) && typeof body.pagination?.next_cursor === 'string')) return body
  } catch {
    // Whatever it is, it is no answer of the API.
  }
  throw new Failure(`What answers at ${hub.origin} is no hub of this version (status ${answer.status}).`)
}
