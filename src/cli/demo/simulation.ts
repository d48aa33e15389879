import { flushTokenUses } from '../../access/token-use'
import { prepareInstance } from '../../access/workspaces'
import { and, eq, gt, inArray, min } from 'drizzle-orm'
import type { Config } from '../../core/config'
import { jobs } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { Worker } from '../../core/jobs/worker'
import { openLog } from '../../core/log'
import type { Resolve } from '../../core/net/egress'
import { createApp } from '../../hub/app'
import { jobKinds } from '../../hub/jobs'
import { registerHub, unregisterHub } from '../../hub/presence'
import { openHub } from '../../hub/run'
import { refreshCalendar } from '../../features/maintenance/calendar'
import { SimulatedClock } from './simulated-clock'

const stopMs = 5000

/** A step of the simulation at a time (ms UTC). */
interface Step {
  at: number
  run(): Promise<unknown>
}

/** Authenticates a request. */
interface Credential {
  token?: string
  /** Value of the Cookie header. */
  cookie?: string
  /** Headers of a program that isn’t a browser. */
  headers?: Record<string, string>
}

/**
 * A hub with a simulated clock. Scheduled steps run in order through the API, and background jobs run at the simulated time they
 * are due. It doesn't listen for requests and runs no checks.
 */
export class Simulation {
  /** Ordered by time. */
  private readonly steps: Step[] = []
  /** Kinds of jobs that run exactly when they are due. */
  private readonly timedKinds: string[] = []
  /** When the next timed job is due (ms UTC); null if jobs were added since it was determined. */
  private nextJobAt: number | null = null

  private constructor(
    readonly hub: Hub,
    readonly clock: SimulatedClock,
    private readonly worker: Worker,
    private readonly app: ReturnType<typeof createApp>,
  ) {
    hub.jobSignal.on(() => (this.nextJobAt = null))
  }

  /** Creates a hub at `startsAt` (ms UTC). @param resolve resolves the names that the hub calls */
  static async open(config: Config, startsAt: number, resolve: Resolve): Promise<Simulation> {
    const clock = new SimulatedClock(startsAt)
    const hub = await openHub(config, clock, openLog('silent'), { isDurable: false })
    hub.resolve = resolve
    await prepareInstance(hub)
    await registerHub(hub, 'demo')
    await refreshCalendar(hub)
    const worker = new Worker(hub, jobKinds)
    return new Simulation(hub, clock, worker, createApp(hub, worker))
  }

  /** Schedules a step (ms UTC). Steps at the same time run in the order they were scheduled. */
  schedule(at: number, run: Step['run']): void {
    const previous = this.steps.findLastIndex(one => one.at <= at)
    this.steps.splice(previous + 1, 0, { at, run })
  }

  /** Runs jobs of this kind exactly when they are due. Other jobs run together with the next step that adds jobs. */
  runJobsWhenDue(kind: string): void {
    this.timedKinds.push(kind)
  }

  /** Runs all steps up to `until` (ms UTC). Steps scheduled by other steps must be later than those. */
  async runUntil(until: number): Promise<void> {
    for (;;) {
      const next = this.steps.shift()
      if (!next || next.at > until) break
      await this.advance(next.at)
      await next.run()
    }
    await this.advance(until)
  }

  /** Calls the API. @returns body and headers of the response. @throws Error for an error response */
  async call(
    method: string,
    path: string,
    { token, cookie, headers }: Credential = {},
    body?: unknown,
  ): Promise<{ body: any; headers: Headers }> {
    const request = new Request(`${this.hub.baseUrl}${path}`, {
      method,
      headers: {
        'user-agent': userAgent,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(cookie !== undefined && { cookie }),
        // As sent by the dashboard.
        ...(cookie !== undefined && method !== 'GET' && { origin: this.hub.baseUrl, 'bailiwick-csrf': '1' }),
        ...(body !== undefined && { 'content-type': typeof body === 'string' ? textType(path) : 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const response = await this.app.handle(request)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`)
    const isJson = response.headers.get('content-type')?.includes('json')
    return { body: text === '' ? undefined : isJson ? JSON.parse(text) : text, headers: response.headers }
  }

  /** Stops the hub cleanly, so that the demo can continue with its data. */
  async close(): Promise<void> {
    await this.worker.idle()
    await this.worker.stop(stopMs)
    await flushTokenUses(this.hub)
    await unregisterHub(this.hub)
    await this.hub.store.close()
  }

  /** Advances the clock and runs timed jobs when they are due. */
  private async advance(to: number): Promise<void> {
    for (;;) {
      this.nextJobAt ??= await this.runDueJobs()
      if (this.nextJobAt > to) break
      this.clock.advanceTo(this.nextJobAt)
      this.nextJobAt = null
    }
    this.clock.advanceTo(to)
  }

  /** Runs the jobs that are due. @returns when the next timed job is due (ms UTC); Infinity if there is none */
  private async runDueJobs(): Promise<number> {
    await this.worker.idle()
    const [next] = await this.hub.read
      .select({ at: min(jobs.runAt) })
      .from(jobs)
      .where(and(eq(jobs.state, 'ready'), inArray(jobs.kind, this.timedKinds), gt(jobs.runAt, this.clock.now())))
    return next?.at ?? Infinity
  }
}

/** The content type of a text: a zone file or a ping body. */
const textType = (path: string): string => (path.startsWith('/v1/dns/') ? 'text/dns' : 'text/plain')

const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
