import { eq } from 'drizzle-orm'
import type { CheckResult, Evidence } from '../../checks/check'
import { topicsOf } from '../../core/topics'
import { monitors } from '../../features/monitors/tables'
import { localLocation } from '../../features/monitors/locations'
import type { Engine } from '../../features/monitors/live/engine'
import { startMonitoring, type MonitoringWatch } from '../../features/monitors/live/watch'
import { maintenanceTopic } from '../../features/maintenance/calendar'
import { latencyAt } from './latency'
import type { Sample } from './monitors'
import { troubleOf, type Trouble } from './outages'
import type { Past } from './past'
import type { Person } from './people'

/** A monitor of the demo as it was made. */
export interface Made extends Sample {
  id: string
  /** How the series name it. */
  number: number
  /** Of its configuration. */
  version: number
}

/** What the monitors of the demo found in the past: only what made a difference is looked at. */
export class PastChecks {
  private readonly made = new Map<string, Made>()
  private watch: MonitoringWatch | null = null

  constructor(
    private readonly past: Past,
    private readonly troubles: readonly Trouble[],
    private readonly random: () => number,
  ) {}

  /** Makes the monitors, and begins to check them. */
  async begin(by: Person, samples: readonly Sample[]): Promise<void> {
    for (const sample of samples) {
      const { depends_on, options } = sample.input
      const members = (options as { members?: string[] } | undefined)?.members
      const { id, version } = await by.call('POST', '/v1/monitors', {
        ...sample.input,
        key: sample.key,
        ...(depends_on && { depends_on: depends_on.map(key => this.id(key)) }),
        ...(members && { options: { ...options, members: members.map(key => this.id(key)) } }),
      })
      const [row] = await this.past.hub.read.select({ number: monitors.number }).from(monitors).where(eq(monitors.id, id))
      this.made.set(sample.key, { ...sample, id, version, number: row!.number })
    }
    this.watch = await startMonitoring(this.past.hub, idle)
  }

  /** @param key of a monitor that was made */
  id(key: string): string {
    return this.made.get(key)!.id
  }

  all(): Made[] {
    return [...this.made.values()]
  }

  /** Plans to look whenever one of them began to be well or ill, and often enough meanwhile to know that it still is. */
  plan(until: number): void {
    for (const trouble of this.troubles) {
      const { edges, meanwhile } = looksAt(trouble, this.intervalMs(trouble.key), until)
      // Of what others stand on, all have to be looked at.
      const look = this.isFollowed(trouble.key) ? () => this.look() : () => this.find([this.made.get(trouble.key)!])
      for (const at of edges) this.past.plan(at, look)
      for (const at of meanwhile) this.past.plan(at, () => this.find([this.made.get(trouble.key)!]))
    }
  }

  /** Looks at all of them now. */
  async look(): Promise<void> {
    await this.find(this.all())
    // Those that depend on others are judged after them, and groups last.
    for (let depth = 0; depth < 2; depth++) {
      topicsOf(this.past.hub).wake(maintenanceTopic)
      await this.watch!.settled()
    }
  }

  /** To be called after a monitor was edited. */
  edited(key: string, { version }: { version: number }): void {
    this.made.get(key)!.version = version
  }

  /** Whether it depends on others, or others depend on it or are made of it. */
  private isFollowed(key: string): boolean {
    return this.all().some(({ key: other, input: { depends_on = [], options } }) => {
      const standsOn = [...depends_on, ...((options as { members?: string[] } | undefined)?.members ?? [])]
      return standsOn.includes(key) || (other === key && standsOn.length > 0)
    })
  }

  /** Tells what some of them find now. */
  private async find(some: readonly Made[]): Promise<void> {
    const at = this.past.clock.now()
    this.watch!.take(
      localLocation,
      some.flatMap(one => (one.usual ? this.resultOf(one, at) : [])),
    )
    await this.watch!.settled()
  }

  async end(): Promise<void> {
    await this.watch!.stop()
  }

  private intervalMs(key: string): number {
    return this.made.get(key)!.input.interval_seconds! * 1000
  }

  private resultOf(one: Made, at: number): CheckResult {
    const trouble = troubleOf(this.troubles, one.key, at)
    const usual = one.usual!
    const phases = latencyAt(usual, trouble, at, this.random)
    return {
      monitor: one.id,
      revision: one.version,
      nonce: null,
      at,
      due_at: at,
      status: trouble?.status ?? 'up',
      error: trouble?.error ?? null,
      conditions: [],
      code: trouble ? trouble.code : usual.code,
      phases: { dns: phases.dns, connect: phases.connect, tls: phases.tls, first_byte: phases.firstByte, total: phases.ms },
      address: '127.0.0.1',
      certificate: null,
      evidence: trouble && evidenceOf(one, trouble),
    }
  }
}

/** Nothing is checked in the past. */
const idle: Engine = { send() {}, onMessage() {}, async stop() {} }

const secondMs = 1000

/** When there is to be looked at a monitor because of its trouble (ms UTC). */
function looksAt({ from, to }: Trouble, intervalMs: number, until: number): { edges: number[]; meanwhile: number[] } {
  // A result counts for three intervals, and for a minute and a half at least.
  const each = Math.max(2.5 * intervalMs, 75 * secondMs)
  const soon = (edge: number) => [0, 10].map(seconds => Math.round(edge + seconds * secondMs))
  const meanwhile: number[] = []
  for (let at = from + each; at < (to ?? until - secondMs); at += each) meanwhile.push(Math.round(at))
  return { edges: [...soon(from), ...(to === null ? [] : soon(to))], meanwhile }
}

function evidenceOf({ input }: Made, { code }: Trouble): Evidence {
  const isAnswer = code !== null
  return {
    request: input.target!.startsWith('https:') ? `GET ${input.target}` : null,
    address: '127.0.0.1',
    status: code,
    headers: isAnswer ? { server: 'envoy', 'content-type': 'text/plain' } : null,
    body: isAnswer ? 'upstream connect error\n' : null,
    body_truncated: false,
    tls: isAnswer ? { version: '1.3', cipher: 'TLS_AES_128_GCM_SHA256' } : null,
    dns: null,
  }
}
