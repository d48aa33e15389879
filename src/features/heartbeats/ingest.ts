import { Type } from '@sinclair/typebox'
import { Elysia, type AnyElysia } from 'elysia'
import { callerAddress, problemAnswer, requestId, type Peer } from '../../access/door'
import { area, route, type Asked, type Method } from '../../access/route'
import type { Ctx } from '../../core/ctx'
import type { Hub } from '../../core/hub'
import { notFound, Problem, tryAgain } from '../../core/problem'
import { Words } from '../../core/shapes'
import { receivePing, type Receipt, type Received } from './receive'
import { PingReceipt, type PingReceipt as PingReceiptView } from './shapes'

const twinQuery = Type.Object(
  {
    rid: Type.Optional(Type.String({ maxLength: 100, description: 'Id of the run, a UUID: ties a start to its end.' })),
    create: Type.Optional(Words(['0', '1'], { description: '`1` makes a heartbeat for an unknown slug.' })),
    every: Type.Optional(Type.String({ maxLength: 20, description: 'Period of a heartbeat that is made, such as `30m`.' })),
    grace: Type.Optional(Type.String({ maxLength: 20, description: 'Grace time of a heartbeat that is made, such as `5m`.' })),
  },
  { additionalProperties: false },
)

/** The ping API of Healthchecks, answered byte for byte, for the clients that are written to it. */
export const pingRoutes: AnyElysia = ['/ping/:target', '/ping/:target/:suffix', '/ping/:target/:suffix/:action']
  .reduce(
    (app: AnyElysia, path) =>
      [path, `${path}/`].reduce((inner: AnyElysia, one) => inner.all(one, pinged, { parse: 'none' }), app),
    new Elysia({ name: 'pings' }) as AnyElysia,
  )
  .get('/api/push/:token', pushed)
  .get('/api/push/:token/', pushed)

/** The same pings with JSON answers. */
export const pingTwinRoutes = area(
  'ping-twins',
  'Ingest',
  (['GET', 'POST'] as const).flatMap(method => [
    twin(method, ['target'], 'ping', 'Ping a heartbeat', 'Tells that the job succeeded. `target` is the heartbeat’s UUID.'),
    twin(
      method,
      ['target', 'suffix'],
      'pingWith',
      'Ping a heartbeat with a result',
      '`suffix` is `start`, `fail`, `log` or an exit status from 0 to 255; or, with a ping key as `target`, a slug.',
    ),
    twin(
      method,
      ['target', 'suffix', 'action'],
      'pingBySlugWith',
      'Ping a heartbeat by slug with a result',
      '`target` is the ping key, `suffix` the slug, `action` one of `start`, `fail`, `log` or an exit status.',
    ),
  ]),
)

const words: Record<Exclude<Receipt['outcome'], 'taken' | 'rate limited'>, number> = {
  'not found': 404,
  'invalid url format': 400,
  'invalid uuid format': 400,
  'invalid schedule': 400,
  'ambiguous slug': 409,
}

type Context = { request: Request; params: Record<string, string>; server: Peer | null; hub: Hub }

async function pinged(context: unknown): Promise<Response> {
  const { request, params, server, hub } = context as Context
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Access-Control-Allow-Origin': '*',
    'Ping-Body-Limit': String(hub.config.pingBodyLimit),
    'Cache-Control': 'max-age=0, no-cache, no-store, must-revalidate, private',
  }
  try {
    const receipt = await receivePing(hub, await receivedFrom(hub, request, params, callerAddress(hub, request, server)))
    if (receipt.outcome === 'taken')
      return new Response(receipt.created ? 'Created' : 'OK', { status: receipt.created ? 201 : 200, headers })
    if (receipt.outcome === 'rate limited') {
      return new Response('rate limited, try again shortly', {
        status: 429,
        headers: { ...headers, 'Retry-After': String(receipt.retryAfterSeconds) },
      })
    }
    return new Response(receipt.outcome, { status: words[receipt.outcome], headers })
  } catch (error) {
    if (!(error instanceof Problem)) return problemAnswer(hub, error, requestId(request))
    return new Response(error.detail, { status: error.status, headers: { ...headers, ...error.extras.headers } })
  }
}

/** The push address of Uptime Kuma: `status=up|down`, `msg` is kept as the body. */
async function pushed(context: unknown): Promise<Response> {
  const { request, params, server, hub } = context as Context
  const query = new URL(request.url).searchParams
  const down = query.get('status') === 'down'
  const receipt = await receivePing(hub, {
    parts: down ? [params.token!, 'fail'] : [params.token!],
    query: new URLSearchParams(),
    method: request.method,
    source: callerAddress(hub, request, server),
    userAgent: request.headers.get('user-agent') ?? '',
    body: new TextEncoder().encode(query.get('msg') ?? ''),
  })
  if (receipt.outcome === 'taken') return Response.json({ ok: true })
  if (receipt.outcome === 'rate limited')
    return Response.json(
      { ok: false, msg: 'Try again shortly.' },
      { status: 429, headers: { 'Retry-After': String(receipt.retryAfterSeconds) } },
    )
  return Response.json({ ok: false, msg: 'Monitor not found or not active.' }, { status: 404 })
}

async function receivedFrom(hub: Hub, request: Request, params: Record<string, string>, source: string): Promise<Received> {
  const parts = [params.target, params.suffix, params.action].filter(part => part !== undefined)
  const start = request.url.indexOf('?')
  return {
    parts,
    query: new URLSearchParams(start < 0 ? '' : request.url.slice(start)),
    method: request.method,
    source,
    userAgent: request.headers.get('user-agent') ?? '',
    body: request.body && hub.config.pingBodyLimit > 0 ? await firstBytes(request.body, hub.config.pingBodyLimit) : null,
  }
}

/** The start of a body. Nothing beyond it is held, since whoever sends it has not shown that they may. */
async function firstBytes(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const kept: Uint8Array[] = []
  let length = 0
  for await (const part of stream) {
    if (length < most) kept.push(part.slice(0, most - length))
    length += part.length
  }
  return Buffer.concat(kept)
}

function twin(method: Extract<Method, 'GET' | 'POST'>, names: string[], operation: string, summary: string, description: string) {
  return route({
    method,
    path: `/v1/ingest/heartbeats/${names.map(name => `:${name}`).join('/')}`,
    guard: 'ingest',
    action: 'heartbeat.ping',
    operationId: `${operation}${method === 'GET' ? 'ByGet' : 'ByPost'}`,
    summary: `${summary} (${method})`,
    description: `${description} The query may hold \`rid\`, the UUID of a run, and \`create=1\`, which makes a heartbeat for an unknown slug, with \`every\` and \`grace\` such as \`30m\`.`,
    rawBody: true,
    answer: PingReceipt,
    problems: ['not_found', 'conflict', 'malformed_request'],
    query: twinQuery,
    run: twinPing,
  })
}

async function twinPing(ctx: Ctx, { request, params, ip }: Asked<unknown, unknown>): Promise<PingReceiptView> {
  const receipt = await receivePing(ctx.hub, await receivedFrom(ctx.hub, request, params, ip))
  switch (receipt.outcome) {
    case 'taken':
      return {
        ok: true,
        heartbeat_id: receipt.taken.heartbeatId,
        created: receipt.created,
        n: receipt.taken.n,
        kind: receipt.taken.kind,
      }
    case 'rate limited':
      throw tryAgain(receipt.retryAfterSeconds)
    case 'not found':
      throw notFound('heartbeat')
    case 'ambiguous slug':
      throw new Problem('conflict', 'Several heartbeats have this slug; ping by UUID.')
    case 'invalid uuid format':
      throw new Problem('malformed_request', 'rid must be a UUID.')
    case 'invalid schedule':
      throw new Problem('malformed_request', 'every must be 5s to 365d and grace 1s to 365d, such as 90s, 30m, 12h or 7d.')
    case 'invalid url format':
      throw new Problem('malformed_request', 'The exit status must be from 0 to 255, and a slug in lower case.')
  }
}
