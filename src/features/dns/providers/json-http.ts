import { FetchFailed } from '../../../core/net/fetch-failure'
import type { FetchLimits, GuardedRequest, GuardedResponse } from '../../../core/net/guarded-fetch'
import { retryAfterMs } from '../../../core/net/retry-after'
import type { FieldProblem } from '../../../core/problem'
import { ProviderError, type ProviderFailure, type Surroundings } from './provider'
import { toldLine } from '../../../core/told-line'

/** An answer of an HTTP API: `json` is undefined where the body is empty or no JSON. */
export interface JsonAnswer {
  status: number
  headers: Headers
  text: string
  json: unknown
}

/** No complete answer came. `sent` tells whether the request may have arrived, so that what it asked for may have happened. */
export class Unanswered extends ProviderError {
  constructor(
    failure: ProviderFailure,
    message: string,
    readonly sent: boolean,
  ) {
    super(failure, message)
  }
}

/**
 * Makes one request to an HTTP API. Every status is an answer.
 * @throws Unanswered `unreachable`, `timeout`, and `incomplete` for a body that ends too early or is longer than `limits` allow
 */
export async function askJson(around: Surroundings, request: GuardedRequest, limits: FetchLimits): Promise<JsonAnswer> {
  let answer: GuardedResponse
  try {
    answer = await around.request(request, { ...limits, overflow: 'fail' })
  } catch (error) {
    if (error instanceof FetchFailed) throw unanswered(error)
    throw error
  }
  const { status, headers } = answer
  const text = new TextDecoder().decode(answer.body)
  return { status, headers, text, json: parsed(text) }
}

/** The JSON of an answer that has to have some. @throws ProviderError `incomplete`, `invalid_answer` */
export function jsonOf({ text, json }: JsonAnswer): unknown {
  if (json !== undefined) return json
  if (/^\s*[[{]/.test(text)) throw new ProviderError('incomplete', 'The answer ends before its JSON does.')
  throw new ProviderError('invalid_answer', 'The answer is not JSON: something else than the API answers at this address.')
}

/** What is wrong with the address of an API among settings; null when nothing is. @param member of `settings` */
export function urlProblem(member: string, text: string): FieldProblem | null {
  const url = URL.parse(text)
  const wrong = (detail: string): FieldProblem => ({ pointer: `#/settings/${member}`, code: 'format', detail })
  if (!url || !/^https?:\/\//i.test(text) || /[\s\\]/.test(text)) return wrong('must be an http or https address.')
  if (url.username || url.password) return wrong('must not hold a user name or password.')
  return /[?#]/.test(text) ? wrong('must end with its path.') : null
}

/** How long an answer asks to be left alone, in milliseconds and a day at most; null where it does not say. */
export function waitOf({ headers }: Pick<JsonAnswer, 'headers'>, around: Pick<Surroundings, 'clock'>): number | null {
  const asked = retryAfterMs(headers.get('retry-after') ?? '', around.clock.now())
  return asked === null ? null : Math.min(asked, longestWaitMs)
}

const longestWaitMs = 24 * 3_600_000

/**
 * What a server said, for people: one line of bounded length without the secrets, should the server have echoed them.
 * @param secrets those that were sent
 */
export function saidBy(text: string, secrets: readonly string[]): string {
  const hidden = secrets.filter(one => one.length >= 8).reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
  return toldLine(hidden, longestSaid)
}

const longestSaid = 500

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unanswered({ errorClass, message, timings }: FetchFailed): Unanswered {
  const sent = timings.connect_ms !== null
  switch (errorClass) {
    case 'timeout':
      return new Unanswered('timeout', message, sent)
    case 'too_large':
      return new Unanswered('incomplete', message, true)
    case 'aborted':
    case 'connect':
      return new Unanswered(timings.first_byte_ms === null ? 'unreachable' : 'incomplete', message, sent)
    default:
      return new Unanswered('unreachable', message, false)
  }
}
