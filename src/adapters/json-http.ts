import { FetchFailed } from '../core/net/fetch-failure'
import type { FetchLimits, GuardedRequest } from '../core/net/guarded-fetch'
import { retryAfterMs } from '../core/net/retry-after'
import { oneLine } from '../core/one-line'
import type { FieldProblem } from '../core/problem'
import type { AdapterContext } from './context'
import { AdapterError } from './failure'
import { redactSecrets } from './redaction'

/** Response of an HTTP API. `reason` is the phrase of the status line. `json` is undefined if the body is empty or not JSON. */
export interface JsonResponse {
  status: number
  reason: string
  headers: Headers
  text: string
  json: unknown
}

/**
 * Sends a request to an HTTP API. Returns responses with any status.
 * @throws AdapterError with `ambiguous`: `unreachable`, `timeout`, or `incomplete` if the body ends early or exceeds `limits`
 */
export async function requestJson(around: AdapterContext, request: GuardedRequest, limits: FetchLimits): Promise<JsonResponse> {
  try {
    const { status, reason, headers, body } = await around.request(request, { overflow: 'fail', ...limits })
    const text = new TextDecoder().decode(body)
    return { status, reason, headers, text, json: parsed(text) }
  } catch (error) {
    throw error instanceof FetchFailed ? noResponse(error) : error
  }
}

/** Returns the JSON of a response that must have it. @throws AdapterError `incomplete`, `invalid_response` */
export function jsonOf({ text, json }: JsonResponse): unknown {
  if (json !== undefined) return json
  if (/^\s*[[{]/.test(text)) throw new AdapterError('incomplete', 'The JSON response is truncated.')
  throw new AdapterError('invalid_response', 'The response is not JSON. This may not be the address of the API.')
}

/** The link to the next page (RFC 8288); null without, and empty if it is malformed. */
export function nextLink({ headers }: Pick<JsonResponse, 'headers'>): string | null {
  const link = headers.get('link') ?? ''
  if (!/;\s*rel="?next"?/.test(link)) return null
  return /<([^<>]*)>\s*;\s*rel="?next"?/.exec(link)?.[1] ?? ''
}

/** Validates the URL of an API in settings; null if it is valid. @param member name of the setting */
export function urlProblem(member: string, text: string): FieldProblem | null {
  const url = URL.parse(text)
  const wrong = (detail: string): FieldProblem => ({ pointer: `#/settings/${member}`, code: 'format', detail })
  if (!url || !/^https?:\/\//i.test(text) || /[\s\\]/.test(text)) return wrong('must be an http or https URL.')
  if (url.username || url.password) return wrong('must not contain a username or password.')
  return /[?#]/.test(text) ? wrong('must not have a query or fragment.') : null
}

/** Returns the `Retry-After` of a response in milliseconds, up to one day; null if absent. */
export function retryAfterOf({ headers }: Pick<JsonResponse, 'headers'>, around: Pick<AdapterContext, 'clock'>): number | null {
  const delayMs = retryAfterMs(headers.get('retry-after') ?? '', around.clock.now())
  return delayMs === null ? null : Math.min(delayMs, maxRetryAfterMs)
}

const maxRetryAfterMs = 24 * 3_600_000

/**
 * Converts an error status to a failure, as most APIs use them. What an API uses differently is converted before.
 * @param credentials what the server rejected, such as `API key`; `secrets` were sent and are redacted
 */
export function responseError(
  response: JsonResponse,
  around: Pick<AdapterContext, 'clock'>,
  { text, credentials, secrets }: { text: string; credentials: string; secrets: readonly string[] },
): AdapterError {
  const { status } = response
  const message = serverMessage(text, secrets)
  if (status === 401 || status === 403)
    return new AdapterError('unauthorized', `The ${credentials} was rejected (${status}): ${message}`)
  const retryMs = retryAfterOf(response, around)
  if (status === 429 || (status === 503 && retryMs !== null))
    return new AdapterError('throttled', `The remote server is rate limiting requests (${status}): ${message}`, retryMs)
  if ([400, 409, 413, 422].includes(status))
    return new AdapterError('refused', `The remote server rejected the request (${status}): ${message}`, null, false)
  if (status >= 500) return new AdapterError('refused', `The remote server responded with status ${status}: ${message}`)
  return new AdapterError('invalid_response', `The remote server responded with the unexpected status ${status}.`)
}

/** Like {@link responseError}, for servers that are often behind a proxy: its errors pass, and say nothing about the request. */
export function proxiedError(...of: Parameters<typeof responseError>): AdapterError {
  const error = responseError(...of)
  const { status } = of[0]
  const isPassing = status >= 502 && status <= 504 && error.failure === 'refused'
  return isPassing ? new AdapterError('unreachable', error.message, null, true) : error
}

/**
 * Formats a server's message: one line of limited length, with secrets redacted in case the server echoed them.
 * @param secrets those that were sent
 */
export function serverMessage(text: string, secrets: readonly string[]): string {
  return oneLine(redactSecrets(text, secrets), maxMessageLength)
}

const maxMessageLength = 500

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noResponse({ errorClass, message, timings }: FetchFailed): AdapterError {
  const sent = timings.connect_ms !== null
  switch (errorClass) {
    case 'timeout':
      return new AdapterError('timeout', message, null, sent)
    case 'too_large':
      return new AdapterError('incomplete', message, null, true)
    case 'aborted':
    case 'connect':
      return new AdapterError(timings.first_byte_ms === null ? 'unreachable' : 'incomplete', message, null, sent)
    default:
      return new AdapterError('unreachable', message, null, false)
  }
}
