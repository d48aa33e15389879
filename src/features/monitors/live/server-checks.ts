import {
  noFacts,
  type CheckResult,
  type CheckSpec,
  type ConditionSource,
  type ResultStatus,
  type ServerUsage,
} from '../../../checks/check'
import { parseCondition } from '../../../checks/conditions/condition'
import { createEvaluator, type Evaluator } from '../../../checks/conditions/evaluation'
import { nextAtPhase } from '../../../checks/engine/phase'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import type { ServerState } from '../server-states'
import type { LocationState } from '../verdict/state'
import { localLocation } from './locations'
import type { Roster } from './roster'

/** Conditions, which most monitors of servers have in common. */
interface Conditions {
  evaluate: Evaluator
  /** The sources of each condition. */
  sources: ReadonlyMap<string, readonly ConditionSource[]>
}

interface Watched extends Conditions {
  spec: CheckSpec
  dueAt: number
  /** The health of its server at the last look; null before. */
  health: ServerState['health'] | null
  /** The last result, with the conditions that were true; null before. */
  last: { status: ResultStatus; held: readonly string[] } | null
}

/** A monitor to report on, with the state of its server. */
interface Due {
  one: Watched
  state: ServerState
}

/** A change of the health of a server is noticed within this time. */
const lookEachMs = 5_000
const serversAtOnce = 50
/** With more different conditions, they are no longer shared with monitors that were configured before. */
const maxShared = 1000

/**
 * The results of monitors that follow a server. They send no requests: a result is what is known about the server, at the interval of the
 * monitor, and as soon as its health changes. While the health is unknown, there are no results. There are none either while a condition
 * that was true can’t be evaluated, because nothing measures its source any longer: nobody knows whether it still is.
 */
export class ServerChecks {
  private readonly watched = new Map<string, Watched>()
  private readonly shared = new Map<string, Conditions>()
  private lookedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly hub: Hub,
    private readonly roster: Roster,
    private readonly accept: (results: readonly CheckResult[]) => void,
    private readonly skip: (monitor: string, nonce: string) => void,
  ) {}

  configure(specs: readonly CheckSpec[], removed: readonly string[]): void {
    for (const id of removed) this.watched.delete(id)
    for (const spec of specs)
      this.watched.set(spec.monitor, {
        ...this.conditionsOf(spec),
        spec,
        dueAt: this.hub.clock.now(),
        health: null,
        last: null,
      })
  }

  private conditionsOf({ down_if, degraded_if, degraded_ms }: CheckSpec): Conditions {
    const key = JSON.stringify([down_if, degraded_if, degraded_ms])
    let found = this.shared.get(key)
    if (!found) {
      if (this.shared.size >= maxShared) this.shared.clear()
      found = {
        evaluate: createEvaluator({ down_if, degraded_if, degraded_ms }),
        sources: new Map([...down_if, ...degraded_if].map(text => [text, parseCondition(text).sources])),
      }
      this.shared.set(key, found)
    }
    return found
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

  /** Reports on monitors now, or skips those without a result. @param nonce identifies the request */
  async run(monitors: readonly string[], nonce: string): Promise<void> {
    await this.report(
      monitors.flatMap(id => this.watched.get(id) ?? []),
      nonce,
    )
  }

  /** @throws what prevented some of the results, after all others */
  private async report(some: readonly Watched[], nonce: string | null): Promise<void> {
    const errors: unknown[] = []
    for (let at = 0; at < some.length; at += serversAtOnce) {
      await this.reportBatch(some.slice(at, at + serversAtOnce), nonce).catch(error => errors.push(error))
      await yieldToEventLoop()
    }
    if (errors.length > 0) throw errors[0]
  }

  private async reportBatch(some: readonly Watched[], nonce: string | null): Promise<void> {
    const states = await this.hub.serverStates.healthsOf(this.hub.read, [...new Set(some.map(one => one.spec.target))])
    const now = this.hub.clock.now()
    const due = some.flatMap((one): Due[] => {
      const state = this.stateOf(one, states)
      if (state === null || state.health === 'unknown') {
        one.health = 'unknown'
        if (one.dueAt <= now) one.dueAt = nextDue(one, now)
        if (nonce !== null) this.skip(one.spec.monitor, nonce)
        return []
      }
      return one.health !== state.health || nonce !== null || one.dueAt <= now ? [{ one, state }] : []
    })
    const isMeasured = ({ one, state }: Due) => state.health === 'up' && one.sources.size > 0
    const measured = due.filter(isMeasured)
    // First, because usage may be unreadable.
    this.take(
      due.filter(one => !isMeasured(one)),
      null,
      now,
      nonce,
    )
    if (measured.length === 0) return
    let usage: ReadonlyMap<string, ServerUsage> = new Map()
    try {
      const filling = measured.filter(({ one }) => [...one.sources.values()].flat().includes('DISK_HOURS_LEFT'))
      usage = await this.hub.serverStates.usageOf(this.hub, [...targetsOf(measured)], targetsOf(filling))
    } finally {
      this.take(measured, usage, now, nonce)
    }
  }

  /** @param usage by server; null if no conditions are evaluated */
  private take(due: readonly Due[], usage: ReadonlyMap<string, ServerUsage> | null, now: number, nonce: string | null): void {
    const results: CheckResult[] = []
    for (const { one, state } of due) {
      const used = usage?.get(one.spec.target) ?? null
      const result = resultOf(one, state, used, now, nonce)
      one.health = state.health
      one.dueAt = nextDue(one, now)
      if (usage && this.isUncertain(one, result, used)) {
        if (nonce !== null) this.skip(one.spec.monitor, nonce)
        continue
      }
      one.last = { status: result.status, held: result.conditions.map(failed => failed.condition) }
      if (!this.isSettled(result)) one.dueAt = now + one.spec.retry_interval_ms
      results.push(result)
    }
    if (results.length > 0) this.accept(results)
  }

  /** Whether a result is better than the one before only because sources of conditions are no longer measured. */
  private isUncertain({ spec, sources, last }: Watched, { status }: CheckResult, usage: ServerUsage | null): boolean {
    const isUnknown = (condition: string) => sources.get(condition)!.some(source => usage?.[source] === undefined)
    if (last) return ranks[status] < ranks[last.status] && last.held.some(isUnknown)
    // After a restart, it is not known which conditions were true.
    const local = this.localOf(spec.monitor)
    if (local?.lastError?.kind !== 'condition') return false
    const before = local.settled === 'down' ? 'down' : local.degraded ? 'degraded' : 'up'
    return ranks[status] < ranks[before] && [...sources.keys()].every(isUnknown)
  }

  private stateOf({ spec }: Watched, states: ReadonlyMap<string, ServerState>): ServerState | null {
    const state = states.get(spec.target)
    return state && state.workspaceId === this.roster.get(spec.monitor)?.workspaceId ? state : null
  }

  /** Whether a result needs no confirmation by another one. */
  private isSettled({ monitor, status }: CheckResult): boolean {
    const local = this.localOf(monitor)
    if (!local) return false
    return local.settled === (status === 'down' ? 'down' : 'up') && (status !== 'degraded' || local.degraded)
  }

  private localOf(monitor: string): LocationState | undefined {
    return this.roster.get(monitor)?.state.locations[localLocation]
  }
}

const targetsOf = (some: readonly Due[]): Set<string> => new Set(some.map(({ one }) => one.spec.target))

const ranks: Readonly<Record<ResultStatus, number>> = { up: 0, degraded: 1, down: 2 }

/** When the next regular result is due, as for checks: spread over the interval. */
const nextDue = ({ spec: { monitor, interval_ms: intervalMs } }: Watched, now: number): number =>
  nextAtPhase(monitor, intervalMs, now + intervalMs / 2)

function resultOf(
  { spec, evaluate, sources }: Watched,
  { health, reason }: ServerState,
  usage: ServerUsage | null,
  now: number,
  nonce: string | null,
): CheckResult {
  const error = health === 'down' ? { kind: 'unreachable' as const, message: reason.replace(/\.$/, '') } : null
  const { status, error: found, conditions } = evaluate({ ...noFacts(), connected: health === 'up', error, usage }, { now })
  // The error is about the first condition that is true. A condition about a single device names it itself.
  const condition = conditions[0]?.condition ?? ''
  const [counted] = condition.includes('].') ? [] : (sources.get(condition) ?? [])
  const names = found?.kind === 'condition' && counted ? usage?.[`${counted} names`] : undefined
  return {
    monitor: spec.monitor,
    revision: spec.revision,
    nonce,
    at: now,
    due_at: now,
    status,
    error: found && names !== undefined ? { ...found, message: withNames(found.message, String(names)) } : found,
    conditions,
    code: null,
    phases: noFacts().phases,
    address: null,
    certificate: null,
    evidence: null,
  }
}

/** Inserts names after the sentence about the first condition, and before the number of other conditions. */
const withNames = (message: string, names: string): string =>
  message.replace(/(?:, and \d+ more conditions?)?$/, others => `: ${names}${others}`)
