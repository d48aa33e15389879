import type { Ctx, StoredAnswer } from '../core/ctx'
import { Problem, problemBody } from '../core/problem'
import { answerOf, keptAnswerOf } from './answer'
import { dropKey, keepAnswer, releaseKey, takeKey } from './idempotency'
import type { Route } from './route'

/**
 * Runs a request with an Idempotency-Key: at most once, and every repetition gets the first one's answer.
 * @param request the query and the raw body, which a repetition must have in common with the first
 * @throws Problem 409 `idempotency_in_progress`, 422 `idempotency_key_reused`, and whatever the verb throws
 */
export async function runOnce(
  ctx: Ctx,
  spec: Route,
  asked: Parameters<Route['run']>[1],
  request: { search: string; body: Uint8Array },
  headers: Record<string, string>,
): Promise<StoredAnswer> {
  const { hub } = ctx
  const path = new URL(asked.request.url).pathname
  const keys = { workspaceId: ctx.workspaceId, method: spec.method, path, key: ctx.context.idempotency_key! }
  const earlier = await takeKey(hub, keys, request)
  if (earlier) {
    headers['Idempotent-Replayed'] = 'true'
    if (earlier.status >= 400) headers['Content-Type'] = 'application/problem+json; charset=utf-8'
    return earlier
  }
  const run = { ...keys, answer: (result: unknown) => keptAnswerOf(hub, spec, result, asked.params), stored: false }
  ctx.idempotency = run
  try {
    const result = await spec.run(ctx, asked)
    if (!run.stored) await keepAnswer(hub, keys, run.answer(result))
    return answerOf(hub, spec, result, headers, asked.params)
  } catch (error) {
    if (run.stored) throw error
    if (!isDecided(error)) {
      await releaseKey(hub, keys)
      throw error
    }
    const body = JSON.stringify(problemBody(error, ctx.context.request_id!))
    await keepAnswer(hub, keys, { status: error.status, body, location: null, etag: null })
    throw error
  } finally {
    dropKey(hub, keys)
  }
}

/**
 * Whether an error is the answer of the request, which a repetition gets too. A body that breaks a rule is not: it may be put
 * right under the same key; nor is a refusal that another moment or another permission would lift, nor what broke on the way.
 */
function isDecided(error: unknown): error is Problem {
  if (!(error instanceof Problem) || error.code === 'idempotency_in_progress') return false
  return [404, 409, 412].includes(error.status) || error.code === 'plan_limit_reached'
}
