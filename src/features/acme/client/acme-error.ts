import type { AdapterContext } from '../../../adapters/context'
import { AdapterError } from '../../../adapters/failure'
import { responseError, retryAfterOf, serverMessage, type JsonResponse } from '../../../adapters/json-http'

/** Why a call to an ACME server failed. */
export const acmeFailures = [
  'unreachable',
  'timeout',
  'unauthorized',
  'throttled',
  'refused',
  'incomplete',
  'invalid_response',
] as const
export type AcmeFailure = (typeof acmeFailures)[number]

/** An error that an ACME server reported (RFC 8555 section 6.7). */
export class AcmeError extends AdapterError<AcmeFailure> {
  constructor(
    failure: AcmeFailure,
    message: string,
    retryAfterMs: number | null,
    /** Type of the error, such as `rejectedIdentifier`. */
    readonly type: string,
  ) {
    super(failure, message, retryAfterMs, false)
  }
}

const namespace = 'urn:ietf:params:acme:error:'
/** Types of errors that are about the account. */
const accountTypes = new Set(['accountDoesNotExist', 'externalAccountRequired', 'unauthorized'])
const maxNamed = 5

/** Converts whatever a call of the ACME library threw. @param last the last response, if there was one */
export function acmeErrorOf(error: unknown, last: JsonResponse | null, context: AdapterContext): AdapterError<AcmeFailure> {
  if (error instanceof AdapterError) return error as AdapterError<AcmeFailure>
  const problem = problemOf(last?.json)
  if (last && last.status >= 400 && problem) {
    const message = `The ACME server rejected the request (${problem.type}): ${problem.detail}`
    const retryAfterMs = retryAfterOf(last, context)
    if (problem.type === 'rateLimited' || last.status === 429)
      return new AcmeError('throttled', message, retryAfterMs, problem.type)
    // They say nothing about the request, and pass.
    if (last.status >= 500 || problem.type === 'serverInternal')
      return new AcmeError('unreachable', message, retryAfterMs, problem.type)
    return new AcmeError(accountTypes.has(problem.type) ? 'unauthorized' : 'refused', message, null, problem.type)
  }
  if (last && last.status >= 400) {
    const text = (last.text || last.reason).slice(0, maxTextLength)
    return acmeResponseError(last, context, { text, credentials: 'account', secrets: [] })
  }
  return new AdapterError<AcmeFailure>(
    'invalid_response',
    'The ACME server sent a response that doesn’t follow RFC 8555.',
    null,
    true,
  )
}

/** Converts a response with an error status and no ACME error. Those of the server itself, or of a proxy before it, pass. */
export function acmeResponseError(...of: Parameters<typeof responseError>): AdapterError<AcmeFailure> {
  const error = responseError(...of) as AdapterError<AcmeFailure>
  const isPassing = of[0].status >= 500 && error.failure === 'refused'
  return isPassing ? new AdapterError('unreachable', error.message, null, true) : error
}

const maxTextLength = 300

/** Reads the error in a response, an authorization, or an order; null if there is none. */
export function problemOf(value: unknown): { type: string; detail: string } | null {
  if (typeof value !== 'object' || value === null) return null
  const { type, detail, subproblems } = value as Record<string, unknown>
  if (typeof type !== 'string' || !type.startsWith(namespace)) return null
  const parts = Array.isArray(subproblems) ? subproblems.slice(0, maxNamed).flatMap(one => partOf(one)) : []
  const texts = [typeof detail === 'string' ? detail : 'no details', ...parts]
  return { type: serverMessage(type.slice(namespace.length), []), detail: serverMessage(texts.join('; '), []) }
}

/** An error about one of several identifiers. */
function partOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { detail, identifier } = value as { detail?: unknown; identifier?: { value?: unknown } }
  return typeof detail === 'string' ? [`${String(identifier?.value ?? '')}: ${detail}`] : []
}
