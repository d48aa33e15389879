import { noFacts, type CheckResult, type CheckSpec } from '../../../checks/check'
import { createEvaluator, type Evaluator } from '../../../checks/conditions/evaluation'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import type { ServerState } from '../server-states'
import { localLocation } from './locations'
import type { Roster } from './roster'

interface Watched {
  spec: CheckSpec
  evaluate: Evaluator
  dueAt: number
  /** The health of its server at the last look; null before. */
  health: ServerState['health'] | null
}

/** A change of the health of a server is noticed within this time. */
const lookEachMs = 5_000
const serversAtOnce = 50

/**
 * The results of monitors that follow a server. They send no requests: a result is what is known about the server, at the interval of the
 * monitor, and as soon as its health changes. While the health is unknown, there are no results.
 */
export class ServerChecks {
  private readonly watched = new Map<string, Watched>()
  private lookedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly hub: Hub,
    private readonly roster: Roster,
    private readonly accept: (results: readonly CheckResult[]) => void,
  ) {}

  configure(specs: readonly CheckSpec[], removed: readonly string[]): void {
    for (const id of removed) this.watched.delete(id)
    for (const spec of specs)
      this.watched.set(spec.monitor, { spec, evaluate: createEvaluator(spec), dueAt: this.hub.clock.now(), health: null })
  }

  /** Reports on monitors that are due, and on those of servers whose health has changed. */
  async runDue(): Promise<void> {
    if (this.watched.size === 0) return
    const now = this.hub.clock.now()
    const isLook = now < this.lookedAt || now - this.lookedAt >= lookEachMs
    const all = [...this.watched.values()]
    const due = all.filter(one => one.dueAt <= now)
    if (!isLook && due.length === 0) return
    if (isLook) this.lookedAt = now
    await this.report(isLook ? all : due, null)
  }

  /** Reports on monitors now. @param nonce identifies the request */
  async run(monitors: readonly string[], nonce: string): Promise<void> {
    await this.report(
      monitors.flatMap(id => this.watched.get(id) ?? []),
      nonce,
    )
  }

  private async report(some: readonly Watched[], nonce: string | null): Promise<void> {
    for (let at = 0; at < some.length; at += serversAtOnce) {
      await this.reportBatch(some.slice(at, at + serversAtOnce), nonce)
      await yieldToEventLoop()
    }
  }

  private async reportBatch(some: readonly Watched[], nonce: string | null): Promise<void> {
    const states = await this.hub.serverStates.healthsOf(this.hub.read, [...new Set(some.map(one => one.spec.target))])
    const now = this.hub.clock.now()
    const due = some.filter(one => {
      const health = this.stateOf(one, states)?.health ?? 'unknown'
      const isNews = one.health !== health
      one.health = health
      return health !== 'unknown' && (isNews || nonce !== null || one.dueAt <= now)
    })
    const measured = due.filter(({ spec }) => spec.down_if.length + spec.degraded_if.length > 0).map(one => one.spec.target)
    const usage = measured.length === 0 ? new Map() : await this.hub.serverStates.usageOf(this.hub, [...new Set(measured)])
    const results = due.map(one => resultOf(one, this.stateOf(one, states)!, usage.get(one.spec.target) ?? null, now, nonce))
    this.accept(results)
    for (const [place, one] of due.entries())
      one.dueAt = now + (this.isSettled(results[place]!) ? one.spec.interval_ms : one.spec.retry_interval_ms)
    for (const one of some) if (one.dueAt <= now) one.dueAt = now + one.spec.interval_ms
  }

  private stateOf({ spec }: Watched, states: ReadonlyMap<string, ServerState>): ServerState | null {
    const state = states.get(spec.target)
    return state && state.workspaceId === this.roster.get(spec.monitor)?.workspaceId ? state : null
  }

  /** Whether a result needs no confirmation by another one. */
  private isSettled({ monitor, status }: CheckResult): boolean {
    const local = this.roster.get(monitor)?.state.locations[localLocation]
    if (!local) return false
    return local.settled === (status === 'down' ? 'down' : 'up') && (status !== 'degraded' || local.degraded)
  }
}

function resultOf(
  { spec, evaluate }: Watched,
  { health, reason }: ServerState,
  usage: Readonly<Record<string, number>> | null,
  now: number,
  nonce: string | null,
): CheckResult {
  const error = health === 'down' ? { kind: 'unreachable' as const, message: reason.replace(/\.$/, '') } : null
  const { status, error: found, conditions } = evaluate({ ...noFacts(), connected: health === 'up', error, usage }, { now })
  return {
    monitor: spec.monitor,
    revision: spec.revision,
    nonce,
    at: now,
    due_at: now,
    status,
    error: found,
    conditions,
    code: null,
    phases: noFacts().phases,
    address: null,
    certificate: null,
    evidence: null,
  }
}
