import type { TObject } from '@sinclair/typebox'
import { record } from '../core/change'
import { inRanges, parseAddress } from '../core/net/address'
import { clientAddress } from '../core/net/client-address'
import type { Ctx, StoredAnswer } from '../core/ctx'
import type { AuditContext } from '../core/db/tables'
import type { Hub } from '../core/hub'
import { newId } from '../core/ids'
import { invalid, Problem, problemBody, tryAgain } from '../core/problem'
import { readQuery } from '../core/query'
import { Shape } from '../core/shapes'
import { fieldProblems, isOptional } from '../core/validate'
import { callerOfSession, callerOfToken, type Caller } from './callers'
import { readSessionCookie } from './cookies'
import { keepAnswer, releaseKey, takeKey } from './idempotency'
import { noteUse } from './last-use'
import { limiterOf } from './limiter'
import { failedCredentials, noCredentials, type Bucket, type RateVerdict } from './rate-limits'
import { readJson } from './request-body'
import type { Guard, Route } from './route'
import { touchSession } from './sessions'

/** The part of Bun's server that tells where a request came from. */
export interface Peer { requestIP(request: Request): { address: string } | null }

const originals = new WeakMap<Request, Request>()
/** Lets a request that the hub made out of a received one stand for it: the same caller, the same id. */
export function standingFor(made: Request, received: Request): Request {
  originals.set(made, received)
  return made
}

const requestIds = new WeakMap<Request, string>()
/** The id of a request, the same for its whole life; answers carry it as X-Request-Id. */
export function requestId(asked: Request): string {
  const request = originals.get(asked) ?? asked
  let id = requestIds.get(request)
  if (!id) requestIds.set(request, (id = newId('req')))
  return id
}

/** Where a request came from: the socket's address, or what a trusted proxy says. */
export function callerAddress(hub: Hub, request: Request, peer: Peer | null): string {
  const socket = peer?.requestIP(originals.get(request) ?? request)?.address ?? '127.0.0.1'
  return clientAddress(socket, request.headers, hub.config.trustedProxies)
}

/**
 * Serves one operation. What can be wrong is looked at in this order: the credential (401), how often (429), the permission
 * (403), the request itself (400, 413, 415, 422), then whatever the verb finds (404, 409, 412, plan 403).
 */
export async function serve(hub: Hub, spec: Route, request: Request, params: Record<string, string>, peer: Peer | null): Promise<Response> {
  const id = requestId(request)
  const headers: Record<string, string> = { ...answerHeaders, 'X-Request-Id': id }
  try {
    const ip = callerAddress(hub, request, peer)
    const caller = await authenticate(hub, spec, request, ip)
    // What is called with a scoped secret of its own counts against that, in the verb.
    const buckets = caller?.buckets ?? (spec.guard === 'ingest' ? [] : [noCredentials(ip, hub.config.anonymousPerMinute)])
    const now = hub.clock.now()
    const verdict = limiterOf(hub).take(buckets, now)
    tellLimits(headers, verdict)
    if (!verdict.allowed) throw limitReached(verdict)
    const context = contextOf(request, id, ip, caller, spec.guard)
    if (caller) await authorise(hub, spec, caller, request, ip, context)

    const search = new URL(request.url).searchParams
    const query = spec.query ? readQuery(spec.query, search) : readQuery(noParameters, search)
    const raw = spec.method === 'GET' || spec.rawBody ? new Uint8Array(0) : await readJson.bytes(request, spec.body !== undefined)
    // Where nothing is required, no body means no wishes.
    const body = spec.body ? (raw.length === 0 && !(spec.body.required as string[] | undefined)?.length ? {} : readJson.parse(raw)) : undefined
    if (spec.body) {
      const problems = fieldProblems(spec.body, body)
      if (problems.length > 0) throw invalid(problems)
    }
    const ctx: Ctx = {
      hub, workspaceId: caller?.workspaceId ?? '', sessionId: caller?.session?.id ?? null, actor: caller?.actor ?? { type: 'anonymous', id: '', name: null, hint: null }, context,
      permissions: caller?.permissions ?? new Set(), operator: caller?.operator ?? false, limits: caller?.limits ?? {}, planId: caller?.planId ?? '',
      ifMatch: request.headers.get('if-match'), idempotency: null,
    }
    const asked = { params, query, body, request, ip }
    const answer = spec.method === 'POST' && context.idempotency_key !== null && caller
      ? await runOnce(ctx, spec, asked, search.toString(), raw, headers)
      : answerOf(hub, spec, await spec.run(ctx, asked), headers)
    if (spec.method === 'GET' && answer.etag && matches(request.headers.get('if-none-match'), answer.etag)) {
      // A 304 is free of quota (platform.md S1).
      tellLimits(headers, limiterOf(hub).giveBack(buckets, now))
      return new Response(null, { status: 304, headers: { ...headers, ETag: answer.etag } })
    }
    if (answer.etag) headers.ETag = answer.etag
    if (answer.location) headers.Location = answer.location
    if (answer.status === 204) return new Response(null, { status: 204, headers })
    headers['Content-Type'] = 'application/json; charset=utf-8'
    return new Response(answer.body, { status: answer.status, headers })
  } catch (error) {
    return problemAnswer(hub, error, id, headers)
  }
}

/** An error as the answer that is sent: a Problem as it says, anything else as a 500 that tells nothing of the inside. */
export function problemAnswer(hub: Hub, error: unknown, id: string, headers: Record<string, string> = { ...answerHeaders, 'X-Request-Id': id }): Response {
  const problem = error instanceof Problem ? error : new Problem('internal_error', 'Something went wrong inside. The log has this request id.')
  if (!(error instanceof Problem)) hub.log.error({ err: error, request_id: id }, 'a request failed')
  return new Response(JSON.stringify(problemBody(problem, id)), {
    status: problem.status,
    headers: { ...headers, ...problem.extras.headers, 'Content-Type': 'application/problem+json; charset=utf-8' },
  })
}

const answerHeaders = { 'Cache-Control': 'private, no-store', 'X-Content-Type-Options': 'nosniff' }
// A session's last use is written at most this often.
const sessionTouchMs = 60_000
const noParameters = Shape({})

async function authenticate(hub: Hub, spec: Route, request: Request, ip: string): Promise<Caller | null> {
  const header = request.headers.get('authorization')
  // A token in an address ends up in histories and proxies' logs: it is refused even where it would be good.
  if (/bw_live_/.test(request.url)) throw new Problem('token_in_query', 'A token does not belong in the address. Send it as: Authorization: Bearer bw_live_… and revoke this one.')
  if (spec.guard === 'anyone' || spec.guard === 'ingest') return null
  try {
    if (header !== null) {
      const bearer = /^Bearer +(\S+)$/i.exec(header)
      if (!bearer) throw new Problem('invalid_token', 'The Authorization header must have the form: Bearer bw_live_…')
      const caller = await callerOfToken(hub, bearer[1]!)
      noteUse(hub, caller.token!.id, ip)
      return caller
    }
    const cookie = readSessionCookie(hub, request.headers.get('cookie'))
    if (cookie !== null) {
      const caller = await callerOfSession(hub, cookie, request.headers.get('bailiwick-workspace'))
      if (caller.session!.seenAt < hub.clock.now() - sessionTouchMs) await touchSession(hub, caller.session!.id, caller.workspaceId)
      return caller
    }
  } catch (error) {
    if (error instanceof Problem && error.status === 401) {
      // Counted after the check, so that someone who guesses cannot shut out a valid token behind the same address.
      countRefusal(hub, failedCredentials(ip, hub.config.failedCredentialsPerMinute))
      throw withChallenge(error)
    }
    throw error
  }
  countRefusal(hub, noCredentials(ip, hub.config.anonymousPerMinute))
  throw withChallenge(new Problem('unauthenticated', 'Send a token as: Authorization: Bearer bw_live_…'))
}

function countRefusal(hub: Hub, bucket: Bucket): void {
  const verdict = limiterOf(hub).take([bucket], hub.clock.now())
  if (!verdict.allowed) throw limitReached(verdict)
}

function limitReached(verdict: RateVerdict): Problem {
  return tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
}

const withChallenge = (problem: Problem) => new Problem(problem.code, problem.detail, {
  headers: { 'WWW-Authenticate': problem.code === 'unauthenticated' ? 'Bearer realm="bailiwick"' : `Bearer realm="bailiwick", error="invalid_token"` },
})

function tellLimits(headers: Record<string, string>, verdict: RateVerdict): void {
  if (!verdict.policyHeader) return
  headers['RateLimit-Policy'] = verdict.policyHeader
  headers.RateLimit = verdict.limitHeader
}

async function authorise(hub: Hub, spec: Route, caller: Caller, request: Request, ip: string, context: AuditContext): Promise<void> {
  try {
    if (caller.session && spec.method !== 'GET') checkOrigin(hub, request)
    if (caller.token?.allowedRanges.length && !inRanges(parseAddress(ip)!, caller.token.allowedRanges)) {
      throw new Problem('address_not_allowed', 'This token may not be used from this address.')
    }
    if (caller.apiAccess === 'none' || (caller.apiAccess === 'read' && spec.method !== 'GET')) {
      throw new Problem('plan_no_api_access', caller.apiAccess === 'none' ? 'The plan has no API access.' : 'The plan has read access to the API only.')
    }
    if (spec.guard === 'operator' && !caller.operator) throw missing('operator')
    if (spec.guard.includes('.') && !caller.permissions.has(spec.guard as never)) throw missing(spec.guard)
  } catch (error) {
    if (error instanceof Problem) await auditDenial(hub, spec, caller, context, error)
    throw error
  }
}

const missing = (permission: string) => new Problem('insufficient_permission', `This needs the permission ${permission}.`, { members: { required_permission: permission } })

/** A browser sends Origin with every write; the header of our own is what a form of another site cannot send. */
function checkOrigin(hub: Hub, request: Request): void {
  const origin = request.headers.get('origin')
  const own = new URL(request.url)
  const asSeen = `${hub.baseUrl.startsWith('https:') ? 'https:' : own.protocol}//${request.headers.get('host') ?? own.host}`
  if (origin === null || (origin !== asSeen && origin !== hub.baseUrl)) throw new Problem('origin_not_allowed', 'The Origin header must name this site.')
  if (request.headers.get('bailiwick-csrf') !== '1') throw new Problem('origin_not_allowed', 'A write with a session needs the header Bailiwick-Csrf: 1.')
}

async function auditDenial(hub: Hub, spec: Route, caller: Caller, context: AuditContext, problem: Problem): Promise<void> {
  await record(hub, async () => ({
    result: undefined,
    audits: [{
      workspaceId: caller.workspaceId, action: spec.action ?? 'account.resource.read', outcome: 'denied' as const, actor: caller.actor, context, targets: [],
      reason: `${spec.method} ${spec.path}: ${problem.detail}`,
    }],
  }))
}

function contextOf(request: Request, id: string, ip: string, caller: Caller | null, guard: Guard): AuditContext {
  return {
    ip,
    user_agent: request.headers.get('user-agent')?.slice(0, 200) ?? null,
    request_id: id,
    idempotency_key: request.headers.get('idempotency-key'),
    channel: caller?.session ? 'dashboard' : guard === 'ingest' ? 'ingest' : 'api',
  }
}

function answerOf(hub: Hub, spec: Route, result: unknown, headers: Record<string, string>): StoredAnswer {
  Object.assign(headers, spec.headers?.(hub, result))
  const status = spec.status ?? 200
  const body = result === undefined ? '' : JSON.stringify(result)
  const { id, version } = (result ?? {}) as { id?: string; version?: number }
  return {
    status, body,
    location: status === 201 && id ? `${spec.path}/${id}` : null,
    etag: typeof version === 'number' ? `"${version}.${Bun.hash(body).toString(36)}"` : null,
  }
}

/** Runs a request with an Idempotency-Key: at most once, and every repetition gets the first one's answer. */
async function runOnce(
  ctx: Ctx, spec: Route, asked: Parameters<Route['run']>[1], search: string, raw: Uint8Array, headers: Record<string, string>,
): Promise<StoredAnswer> {
  const { hub } = ctx
  const path = new URL(asked.request.url).pathname
  const keys = { workspaceId: ctx.workspaceId, method: spec.method, path, key: ctx.context.idempotency_key! }
  const earlier = await takeKey(hub, keys, { search, body: raw })
  if (earlier) {
    headers['Idempotent-Replayed'] = 'true'
    if (earlier.status >= 400) headers['Content-Type'] = 'application/problem+json; charset=utf-8'
    return earlier
  }
  const answer = (result: unknown) => answerOf(hub, spec, withoutSecrets(spec, result), {})
  ctx.idempotency = { ...keys, answer, stored: false }
  try {
    const result = await spec.run(ctx, asked)
    if (!ctx.idempotency.stored) await keepAnswer(hub, keys, answer(result))
    return answerOf(hub, spec, result, headers)
  } catch (error) {
    // What the verb decided is an answer like any other; what broke on the way may be tried again.
    if (error instanceof Problem && error.status < 500 && error.status !== 429) {
      const body = JSON.stringify(problemBody(error, ctx.context.request_id!))
      await keepAnswer(hub, keys, { status: error.status, body, location: null, etag: null })
    } else {
      await releaseKey(hub, keys)
    }
    throw error
  }
}

/** The result as it is kept for replays: secrets are left out, or null where the shape always has the member. */
function withoutSecrets(spec: Route, result: unknown): unknown {
  if (!spec.once || typeof result !== 'object' || result === null) return result
  const kept = { ...result } as Record<string, unknown>
  for (const name of spec.once) {
    if (isOptional((spec.answer as TObject).properties[name]!)) delete kept[name]
    else kept[name] = null
  }
  return { ...kept, secret_shown_before: true }
}

function matches(header: string | null, etag: string): boolean {
  if (header === null) return false
  return header.trim() === '*' || header.split(',').some(one => one.trim().replace(/^W\//, '') === etag)
}
