import { largeMonitorCount, type CheckResult } from '../../../checks/check'
import { partsToSend, type EngineCapabilities, type EnginePulse, type FromEngine } from '../../../checks/messages'
import { InternPool } from '../../../core/intern-pool'
import type { Timer } from '../../../core/clock'
import type { Hub } from '../../../core/hub'
import { incrementCounter } from '../../../core/metric-counters'
import { yieldToEventLoop } from '../../../core/time-slices'
import { topicsOf } from '../../../core/topics'
import { maintenanceTopic, nextBoundary } from '../../maintenance/calendar'
import { latestOf } from './latest'
import { recorderOf } from '../series/recorder'
import { beatOf } from '../series/result-beat'
import { localLocation, locationNumber } from './locations'
import { ImpairmentNotices } from './impairment'
import type { Engine } from './engine'
import { Judging } from './judging'
import { writeAllLastChecks, writeLastChecks } from './last-checks'
import { quarantineResult, sendQuarantineNotice } from './quarantine'
import { Roster, type LoadedMonitor, type RosterChange } from './roster'
import { Runs } from './runs'
import { divideEachMs, minGapMs, Shares } from './shares'
import { RelatedMonitors } from './related-monitors'
import { ServerChecks } from './server-checks'
import { monitoringTopic } from './topic'
import { resultTopic } from '../watching'

const tickMs = 1000
const writeChecksEachMs = 5_000

/** The state of monitoring on this hub, for /readyz and /metrics. Times in ms UTC. */
interface MonitoringStatus {
  startedAt: number
  capabilities: EngineCapabilities | null
  pulse: EnginePulse | null
  /** When the last pulse arrived. */
  pulseAt: number | null
  sharesHeld: number
  monitors: number
  /** Since when shares can't be renewed or verdicts can't be stored; null if both work. */
  failingSince: number | null
  /** The number of monitors waiting to be written. */
  waiting: number
}

/**
 * Runs the monitors of this hub's shares: configures the engine, judges its results, and stores the outcome. One per hub, until `stop`.
 */
export class MonitoringWatch {
  private readonly shares: Shares
  private readonly roster: Roster
  private readonly related: RelatedMonitors
  private readonly judging: Judging
  private readonly runs: Runs
  private readonly serverChecks: ServerChecks
  private readonly impairment: ImpairmentNotices
  private readonly startedAt: number
  private timer: Timer | null = null
  private renewTimer: Timer | null = null
  private renewing: Promise<void> = Promise.resolve()
  private unsubscribe: () => void = () => {}
  private stopped = false
  private work: Promise<void> = Promise.resolve()
  private waitingWork = 0
  private readonly queued = new Set<string>()
  private dividedAt: number | null = null
  private calendarAt: number | null = null
  private tickedAt: number | null = null
  private checksWrittenAt: number
  /** The version of the database in which the roster was last read. */
  private versionSeen: string | null = null
  private faults = new Map<string, number>()
  private readonly pool = new InternPool()
  private engineStatus: Pick<MonitoringStatus, 'capabilities' | 'pulse' | 'pulseAt'> = {
    capabilities: null,
    pulse: null,
    pulseAt: null,
  }

  constructor(
    private readonly hub: Hub,
    readonly engine: Engine,
  ) {
    this.shares = new Shares(hub)
    this.roster = new Roster(hub)
    this.impairment = new ImpairmentNotices(hub)
    this.related = new RelatedMonitors(hub, this.roster)
    this.serverChecks = new ServerChecks(
      hub,
      this.roster,
      results => this.acceptResults(localLocation, results),
      (monitor, nonce) => this.runs.finished(nonce, monitor, null),
    )
    this.runs = new Runs(hub, (monitors, nonce) => this.run(monitors, nonce))
    this.judging = new Judging(
      hub,
      this.roster,
      this.shares,
      this.related,
      change => void this.configureEngine(change),
      monitors => this.runs.request(monitors),
    )
    this.startedAt = this.checksWrittenAt = hub.clock.now()
  }

  async start(): Promise<void> {
    this.engine.onMessage(message => this.onEngineMessage(message))
    this.engine.send({ kind: 'hub_listeners', listeners: [...this.hub.listeners] })
    await this.runs.listen()
    const unsubscribes = [
      topicsOf(this.hub).on(monitoringTopic, () => this.enqueue('look', () => this.refreshRoster())),
      topicsOf(this.hub).on(maintenanceTopic, () => this.enqueue('maintenance', () => this.maintenanceChanged())),
    ]
    this.unsubscribe = () => unsubscribes.forEach(unsubscribe => unsubscribe())
    await this.tick()
    this.arm()
    this.armRenewal()
  }

  /** The listening sockets of the hub changed. Checks must not connect to them. */
  listenersChanged(): void {
    this.engine.send({ kind: 'hub_listeners', listeners: [...this.hub.listeners] })
  }

  /** Processes the results of a location. */
  acceptResults(location: string, results: readonly CheckResult[]): void {
    const latest = latestOf(this.hub)
    const recorder = recorderOf(this.hub)
    const topics = topicsOf(this.hub)
    const number = locationNumber(location)
    for (const result of results) {
      incrementCounter(this.hub, 'monitor_checks', result.status)
      if (result.nonce !== null) this.runs.finished(result.nonce, result.monitor, result)
      const monitor = this.roster.get(result.monitor)
      // Ignore results of monitors that were deleted, updated, or paused in the meantime, or that another hub runs now.
      if (!monitor || monitor.paused || monitor.version !== result.revision || !this.shares.owns(monitor.share)) continue
      // A timestamp in the future means the clock was set back; use the new one.
      const known = monitor.lastCheckAt ?? 0
      monitor.lastCheckAt = known > this.hub.clock.now() ? result.at : Math.max(known, result.at)
      // A failure before the TLS handshake says nothing about the certificate.
      if (result.certificate || result.status !== 'down')
        monitor.certificateExpiresAt = result.certificate?.chain_not_after ?? null
      const { evidence } = result
      latest.set(monitor.id, {
        result: this.withoutEvidence(result),
        nextCheckAt: result.due_at + monitor.intervalSeconds * 1000,
      })
      topics.wake(resultTopic(monitor.id))
      // Results of an impaired location don't count.
      if (this.related.impaired.includes(location)) continue
      if (number !== null) recorder.add(beatOf(result, monitor.number, number))
      if (result.status === 'up') monitor.lastBad = null
      else monitor.lastBad = evidence ? result : { ...result, evidence: monitor.lastBad?.evidence ?? null }
      this.judging.observe(monitor, { at: this.hub.clock.now(), location, result })
    }
    if (this.judging.waiting > 0) this.enqueue('write', () => this.judging.write())
  }

  runNow(monitorIds: readonly string[], waitMs: number): Promise<CheckResult[]> {
    return this.runs.runAndWait(monitorIds, waitMs)
  }

  status(): MonitoringStatus {
    return {
      ...this.engineStatus,
      startedAt: this.startedAt,
      sharesHeld: this.shares.held.length,
      monitors: this.roster.size,
      failingSince: this.faults.size > 0 ? Math.min(...this.faults.values()) : null,
      waiting: this.judging.waiting,
    }
  }

  /** Resolves when all queued work is done. */
  async settled(): Promise<void> {
    while (this.waitingWork > 0) await this.work
  }

  /** Stops the checks, stores the results, and releases the shares. */
  async stop(): Promise<void> {
    this.stopped = true
    this.timer?.cancel()
    this.renewTimer?.cancel()
    this.unsubscribe()
    await this.renewing
    await this.engine.stop()
    await this.settled()
    await this.attempt('write', () => this.judging.write())
    await this.attempt('leave', async () => {
      await writeAllLastChecks(this.hub, this.roster)
      await this.shares.leave()
    })
  }

  /** Drops the evidence, and shares equal certificates between monitors. */
  private withoutEvidence(result: CheckResult): CheckResult {
    const [conditions, certificate] = [this.pool.intern(result.conditions), this.pool.intern(result.certificate)]
    return { ...result, conditions, certificate, evidence: null }
  }

  private onEngineMessage(message: FromEngine): void {
    if (this.stopped) return
    if (message.kind === 'results') return this.acceptResults(localLocation, message.results)
    if (message.kind === 'ready') {
      this.engineStatus.capabilities = message.capabilities
      const { problem } = message.capabilities.icmp
      if (problem !== null) this.hub.log.info({ problem }, 'ICMP checks are limited')
    } else if (message.kind === 'quarantined') {
      this.quarantine(message.monitor, message.revision)
    } else if (message.kind === 'pulse') {
      this.engineStatus = { ...this.engineStatus, pulse: message.pulse, pulseAt: this.hub.clock.now() }
      this.related.impaired = message.pulse.impaired === null ? [] : [localLocation]
      this.impairment.update(message.pulse.impaired)
    }
  }

  private quarantine(id: string, revision: number): void {
    const monitor = this.roster.get(id)
    if (monitor?.version !== revision) return
    this.acceptResults(localLocation, [quarantineResult(monitor, this.hub.clock.now())])
    this.enqueue(`quarantine ${id}`, () => sendQuarantineNotice(this.hub, monitor))
  }

  private run(monitors: readonly string[], nonce: string): readonly string[] {
    const own = monitors.filter(id => {
      const monitor = this.roster.get(id)
      return monitor && !monitor.paused && this.shares.owns(monitor.share)
    })
    const [ofServers, others] = this.partition(own, id => id)
    if (others.length > 0) this.engine.send({ kind: 'run_now', monitors: others, nonce })
    if (ofServers.length > 0) this.enqueue(`servers ${nonce}`, () => this.serverChecks.run(ofServers, nonce))
    return own
  }

  /** Divides what belongs to monitors that follow a server from what the engine does. */
  private partition<T>(all: readonly T[], idOf: (one: T) => string): [ofServers: T[], others: T[]] {
    const isOfServer = (one: T) => this.roster.get(idOf(one))?.type === 'server'
    return [all.filter(isOfServer), all.filter(one => !isOfServer(one))]
  }

  private arm(): void {
    if (this.stopped) return
    this.timer = this.hub.clock.after(tickMs, () => {
      this.enqueue('tick', () => this.tick())
      void this.work.finally(() => this.arm())
    })
  }

  /** Leases are also renewed while other work is running. */
  private armRenewal(): void {
    if (this.stopped) return
    const ms = Math.min(Math.max(this.shares.lateAt - this.hub.clock.now(), tickMs), divideEachMs)
    this.renewTimer = this.hub.clock.after(ms, () => {
      this.renewing = this.attempt('renew', () => this.shares.renewIfLate()).then(() => this.armRenewal())
    })
  }

  /** Runs work one after another, so that each step sees the changes of the one before. */
  private enqueue(name: string, piece: () => Promise<void>): void {
    // Work that is queued but has not started will cover this request too.
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
      this.hub.log.error({ err: error, piece: name }, 'monitoring step failed, retrying')
    }
  }

  private async tick(): Promise<void> {
    const now = this.hub.clock.now()
    if (this.dividedAt === null || now < this.dividedAt || now - this.dividedAt >= divideEachMs) {
      this.dividedAt = now
      await this.attempt('shares', () => this.divideShares())
    }
    await this.attempt('look', () => this.lookForChanges())
    await this.attempt('surroundings', () => this.related.refresh())
    await this.attempt('impairment', () => this.impairment.notifyDue(this.roster.size))
    if (this.tickedAt !== null && now - this.tickedAt >= minGapMs) this.judging.resumeAfterStall()
    this.tickedAt = now
    this.followCalendar(now)
    await this.attempt('servers', () => this.serverChecks.runDue())
    this.judging.wakeDue()
    await this.attempt('write', () => this.judging.write())
    if (now < this.checksWrittenAt || now - this.checksWrittenAt >= writeChecksEachMs) {
      this.checksWrittenAt = now
      await this.attempt('last checks', () => writeLastChecks(this.hub, this.roster))
    }
  }

  private followCalendar(now: number): void {
    // Also handle edges that were skipped because the clock was set.
    const edge = this.calendarAt === null || now < this.calendarAt ? now : nextBoundary(this.hub, this.calendarAt)
    if (edge !== null && edge <= now) this.related.windowEdgePassed()
    this.calendarAt = now
  }

  private async divideShares(): Promise<void> {
    const { claimed, lost, surplus } = await this.shares.divide()
    await this.release(lost)
    await this.adopt(claimed)
    if (surplus.length === 0) return
    await this.judging.write()
    await writeAllLastChecks(this.hub, this.roster)
    await this.release(surplus)
    await this.shares.free(surplus)
  }

  private async adopt(shares: readonly number[]): Promise<void> {
    if (shares.length === 0) return
    // A full configuration lets the engine spread the first checks over their interval.
    let full = this.roster.size === 0
    for await (const change of this.roster.load(shares)) {
      await this.configureEngine(change, full)
      full = false
    }
    const claimed = new Set(shares)
    const own = [...this.roster.all()].filter(one => claimed.has(one.share))
    // Collect now, or the heap keeps its peak size from loading.
    if (own.length >= largeMonitorCount) Bun.gc(true)
    void recorderOf(this.hub)
      .adopt(own.map(one => one.number))
      .catch(error => this.hub.log.error({ err: error }, 'could not read back the results of the current hour'))
    // Continue with unfinished confirmations immediately.
    this.runs.request(own.filter(isConfirming).map(one => one.id))
  }

  private async release(shares: readonly number[]): Promise<void> {
    if (shares.length === 0) return
    const released = new Set(shares)
    const numbers = [...this.roster.all()].filter(one => released.has(one.share)).map(one => one.number)
    await this.configureEngine(this.roster.unload(shares))
    await recorderOf(this.hub).release(numbers)
  }

  private async maintenanceChanged(): Promise<void> {
    this.related.windowEdgePassed()
    this.judging.wakeDue()
    await this.judging.write()
  }

  /** Reads the changes of other hubs and commands. */
  private async lookForChanges(): Promise<void> {
    const version = this.hub.store.version()
    if (version !== null && version === this.versionSeen) return
    await this.refreshRoster()
    this.versionSeen = version
  }

  private async refreshRoster(): Promise<void> {
    await this.configureEngine(await this.roster.refresh())
  }

  /** Sends a change to the engine, a large one in parts: sending thousands of monitors at once would block other requests. */
  private async configureEngine({ upsert, remove }: RosterChange, full = false): Promise<void> {
    if (upsert.length === 0 && remove.length === 0) return
    const [ofServers, checked] = this.partition(upsert, one => one.monitor)
    this.serverChecks.configure(ofServers, [...remove, ...checked.map(one => one.monitor)])
    const [first = [], ...others] = partsToSend(checked)
    this.engine.send({ kind: 'configure', full, upsert: first, remove })
    for (const part of others) {
      await yieldToEventLoop()
      this.engine.send({ kind: 'configure', full: false, upsert: part, remove: [] })
    }
    // Monitors that were paused or updated may no longer suppress alerts of others.
    for (const id of [...upsert.map(one => one.monitor), ...remove]) this.related.statusChanged(id)
    this.related.invalidate()
  }
}

const isConfirming = ({ state, paused }: LoadedMonitor): boolean =>
  !paused && Object.values(state.locations).some(one => one.streak > 0)

const watches = new WeakMap<Hub, MonitoringWatch>()

/** Starts the monitoring of a hub with an engine. */
export async function startMonitoring(hub: Hub, engine: Engine): Promise<MonitoringWatch> {
  const watch = new MonitoringWatch(hub, engine)
  watches.set(hub, watch)
  await watch.start()
  return watch
}

/** The monitoring of this process; null in CLI commands. */
export const monitoringOf = (hub: Hub): MonitoringWatch | null => watches.get(hub) ?? null

/**
 * Runs checks immediately, in addition to the schedule, on whichever hub runs the monitors.
 * @param waitMs how long to wait for the results
 * @returns the results that arrive in time
 */
export const runNow = async (hub: Hub, monitorIds: readonly string[], waitMs: number): Promise<CheckResult[]> =>
  (await monitoringOf(hub)?.runNow(monitorIds, waitMs)) ?? []
