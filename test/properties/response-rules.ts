import { checkResponse } from '../support/check-response'
import type { GeneratedRequest } from './generated-requests'
import type { JsonSchema } from './schema-values'

/** A response with its complete body. */
export interface CompleteResponse {
  response: Response
  text: string
  json: unknown
  tookMs: number
}

const maxMs = 10_000

/**
 * Returns which rule for all responses a response violates, or null.
 * @param path path and query of the request
 * @param secrets secrets of the request, which no response may contain
 * @param isValid whether the request body matches its schema; null if there is none
 */
export function brokenRule(
  request: GeneratedRequest,
  path: { pathname: string; search: string },
  complete: CompleteResponse,
  secrets: string[],
  isValid: boolean | null,
): string | null {
  const { response, text, json, tookMs } = complete
  const { pathname, search } = path
  const { status } = response
  if (status >= 500 && !(status === 503 && request.operation.spec.responses['503']))
    return `it responded with ${status}: ${text.slice(0, 300)}`
  if (tookMs > maxMs) return `it took ${Math.round(tookMs)} ms`
  if (!response.headers.get('x-request-id') && pathname.startsWith('/v1/') && pathname !== '/v1/openapi.json')
    return 'it has no X-Request-Id'
  if (secrets.some(one => text.includes(one))) return 'it contains a secret of the request'
  if (status >= 400 && request.method !== 'HEAD') {
    const problem = json as JsonSchema | undefined
    if (!/^application\/problem\+json\b/.test(response.headers.get('content-type') ?? '')) return `${status} is not problem+json`
    if (problem?.status !== status || problem.request_id !== response.headers.get('x-request-id'))
      return 'status and request_id of the problem differ from the response'
  }
  // A 207 reports invalid operations individually.
  if (status < 300 && status !== 207 && isValid === false) return `it accepted a body that violates the schema, with ${status}`
  // Responses to HEAD have no body and are not documented.
  if (request.method === 'HEAD') return null
  try {
    checkResponse(request.method, `${pathname}${search}`, response, json)
  } catch (error) {
    return (error as Error).message
  }
  return null
}
