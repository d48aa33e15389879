import type { AdapterContext } from '../../../adapters/context'
import { requestJson, retryAfterOf, type JsonResponse } from '../../../adapters/json-http'
import { oneLine } from '../../../core/one-line'
import { ChannelError, type ChannelFailure } from './channel'

// Caps Retry-After, so that a single response can't silence a channel for long.
const maxRetryAfterMs = 3_600_000
const maxTextLength = 200

/** Posts JSON. A long response is truncated. @throws AdapterError */
export const postJson = (context: AdapterContext, url: string, body: object, headers: Record<string, string> = {}) =>
  requestJson(
    context,
    { url, method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) },
    { overflow: 'drop' },
  )

/** The body of a response as one line of text. */
export const responseText = ({ text }: JsonResponse): string => oneLine(text, maxTextLength)

/** The JSON of a response; an empty object if it isn't a JSON object. */
export const objectOf = ({ json }: JsonResponse): Record<string, any> => (typeof json === 'object' && json !== null ? json : {})

/**
 * Returns the response text of a 2xx response and throws for any other.
 * @param goneStatuses status codes by which the destination reports an invalid address or token
 * @param details response text, if it isn't simply the body; `retryAfterMs`, if it isn't in the header
 * @throws ChannelError
 */
export function checkResponse(
  context: AdapterContext,
  response: JsonResponse,
  goneStatuses: readonly number[],
  details: { text?: string; retryAfterMs?: number | null } = {},
): string {
  const text = details.text ?? responseText(response)
  if (response.status >= 200 && response.status <= 299) return text === '' ? `Status ${response.status}` : text
  const failure: ChannelFailure = goneStatuses.includes(response.status)
    ? 'gone'
    : isTemporary(response.status)
      ? 'temporary'
      : 'rejected'
  const retryAfterMs = details.retryAfterMs ?? retryAfterOf(response, context)
  throw new ChannelError(
    failure,
    `The destination responded with status ${response.status}${text === '' ? '.' : `: ${text}`}`,
    retryAfterMs === null ? null : Math.min(retryAfterMs, maxRetryAfterMs),
  )
}

/** Request Timeout, Too Early and Too Many Requests (RFC 9110 15.5.9, RFC 8470 5.2, RFC 6585 4), and server errors. */
const isTemporary = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500
