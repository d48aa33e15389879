import { Elysia, type AnyElysia } from 'elysia'
import { callerAddress, problemAnswer, requestId, type Peer } from '../access/door'
import { limiterOf } from '../access/limiter'
import { noCredentials } from '../access/rate-limits'
import type { Hub } from '../core/hub'
import type { Worker } from '../core/jobs/worker'
import { redactPath } from '../core/log'
import { notFound, Problem, tryAgain } from '../core/problem'
import { apiAreas, ingestAreas } from './areas'
import { notReady, readiness } from './health'
import { admitToMetrics, Metrics } from './metrics'
import { pageRoutes } from './pages'

export { apiAreas } from './areas'

/** The whole of what the hub serves, as one Elysia app. */
export function makeApp(hub: Hub, worker: Worker): AnyElysia {
  const metrics = new Metrics(hub, worker)
  const arrivals = new WeakMap<Request, number>()
  const failures = new WeakMap<Request, number>()
  let app: AnyElysia = new Elysia({ name: 'hub', normalize: false })
    .decorate('hub', hub)
    .decorate('worker', worker)
    .onRequest(({ request }) => { arrivals.set(request, performance.now()) })
    .onError(async ({ code, error, request, server }) => {
      const answer = code === 'NOT_FOUND' ? await unmatched(hub, app, request, server) : problemAnswer(hub, error, requestId(request))
      failures.set(request, answer.status)
      return answer
    })
    .onAfterResponse(({ request, set, response, route }) => {
      const status = failures.get(request) ?? (response instanceof Response ? response.status : Number(set.status ?? 200))
      metrics.answered(request.method, route ?? 'none', status, (performance.now() - arrivals.get(request)!) / 1000)
      if (!hub.log.isLevelEnabled('debug')) return
      hub.log.debug({ request_id: requestId(request), method: request.method, path: redactPath(new URL(request.url).pathname), status }, 'answered')
    })
    .use(operatorRoutes(hub, worker, metrics))
    .use(pageRoutes)
  for (const routes of [...apiAreas, ...ingestAreas]) app = app.use(routes)
  return app
}

/** What watches over a hub: is it there, can it serve, what does it do. */
function operatorRoutes(hub: Hub, worker: Worker, metrics: Metrics): AnyElysia {
  const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }
  return new Elysia({ name: 'operator' })
    .get('/healthz', () => Response.json({ status: 'ok' }, { headers }))
    .get('/readyz', async ({ request }) => {
      const found = await readiness(hub, worker)
      return found.status === 'ready' ? Response.json(found, { headers }) : problemAnswer(hub, notReady(found), requestId(request))
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

/** A path that no route serves with this method: HEAD is answered as GET without its body, another known method is a 405, the rest a 404. */
async function unmatched(hub: Hub, app: AnyElysia, request: Request, server: Peer | null): Promise<Response> {
  const path = new URL(request.url).pathname
  const methods = [...new Set(app.routes.filter(one => fits(one.path, path)).map(one => one.method))]
  if (request.method === 'HEAD' && methods.includes('GET')) {
    const answer = await app.handle(new Request(request.url, { headers: request.headers }))
    return new Response(null, { status: answer.status, headers: answer.headers })
  }
  const verdict = limiterOf(hub).take([noCredentials(callerAddress(hub, request, server), hub.config.anonymousPerMinute)], hub.clock.now())
  const id = requestId(request)
  if (!verdict.allowed) return problemAnswer(hub, tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated }), id)
  if (methods.length === 0) return problemAnswer(hub, notFound('path'), id)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  return problemAnswer(hub, new Problem('method_not_allowed', `${request.method} is not served here; ${allow} are.`, { headers: { Allow: allow } }), id)
}

function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return wanted.length === given.length && wanted.every((part, place) => (part.startsWith(':') ? given[place] !== '' : part === given[place]))
}
