import type { CheckResult } from '../../../checks/check'
import type { EngineCapabilities, EnginePulse, FromEngine } from '../../../checks/messages'
import { Alike } from '../../../core/alike'
import type { Timer } from '../../../core/clock'
import { Garbage } from '../../../core/garbage'
import type { Hub } from '../../../core/hub'
import { tally } from '../../../core/tally'
import { topicsOf } from '../../../core/topics'
import { maintenanceTopic, nextEdge } from '../../maintenance/calendar'
import { latestOf } from '../latest'
import { recorderOf } from '../series/recorder'
import { takenOf } from '../series/taken'
import { localLocation, locationNumber } from '../locations'
import { Blindness } from './blindness'
import type { Engine } from './engine'
import { Judging } from './judging'
import { writeAllLastChecks, writeLastChecks } from './last-checks'
import { Roster, type Kept, type RosterChange } from './roster'
import { Runs } from './runs'
import { leastGapMs, Shares } from './shares'
import { Surroundings } from './surroundings'
import { monitoringTopic } from '../topic'
import { resultTopic } from '../watching'

const tickMs = 1000
// Three renewals fit into a lease.
const divideEachMs = 5000
const writeChecksEachMs = 5_000
// From here on their rows and results take more room for a while than all else in this process.
const manyMonitors = 1000

/** How the monitoring of this hub is, for /readyz and /metrics. Times in ms UTC. */
export interface Standing {
  startedAt: number
  capabilities: EngineCapabilities | null
  pulse: EnginePulse | null
  /** When the engine last told how it is. */
  pulseAt: number | null
  sharesHeld: number
  monitors: number
  /** Since when shares could not be renewed, or verdicts not be written; null while both can be. */
  failingSince: number | null
  /** Monitors with something that waits to be written. */
  waiting: number
}

/**
 * Runs the monitors of this hub's shares: tells the engine what to check, judges what it finds, and writes down what follows. One a
 * hub, kept by it until `stop`.
 */
export class MonitoringWatch {
  private readonly shares: Shares
  private readonly roster: Roster
  private readonly around: Surroundings
  private readonly judging: Judging
  private readonly runs: Runs
  private readonly blindness: Blindness
  private readonly startedAt: number
  private timer: Timer | null = null
  private off: () => void = () => {}
  private stopped = false
  private work: Promise<void> = Promise.resolve()
  private waitingWork = 0
  private readonly queued = new Set<string>()
  private dividedAt: number | null = null
  private calendarAt: number | null = null
  private tickedAt: number | null = null
  private checksWrittenAt: number
  private faults = new Map<string, number>()
  private readonly alike = new Alike()
  // What is collected soon is most of what comes; how monitors stand is replaced only with their next check.
  private readonly garbage = new Garbage({ youngMs: 3_000, allMs: 30_000 })
  private heard: Pick<Standing, 'capabilities' | 'pulse' | 'pulseAt'> = { capabilities: null, pulse: null, pulseAt: null }

  constructor(
    private readonly hub: Hub,
    private readonly engine: Engine,
  ) {
    this.shares = new Shares(hub)
    this.roster = new Roster(hub)
    this.blindness = new Blindness(hub)
    this.around = new Surroundings(hub, this.roster)
    this.runs = new Runs(hub, (monitors, nonce) => this.run(monitors, nonce))
    this.judging = new Judging(
      hub,
      this.roster,
      this.shares,
      this.around,
      change => this.tell(change),
      monitors => this.runs.ask(monitors),
    )
    this.startedAt = this.checksWrittenAt = hub.clock.now()
  }

  async start(): Promise<void> {
    this.engine.onMessage(message => this.hear(message))
    this.engine.send({ kind: 'own_listeners', listeners: [...this.hub.listeners] })
    await this.runs.listen()
    const offs = [
      topicsOf(this.hub).on(monitoringTopic, () => this.enqueue('look', () => this.look())),
      topicsOf(this.hub).on(maintenanceTopic, () => this.enqueue('maintenance', () => this.maintain())),
    ]
    this.off = () => offs.forEach(off => off())
    await this.tick()
    this.arm()
  }

  /** The hub's sockets changed: no check may reach them. */
  listenersChanged(): void {
    this.engine.send({ kind: 'own_listeners', listeners: [...this.hub.listeners] })
  }

  /** Takes what a location found. */
  take(location: string, results: readonly CheckResult[]): void {
    const latest = latestOf(this.hub)
    const recorder = recorderOf(this.hub)
    const topics = topicsOf(this.hub)
    const number = locationNumber(location)
    for (const result of results) {
      tally(this.hub, 'monitor_checks', result.status)
      if (result.nonce !== null) this.runs.ended(result)
      const kept = this.roster.get(result.monitor)
      // Of a monitor that was deleted, edited or paused meanwhile, or that another hub runs by now, nothing is told any more.
      if (!kept || kept.paused || kept.version !== result.revision || !this.shares.owns(kept.share)) continue
      // A time that is still to come is of a clock that was set back since.
      const known = kept.lastCheckAt ?? 0
      kept.lastCheckAt = known > this.hub.clock.now() ? result.at : Math.max(known, result.at)
      // What failed before it saw a certificate says nothing about it.
      if (result.certificate || result.status !== 'down') kept.certificateExpiresAt = result.certificate?.chain_not_after ?? null
      const { evidence } = result
      latest.set(kept.id, { result: this.remembered(result), nextCheckAt: result.due_at + kept.intervalSeconds * 1000 })
      topics.wake(resultTopic(kept.id))
      // What a location found that could not see says nothing.
      if (this.around.impaired.includes(location)) continue
      if (number !== null) recorder.take(takenOf(result, kept.number, number))
      if (result.status === 'up') kept.lastBad = null
      else kept.lastBad = evidence ? result : { ...result, evidence: kept.lastBad?.evidence ?? null }
      this.judging.take(kept, { at: this.hub.clock.now(), location, result })
    }
    if (this.judging.waiting > 0) this.enqueue('write', () => this.judging.write())
  }

  runNow(monitorIds: readonly string[], waitMs: number): Promise<CheckResult[]> {
    return this.runs.now(monitorIds, waitMs)
  }

  standing(): Standing {
    return {
      ...this.heard,
      startedAt: this.startedAt,
      sharesHeld: this.shares.held.length,
      monitors: this.roster.size,
      failingSince: this.faults.size > 0 ? Math.min(...this.faults.values()) : null,
      waiting: this.judging.waiting,
    }
  }

  /** Resolves when everything that was found is written, as far as it can be. */
  async settled(): Promise<void> {
    while (this.waitingWork > 0) await this.work
  }

  /** Ends the checks, writes what was found and gives the shares back. */
  async stop(): Promise<void> {
    this.stopped = true
    this.timer?.cancel()
    this.off()
    await this.engine.stop()
    await this.settled()
    await this.attempt('write', () => this.judging.write())
    await this.attempt('leave', async () => {
      await writeAllLastChecks(this.hub, this.roster)
      await this.shares.leave()
    })
  }

  /** Without its evidence; of a certificate that many targets show one is kept. */
  private remembered(result: CheckResult): CheckResult {
    const [conditions, certificate] = [this.alike.of(result.conditions), this.alike.of(result.certificate)]
    return { ...result, conditions, certificate, evidence: null }
  }

  private hear(message: FromEngine): void {
    if (this.stopped) return
    if (message.kind === 'results') return this.take(localLocation, message.results)
    if (message.kind === 'ready') {
      this.heard.capabilities = message.capabilities
      const { problem } = message.capabilities.icmp
      if (problem !== null) this.hub.log.info({ problem }, 'checks by ICMP are not as they could be')
    } else {
      this.heard = { ...this.heard, pulse: message.pulse, pulseAt: this.hub.clock.now() }
      this.around.impaired = message.pulse.impaired === null ? [] : [localLocation]
      this.blindness.hear(message.pulse.impaired)
    }
  }

  private run(monitors: readonly string[], nonce: string): readonly string[] {
    const own = monitors.filter(id => {
      const kept = this.roster.get(id)
      return kept && !kept.paused && this.shares.owns(kept.share)
    })
    if (own.length > 0) this.engine.send({ kind: 'run_now', monitors: own, nonce })
    return own
  }

  private arm(): void {
    if (this.stopped) return
    this.timer = this.hub.clock.after(tickMs, () => {
      this.enqueue('tick', () => this.tick())
      void this.work.finally(() => this.arm())
    })
  }

  /** One piece of work after the other: what one changes in memory, the next one sees. */
  private enqueue(name: string, piece: () => Promise<void>): void {
    // What has not begun yet will see what there is by then.
    if (this.queued.has(name)) return
    this.queued.add(name)
    this.waitingWork++
    this.work = this.work.then(async () => {
      this.queued.delete(name)
      await this.attempt(name, piece)
      this.waitingWork--
    })
  }

  private async attempt(name: string, piece: () => Promise<void>): Promise<void> {
    try {
      await piece()
      this.faults.delete(name)
    } catch (error) {
      if (!this.faults.has(name)) this.faults.set(name, this.hub.clock.now())
      this.hub.log.error({ err: error, piece: name }, 'monitoring could not do a piece of its work, and tries again')
    }
  }

  private async tick(): Promise<void> {
    const now = this.hub.clock.now()
    if (this.dividedAt === null || now < this.dividedAt || now - this.dividedAt >= divideEachMs) {
      this.dividedAt = now
      await this.attempt('shares', () => this.divide())
    }
    await this.attempt('look', () => this.look())
    await this.attempt('surroundings', () => this.around.look())
    await this.attempt('blindness', () => this.blindness.look(this.roster.size))
    if (this.tickedAt !== null && now - this.tickedAt >= leastGapMs) this.judging.stoodStill()
    this.tickedAt = now
    this.followCalendar(now)
    this.judging.wakeDue()
    await this.attempt('write', () => this.judging.write())
    if (now < this.checksWrittenAt || now - this.checksWrittenAt >= writeChecksEachMs) {
      this.checksWrittenAt = now
      await this.attempt('last checks', () => writeLastChecks(this.hub, this.roster))
    }
    if (this.roster.size >= manyMonitors) this.garbage.collect()
  }

  private followCalendar(now: number): void {
    // Edges that a clock was set over, forwards or back, are passed as well.
    const edge = this.calendarAt === null || now < this.calendarAt ? now : nextEdge(this.hub, this.calendarAt)
    if (edge !== null && edge <= now) this.around.edgesPassed()
    this.calendarAt = now
  }

  private async divide(): Promise<void> {
    const { taken, lost, surplus } = await this.shares.divide()
    await this.release(lost)
    await this.adopt(taken)
    if (surplus.length === 0) return
    await this.judging.write()
    await writeAllLastChecks(this.hub, this.roster)
    await this.release(surplus)
    await this.shares.free(surplus)
  }

  private async adopt(shares: readonly number[]): Promise<void> {
    if (shares.length === 0) return
    // With the first ones the engine begins: those it may check when their turn comes, and need not all begin together.
    let full = this.roster.size === 0
    for await (const change of this.roster.take(shares)) {
      this.tell(change, full)
      full = false
    }
    const taken = new Set(shares)
    const own = [...this.roster.all()].filter(one => taken.has(one.share))
    // What reading so many left behind would else stay for good, as room that the next garbage may fill.
    if (own.length >= manyMonitors) Bun.gc(true)
    void recorderOf(this.hub)
      .adopt(own.map(one => one.number))
      .catch(error => this.hub.log.error({ err: error }, 'results of the open hour could not be read back'))
    // What was being confirmed is gone on with at once.
    this.runs.ask(own.filter(isDoubted).map(one => one.id))
  }

  private async release(shares: readonly number[]): Promise<void> {
    if (shares.length === 0) return
    const given = new Set(shares)
    const numbers = [...this.roster.all()].filter(one => given.has(one.share)).map(one => one.number)
    this.tell(this.roster.leave(shares))
    await recorderOf(this.hub).release(numbers)
  }

  private async maintain(): Promise<void> {
    this.around.edgesPassed()
    this.judging.wakeDue()
    await this.judging.write()
  }

  private async look(): Promise<void> {
    this.tell(await this.roster.look())
  }

  private tell({ upsert, remove }: RosterChange, full = false): void {
    if (upsert.length === 0 && remove.length === 0) return
    this.engine.send({ kind: 'configure', full, upsert, remove })
    // What is paused, or another by now, is no reason any more to hold anything back.
    for (const id of [...upsert.map(one => one.monitor), ...remove]) this.around.moved(id)
    this.around.changed()
  }
}

const isDoubted = ({ state, paused }: Kept): boolean => !paused && Object.values(state.locations).some(one => one.streak > 0)

const watches = new WeakMap<Hub, MonitoringWatch>()

/** Starts the monitoring of a hub with an engine. */
export async function startMonitoring(hub: Hub, engine: Engine): Promise<MonitoringWatch> {
  const watch = new MonitoringWatch(hub, engine)
  watches.set(hub, watch)
  await watch.start()
  return watch
}

/** The monitoring that this process runs; null in a command beside the hub. */
export const monitoringOf = (hub: Hub): MonitoringWatch | null => watches.get(hub) ?? null

/**
 * Runs monitors at once, beside their schedule, whichever hub has them.
 * @param waitMs how long to wait for the results
 * @returns those that came in time
 */
export const runNow = async (hub: Hub, monitorIds: readonly string[], waitMs: number): Promise<CheckResult[]> =>
  (await monitoringOf(hub)?.runNow(monitorIds, waitMs)) ?? []
