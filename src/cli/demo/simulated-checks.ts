import { eq } from 'drizzle-orm'
import type { CheckResult, Evidence } from '../../checks/check'
import type { Hub } from '../../core/hub'
import { topicsOf } from '../../core/topics'
import { monitors } from '../../features/monitors/tables'
import { localLocation } from '../../features/monitors/live/locations'
import type { Engine } from '../../features/monitors/live/engine'
import { scansHere } from '../../features/monitors/live/scans-here'
import { startMonitoring, type MonitoringWatch } from '../../features/monitors/live/watch'
import { maintenanceTopic } from '../../features/maintenance/calendar'
import { latencyAt } from './latency'
import type { Sample } from './monitors'
import { outageAt, type Outage } from './outages'
import type { Simulation } from './simulation'
import type { Person } from './people'

/** A monitor of the demo after its creation. */
export interface CreatedMonitor extends Sample {
  id: string
  /** Its number in the series of results. */
  number: number
  /** Version of its configuration. */
  version: number
}

/** Simulates check results, but only those that change or confirm a status. */
export class SimulatedChecks {
  private readonly created = new Map<string, CreatedMonitor>()
  private watch: MonitoringWatch | null = null

  constructor(
    private readonly simulation: Simulation,
    private readonly outages: readonly Outage[],
    private readonly random: () => number,
  ) {}

  /** Creates the monitors and starts to evaluate their results. */
  async start(by: Person, samples: readonly Sample[]): Promise<void> {
    for (const sample of samples) {
      const { depends_on, options } = sample.input
      const members = (options as { members?: string[] } | undefined)?.members
      const { id, version } = await by.call('POST', '/v1/monitors', {
        ...sample.input,
        key: sample.key,
        ...(depends_on && { depends_on: depends_on.map(key => this.id(key)) }),
        ...(members && { options: { ...options, members: members.map(key => this.id(key)) } }),
      })
      const [row] = await this.simulation.hub.read.select({ number: monitors.number }).from(monitors).where(eq(monitors.id, id))
      this.created.set(sample.key, { ...sample, id, version, number: row!.number })
    }
    this.watch = await startMonitoring(this.simulation.hub, idle(this.simulation.hub))
  }

  /** @param key of a created monitor */
  id(key: string): string {
    return this.created.get(key)!.id
  }

  all(): CreatedMonitor[] {
    return [...this.created.values()]
  }

  /** Schedules checks at the start and end of each outage, and during it as often as needed to keep the result current. */
  schedule(until: number): void {
    for (const outage of this.outages) {
      const { edges, during } = checkTimes(outage, this.intervalMs(outage.key), until)
      const checkOne = () => this.check([this.created.get(outage.key)!])
      // If other monitors depend on it, check all of them.
      const checkEdge = this.hasRelations(outage.key) ? () => this.checkAll() : checkOne
      for (const at of edges) this.simulation.schedule(at, checkEdge)
      for (const at of during) this.simulation.schedule(at, checkOne)
    }
  }

  /** Checks all monitors now. */
  async checkAll(): Promise<void> {
    await this.check(this.all())
    // Dependent monitors are evaluated after their dependencies, groups last.
    for (let depth = 0; depth < 2; depth++) {
      topicsOf(this.simulation.hub).wake(maintenanceTopic)
      await this.watch!.settled()
    }
  }

  /** Must be called after a monitor was updated. */
  updated(key: string, { version }: { version: number }): void {
    this.created.get(key)!.version = version
  }

  /** Whether the monitor has dependencies or members, or is one. */
  private hasRelations(key: string): boolean {
    return this.all().some(({ key: other, input: { depends_on = [], options } }) => {
      const related = [...depends_on, ...((options as { members?: string[] } | undefined)?.members ?? [])]
      return related.includes(key) || (other === key && related.length > 0)
    })
  }

  /** Reports current results of some monitors. */
  private async check(some: readonly CreatedMonitor[]): Promise<void> {
    const at = this.simulation.clock.now()
    this.watch!.acceptResults(
      localLocation,
      some.flatMap(one => (one.usual ? this.resultOf(one, at) : [])),
    )
    await this.watch!.settled()
  }

  async end(): Promise<void> {
    await this.watch!.stop()
  }

  private intervalMs(key: string): number {
    return this.created.get(key)!.input.interval_seconds! * 1000
  }

  private resultOf(one: CreatedMonitor, at: number): CheckResult {
    const outage = outageAt(this.outages, one.key, at)
    const usual = one.usual!
    const phases = latencyAt(usual, outage, at, this.random)
    return {
      monitor: one.id,
      revision: one.version,
      nonce: null,
      at,
      due_at: at,
      status: outage?.status ?? 'up',
      error: outage?.error ?? null,
      conditions: [],
      code: outage ? outage.code : usual.code,
      phases: { dns: phases.dns, connect: phases.connect, tls: phases.tls, first_byte: phases.firstByte, total: phases.ms },
      address: '127.0.0.1',
      certificate: null,
      evidence: outage && evidenceOf(one, outage),
    }
  }
}

/** The simulation runs no real checks, but scans the TLS of its servers. */
const idle = (hub: Hub): Engine => ({ send() {}, onMessage() {}, scanTls: scansHere(hub), async stop() {} })

const secondMs = 1000

/** When to check a monitor because of an outage (ms UTC). */
function checkTimes({ from, to }: Outage, intervalMs: number, until: number): { edges: number[]; during: number[] } {
  // A result is current for three intervals, but at least for 90 seconds.
  const step = Math.max(2.5 * intervalMs, 75 * secondMs)
  const twice = (edge: number) => [0, 10].map(seconds => Math.round(edge + seconds * secondMs))
  const during: number[] = []
  for (let at = from + step; at < (to ?? until - secondMs); at += step) during.push(Math.round(at))
  return { edges: [...twice(from), ...(to === null ? [] : twice(to))], during }
}

function evidenceOf({ input }: CreatedMonitor, { code }: Outage): Evidence {
  const hasResponse = code !== null
  return {
    request: input.target!.startsWith('https:') ? `GET ${input.target}` : null,
    address: '127.0.0.1',
    status: code,
    headers: hasResponse ? { server: 'envoy', 'content-type': 'text/plain' } : null,
    body: hasResponse ? 'upstream connect error\n' : null,
    body_truncated: false,
    tls: hasResponse ? { version: '1.3', cipher: 'TLS_AES_128_GCM_SHA256' } : null,
    dns: null,
  }
}
