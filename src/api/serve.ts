import { authenticate, authenticateAgain } from '../access/authenticate'
import { authorize, requireOwnOrigin, hasParameters, isReachable, reauthorize, refusePermission } from '../access/authorize'
import type { Caller } from '../access/callers'
import { enterRequest } from '../access/concurrency'
import { checkIdempotencyKey, clientRequestId, contextOf } from '../access/context'
import { limiterOf, rateLimited } from '../access/limiter'
import { noCredentials, type RateVerdict } from '../access/rate-limits'
import { startGrace } from '../access/token-use'
import type { Ctx, StoredResponse } from '../core/ctx'
import { isStorageFull, isUnavailable } from '../core/db/errors'
import type { AuditContext } from '../core/db/tables'
import { deprecationHeaders } from '../core/deprecation'
import type { Hub } from '../core/hub'
import { newId } from '../core/ids'
import { clientAddress, isEncrypted } from '../core/net/client-address'
import { invalid, notFound, Problem, problemBody } from '../core/problem'
import { parseQuery } from '../core/query'
import { Shape } from '../core/shapes'
import { fieldProblems } from '../core/validate'
import { recordDeprecatedUse } from './deprecated-use'
import { deprecatedIn, usedBy } from './deprecations'
import type { EventStream } from './event-stream'
import { permissionsForExpand, withExpanded } from './expand'
import { withFields } from './fields'
import { runIdempotent } from './idempotent-run'
import { preferredWait, type Waiting } from './long-poll'
import { readJson, readText, unstorable } from './request-body'
import { matchesEtag, responseOf } from './response'
import type { Route } from './route-declaration'
import type { StreamedResponse } from './streamed-response'

/** The part of Bun's server that knows the client's socket address. */
export interface Peer {
  requestIP(request: Request): { address: string } | null
}

const originals = new WeakMap<Request, Request>()
/** Links a request that the hub derived from a received one, so that both share client address and request id. */
export function withOriginal(derived: Request, original: Request): Request {
  originals.set(derived, original)
  return derived
}

const requestIds = new WeakMap<Request, string>()
/** The id of a request; responses carry it as X-Request-Id. */
export function requestId(derived: Request): string {
  const request = originals.get(derived) ?? derived
  let id = requestIds.get(request)
  if (!id) requestIds.set(request, (id = newId('req')))
  return id
}

/** The client's IP address: the socket address, or the address reported by a trusted proxy. */
export function callerIp(hub: Hub, request: Request, peer: Peer | null): string {
  const socket = peer?.requestIP(originals.get(request) ?? request)?.address ?? '127.0.0.1'
  return clientAddress(socket, request.headers, hub.config.trustedProxies)
}

/** Whether the client uses HTTPS, to the hub or to a trusted proxy. */
export function callerUsesHttps(hub: Hub, request: Request, peer: Peer | null): boolean {
  const address = peer?.requestIP(originals.get(request) ?? request)?.address ?? '127.0.0.1'
  return isEncrypted({ address, encrypted: hub.config.tlsCert !== null }, request.headers, hub.config.trustedProxies)
}

/**
 * Serves one operation. Checks in this order: the credential (401), rate limits (429), the permission (403), the request itself
 * (400, 413, 415, 422), and then whatever the handler finds (404, 409, 412, plan 403).
 */
export async function serve(
  hub: Hub,
  spec: Route,
  request: Request,
  params: Record<string, string>,
  peer: Peer | null,
): Promise<Response> {
  const id = requestId(request)
  const headers: Record<string, string> = { ...defaultHeaders, 'X-Request-Id': id }
  let leave: (() => void) | null = null
  try {
    if (spec.noHead && (originals.get(request) ?? request).method === 'HEAD')
      throw new Problem('method_not_allowed', 'HEAD is not allowed here. Allowed: GET, POST.', {
        headers: { Allow: 'GET, POST' },
      })
    const ip = callerIp(hub, request, peer)
    const caller = await authenticate(hub, spec, request, { id, ip }, headers)
    leave = caller && enterRequest(hub, caller)
    // Requests with a scoped secret count against that secret, in the handler.
    const buckets = caller?.buckets ?? (spec.guard === 'ingest' ? [] : [noCredentials(ip, hub.config.anonymousPerMinute)])
    const now = hub.clock.now()
    const verdict = limiterOf(hub).take(buckets, now)
    setRateLimitHeaders(headers, verdict)
    if (!verdict.allowed) throw rateLimited(verdict)
    const context = contextOf(request, id, ip, caller, spec.guard)
    if (caller) await authorize(hub, spec, caller, request, ip, context)
    if (spec.deprecated) Object.assign(headers, deprecationHeaders([spec.deprecated]))
    if (caller?.token?.startsGrace) await startGrace(hub, caller, context)
    // Another site must not be able to sign a browser in to an account of its choice.
    if (spec.guard === 'anyone' && spec.method !== 'GET' && request.headers.has('origin')) requireOwnOrigin(hub, request)
    if (spec.method === 'POST' && spec.guard !== 'ingest') checkIdempotencyKey(request)

    const url = partsOf(request.url)
    const query: Record<string, unknown> = parseQuery(
      spec.query ?? noParameters,
      url.search === '' ? noSearch : new URLSearchParams(url.search),
    )
    if (caller && spec.expands && query.expand !== undefined)
      await authorizeExpansion(hub, spec, caller, context, query.expand as string[])
    const raw = spec.textBody
      ? await readText(request, spec.textBody)
      : spec.method === 'GET' || spec.rawBody
        ? new Uint8Array(0)
        : await readJson.bytes(request, spec.body !== undefined, spec.guard === 'anyone' ? maxAnonymousBytes : undefined)
    // If no field is required, an empty body counts as an empty object.
    const schema = spec.rawBody ? undefined : spec.body
    const body = schema
      ? raw.length === 0 && !(schema.required as string[] | undefined)?.length
        ? {}
        : readJson.parse(raw)
      : undefined
    if (schema) {
      const unstorableErrors = unstorable(body)
      const problems = unstorableErrors.length > 0 ? unstorableErrors : fieldProblems(spec.envelope ?? schema, body)
      if (problems.length > 0) throw invalid(problems)
    }
    if (spec.needsIdempotencyKey && context.idempotency_key === null && query.dry_run !== true)
      throw new Problem(
        'idempotency_key_required',
        'Requests of this operation can spend money. Send an Idempotency-Key header, so that it is safe to repeat them.',
      )
    if (deprecatedIn(spec).length > 0) reportDeprecatedUse(hub, spec, caller, query, body, headers)
    const more = spec.cost ? spec.cost(body as never) - 1 : 0
    if (more > 0) {
      const rest = limiterOf(hub).take(buckets, now, more)
      setRateLimitHeaders(headers, rest)
      if (!rest.allowed) throw rateLimited(rest)
    }
    if (!isReadable(url.pathname)) throw notFound('path')
    if (caller && hasParameters(spec) && !isReachable(spec, caller, params)) throw notFound('resource')
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
    const seconds = spec.longPoll ? preferredWait(request.headers.get('prefer')) : null
    const waiting: Waiting | null =
      seconds === null
        ? null
        : {
            seconds,
            signal: request.signal,
            onWait() {
              leave?.()
              leave = null
            },
            applied: false,
            waited: false,
          }
    const reauthenticate = async () => {
      if (!caller) return ctx
      const now = await authenticateAgain(hub, request, caller)
      await authorize(hub, spec, now, request, ip, context)
      return now
    }
    const isHttps = callerUsesHttps(hub, request, peer)
    const input = { params, query, body, request, ip, isHttps, bytes: raw, waiting, reauthenticate }
    if (spec.streams)
      return ((await spec.run(ctx, input)) as StreamedResponse | EventStream).response(headers, error =>
        hub.log.error({ err: error, request_id: id }, 'a streamed response was cut off'),
      )
    const response =
      spec.method === 'POST' && context.idempotency_key !== null && caller
        ? await runIdempotent(ctx, spec, input, { search: new URLSearchParams(url.search).toString(), body: raw }, headers)
        : await runShaped(ctx, spec, input, headers)
    if (waiting?.waited && caller) await reauthorize(hub, spec, caller, request, ip, context)
    if (waiting?.applied) headers['Preference-Applied'] = `wait=${waiting.seconds}`
    if (spec.method === 'GET' && response.etag && matchesEtag(request.headers.get('if-none-match'), response.etag)) {
      // A 304 does not count against the quota.
      setRateLimitHeaders(headers, limiterOf(hub).refund(buckets, now))
      return new Response(null, { status: 304, headers: { ...headers, ETag: response.etag } })
    }
    if (response.etag) headers.ETag = response.etag
    if (response.location) headers.Location = response.location
    if (response.status === 204) return new Response(null, { status: 204, headers })
    const next = nextPageLink(url, response.body)
    if (next) headers.Link = headers.Link ? `${headers.Link}, ${next}` : next
    // A replayed response may be a problem, with its own Content-Type.
    headers['Content-Type'] ??= 'application/json; charset=utf-8'
    return new Response(response.body, { status: response.status, headers })
  } catch (error) {
    return problemResponse(hub, error, id, headers, clientRequestId(request))
  } finally {
    leave?.()
  }
}

/** An error that no operation expected: 503 if the database is full or unavailable, otherwise 500 without internal details. */
function problemOf(error: unknown): Problem {
  if (isStorageFull(error))
    return new Problem(
      'storage_full',
      'The database disk is full, and nothing was changed. The operator must free up disk space.',
      {
        headers: { 'Retry-After': '30' },
      },
    )
  if (isUnavailable(error))
    return new Problem(
      'database_unavailable',
      'The database is unavailable. Try again in a few seconds. If the connection was lost during a commit, the change may have been made.',
      { headers: { 'Retry-After': '5' } },
    )
  return new Problem('internal_error', 'An internal error occurred. Search the server log for the request ID.')
}

/** The response to an error: a Problem as it is, anything else as 503 or 500. */
export function problemResponse(
  hub: Hub,
  error: unknown,
  id: string,
  headers: Record<string, string> = { ...defaultHeaders, 'X-Request-Id': id },
  clientId: string | null = null,
): Response {
  const problem = error instanceof Problem ? error : problemOf(error)
  if (!(error instanceof Problem)) hub.log.error({ err: error, request_id: id, client_request_id: clientId }, 'a request failed')
  return new Response(JSON.stringify(problemBody(problem, id)), {
    status: problem.status,
    headers: { ...headers, ...problem.extras.headers, 'Content-Type': 'application/problem+json; charset=utf-8' },
  })
}

/** Runs the handler, and applies `fields` and `expand` to its result. */
async function runShaped(
  ctx: Ctx,
  spec: Route,
  input: Parameters<Route['run']>[1],
  headers: Record<string, string>,
): Promise<StoredResponse> {
  const result = await spec.run(ctx, input)
  if (spec.method !== 'GET') return responseOf(ctx.hub, spec, result, headers, input.params)
  const { fields, expand } = input.query as { fields?: string[]; expand?: string[] }
  const whole = expand ? await withExpanded(ctx, spec.response, spec.expands!, result, expand) : result
  return responseOf(ctx.hub, spec, result, headers, input.params, withFields(spec.response, whole, fields))
}

const defaultHeaders = { 'Cache-Control': 'private, no-store', 'X-Content-Type-Options': 'nosniff' }
const noParameters = Shape({})
const noSearch = new URLSearchParams()
/** Maximum size of the body of a request that needs no credentials. */
const maxAnonymousBytes = 64 * 1024

function setRateLimitHeaders(headers: Record<string, string>, verdict: RateVerdict): void {
  if (!verdict.policyHeader) return
  headers['RateLimit-Policy'] = verdict.policyHeader
  headers.RateLimit = verdict.limitHeader
}

/** Adds the headers for deprecated parts that the request uses, and counts their use for the token. */
function reportDeprecatedUse(
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
  if (caller?.token) recordDeprecatedUse(hub, caller.workspaceId, caller.token.id, used)
}

/** Requires the permissions for the expanded resources. @throws Problem 403 `insufficient_permission` */
async function authorizeExpansion(
  hub: Hub,
  spec: Route,
  caller: Caller,
  context: AuditContext,
  paths: readonly string[],
): Promise<void> {
  const missing = permissionsForExpand(spec.expands!, paths).find(one => !caller.permissions.has(one))
  if (missing) await refusePermission(hub, spec, caller, context, missing)
}

/** The Link header of a list page that has a next page (RFC 8288), or null. */
function nextPageLink(url: UrlParts, body: string): string | null {
  // The pagination object is at the end of every list. Parsing the whole page would cost as much as creating it.
  const cursor = /"next_cursor":"([\w-]+)"[^{}]*\}\}$/.exec(body.slice(-1200))?.[1]
  if (!cursor) return null
  const next = new URLSearchParams(url.search)
  next.set(next.has('after') ? 'after' : 'cursor', cursor)
  return `<${url.pathname}?${next}>; rel="next"`
}

interface UrlParts {
  pathname: string
  /** Without the question mark. */
  search: string
}

/** Returns the parts of an absolute URL. Parsing it as a URL takes several times as long. */
export function partsOf(url: string): UrlParts {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const fragment = url.indexOf('#', start)
  const end = fragment < 0 ? url.length : fragment
  const mark = url.indexOf('?', start)
  return mark < 0 || mark > end
    ? { pathname: url.slice(start, end), search: '' }
    : { pathname: url.slice(start, mark), search: url.slice(mark + 1, end) }
}

/** Whether the path is valid: no broken percent-encoding and no encoded NUL. */
function isReadable(pathname: string): boolean {
  if (!pathname.includes('%')) return true
  try {
    return !decodeURIComponent(pathname).includes('\0')
  } catch {
    return false
  }
}
