import { mkdirSync } from 'node:fs'
import { Agent } from '../../src/agent/agent'
import { HubClient, type HubRequest } from '../../src/agent/transport/hub-client'
import { HubClock } from '../../src/agent/transport/hub-clock'
import { Spool } from '../../src/agent/transport/spool'
import { News } from '../../src/agent/news'
import { systemClock } from '../../src/core/clock'
import type { AgentReport } from '../../src/wire/agent'
import { signRequest } from '../../src/wire/signed'
import { Machine } from './agent-double'

const minuteMs = 60_000
const columns = ['load.1', 'processes.count']
const tickMs = 200
/** Minutes that are not of now are from this long ago on (ms). */
const backlogMs = 40 * 3_600_000
/** Points of one response. */
const maxPoints = 500

type Api = (path: string) => Promise<any>

/**
 * The program of the agent in this process, whose server measures several minutes a second: of now, and of the past, as after an outage.
 * Some are measured twice. It remembers what the hub acknowledged.
 */
export class ReportingAgent {
  /** Number of reports that were acknowledged, and of requests that failed. */
  reports = 0
  failures = 0
  /** Minutes that were sent again after they had been sent before. */
  repeated = 0
  readonly problems: string[] = []
  /** The value of each minute that was acknowledged last, and those that were sent since then. */
  private readonly acknowledged = new Map<number, number>()
  private readonly sentSince = new Map<number, Set<number>>()
  private readonly from = Math.floor((Date.now() - backlogMs) / minuteMs) * minuteMs
  private next = 0
  private value = 0
  private readonly spool: Spool
  private readonly agent: Agent
  private timer: ReturnType<typeof setInterval> | null = null

  private constructor(
    hub: string,
    folder: string,
    readonly serverId: string,
    machine: Machine,
    private readonly random: () => number,
  ) {
    const clock = new HubClock(Date.now, () => performance.now())
    const client = new HubClient({ hub, pin: null }, clock, machine.token, request => signRequest(machine.key, request))
    mkdirSync(folder, { recursive: true })
    this.spool = new Spool(folder, problem => this.problems.push(problem))
    this.agent = new Agent({
      ...{ agentId: serverId, allow: ['collect'], config: { interval_seconds: 60, watched_units: [] } },
      client: { send: request => this.send(client, request) },
      ...{ clock, timers: systemClock, spool: this.spool, random: () => 0 },
      machine: {
        bootId: machine.bootId,
        uptimeSeconds: () => 86_400,
        news: new News(),
        sample: () => Promise.resolve(null),
        end: () => null,
        parts: () => Promise.resolve({ facts: { hostname: 'web-1' } }),
        watch() {},
      },
      log: () => {},
      keepConfig: () => {},
      onStatus: () => {},
    })
  }

  /** Enrolls one, which then reports. */
  static async start(hub: string, key: string, folder: string, random: () => number): Promise<ReportingAgent> {
    const app = { handle: (request: Request) => fetch(new Request(request.url.replace('http://localhost', hub), request)) }
    const machine = new Machine({ app, clock: systemClock })
    const { status, body, text } = await machine.enrol(key)
    if (status !== 201) throw new Error(`The agent was not enrolled: ${text}`)
    const started = new ReportingAgent(hub, folder, body.server_id, machine, random)
    started.agent.start()
    return started
  }

  /** Minutes that wait to be sent. */
  get waiting(): number {
    return this.spool.count
  }

  /** Different minutes that were acknowledged. */
  get minutes(): number {
    return this.acknowledged.size
  }

  resume(): void {
    this.timer ??= setInterval(() => this.measure(), tickMs)
  }

  pause(): void {
    if (this.timer) clearInterval(this.timer)
    this.timer = null
    // Only those of the last report would wait for its next time.
    this.agent.reportNow()
  }

  async end(): Promise<void> {
    this.pause()
    this.agent['halt']()
    await this.agent.idle()
  }

  /** Acknowledged minutes that are missing or have another value, among the last ones. */
  async lost(api: Api): Promise<string[]> {
    // Those that are acknowledged during the request may be missing in its response.
    const known = new Map(
      [...this.acknowledged].filter(([start]) => start >= this.from + (this.next - maxPoints + 10) * minuteMs),
    )
    const stored = await this.stored(api, Math.max(0, this.next - maxPoints + 10), this.next)
    return [...known].flatMap(([start, value]) => {
      const found = stored.get(start)
      const isCurrent = start >= this.from + this.next * minuteMs
      const isRight =
        found !== undefined &&
        (found === value || found === this.acknowledged.get(start) || this.sentSince.get(start)?.has(found))
      return isCurrent || isRight ? [] : [`${this.serverId} ${new Date(start).toISOString()}: ${value}, but ${found}`]
    })
  }

  /** Minutes that differ from what was acknowledged last, once nothing waits anymore. */
  async differences(api: Api): Promise<string[]> {
    const stored = new Map<number, number>()
    const end = Math.ceil((Date.now() - this.from) / minuteMs)
    for (const [first, last] of [
      [0, this.next],
      [end - 400, end],
    ] as const)
      for (let at = first; at < last; at += maxPoints - 10)
        for (const one of await this.stored(api, at, Math.min(last, at + maxPoints - 10))) stored.set(...one)
    const starts = new Set([...stored.keys(), ...this.acknowledged.keys()])
    return [...starts].flatMap(start => {
      const [value, found] = [this.acknowledged.get(start), stored.get(start)]
      return value === found ? [] : [`${this.serverId} ${new Date(start).toISOString()}: ${value}, but ${found}`]
    })
  }

  /** Minutes by start. Minutes whose columns differ have the value -1. */
  private async stored(api: Api, first: number, last: number): Promise<Map<number, number>> {
    if (first >= last) return new Map()
    const at = (place: number) => new Date(this.from + place * minuteMs).toISOString()
    const path = `/v1/servers/${this.serverId}/metrics?type=load,processes&from=${at(first)}&to=${at(last)}&step=60`
    const { from_at, series } = await api(path)
    const found = new Map<number, number>()
    for (const { avg } of series)
      for (const [place, value] of (avg as (number | null)[]).entries()) {
        const start = Date.parse(from_at) + place * minuteMs
        if (value !== null || found.has(start)) found.set(start, found.has(start) && found.get(start) !== value ? -1 : value!)
      }
    return found
  }

  private measure(): void {
    const isNow = this.random() < 0.05
    const isAgain = this.random() < 0.1 && this.next > 0
    const start = isNow
      ? Math.floor(Date.now() / minuteMs) * minuteMs
      : this.from + (isAgain ? this.next - 1 : this.next++) * minuteMs
    const value = ++this.value % 1000
    this.spool.add({ columns, row: [start, 1 + Math.floor(this.random() * 6), [value, value], [value, value]] })
    if (isNow) this.agent.reportNow()
  }

  private async send(client: HubClient, request: HubRequest) {
    const { columns: sent, minutes } = request.body as AgentReport
    const load = sent.indexOf('load.1')
    const values = minutes.map(([start, , averages]) => [start, averages[load]!] as const)
    for (const [start, value] of values) {
      const since = this.sentSince.get(start) ?? new Set()
      if (since.has(value)) this.repeated++
      this.sentSince.set(start, since.add(value))
    }
    try {
      const response = await client.send(request)
      this.reports++
      for (const [start, value] of values) {
        this.acknowledged.set(start, value)
        this.sentSince.delete(start)
      }
      return response
    } catch (error) {
      this.failures++
      throw error
    }
  }
}
