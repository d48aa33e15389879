import { record } from '../core/change'
import { isStorageFull } from '../core/db/errors'
import { clientAddress } from '../core/net/client-address'
import type { Ctx, StoredAnswer } from '../core/ctx'
import type { AuditContext } from '../core/db/tables'
import type { Hub } from '../core/hub'
import { deprecationHeaders } from '../core/deprecation'
import { newId } from '../core/ids'
import { invalid, notFound, Problem, problemBody } from '../core/problem'
import { readQuery } from '../core/query'
import { Shape } from '../core/shapes'
import { fieldProblems } from '../core/validate'
import { answerOf } from './answer'
import { authenticate, authenticateAgain, limitReached } from './authenticate'
import { mayComeFrom, type Caller } from './callers'
import { enter } from './concurrency'
import { checkKeyForm, clientRequestId, contextOf } from './context'
import { noteDeprecatedUse } from './deprecated-use'
import { deprecatedIn, usedBy } from './deprecations'
import type { EventStream } from './event-stream'
import { neededBy, withExpanded } from './expand'
import { withFields } from './fields'
import { limiterOf } from './limiter'
import { preferredWait, type Waiting } from './long-poll'
import { runOnce } from './once'
import { noCredentials, type RateVerdict } from './rate-limits'
import { readJson, readText, unstorable } from './request-body'
import type { Route } from './route'
import type { Streamed } from './streamed'
import { suspended } from './suspension'
import { startGrace } from './token-rotation'

/** The part of Bun's server that tells where a request came from. */
export interface Peer {
  requestIP(request: Request): { address: string } | null
}

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
export async function serve(
  hub: Hub,
  spec: Route,
  request: Request,
  params: Record<string, string>,
  peer: Peer | null,
): Promise<Response> {
  const id = requestId(request)
  const headers: Record<string, string> = { ...answerHeaders, 'X-Request-Id': id }
  let leave: (() => void) | null = null
  try {
    const ip = callerAddress(hub, request, peer)
    const caller = await authenticate(hub, spec, request, { id, ip }, headers)
    leave = caller && enter(hub, caller)
    // What is called with a scoped secret of its own counts against that, in the verb.
    const buckets = caller?.buckets ?? (spec.guard === 'ingest' ? [] : [noCredentials(ip, hub.config.anonymousPerMinute)])
    const now = hub.clock.now()
    const verdict = limiterOf(hub).take(buckets, now)
    tellLimits(headers, verdict)
    if (!verdict.allowed) throw limitReached(verdict)
    const context = contextOf(request, id, ip, caller, spec.guard)
    if (caller) await authorise(hub, spec, caller, request, ip, context)
    if (spec.deprecated) Object.assign(headers, deprecationHeaders([spec.deprecated]))
    if (caller?.token?.endsAnother) await startGrace(hub, caller, context)
    // Another site must not sign a browser in to an account of its choice.
    if (spec.guard === 'anyone' && spec.method !== 'GET' && request.headers.has('origin')) requireOwnOrigin(hub, request)
    if (spec.method === 'POST' && spec.guard !== 'ingest') checkKeyForm(request)

    const url = new URL(request.url)
    const search = url.searchParams
    const query = spec.query ? readQuery(spec.query, search) : readQuery(noParameters, search)
    if (caller && spec.expands) await authoriseExpansion(hub, spec, caller, context, query)
    const raw = spec.takes
      ? await readText(request, spec.takes)
      : spec.method === 'GET' || spec.rawBody
        ? new Uint8Array(0)
        : await readJson.bytes(request, spec.body !== undefined)
    // Where nothing is required, no body means no wishes.
    const body = spec.body
      ? raw.length === 0 && !(spec.body.required as string[] | undefined)?.length
        ? {}
        : readJson.parse(raw)
      : undefined
    if (spec.body) {
      const hostile = unstorable(body)
      const problems = hostile.length > 0 ? hostile : fieldProblems(spec.envelope ?? spec.body, body)
      if (problems.length > 0) throw invalid(problems)
    }
    if (deprecatedIn(spec).length > 0) tellDeprecated(hub, spec, caller, query, body, headers)
    const more = spec.cost ? spec.cost(body as never) - 1 : 0
    if (more > 0) {
      const rest = limiterOf(hub).take(buckets, now, more)
      tellLimits(headers, rest)
      if (!rest.allowed) throw limitReached(rest)
    }
    if (!isReadable(url.pathname)) throw notFound('path')
    if (caller && hasParameters(spec) && !isWithin(spec, caller, params)) throw notFound('resource')
    const ctx: Ctx = {
      hub,
      workspaceId: caller?.workspaceId ?? '',
      sessionId: caller?.session?.id ?? null,
      actor: caller?.actor ?? { type: 'anonymous', id: '', name: null, hint: null },
      context,
      permissions: caller?.permissions ?? new Set(),
      resourceIds: caller?.resourceIds ?? null,
      operator: caller?.operator ?? false,
      limits: caller?.limits ?? {},
      planId: caller?.planId ?? '',
      ifMatch: request.headers.get('if-match'),
      idempotency: null,
    }
    const seconds = spec.waits ? preferredWait(request.headers.get('prefer')) : null
    const waiting: Waiting | null =
      seconds === null
        ? null
        : {
            seconds,
            signal: request.signal,
            leave() {
              leave?.()
              leave = null
            },
            applied: false,
            waited: false,
          }
    const again = async () => {
      if (!caller) return ctx
      const now = await authenticateAgain(hub, request, caller)
      await authorise(hub, spec, now, request, ip, context)
      return now
    }
    const asked = { params, query, body, request, ip, bytes: raw, waiting, again }
    if (spec.streams)
      return ((await spec.run(ctx, asked)) as Streamed | EventStream).response(headers, error =>
        hub.log.error({ err: error, request_id: id }, 'an answer was cut off'),
      )
    const answer =
      spec.method === 'POST' && context.idempotency_key !== null && caller
        ? await runOnce(ctx, spec, asked, { search: search.toString(), body: raw }, headers)
        : await shapedAnswer(ctx, spec, asked, headers)
    if (waiting?.waited && caller) await authoriseAgain(hub, spec, caller, request, ip, context)
    if (waiting?.applied) headers['Preference-Applied'] = `wait=${waiting.seconds}`
    if (spec.method === 'GET' && answer.etag && matches(request.headers.get('if-none-match'), answer.etag)) {
      // A 304 is free of quota (platform.md S1).
      tellLimits(headers, limiterOf(hub).giveBack(buckets, now))
      return new Response(null, { status: 304, headers: { ...headers, ETag: answer.etag } })
    }
    if (answer.etag) headers.ETag = answer.etag
    if (answer.location) headers.Location = answer.location
    if (answer.status === 204) return new Response(null, { status: 204, headers })
    const next = nextPage(url, answer.body)
    if (next) headers.Link = headers.Link ? `${headers.Link}, ${next}` : next
    // A replay may be of a problem, and says so itself.
    headers['Content-Type'] ??= 'application/json; charset=utf-8'
    return new Response(answer.body, { status: answer.status, headers })
  } catch (error) {
    return problemAnswer(hub, error, id, headers, clientRequestId(request))
  } finally {
    leave?.()
  }
}

/** An error as the answer that is sent: a Problem as it says, a full disk as a 503, anything else as a 500 that tells nothing of the inside. */
export function problemAnswer(
  hub: Hub,
  error: unknown,
  id: string,
  headers: Record<string, string> = { ...answerHeaders, 'X-Request-Id': id },
  clientId: string | null = null,
): Response {
  const problem =
    error instanceof Problem
      ? error
      : isStorageFull(error)
        ? new Problem('storage_full', 'The disk of the database is full, and nothing was changed. The operator must make room.', {
            headers: { 'Retry-After': '30' },
          })
        : new Problem('internal_error', 'Something went wrong inside. The log has this request id.')
  if (!(error instanceof Problem)) hub.log.error({ err: error, request_id: id, client_request_id: clientId }, 'a request failed')
  return new Response(JSON.stringify(problemBody(problem, id)), {
    status: problem.status,
    headers: { ...headers, ...problem.extras.headers, 'Content-Type': 'application/problem+json; charset=utf-8' },
  })
}

/** Runs the verb and sends of its result what the caller asked to see. */
async function shapedAnswer(
  ctx: Ctx,
  spec: Route,
  asked: Parameters<Route['run']>[1],
  headers: Record<string, string>,
): Promise<StoredAnswer> {
  const result = await spec.run(ctx, asked)
  if (spec.method !== 'GET') return answerOf(ctx.hub, spec, result, headers, asked.params)
  const { fields, expand } = asked.query as { fields?: string[]; expand?: string[] }
  const whole = expand ? await withExpanded(ctx, spec.answer, spec.expands!, result, expand) : result
  return answerOf(ctx.hub, spec, result, headers, asked.params, withFields(spec.answer, whole, fields))
}

const answerHeaders = { 'Cache-Control': 'private, no-store', 'X-Content-Type-Options': 'nosniff' }
const noParameters = Shape({})

function tellLimits(headers: Record<string, string>, verdict: RateVerdict): void {
  if (!verdict.policyHeader) return
  headers['RateLimit-Policy'] = verdict.policyHeader
  headers.RateLimit = verdict.limitHeader
}

/** Says what of the request is deprecated, and counts it for the token. */
function tellDeprecated(
  hub: Hub,
  spec: Route,
  caller: Caller | null,
  query: Record<string, unknown>,
  body: unknown,
  headers: Record<string, string>,
): void {
  const used = usedBy(spec, query, body)
  if (used.length === 0) return
  Object.assign(headers, deprecationHeaders(used.map(one => one.notice)))
  if (caller?.token) noteDeprecatedUse(hub, caller.workspaceId, caller.token.id, used)
}

async function authorise(
  hub: Hub,
  spec: Route,
  caller: Caller,
  request: Request,
  ip: string,
  context: AuditContext,
): Promise<void> {
  try {
    if (caller.session && spec.method !== 'GET') checkOrigin(hub, request)
    if (!mayComeFrom(caller, ip)) {
      throw new Problem('address_not_allowed', 'This token may not be used from this address.')
    }
    if (caller.suspended && !spec.whileSuspended) throw suspended(caller.suspended)
    if (caller.apiAccess === 'none' || (caller.apiAccess === 'read' && spec.method !== 'GET')) {
      const has = caller.apiAccess === 'none' ? 'no access to the API' : 'access to the API for reading only'
      throw new Problem(
        'plan_no_api_access',
        `The plan ${caller.planId} has ${has}. Sign in at ${hub.baseUrl}, or ask the operator for another plan.`,
        { members: { plan: caller.planId } },
      )
    }
    if (spec.guard === 'operator' && !caller.operator) {
      throw new Problem(
        'insufficient_permission',
        'Only the operator of this installation may do this: with a full token of the operator’s workspace, or signed in as operator.',
        {
          members: { required_permission: 'operator' },
        },
      )
    }
    if (spec.guard.includes('.') && !caller.permissions.has(spec.guard as never)) throw missing(spec.guard)
    if (!hasParameters(spec) && !isWithin(spec, caller, {})) {
      throw new Problem(
        'narrowed_token',
        'This token is narrowed to some resources: it makes none, and sees nothing of the whole workspace.',
      )
    }
  } catch (error) {
    if (error instanceof Problem) await auditDenial(hub, spec, caller, context, error)
    throw error
  }
}

/** Holds a caller who waited to what they may do by now. @throws Problem 401, 403, 404 */
async function authoriseAgain(
  hub: Hub,
  spec: Route,
  before: Caller,
  request: Request,
  ip: string,
  context: AuditContext,
): Promise<void> {
  const caller = await authenticateAgain(hub, request, before)
  await authorise(hub, spec, caller, request, ip, context)
  const lost = [...before.permissions].find(one => one.endsWith('.read') && !caller.permissions.has(one))
  if (!lost) return
  const problem = missing(lost)
  await auditDenial(hub, spec, caller, context, problem)
  throw problem
}

/** Holds the caller to what they want to see along with the resource. @throws Problem 403 `insufficient_permission` */
async function authoriseExpansion(
  hub: Hub,
  spec: Route,
  caller: Caller,
  context: AuditContext,
  query: { expand?: string[] },
): Promise<void> {
  const lacking = neededBy(spec.expands!, query.expand ?? []).find(one => !caller.permissions.has(one))
  if (!lacking) return
  const problem = missing(lacking)
  await auditDenial(hub, spec, caller, context, problem)
  throw problem
}

/** Whether a token that is narrowed gets to the operation: to a list, and to what is below a resource of its own. */
function isWithin(spec: Route, caller: Caller, params: Record<string, string>): boolean {
  if (caller.resourceIds === null || spec.narrowed) return true
  return hasParameters(spec)
    ? caller.resourceIds.has(params.id ?? '')
    : spec.method === 'GET' && spec.query?.properties.cursor !== undefined
}

const hasParameters = (spec: Route): boolean => spec.path.includes(':')

const missing = (permission: string) =>
  new Problem('insufficient_permission', `This needs the permission ${permission}.`, {
    members: { required_permission: permission },
  })

/** A browser sends Origin with every write; the header of our own is what a form of another site cannot send. */
function checkOrigin(hub: Hub, request: Request): void {
  requireOwnOrigin(hub, request)
  if (request.headers.get('bailiwick-csrf') !== '1')
    throw new Problem('origin_not_allowed', 'A write with a session needs the header Bailiwick-Csrf: 1.')
}

function requireOwnOrigin(hub: Hub, request: Request): void {
  const origin = request.headers.get('origin')
  const own = new URL(request.url)
  const asSeen = `${hub.baseUrl.startsWith('https:') ? 'https:' : own.protocol}//${request.headers.get('host') ?? own.host}`
  if (origin === null || (origin !== asSeen && origin !== hub.baseUrl))
    throw new Problem('origin_not_allowed', 'The Origin header must name this site.')
}

async function auditDenial(hub: Hub, spec: Route, caller: Caller, context: AuditContext, problem: Problem): Promise<void> {
  await record(hub, async () => ({
    result: undefined,
    audits: [
      {
        workspaceId: caller.workspaceId,
        action: spec.action ?? 'account.resource.read',
        outcome: 'denied' as const,
        actor: caller.actor,
        context,
        targets: [],
        reason: `${spec.method} ${spec.path}: ${problem.detail}`,
      },
    ],
  }))
}

/** The Link header of a page that has another behind it (RFC 8288), or null. */
function nextPage(url: URL, body: string): string | null {
  // The envelope closes every list, so its end is enough to look at: parsing a page again would cost as much as making it.
  const cursor = /"next_cursor":"([\w-]+)"[^{}]*\}\}$/.exec(body.slice(-1200))?.[1]
  if (!cursor) return null
  const next = new URLSearchParams(url.search)
  next.set(next.has('after') ? 'after' : 'cursor', cursor)
  return `<${url.pathname}?${next}>; rel="next"`
}

/** Whether the path can be an id: percent-encoding that is broken, or stands for NUL, names nothing. */
function isReadable(pathname: string): boolean {
  if (!pathname.includes('%')) return true
  try {
    return !decodeURIComponent(pathname).includes('\0')
  } catch {
    return false
  }
}

function matches(header: string | null, etag: string): boolean {
  if (header === null) return false
  return header.trim() === '*' || header.split(',').some(one => one.trim().replace(/^W\//, '') === etag)
}
