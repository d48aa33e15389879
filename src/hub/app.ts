import { Elysia, type AnyElysia } from 'elysia'
import { clientRequestId } from '../access/context'
import { knowOperations } from '../access/deprecated-use'
import { callerAddress, problemAnswer, requestId, standingFor, type Peer } from '../access/door'
import { limiterOf } from '../access/limiter'
import { noCredentials } from '../access/rate-limits'
import type { Hub } from '../core/hub'
import type { Worker } from '../core/jobs/worker'
import { redactPath } from '../core/log'
import { notFound, Problem, tryAgain } from '../core/problem'
import { acknowledgePages } from './acknowledge-page'
import { apiAreas, ingestAreas, specsOf } from './areas'
import { notReady, readiness } from './health'
import { admitToMetrics, Metrics } from './metrics'
import { pageRoutes } from './pages'

export { apiAreas } from './areas'

/**
 * The whole of what the hub serves, as one Elysia app.
 * @param areas the areas of the API
 */
export function makeApp(hub: Hub, worker: Worker, areas: readonly AnyElysia[] = [...apiAreas, ...ingestAreas]): AnyElysia {
  const metrics = new Metrics(hub, worker)
  const arrivals = new WeakMap<Request, number>()
  // What onError answers, onAfterResponse is not told.
  const failures = new WeakMap<Request, number>()
  const failed = (request: Request, answer: Response) => {
    failures.set(request, answer.status)
    return answer
  }
  let app: AnyElysia = new Elysia({ name: 'hub', normalize: false, strictPath: true })
    .decorate('hub', hub)
    .decorate('worker', worker)
    .onRequest(({ request }): Response | undefined => {
      arrivals.set(request, performance.now())
      if (hasUsableHost(request)) return undefined
      failures.set(request, 400)
      return problemAnswer(
        hub,
        new Problem('malformed_request', 'The Host header is no host name with a port.'),
        requestId(request),
      )
    })
    .onError(async ({ code, error, request, server }) => {
      if (code !== 'NOT_FOUND') return failed(request, problemAnswer(hub, error, requestId(request)))
      const other = meant(hub, app, request)
      if (!other) return failed(request, unmatched(hub, app, request, server))
      // Counted as what it stands for, and once.
      arrivals.delete(request)
      return failed(request, await answerFor(app, request, other))
    })
    .onAfterResponse(({ request, set, response, route }) => {
      const status = failures.get(request) ?? (response instanceof Response ? response.status : Number(set.status ?? 200))
      const arrived = arrivals.get(request)
      if (arrived !== undefined) metrics.answered(request.method, route ?? 'none', status, (performance.now() - arrived) / 1000)
      if (!hub.log.isLevelEnabled('debug')) return
      const ids = { request_id: requestId(request), client_request_id: clientRequestId(request) }
      hub.log.debug({ ...ids, method: request.method, path: redactPath(pathOf(request)), status }, 'answered')
    })
    .use(operatorRoutes(hub, worker, metrics))
    .use(pageRoutes)
    .use(acknowledgePages)
  for (const routes of areas) app = app.use(routes)
  knowOperations(hub, specsOf(areas))
  return app
}

/** What watches over a hub: is it there, can it serve, what does it do. */
function operatorRoutes(hub: Hub, worker: Worker, metrics: Metrics): AnyElysia {
  const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }
  return new Elysia({ name: 'operator' })
    .get('/healthz', () => Response.json({ status: 'ok' }, { headers }))
    .get('/readyz', async ({ request }) => {
      const found = await readiness(hub, worker)
      return found.status === 'ready'
        ? Response.json(found, { headers })
        : problemAnswer(hub, notReady(found), requestId(request))
    })
    .get('/metrics', async ({ request, server }) => {
      try {
        admitToMetrics(hub, request, server)
        return new Response(await metrics.text(), { headers: { ...headers, 'Content-Type': metrics.contentType } })
      } catch (error) {
        return problemAnswer(hub, error, requestId(request))
      }
    })
}

/** The request that one without a route stands for: HEAD for a GET, and on the ping host an address without `/ping`. Null when for none. */
function meant(hub: Hub, app: AnyElysia, request: Request): Request | null {
  const url = new URL(request.url)
  if (request.method === 'HEAD' && methodsAt(app, url.pathname).includes('GET'))
    return new Request(request.url, { headers: request.headers })
  // A UUID, or a ping key; nothing else at the root has this form.
  const bare = /^\/([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9_-]{22})(\/|$)/
  if (hub.config.pingHost === null || url.hostname.toLowerCase() !== hub.config.pingHost || !bare.test(url.pathname)) return null
  return new Request(`${url.origin}/ping${url.pathname}${url.search}`, request)
}

async function answerFor(app: AnyElysia, request: Request, other: Request): Promise<Response> {
  const answer = await app.handle(standingFor(other, request))
  if (request.method !== 'HEAD') return answer
  // One that is sent as it is made would be made for nobody.
  await answer.body?.cancel()
  return new Response(null, { status: answer.status, headers: answer.headers })
}

/** A path that no route serves with this method: another known method is a 405, the rest a 404. */
function unmatched(hub: Hub, app: AnyElysia, request: Request, server: Peer | null): Response {
  const methods = methodsAt(app, pathOf(request))
  const verdict = limiterOf(hub).take(
    [noCredentials(callerAddress(hub, request, server), hub.config.anonymousPerMinute)],
    hub.clock.now(),
  )
  const id = requestId(request)
  if (!verdict.allowed)
    return problemAnswer(hub, tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated }), id)
  if (methods.length === 0) return problemAnswer(hub, notFound('path'), id)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  return problemAnswer(
    hub,
    new Problem('method_not_allowed', `${request.method} is not served here; ${allow} are.`, { headers: { Allow: allow } }),
    id,
  )
}

function methodsAt(app: AnyElysia, path: string): string[] {
  const found = app.routes.filter(one => fits(one.path, path))
  // What has a route of its own is no `:id` beside it.
  const own = found.filter(one => one.path === path)
  return [...new Set((own.length > 0 ? own : found).map(one => one.method))]
}

function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((part, place) => (part.startsWith(':') ? given[place] !== '' : part === given[place]))
  )
}

/** The server makes the address of a request from its Host header as it came: some make one that cannot be read. */
function hasUsableHost(request: Request): boolean {
  return /^[A-Za-z0-9.-]+(:\d{1,4})?$/.test(request.headers.get('host') ?? '') || URL.canParse(request.url)
}

/** The path as it was asked for, also where the address around it cannot be read. */
function pathOf({ url }: Request): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
}
