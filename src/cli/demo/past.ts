import { prepareInstance } from '../../access/workspaces'
import type { Config } from '../../core/config'
import type { Hub } from '../../core/hub'
import { nextRunAt } from '../../core/jobs/queue'
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
  private readonly agenda: Happening[] = []
  private readonly watched: string[] = []

  private constructor(
    readonly hub: Hub,
    readonly clock: PastClock,
    private readonly worker: Worker,
    private readonly app: ReturnType<typeof makeApp>,
  ) {}

  /** Opens a hub that is made at `begins` (ms UTC). @param resolve looks names up for what it calls */
  static async open(config: Config, begins: number, resolve: Resolve): Promise<Past> {
    const clock = new PastClock(begins)
    const hub = await openHub(config, clock, openLog('silent'))
    hub.resolve = resolve
    await prepareInstance(hub)
    await joinHubs(hub, 'demo')
    await readCalendar(hub)
    const worker = new Worker(hub, jobKinds)
    return new Past(hub, clock, worker, makeApp(hub, worker))
  }

  /** Plans something for a time (ms UTC); of what is planned for the same time, what was planned first comes first. */
  plan(at: number, run: Happening['run']): void {
    this.agenda.push({ at, run })
  }

  /** From now on jobs of this kind run at the times when they are due, and not with the next happening. */
  watch(kind: string): void {
    this.watched.push(kind)
  }

  /** Lives through all that is planned, and on to `until` (ms UTC). What is planned meanwhile has to be for later. */
  async live(until: number): Promise<void> {
    for (;;) {
      this.agenda.sort((a, b) => a.at - b.at)
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
        ...(body !== undefined && { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' }),
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

  /** Lets time pass, with the jobs that fall due. */
  private async pass(to: number): Promise<void> {
    await this.worker.idle()
    for (;;) {
      const due = (await Promise.all(this.watched.map(kind => nextRunAt(this.hub.read, kind)))).filter(at => at !== null)
      const next = Math.min(...due)
      if (next > to || next <= this.clock.now()) break
      this.clock.moveTo(next)
      await this.worker.idle()
    }
    this.clock.moveTo(to)
  }
}

const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
