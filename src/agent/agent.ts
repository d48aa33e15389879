import type { Clock, Timer } from '../core/clock'
import { sha256, sha256Hex } from '../core/sha256'
import { version } from '../core/version'
import type { AgentConfig, AgentReport, ReportAnswer, StopReason } from '../wire/agent'
import type { AgentPermission } from '../wire/agent-permissions'
import { reportParts as partNames, type Machine, type ReportParts } from './machine'
import { InvalidAnswer, readReportAnswer } from './transport/answers'
import { pauseMs } from './transport/back-off'
import type { HubClock } from './transport/hub-clock'
import { HubRequestFailed, type HubClient } from './transport/hub-client'
import { tableOf, type WaitingMinute } from './transport/minutes'
import { refusedPermissions, Refusals } from './transport/refusals'
import type { ReportNews } from './news'
import type { MeasuredMinute } from './sample/minutes'
import type { Spool } from './transport/spool'

/** What an agent consists of. */
export interface AgentPieces {
  agentId: string
  allow: readonly AgentPermission[]
  config: AgentConfig
  client: Pick<HubClient, 'send'>
  clock: HubClock
  timers: Pick<Clock, 'after'>
  spool: Pick<Spool, 'add' | 'since' | 'oldest' | 'remove' | 'count' | 'dropped'>
  machine: Machine
  /** The firewall that the hub has set on this server; undefined if it has set none. */
  firewall?: () => AgentReport['firewall']
  /** The last update of the agent; undefined if there was none. */
  update?: () => AgentReport['update']
  /** Like `Math.random`. */
  random: () => number
  /** Writes a sentence to the log. */
  log: (text: string) => void
  /** Stores settings that the hub changed. @throws Error if that is not possible */
  keepConfig: (config: AgentConfig) => void
  /** Called after each report and each failure. */
  onStatus: (status: AgentStatus) => void
}

/** What the agent does now, as `status` shows it. */
export interface AgentStatus {
  run_id: string
  interval_seconds: number
  /** When the hub acknowledged a report the last time (ms UTC). */
  last_report_at: number | null
  /** Why the last report failed. Null if it didn’t. */
  error: string | null
  clock_offset_ms: number | null
  spooled: number
  dropped: number
}

const reportsPath = '/v1/ingest/agents/reports'

const sampleMs = 10_000
const minuteMs = 60_000
/** Pause before the next report if parts that someone wants were not read in time. Each report waits for them. */
const latePauseMs = 5000
/** Pause between two requests: at most four a second. */
const requestPauseMs = 250
/** An offset of the clock from this on is logged (ms). */
const loggedOffsetMs = 5000

/** Measures a server, and reports each minute to the hub. Minutes that the hub has not acknowledged wait in the spool. */
export class Agent {
  private run: string = crypto.randomUUID()
  private config: AgentConfig
  private seq = 0
  private hasMeasured = false
  /** When the current minute was first measured by the steady clock, if the time of the hub was still unknown then. */
  private unsureSince: number | null = null
  /** Digests of the parts that the hub has. */
  private known = new Map<string, string>()
  private readonly refusals: Refusals<keyof ReportParts>
  /** Whether the next report reads the parts again, also those that were read recently. */
  private isForced = false
  /** When the next report is due, and until when nothing is sent, by the steady clock. */
  private presentAt = 0
  private quietUntil = 0
  private failures = 0
  private lastReportAt: number | null = null
  private error: string | null = null
  private clockWasWrong = false
  private sampling: Timer | null = null
  private waiting: Timer | null = null
  private turn: Promise<void> = Promise.resolve()
  private measuring: Promise<void> = Promise.resolve()
  private stopped = false
  private readonly revocation = Promise.withResolvers<void>()

  constructor(private readonly pieces: AgentPieces) {
    this.config = pieces.config
    this.refusals = new Refusals(pieces.clock.steady)
    pieces.machine.watch(this.config.watched_units, this.config.watched_processes ?? [])
  }

  /** Identifies this run of the program in requests. */
  get runId(): string {
    return this.run
  }

  /** Resolves when the hub does not accept the token anymore. */
  get revoked(): Promise<void> {
    return this.revocation.promise
  }

  /** Resolves when nothing is being measured or sent. */
  async idle(): Promise<void> {
    for (let last: unknown = null; last !== this.turn;) {
      last = this.turn
      await Promise.all([this.measuring, this.turn])
    }
  }

  /** Starts to measure, and reports at once. */
  start(): void {
    this.measuring = this.measure()
    this.reportNow()
  }

  /** Sends a report as soon as possible. @param everything also the parts that have not changed */
  reportNow(everything = false): void {
    if (everything) {
      this.known.clear()
      this.isForced = true
    }
    this.presentAt = this.pieces.clock.steady()
    this.arm()
  }

  /**
   * Measures once, and sends everything.
   * @param pause waits between the two samples that rates need
   * @throws HubRequestFailed, InvalidAnswer
   */
  async reportOnce(pause: () => Promise<unknown>): Promise<void> {
    const { machine, clock } = this.pieces
    await machine.sample(clock.now())
    await pause()
    const minute = (await machine.sample(clock.now())) ?? machine.end()
    const parts = await this.changedParts()
    await this.report(minute ? [minute] : [], { ...parts, ...machine.news.next(), backlog: false })
  }

  /** Sends what has been measured until now, and why the agent stops. Doesn’t throw. */
  async stop(reason: StopReason): Promise<void> {
    this.halt()
    await Promise.all([this.turn, this.measuring])
    const last = this.pieces.machine.end()
    if (last) this.keep(last)
    try {
      await this.report(this.presentMinutes(), { ...this.pieces.machine.news.next(), stopping: reason, backlog: false })
    } catch (error) {
      this.pieces.log(`The last report was not received: ${(error as Error).message}`)
    }
    this.showStatus()
  }

  private halt(): void {
    this.stopped = true
    this.sampling?.cancel()
    this.waiting?.cancel()
  }

  /** Measures every ten seconds, and stores each minute when it is over. */
  private async measure(): Promise<void> {
    const { clock, machine, timers } = this.pieces
    const now = clock.now()
    const left = sampleMs - (now % sampleMs)
    // A timer that fires slightly early measures for the time it was set to: not twice, and a minute ends on time.
    const early = left < sampleMs / 20 ? left : 0
    this.sampling = timers.after(early > 0 ? early + sampleMs : left, () => {
      this.measuring = this.measuring.then(() => this.measure())
    })
    const steady = clock.offsetMs === null ? clock.steady() : null
    const ended = await machine.sample(now + early)
    if (ended) this.keep(ended)
    if (ended || !this.hasMeasured) this.unsureSince = steady
    this.hasMeasured = true
  }

  private keep(minute: MeasuredMinute): void {
    const { spool, machine } = this.pieces
    const { unsureSince } = this
    spool.add(unsureSince === null ? minute : { ...minute, unsure: { bootId: machine.bootId, steady: unsureSince } })
  }

  private arm(): void {
    if (this.stopped) return
    this.waiting?.cancel()
    const { clock, timers } = this.pieces
    const due = Math.max(this.backlog().length > 0 ? 0 : this.presentAt, this.quietUntil)
    this.waiting = timers.after(Math.max(0, due - clock.steady()), () => {
      // A request that is still running arms the timer again when it ends.
      this.waiting = null
      this.turn = this.turn.then(() => this.takeTurn())
    })
  }

  /** Sends what is due: the present first, then the backlog. */
  private async takeTurn(): Promise<void> {
    if (this.stopped) return
    const { clock, log, random } = this.pieces
    const isPresent = clock.steady() >= this.presentAt
    const backlog = isPresent ? [] : this.backlog()
    // The steady clock counts in hundredths of a second, so a timer can be early.
    if (!isPresent && backlog.length === 0) return this.arm()
    try {
      if (isPresent) await this.sendPresent()
      else await this.report(backlog, { backlog: true })
      this.quietUntil = clock.steady() + requestPauseMs
      this.succeeded()
    } catch (error) {
      if (!(error instanceof HubRequestFailed || error instanceof InvalidAnswer)) throw error
      if (error instanceof HubRequestFailed && error.kind === 'revoked') {
        log(error.message)
        this.halt()
        this.revocation.resolve()
        return
      }
      if (error instanceof HubRequestFailed && error.status === 409 && error.fields.includes('seq')) this.startRun()
      this.failed(error instanceof InvalidAnswer ? `The hub’s response is invalid: ${error.message}.` : error.message)
      const retryAfter = error instanceof HubRequestFailed ? error.retryAfterMs : null
      this.presentAt = this.quietUntil = clock.steady() + pauseMs(this.failures, random, retryAfter)
    } finally {
      this.showStatus()
      this.arm()
    }
  }

  /** The hub has later reports of this run if the server was restored from a snapshot with its memory. It would refuse all others. */
  private startRun(): void {
    this.run = crypto.randomUUID()
    this.seq = 0
  }

  private async sendPresent(): Promise<void> {
    const { clock, machine } = this.pieces
    if (clock.offsetMs === null) {
      // The first one is sent at once, and asks for the time of the hub, by which minutes are filed.
      await this.report([], { backlog: false })
      this.presentAt = clock.steady()
      return
    }
    const minutes = this.presentMinutes()
    const parts = await this.changedParts()
    const reported = await this.report(minutes, { ...parts, ...machine.news.next(), backlog: false })
    const rest = this.presentMinutes().length > 0 && reported === minutes.length
    this.presentAt =
      clock.steady() + (rest ? 0 : machine.isLate ? Math.min(latePauseMs, this.untilNextReport()) : this.untilNextReport())
  }

  /**
   * Minutes since the previous report: those of the backlog are older. After the clock of the hub was set back, some wait until they are no
   * longer in its future, when it would refuse them.
   */
  private presentMinutes(): WaitingMinute[] {
    const { spool, clock } = this.pieces
    return spool.since(this.presentFrom()).filter(minute => this.filed(minute).row[0] <= clock.now())
  }

  /** Older minutes. None while the hub is away: then only the present is tried. */
  private backlog(): WaitingMinute[] {
    if (this.failures > 0 || this.pieces.clock.offsetMs === null) return []
    const from = this.presentFrom()
    return this.pieces.spool.oldest().filter(({ row: [start] }) => start < from)
  }

  private presentFrom(): number {
    return this.pieces.clock.now() - this.config.interval_seconds * 1000 - 2 * minuteMs
  }

  /** Agents report at different seconds, so that the hub is always equally busy. */
  private untilNextReport(): number {
    const interval = this.config.interval_seconds * 1000
    const own = Buffer.from(sha256(this.pieces.agentId)).readUInt32BE() % interval
    const since = (this.pieces.clock.now() - own) % interval
    return interval - (since < 0 ? since + interval : since)
  }

  /**
   * Reports minutes, as many as fit. What the hub refuses for good is left out, so that it doesn’t block what comes after it. Minutes are
   * dropped only if the hub refuses them: one of another version may refuse other fields, and accept the minutes later.
   * @param limit of minutes
   * @param omitted fields that the hub refused
   * @returns the number of minutes that don’t wait anymore
   * @throws HubRequestFailed, InvalidAnswer
   */
  private async report(
    minutes: readonly WaitingMinute[],
    rest: RestOfReport,
    limit?: number,
    omitted: readonly string[] = [],
  ): Promise<number> {
    const { spool, log, machine } = this.pieces
    const { count, ...table } = tableOf(
      minutes.map(minute => this.filed(minute)),
      limit,
    )
    const taken = minutes.slice(0, count)
    const report = without<AgentReport>(this.contentOf({ ...table, ...rest }), omitted as (keyof AgentReport)[])
    try {
      const answer = await this.post(report)
      this.keepConfig(answer.config)
      this.remember(rest)
      machine.news.remove(rest)
      if (answer.send_all) this.known.clear()
    } catch (error) {
      if (!(error instanceof HubRequestFailed) || error.kind !== 'rejected') throw error
      const { message, fields } = error
      const words = refusedPermissions(error.pointers, report.allow)
      const isUnclear = fields.length === 0
      const refused = (isUnclear ? [...partNames, ...newsNames] : fields).filter(
        // A report can’t be without permissions.
        name => Object.hasOwn(report, name) && !tableNames.includes(name) && name !== 'allow',
      )
      if (refused.length + words.length > 0) {
        log(`${message} It is sent again without ${[...words, ...refused].join(', ')}.`)
        const parts = partNames.filter(name => refused.includes(name))
        this.refusals.add(parts, words)
        for (const name of parts) this.known.set(name, digestOf(rest[name]))
        return await this.report(minutes, without(rest, parts), limit, [...omitted, ...refused])
      }
      const isAboutMinutes = fields.some(name => tableNames.includes(name))
      if (count > 1 && (isAboutMinutes || isUnclear)) return await this.report(minutes, rest, Math.floor(count / 2), omitted)
      if (!isAboutMinutes || count === 0) throw error
      log(`${message} The minute was dropped.`)
      spool.remove(taken, 'dropped')
      return count
    }
    spool.remove(taken)
    return count
  }

  private contentOf(body: MinutesAndRest): AgentReport {
    const { clock, allow, spool, machine } = this.pieces
    const firewall = this.pieces.firewall?.()
    return {
      v: 1,
      run_id: this.runId,
      seq: ++this.seq,
      sent_at: Math.round(clock.wall()),
      clock_offset_ms: clock.offsetMs,
      boot_id: machine.bootId,
      uptime_seconds: Math.floor(machine.uptimeSeconds()),
      interval_seconds: this.config.interval_seconds,
      version,
      allow: this.refusals.accepted(allow),
      spooled: spool.count,
      dropped: spool.dropped,
      ...(firewall && !body.backlog && { firewall }),
      ...body,
    }
  }

  private async post(report: AgentReport): Promise<ReportAnswer> {
    const { client, clock } = this.pieces
    const response = await client.send({ method: 'POST', path: reportsPath, body: report })
    const answer = readReportAnswer(response.body, report.seq)
    clock.heard(answer.time, response.sentAt)
    this.lastReportAt = clock.now()
    return answer
  }

  /** A minute with its start by the time of the hub, if that was unknown when it was measured. */
  private filed(minute: WaitingMinute): WaitingMinute {
    const { clock, machine } = this.pieces
    if (!minute.unsure || minute.unsure.bootId !== machine.bootId || clock.offsetMs === null) return minute
    const at = clock.now() - clock.steady() + minute.unsure.steady
    const [, ...rest] = minute.row
    return { ...minute, row: [at - (at % minuteMs), ...rest] }
  }

  private async changedParts(): Promise<ReportParts> {
    const isForced = this.isForced
    this.isForced = false
    for (const name of this.refusals.expired()) this.known.delete(name)
    const { machine, clock, update } = this.pieces
    const parts = { ...(await machine.parts(clock.now(), isForced)), update: update?.() }
    return without(
      parts,
      partNames.filter(name => parts[name] === undefined || this.known.get(name) === digestOf(parts[name])),
    )
  }

  private remember(rest: RestOfReport): void {
    for (const name of partNames) if (rest[name] !== undefined) this.known.set(name, digestOf(rest[name]))
  }

  private keepConfig(config: AgentConfig): void {
    if (JSON.stringify(config) === JSON.stringify(this.config)) return
    this.config = config
    this.pieces.machine.watch(config.watched_units, config.watched_processes ?? [])
    try {
      this.pieces.keepConfig(config)
    } catch (error) {
      // Such as on a full disk, which must not stop the agent.
      this.pieces.log(`The settings from the hub can’t be stored: ${(error as Error).message}`)
    }
  }

  private succeeded(): void {
    const { log, spool, clock } = this.pieces
    if (this.error !== null) log(`The hub is reachable again. ${spool.count} minutes wait to be sent.`)
    this.error = null
    this.failures = 0
    const offset = clock.offsetMs ?? 0
    const isWrong = Math.abs(offset) >= loggedOffsetMs
    if (isWrong && !this.clockWasWrong)
      log(
        `The clock of this server is ${Math.round(Math.abs(offset) / 1000)} s ${offset > 0 ? 'behind' : 'ahead of'} the hub’s. Minutes are filed by the clock of the hub.`,
      )
    this.clockWasWrong = isWrong
  }

  private failed(message: string): void {
    this.failures++
    // The hub may be updated now.
    for (const name of this.refusals.forget()) this.known.delete(name)
    if (message !== this.error) this.pieces.log(`${message} Minutes are stored and sent later.`)
    this.error = message
  }

  private showStatus(): void {
    const { clock, spool, onStatus } = this.pieces
    onStatus({
      run_id: this.runId,
      interval_seconds: this.config.interval_seconds,
      last_report_at: this.lastReportAt,
      error: this.error,
      clock_offset_ms: clock.offsetMs,
      spooled: spool.count,
      dropped: spool.dropped,
    })
  }
}

/** What a report contains in addition to minutes. */
type RestOfReport = ReportParts & ReportNews & Pick<AgentReport, 'backlog' | 'stopping'>
type MinutesAndRest = RestOfReport & Pick<AgentReport, 'columns' | 'minutes'>

/** Fields that contain what has happened. If the hub refuses them, they are dropped. */
const newsNames: readonly (keyof ReportNews)[] = ['moments', 'events']
/** The fields that contain minutes. */
const tableNames: readonly string[] = ['columns', 'minutes']

/** Digests of parts that are the same objects in several reports, such as certificates, which can be long. */
const digests = new WeakMap<object, string>()

function digestOf(part: unknown): string {
  const known = digests.get(Object(part))
  if (known !== undefined) return known
  const digest = sha256Hex(JSON.stringify(part))
  digests.set(Object(part), digest)
  return digest
}

const without = <T extends object>(value: T, names: readonly (keyof T)[]): T =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name as keyof T))) as T
