import type { Ctx, StoredResponse } from '../core/ctx'
import type { Hub } from '../core/hub'
import { Problem, problemBody } from '../core/problem'
import { responseOf, storedResponseOf } from './response'
import { endRun, storeResponse, releaseKey, claimKey } from './idempotency'
import type { Route } from './route-declaration'

/**
 * Runs a request with an Idempotency-Key at most once. Repeated requests get the response of the first run.
 * @param request query and raw body, which must be the same in repeated requests
 * @throws Problem 409 `idempotency_in_progress`, 422 `idempotency_key_reused`, and whatever the handler throws
 */
export async function runIdempotent(
  ctx: Ctx,
  spec: Route,
  input: Parameters<Route['run']>[1],
  request: { search: string; body: Uint8Array },
  headers: Record<string, string>,
): Promise<StoredResponse> {
  const { hub } = ctx
  const path = new URL(input.request.url).pathname
  const keys = { workspaceId: ctx.workspaceId, method: spec.method, path, key: ctx.context.idempotency_key! }
  const claimed = await claimKey(hub, keys, request)
  const earlier = claimed && openedResponse(hub, keys, claimed)
  if (earlier) {
    headers['Idempotent-Replayed'] = 'true'
    if (earlier.status >= 400) headers['Content-Type'] = 'application/problem+json; charset=utf-8'
    return earlier
  }
  const response = (result: unknown) => {
    const stored = storedResponseOf(hub, spec, result, input.params)
    return spec.sealsReplays ? sealedResponse(hub, keys, stored) : stored
  }
  const run = { ...keys, response, stored: false }
  ctx.idempotency = run
  try {
    const result = await spec.run(ctx, input)
    if (!run.stored) await storeResponse(hub, keys, run.response(result))
    return responseOf(hub, spec, result, headers, input.params)
  } catch (error) {
    if (run.stored) throw error
    if (!isDecided(error)) {
      await releaseKey(hub, keys)
      throw error
    }
    const body = JSON.stringify(problemBody(error, ctx.context.request_id!))
    await storeResponse(hub, keys, { status: error.status, body, location: null, etag: null })
    throw error
  } finally {
    endRun(hub, keys)
  }
}

type Keys = Parameters<typeof claimKey>[1]

const replayPurpose = 'idempotent-responses'
/** Starts an encrypted body. A JSON text never starts with it. */
const sealedMark = 'sealed:'
const placeOf = ({ workspaceId, method, path, key }: Keys): string => JSON.stringify([workspaceId, method, path, key])

const sealedResponse = (hub: Hub, keys: Keys, response: StoredResponse): StoredResponse => ({
  ...response,
  body: sealedMark + hub.keys.sealFor(replayPurpose, placeOf(keys), response.body),
})

/** Decrypts the body of a stored response, if it is encrypted. @throws DecryptionFailed */
const openedResponse = (hub: Hub, keys: Keys, response: StoredResponse): StoredResponse =>
  response.body.startsWith(sealedMark)
    ? { ...response, body: hub.keys.openFor(replayPurpose, placeOf(keys), response.body.slice(sealedMark.length)) }
    : response

/**
 * Whether an error is stored as the response for repeated requests. Validation errors are not, so that a corrected body may reuse
 * the key. Neither are errors that may not occur again, such as missing permissions, rate limits and internal errors.
 */
function isDecided(error: unknown): error is Problem {
  if (!(error instanceof Problem) || error.code === 'idempotency_in_progress') return false
  return [404, 409, 412].includes(error.status) || error.code === 'plan_limit_reached'
}
