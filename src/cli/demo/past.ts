import { prepareInstance } from '../../access/workspaces'
import { and, eq, gt, inArray, min } from 'drizzle-orm'
import type { Config } from '../../core/config'
import { jobs } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { Worker } from '../../core/jobs/worker'
import { openLog } from '../../core/log'
import type { Resolve } from '../../core/net/egress'
import { makeApp } from '../../hub/app'
import { jobKinds } from '../../hub/jobs'
import { joinHubs, leaveHubs } from '../../hub/presence'
import { openHub } from '../../hub/run'
import { readCalendar } from '../../features/maintenance/calendar'
import { PastClock } from './past-clock'

const stopMs = 5000

/** Something that happened at a time (ms UTC). */
interface Happening {
  at: number
  run(): Promise<unknown>
}

/** What a caller sends along. */
export interface Credential {
  token?: string
  /** As in a Cookie header. */
  cookie?: string
}

/**
 * A hub that lives through a time that is gone: what is planned happens in its order, through the API, and the jobs that it starts run
 * when they were due. It serves nobody and checks nothing.
 */
export class Past {
  /** In the order of time. */
  private readonly agenda: Happening[] = []
  private readonly watched: string[] = []
  /** When the next job is due of those that are watched (ms UTC); null when others may have been committed since that was looked at. */
  private next: number | null = null

  private constructor(
    readonly hub: Hub,
    readonly clock: PastClock,
    private readonly worker: Worker,
    private readonly app: ReturnType<typeof makeApp>,
  ) {
    hub.jobSignal.on(() => (this.next = null))
  }

  /** Opens a hub that is made at `begins` (ms UTC). @param resolve looks names up for what it calls */
  static async open(config: Config, begins: number, resolve: Resolve): Promise<Past> {
    const clock = new PastClock(begins)
    const hub = await openHub(config, clock, openLog('silent'), 'OFF')
    hub.resolve = resolve
    await prepareInstance(hub)
    await joinHubs(hub, 'demo')
    await readCalendar(hub)
    const worker = new Worker(hub, jobKinds)
    return new Past(hub, clock, worker, makeApp(hub, worker))
  }

  /** Plans something for a time (ms UTC); of what is planned for the same time, what was planned first comes first. */
  plan(at: number, run: Happening['run']): void {
    const later = this.agenda.findLastIndex(one => one.at <= at)
    this.agenda.splice(later + 1, 0, { at, run })
  }

  /** From now on jobs of this kind run at the times when they are due; others run with the next happening that starts some. */
  watch(kind: string): void {
    this.watched.push(kind)
  }

  /** Lives through all that is planned, and on to `until` (ms UTC). What is planned meanwhile has to be for later. */
  async live(until: number): Promise<void> {
    for (;;) {
      const next = this.agenda.shift()
      if (!next || next.at > until) break
      await this.pass(next.at)
      await next.run()
    }
    await this.pass(until)
  }

  /** Calls the API. @returns the body of the answer and its headers. @throws Error for one that is a problem */
  async call(
    method: string,
    path: string,
    { token, cookie }: Credential = {},
    body?: unknown,
  ): Promise<{ body: any; headers: Headers }> {
    const request = new Request(`${this.hub.baseUrl}${path}`, {
      method,
      headers: {
        'user-agent': agent,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(cookie !== undefined && { cookie }),
        // As the pages of the dashboard send it.
        ...(cookie !== undefined && method !== 'GET' && { origin: this.hub.baseUrl, 'bailiwick-csrf': '1' }),
        ...(body !== undefined && { 'content-type': typeof body === 'string' ? textType(path) : 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const answer = await this.app.handle(request)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    const isJson = answer.headers.get('content-type')?.includes('json')
    return { body: text === '' ? undefined : isJson ? JSON.parse(text) : text, headers: answer.headers }
  }

  /** Ends it: the hub that serves from now on finds it as one that has just stopped. */
  async close(): Promise<void> {
    await this.worker.idle()
    await this.worker.stop(stopMs)
    await leaveHubs(this.hub)
    await this.hub.store.close()
  }

  /** Lets time pass, with the jobs that are watched. */
  private async pass(to: number): Promise<void> {
    for (;;) {
      this.next ??= await this.settle()
      if (this.next > to) break
      this.clock.moveTo(this.next)
      this.next = null
    }
    this.clock.moveTo(to)
  }

  /** Lets the jobs run that are due. @returns when the next of those is due that are watched (ms UTC), Infinity for never */
  private async settle(): Promise<number> {
    await this.worker.idle()
    const [ahead] = await this.hub.read
      .select({ at: min(jobs.runAt) })
      .from(jobs)
      .where(and(eq(jobs.state, 'ready'), inArray(jobs.kind, this.watched), gt(jobs.runAt, this.clock.now())))
    return ahead?.at ?? Infinity
  }
}

/** Zone files are told apart from all other texts. */
const textType = (path: string): string => (path.startsWith('/v1/dns/') ? 'text/dns' : 'text/plain')

const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
