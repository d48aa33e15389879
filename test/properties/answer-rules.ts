import { checkAnswer } from '../support/answers'
import type { Ask } from './asks'
import type { JsonSchema } from './schema-values'

/** An answer with its whole body. */
export interface Whole {
  response: Response
  text: string
  json: unknown
  tookMs: number
}

const slowestMs = 10_000

/**
 * What of an answer breaks a rule that holds for every answer, in a sentence; null when nothing does.
 * @param path the path as the hub was given it, and what follows it
 * @param secrets what the request carried and no answer may repeat
 * @param fits whether the body fits the document's schema; null where there is none
 */
export function brokenRule(
  ask: Ask,
  path: { pathname: string; search: string },
  answer: Whole,
  secrets: string[],
  fits: boolean | null,
): string | null {
  const { response, text, json, tookMs } = answer
  const { pathname, search } = path
  const { status } = response
  if (status >= 500 && !(status === 503 && ask.operation.spec.responses['503']))
    return `it answered ${status}: ${text.slice(0, 300)}`
  if (tookMs > slowestMs) return `it took ${Math.round(tookMs)} ms`
  if (!response.headers.get('x-request-id') && pathname.startsWith('/v1/') && pathname !== '/v1/openapi.json')
    return 'it has no X-Request-Id'
  if (secrets.some(one => text.includes(one))) return 'it tells a secret of the request'
  if (status >= 400 && ask.method !== 'HEAD') {
    const problem = json as JsonSchema | undefined
    if (!/^application\/problem\+json\b/.test(response.headers.get('content-type') ?? '')) return `${status} is no problem+json`
    if (problem?.status !== status || problem.request_id !== response.headers.get('x-request-id'))
      return 'status and request_id of the problem are not those of the answer'
  }
  // A 207 tells of each operation by itself which were refused.
  if (status < 300 && status !== 207 && fits === false) return `it took a body that the document refuses, with ${status}`
  // The server leaves the body of HEAD away, and the document has none of it.
  if (ask.method === 'HEAD') return null
  try {
    checkAnswer(ask.method, `${pathname}${search}`, response, json)
  } catch (error) {
    return (error as Error).message
  }
  return null
}
