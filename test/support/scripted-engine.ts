import { noFacts, type CheckResult, type CheckSpec } from '../../src/checks/check'
import type { EnginePulse, FromEngine, ToEngine } from '../../src/checks/messages'
import type { Clock } from '../../src/core/clock'
import type { Engine } from '../../src/features/monitors/live/engine'

/** An engine that checks nothing: it remembers what it was told, and tells what the test makes up. */
export class ScriptedEngine implements Engine {
  readonly specs = new Map<string, CheckSpec>()
  /** Everything it was sent, in order. */
  readonly sent: ToEngine[] = []
  /** Answers a run that was asked for by name; null: not at all. */
  answer: ((spec: CheckSpec) => Partial<CheckResult> | null) | null = null
  stopped = false
  private heard: (message: FromEngine) => void = () => {}

  constructor(private readonly clock: Clock) {}

  onMessage(heard: (message: FromEngine) => void): void {
    this.heard = heard
    heard({
      kind: 'ready',
      capabilities: { icmp: { by: 'none', problem: 'Nothing is asked in a test.' }, most_in_flight: 1000 },
    })
    this.pulse()
  }

  send(message: ToEngine): void {
    this.sent.push(message)
    if (message.kind === 'configure') {
      if (message.full) this.specs.clear()
      for (const spec of message.upsert) this.specs.set(spec.monitor, spec)
      for (const id of message.remove) this.specs.delete(id)
    }
    if (message.kind !== 'run_now') return
    for (const id of message.monitors) {
      const spec = this.specs.get(id)
      const answer = spec && this.answer?.(spec)
      if (answer) this.say({ ...answer, monitor: id, nonce: message.nonce })
    }
  }

  async stop(): Promise<void> {
    this.stopped = true
  }

  /** Tells the hub a result of a monitor that the engine has. */
  say(result: Partial<CheckResult> & { monitor: string }): void {
    this.heard({ kind: 'results', results: [this.result(result)] })
  }

  sayAll(results: readonly (Partial<CheckResult> & { monitor: string })[]): void {
    this.heard({ kind: 'results', results: results.map(one => this.result(one)) })
  }

  pulse(more: Partial<EnginePulse> = {}): void {
    this.heard({ kind: 'pulse', pulse: { ...this.quiet, monitors: this.specs.size, ...more } })
  }

  /** A result as the engine would make it: good where nothing else is said. */
  result(given: Partial<CheckResult> & { monitor: string }): CheckResult {
    const bad = given.status !== undefined && given.status !== 'up'
    const spec = this.specs.get(given.monitor)
    return {
      revision: spec?.revision ?? 0,
      nonce: null,
      at: this.clock.now(),
      due_at: this.clock.now(),
      status: 'up',
      error: bad ? { kind: 'status', message: 'HTTP 503 Service Unavailable' } : null,
      conditions: [],
      code: bad ? 503 : 200,
      phases: { ...noFacts().phases, total: 84 },
      address: '192.0.2.7',
      certificate: null,
      evidence: bad
        ? {
            request: `GET ${spec?.target ?? ''}`,
            address: '192.0.2.7',
            status: 503,
            headers: { server: 'nginx' },
            body: 'Service Unavailable',
            body_truncated: false,
            tls: null,
            dns: null,
          }
        : null,
      ...given,
    }
  }

  private readonly quiet: EnginePulse = {
    monitors: 0,
    in_flight: 0,
    runs: 0,
    skipped: 0,
    lag_p50_ms: 1,
    lag_p99_ms: 5,
    block_ms: 2,
    resolver: { hits: 0, misses: 0, failures: 0 },
    impaired: null,
  }
}
