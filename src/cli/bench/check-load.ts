import type { Command } from 'commander'
import type { CheckSpec } from '../../checks/check'
import { EngineSupervisor } from '../../checks/engine/engine-supervisor'
import type { EnginePulse, FromEngine } from '../../checks/messages'
import { systemClock } from '../../core/clock'
import { openLog } from '../../core/log'
import type { Threads } from '../../hub/run'
import { measureUsage, type ResourceUsage } from './resource-usage'

/** Measurements of an engine under load. Times in milliseconds, memory in bytes. */
export interface LoadFigures {
  /** Time from the start until as many checks a second start as the interval requires. */
  fullScheduleMs: number | null
  /** After all monitors were checked once, while the runtime still compiles. */
  warmUp: ResourceUsage
  /** After the warm-up, like all following figures. */
  steady: ResourceUsage
  lagP50: number
  lagP99: number
  block: number
  runsPerSecond: number
  /** Results that were not `up`. */
  notUp: number
  skipped: number
  maxInFlight: number
}

/** A run of `bench monitors`, in a process that contains only the engine. Prints the results as JSON. */
export function addCheckLoad(bench: Command, threads: Threads): void {
  bench
    .command('check-load', { hidden: true })
    .requiredOption('--port <port>')
    .requiredOption('--monitors <number>')
    .requiredOption('--interval <seconds>')
    .requiredOption('--warmUp <seconds>')
    .requiredOption('--seconds <number>')
    .action(async (options: Record<keyof Load, string>) => {
      const engine = new EngineSupervisor({ entry: threads.checks, clock: systemClock, log: openLog('warn'), resolvers: null })
      const figures = await measure(engine, {
        port: Number(options.port),
        monitors: Number(options.monitors),
        interval: Number(options.interval),
        warmUp: Number(options.warmUp),
        seconds: Number(options.seconds),
      })
      await engine.stop()
      console.log(JSON.stringify(figures))
    })
}

/** The load to measure. Times in seconds. */
export interface Load {
  port: number
  monitors: number
  interval: number
  /** Starts after all monitors were checked once. */
  warmUp: number
  /** Duration of the measurement after the warm-up. */
  seconds: number
}

async function measure(engine: EngineSupervisor, { port, monitors, interval, warmUp, seconds }: Load): Promise<LoadFigures> {
  const intervalMs = interval * 1000
  const pulses: { at: number; pulse: EnginePulse }[] = []
  let notUp = 0
  const since = performance.now()
  let isMeasured = false
  engine.onMessage((message: FromEngine) => {
    if (message.kind === 'pulse') pulses.push({ at: performance.now(), pulse: message.pulse })
    if (message.kind === 'results' && isMeasured) for (const { status } of message.results) if (status !== 'up') notUp++
  })
  engine.start()
  const upsert = Array.from({ length: monitors }, (_, n) => specOf(n, port, intervalMs))
  engine.send({ kind: 'configure', full: true, upsert, remove: [] })
  // All monitors were checked once by then.
  await Bun.sleep(intervalMs + 2000)
  const warmUpUsage = await measureUsage(warmUp, ownUsage)
  isMeasured = true
  const [before, at] = [pulses.at(-1)!.pulse, performance.now()]
  const steady = await measureUsage(seconds, ownUsage)
  const elapsedMs = performance.now() - at
  const { pulse } = pulses.at(-1)!
  const full = pulses.find(
    ({ pulse }, n) => n > 0 && pulse.runs - pulses[n - 1]!.pulse.runs >= (0.8 * monitors * 1000) / intervalMs,
  )
  return {
    fullScheduleMs: full ? full.at - since : null,
    warmUp: warmUpUsage,
    steady,
    lagP50: pulse.lag_p50_ms,
    lagP99: pulse.lag_p99_ms,
    block: pulse.block_ms,
    runsPerSecond: ((pulse.runs - before.runs) * 1000) / elapsedMs,
    notUp,
    skipped: pulse.skipped - before.skipped,
    maxInFlight: Math.max(...pulses.map(one => one.pulse.in_flight)),
  }
}

function ownUsage() {
  const { user, system } = process.cpuUsage()
  return { cpuSeconds: (user + system) / 1e6, memory: process.memoryUsage.rss() }
}

/** Each target has its own address, because checks of the same host wait for each other. */
export const targetOf = (n: number, port: number): string =>
  `https://127.${1 + (n >> 14)}.${(n >> 6) & 255}.${1 + (n & 63)}:${port}/${n}`

function specOf(n: number, port: number, intervalMs: number): CheckSpec {
  return {
    monitor: `mon_${n}`,
    revision: 1,
    type: 'http',
    target: targetOf(n, port),
    options: { verify_tls: false },
    interval_ms: intervalMs,
    retry_interval_ms: intervalMs,
    timeout_ms: Math.min(10_000, intervalMs),
    confirm: 2,
    recover: 2,
    down_if: [],
    degraded_if: [],
    degraded_ms: null,
    policy: { allowPrivate: true, allowRanges: [], requireHttps: false },
    domain_expires_at: null,
    confirmed_status: 'up',
  }
}
