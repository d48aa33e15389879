import { noFacts, type CheckResult, type CheckSpec } from '../../src/checks/check'
import type { EnginePulse, FromEngine, ToEngine } from '../../src/checks/messages'
import type { Hub } from '../../src/core/hub'
import type { Engine } from '../../src/features/monitors/live/engine'
import { scansHere } from '../../src/features/monitors/live/scans-here'

/**
 * An engine that checks nothing: it records its messages, and reports the results that the test provides. It does scan TLS servers, in this
 * thread.
 */
export class ScriptedEngine implements Engine {
  readonly specs = new Map<string, CheckSpec>()
  /** All messages received, in order. */
  readonly sent: ToEngine[] = []
  /** The result of a requested run; null for none. */
  answer: ((spec: CheckSpec) => Partial<CheckResult> | null) | null = null
  /** Scans the TLS of a host; replaced by tests. */
  scanTls: Engine['scanTls']
  stopped = false
  private listener: (message: FromEngine) => void = () => {}

  constructor(private readonly hub: Hub) {
    this.scanTls = scansHere(hub)
  }

  onMessage(listener: (message: FromEngine) => void): void {
    this.listener = listener
    listener({
      kind: 'ready',
      capabilities: { icmp: { method: 'none', problem: 'Not available in tests.' }, max_in_flight: 1000 },
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
      if (answer) this.report({ ...answer, monitor: id, nonce: message.nonce })
    }
  }

  async stop(): Promise<void> {
    this.stopped = true
  }

  /** Reports a result to the hub. */
  report(result: Partial<CheckResult> & { monitor: string }): void {
    this.listener({ kind: 'results', results: [this.result(result)] })
  }

  reportAll(results: readonly (Partial<CheckResult> & { monitor: string })[]): void {
    this.listener({ kind: 'results', results: results.map(one => this.result(one)) })
  }

  pulse(more: Partial<EnginePulse> = {}): void {
    this.listener({ kind: 'pulse', pulse: { ...this.quiet, monitors: this.specs.size, ...more } })
  }

  /** Reports that the check of a monitor no longer runs, because it blocked all others. */
  quarantine(monitor: string): void {
    this.listener({ kind: 'quarantined', monitor, revision: this.specs.get(monitor)!.revision })
  }

  /** A result like those of a real engine; up by default. */
  result(given: Partial<CheckResult> & { monitor: string }): CheckResult {
    const bad = given.status !== undefined && given.status !== 'up'
    const spec = this.specs.get(given.monitor)
    return {
      revision: spec?.revision ?? 0,
      nonce: null,
      at: this.hub.clock.now(),
      due_at: this.hub.clock.now(),
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
