import { Elysia, type AnyElysia } from 'elysia'
import { clientRequestId } from '../access/context'
import { registerOperations } from '../api/deprecated-use'
import { callerIp, problemResponse, requestId, withOriginal, type Peer } from '../api/serve'
import { limiterOf, rateLimited } from '../access/limiter'
import { noCredentials } from '../access/rate-limits'
import type { Hub } from '../core/hub'
import type { Worker } from '../core/jobs/worker'
import { loopBlocks } from '../core/loop-blocks'
import { redactPath } from './redact-path'
import { notFound, Problem } from '../core/problem'
import { acknowledgePages } from './acknowledge-page'
import { isClientPath } from '../features/dynamic-ips/ingest/ingest'
import { apiAreas, ingestAreas, specsOf } from './areas'
import { notReady, readiness, setWorker } from './health'
import { requireMetricsAccess, Metrics } from './metrics'
import { downloadRoutes } from './downloads/downloads'
import { pageRoutes } from './pages'

/**
 * Creates the Elysia app with everything that the hub serves.
 * @param areas the areas of the API
 */
export function createApp(hub: Hub, worker: Worker, areas: readonly AnyElysia[] = [...apiAreas, ...ingestAreas]): AnyElysia {
  const metrics = new Metrics(hub, worker)
  setWorker(hub, worker)
  const arrivals = new WeakMap<Request, number>()
  // onAfterResponse does not get the responses of onError.
  const failures = new WeakMap<Request, number>()
  const failed = (request: Request, response: Response) => {
    failures.set(request, response.status)
    return response
  }
  const serveAs = (request: Request, other: Request) => {
    // Only the substitute request is counted in the metrics.
    arrivals.delete(request)
    return handleAs(app, request, other)
  }
  let app: AnyElysia = new Elysia({ name: 'hub', normalize: false, strictPath: true })
    .decorate('hub', hub)
    .decorate('worker', worker)
    .onRequest(({ request }): Response | Promise<Response> | undefined => {
      const now = performance.now()
      arrivals.set(request, now)
      loopBlocks.expectMoreWork(now)
      const readable = withReadableUrl(request)
      if (readable) return serveAs(request, readable)
      if (hasUsableHost(request)) return undefined
      failures.set(request, 400)
      return problemResponse(
        hub,
        new Problem('malformed_request', 'The Host header is not a valid hostname and port.'),
        requestId(request),
      )
    })
    .onError(async ({ code, error, request, server }) => {
      if (code !== 'NOT_FOUND') return failed(request, problemResponse(hub, error, requestId(request)))
      const other = substituteRequest(hub, app, request)
      if (!other) return failed(request, noRouteResponse(hub, app, request, server))
      return failed(request, await serveAs(request, other))
    })
    .onAfterResponse(({ request, set, response, route }) => {
      const status = failures.get(request) ?? (response instanceof Response ? response.status : Number(set.status ?? 200))
      const arrived = arrivals.get(request)
      if (arrived !== undefined)
        metrics.recordResponse(request.method, route ?? 'none', status, (performance.now() - arrived) / 1000)
      if (!hub.log.isLevelEnabled('debug')) return
      const ids = { request_id: requestId(request), client_request_id: clientRequestId(request) }
      hub.log.debug({ ...ids, method: request.method, path: redactPath(pathOf(request)), status }, 'request handled')
    })
    .use(operatorRoutes(hub, metrics))
    .use(pageRoutes)
    .use(downloadRoutes())
    .use(acknowledgePages)
  for (const routes of areas) app = app.use(routes)
  registerOperations(hub, specsOf(areas))
  return app
}

/** Health, readiness and metrics. */
function operatorRoutes(hub: Hub, metrics: Metrics): AnyElysia {
  const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }
  return new Elysia({ name: 'operator' })
    .get('/healthz', () => Response.json({ status: 'ok' }, { headers }))
    .get('/readyz', async ({ request }) => {
      const state = await readiness(hub)
      return state.status === 'ready'
        ? Response.json(state, { headers })
        : problemResponse(hub, notReady(state), requestId(request))
    })
    .get('/metrics', async ({ request, server }) => {
      try {
        requireMetricsAccess(hub, request, server)
        return new Response(await metrics.text(), { headers: { ...headers, 'Content-Type': metrics.contentType } })
      } catch (error) {
        return problemResponse(hub, error, requestId(request))
      }
    })
}

/** For a request without a route, returns the one to handle instead: GET for HEAD, and `/ping/…` for short paths on the ping host. */
function substituteRequest(hub: Hub, app: AnyElysia, request: Request): Request | null {
  const url = new URL(request.url)
  if (request.method === 'HEAD' && methodsAt(app, url.pathname).includes('GET'))
    return new Request(request.url, { headers: request.headers })
  // A UUID or a ping key. No other path at the root has this form.
  const pingPath = /^\/([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9_-]{22})(\/|$)/
  if (hub.config.pingHost === null || url.hostname.toLowerCase() !== hub.config.pingHost || !pingPath.test(url.pathname))
    return null
  return new Request(`${url.origin}/ping${url.pathname}${url.search}`, request)
}

async function handleAs(app: AnyElysia, request: Request, other: Request): Promise<Response> {
  const response = await app.handle(withOriginal(other, request))
  if (request.method !== 'HEAD') return response
  // Stops streamed bodies, which nobody reads.
  await response.body?.cancel()
  return new Response(null, { status: response.status, headers: response.headers })
}

/** The response for a path and method without a route: 405 if the path has other methods, otherwise 404. */
function noRouteResponse(hub: Hub, app: AnyElysia, request: Request, server: Peer | null): Response {
  const methods = methodsAt(app, pathOf(request))
  const verdict = limiterOf(hub).take(
    [noCredentials(callerIp(hub, request, server), hub.config.anonymousPerMinute)],
    hub.clock.now(),
  )
  const id = requestId(request)
  if (!verdict.allowed) return problemResponse(hub, rateLimited(verdict), id)
  if (methods.length === 0) return problemResponse(hub, notFound('path'), id)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  return problemResponse(
    hub,
    new Problem('method_not_allowed', `${request.method} is not allowed here. Allowed: ${allow}.`, { headers: { Allow: allow } }),
    id,
  )
}

function methodsAt(app: AnyElysia, path: string): string[] {
  const matching = app.routes.filter(one => matches(one.path, path))
  // A literal path takes precedence over one with parameters.
  const literal = matching.filter(one => one.path === path)
  return [...new Set((literal.length > 0 ? literal : matching).map(one => one.method))]
}

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const parts = path.split('/')
  return (
    expected.length === parts.length &&
    expected.every((part, at) => (part.startsWith(':') ? parts[at] !== '' : part === parts[at]))
  )
}

/**
 * The request to handle instead of one whose URL the router can’t match: with a host of at most three characters, or a report of a
 * dynamic IP client without a usable Host header (HTTP/1.0) or with two slashes at the start. Null for all others.
 */
function withReadableUrl(request: Request): Request | null {
  const { url } = request
  const start = pathStart(url)
  const isReport = isClientPath(pathOf(request))
  const isUsable = hasUsableHost(request)
  const isReadable = start >= minPathStart && !(isReport && url.startsWith('//', start))
  if (isUsable ? isReadable : !isReport) return null
  const path = url.slice(start)
  return new Request(`http://localhost${isReport ? path.replace(/^\/+/, '/') : path}`, request)
}

// The router looks for the path after this many characters of the URL.
const minPathStart = 11

/** Bun builds the URL of a request from the unvalidated Host header, so the URL can be unparsable. */
function hasUsableHost(request: Request): boolean {
  return /^[A-Za-z0-9.-]+(:\d{1,4})?$/.test(request.headers.get('host') ?? '') || URL.canParse(request.url)
}

/** Returns the path of a request, even if its URL is unparsable. */
function pathOf({ url }: Request): string {
  const start = pathStart(url)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
}

/** Where the path of a URL starts. Without a usable Host header, the URL is only the path and the query. */
const pathStart = (url: string): number => (url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3))
