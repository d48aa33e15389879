import { Type } from '@sinclair/typebox'
import { Elysia, type AnyElysia } from 'elysia'
import { callerIp, problemResponse, requestId, type Peer } from '../../../api/serve'
import { readStart } from '../../../api/request-body'
import { area, route } from '../../../api/route'
import type { Method } from '../../../access/guard'
import type { RouteInput } from '../../../api/route-declaration'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { notFound, Problem, tooManyRequests } from '../../../core/problem'
import { Words } from '../../../core/shapes'
import { receivePing, type PingRequest, type PingResult } from './receive'
import { PingReceipt, type PingReceipt as PingReceiptView } from '../shapes'

const slugQuery =
  ' With a slug, `create=1` creates the heartbeat if it doesn’t exist, unless the plan of the workspace doesn’t allow more heartbeats (404). A slug that ' +
  'several heartbeats have returns 409.'

const pingQuery = Type.Object(
  {
    rid: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'UUID that identifies the run. Send the same one with the start and the end of a run, so that runs can overlap.',
      }),
    ),
    create: Type.Optional(
      Words(['0', '1'], {
        description: '`1`: create the heartbeat if no heartbeat has this slug. Ignored with a UUID. Default: `0`.',
      }),
    ),
    every: Type.Optional(
      Type.String({
        maxLength: 20,
        description:
          'With `create=1`: period of the new heartbeat, in seconds or with a unit (`s`, `m`, `h`, `d`, `w`), from `5s` to `365d`. Default: `1d`.',
      }),
    ),
    grace: Type.Optional(
      Type.String({
        maxLength: 20,
        description:
          'With `create=1`: grace period of the new heartbeat, in seconds or with a unit (`s`, `m`, `h`, `d`, `w`), from `1s` to `365d`. Default: `1h`.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** The ping API of Healthchecks, with identical responses, so that its clients work unchanged. */
export const pingRoutes: AnyElysia = ['/ping/:target', '/ping/:target/:suffix', '/ping/:target/:suffix/:action']
  .reduce(
    (app: AnyElysia, path) =>
      [path, `${path}/`].reduce((inner: AnyElysia, one) => inner.all(one, handlePing, { parse: 'none' }), app),
    new Elysia({ name: 'pings' }) as AnyElysia,
  )
  .get('/api/push/:token', handlePush)
  .get('/api/push/:token/', handlePush)

/** The same endpoints under /v1, with JSON responses. */
export const jsonPingRoutes = area(
  'json-pings',
  'Ingest',
  (['GET', 'POST'] as const).flatMap(method => [
    jsonPingRoute(method, ['target'], 'ping', 'Ping a heartbeat', 'Reports that the job succeeded.'),
    jsonPingRoute(
      method,
      ['target', 'suffix'],
      'pingWithResult',
      'Ping a heartbeat with a result',
      'With a UUID, reports what `suffix` says: `start` starts a run, `fail` reports a failure, `log` stores the request body without changing the status, and an exit status reports success (0) or failure (1 to 255). With the ping key, `suffix` is a slug, and the ping reports success.',
    ),
    jsonPingRoute(
      method,
      ['target', 'suffix', 'action'],
      'pingBySlugWithResult',
      'Ping a heartbeat by slug with a result',
      'Reports what `action` says for the heartbeat with this slug: `start` starts a run, `fail` reports a failure, `log` stores the request body without changing the status, and an exit status reports success (0) or failure (1 to 255).',
    ),
  ]),
)

const statusCodes: Record<Exclude<PingResult['outcome'], 'recorded' | 'rate limited'>, number> = {
  'not found': 404,
  'invalid url format': 400,
  'invalid uuid format': 400,
  'invalid schedule': 400,
  'ambiguous slug': 409,
}

type Context = { request: Request; params: Record<string, string>; server: Peer | null; hub: Hub }

async function handlePing(context: unknown): Promise<Response> {
  const { request, params, server, hub } = context as Context
  const { values: headers, ok } = pingHeaders(hub)
  try {
    const result = await receivePing(hub, await pingRequest(hub, request, params, callerIp(hub, request, server)))
    if (result.outcome === 'recorded')
      return new Response(result.created ? 'Created' : 'OK', { status: result.created ? 201 : 200, headers: ok })
    if (result.outcome === 'rate limited') {
      return new Response('rate limited, try again shortly', {
        status: 429,
        headers: { ...headers, 'Retry-After': String(result.retryAfterSeconds) },
      })
    }
    return new Response(result.outcome, { status: statusCodes[result.outcome], headers })
  } catch (error) {
    if (!(error instanceof Problem)) return problemResponse(hub, error, requestId(request))
    return new Response(error.detail, { status: error.status, headers: { ...headers, ...error.extras.headers } })
  }
}

interface PingHeaders {
  values: Record<string, string>
  /** The same, because building them takes as long as the rest of a response. */
  ok: Headers
}

const headersByHub = new WeakMap<Hub, PingHeaders>()

function pingHeaders(hub: Hub): PingHeaders {
  const known = headersByHub.get(hub)
  if (known) return known
  const values = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Access-Control-Allow-Origin': '*',
    'Ping-Body-Limit': String(hub.config.pingBodyLimit),
    'Cache-Control': 'max-age=0, no-cache, no-store, must-revalidate, private',
  }
  const built = { values, ok: new Headers(values) }
  headersByHub.set(hub, built)
  return built
}

/** The push URL of Uptime Kuma: `status=up|down`; `msg` is stored as the body. */
async function handlePush(context: unknown): Promise<Response> {
  const { request, params, server, hub } = context as Context
  const query = new URL(request.url).searchParams
  const down = query.get('status') === 'down'
  const result = await receivePing(hub, {
    parts: down ? [params.token!, 'fail'] : [params.token!],
    query: new URLSearchParams(),
    method: request.method,
    source: callerIp(hub, request, server),
    userAgent: request.headers.get('user-agent') ?? '',
    body: new TextEncoder().encode(query.get('msg') ?? ''),
  })
  if (result.outcome === 'recorded') return Response.json({ ok: true })
  if (result.outcome === 'rate limited')
    return Response.json(
      { ok: false, msg: 'Try again shortly.' },
      { status: 429, headers: { 'Retry-After': String(result.retryAfterSeconds) } },
    )
  return Response.json({ ok: false, msg: 'Monitor not found or not active.' }, { status: 404 })
}

async function pingRequest(hub: Hub, request: Request, params: Record<string, string>, source: string): Promise<PingRequest> {
  const parts = [params.target, params.suffix, params.action].filter(part => part !== undefined)
  const start = request.url.indexOf('?')
  return {
    parts,
    query: start < 0 ? noQuery : new URLSearchParams(request.url.slice(start)),
    method: request.method,
    source,
    userAgent: request.headers.get('user-agent') ?? '',
    body: request.body && hub.config.pingBodyLimit > 0 ? await readStart(request.body, hub.config.pingBodyLimit) : null,
  }
}

const noQuery = new URLSearchParams()

function jsonPingRoute(
  method: Extract<Method, 'GET' | 'POST'>,
  names: string[],
  operation: string,
  summary: string,
  description: string,
) {
  return route({
    method,
    path: `/v1/ingest/heartbeats/${names.map(name => `:${name}`).join('/')}`,
    guard: 'ingest',
    action: 'heartbeat.ping',
    operationId: `${operation}${method === 'GET' ? 'ByGet' : 'ByPost'}`,
    summary: `${summary} (${method})`,
    description: `${description}${names.length > 1 ? slugQuery : ''}`,
    rawBody: true,
    response: PingReceipt,
    problems: ['conflict', 'malformed_request', 'overloaded'],
    query: pingQuery,
    run: handleJsonPing,
  })
}

async function handleJsonPing(ctx: Ctx, { request, params, ip }: RouteInput<unknown, unknown>): Promise<PingReceiptView> {
  const result = await receivePing(ctx.hub, await pingRequest(ctx.hub, request, params, ip))
  switch (result.outcome) {
    case 'recorded':
      return {
        ok: true,
        heartbeat_id: result.ping.heartbeatId,
        created: result.created,
        n: result.ping.n,
        kind: result.ping.kind,
      }
    case 'rate limited':
      throw tooManyRequests(result.retryAfterSeconds)
    case 'not found':
      throw notFound('heartbeat')
    case 'ambiguous slug':
      throw new Problem('conflict', 'More than one heartbeat has this slug. Use the ping URL with the UUID instead.')
    case 'invalid uuid format':
      throw new Problem('malformed_request', '`rid` must be a UUID.')
    case 'invalid schedule':
      throw new Problem(
        'malformed_request',
        '`every` must be between 5s and 365d, and `grace` between 1s and 365d, such as 90s, 30m, 12h, or 7d.',
      )
    case 'invalid url format':
      throw new Problem('malformed_request', 'The exit status must be between 0 and 255, and slugs must be lowercase.')
  }
}
