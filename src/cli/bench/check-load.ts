import type { Command } from 'commander'
import type { CheckSpec } from '../../checks/check'
import { WorkerLine } from '../../checks/engine/worker-line'
import type { EnginePulse, FromEngine } from '../../checks/messages'
import { systemClock } from '../../core/clock'
import { openLog } from '../../core/log'
import type { Threads } from '../../hub/run'
import { takenOver, type Taken } from './taken'

/** What an engine under load came to. Spans in milliseconds, memory in octets. */
export interface LoadFigures {
  /** From the first message to the thread until as many checks begin a second as the interval asks for. */
  fullScheduleMs: number | null
  /** Once all monitors had their turn, while the runtime still compiled what had just begun to run. */
  warmUp: Taken
  /** From then on; so are all figures below. */
  steady: Taken
  lagP50: number
  lagP99: number
  block: number
  runsPerSecond: number
  /** Results that were not `up`. */
  notUp: number
  skipped: number
  mostInFlight: number
}

/** One run of `bench monitors`, in a process that has nothing but the engine. Prints its figures as JSON. */
export function addCheckLoad(bench: Command, threads: Threads): void {
  bench
    .command('check-load', { hidden: true })
    .requiredOption('--port <port>')
    .requiredOption('--monitors <number>')
    .requiredOption('--interval <seconds>')
    .requiredOption('--warmUp <seconds>')
    .requiredOption('--seconds <number>')
    .action(async (given: Record<keyof Load, string>) => {
      const line = new WorkerLine({ entry: threads.checks, clock: systemClock, log: openLog('warn'), resolvers: null })
      const figures = await load(line, {
        port: Number(given.port),
        monitors: Number(given.monitors),
        interval: Number(given.interval),
        warmUp: Number(given.warmUp),
        seconds: Number(given.seconds),
      })
      await line.stop()
      console.log(JSON.stringify(figures))
    })
}

/** How much there is to do. Spans in seconds. */
export interface Load {
  port: number
  monitors: number
  interval: number
  /** From when all monitors had their turn until the measured time begins. */
  warmUp: number
  seconds: number
}

async function load(line: WorkerLine, { port, monitors, interval, warmUp, seconds }: Load): Promise<LoadFigures> {
  const intervalMs = interval * 1000
  const heard: { at: number; pulse: EnginePulse }[] = []
  let notUp = 0
  const since = performance.now()
  let isMeasured = false
  line.onMessage((message: FromEngine) => {
    if (message.kind === 'pulse') heard.push({ at: performance.now(), pulse: message.pulse })
    if (message.kind === 'results' && isMeasured) for (const { status } of message.results) if (status !== 'up') notUp++
  })
  line.start()
  const upsert = Array.from({ length: monitors }, (_, n) => specOf(n, port, intervalMs))
  line.send({ kind: 'configure', full: true, upsert, remove: [] })
  // All have had a turn then.
  await Bun.sleep(intervalMs + 2000)
  const warm = await takenOver(warmUp, ownTaking)
  isMeasured = true
  const [before, at] = [heard.at(-1)!.pulse, performance.now()]
  const steady = await takenOver(seconds, ownTaking)
  const passed = performance.now() - at
  const { pulse } = heard.at(-1)!
  const full = heard.find(
    ({ pulse }, n) => n > 0 && pulse.runs - heard[n - 1]!.pulse.runs >= (0.8 * monitors * 1000) / intervalMs,
  )
  return {
    fullScheduleMs: full ? full.at - since : null,
    warmUp: warm,
    steady,
    lagP50: pulse.lag_p50_ms,
    lagP99: pulse.lag_p99_ms,
    block: pulse.block_ms,
    runsPerSecond: ((pulse.runs - before.runs) * 1000) / passed,
    notUp,
    skipped: pulse.skipped - before.skipped,
    mostInFlight: Math.max(...heard.map(one => one.pulse.in_flight)),
  }
}

function ownTaking() {
  const { user, system } = process.cpuUsage()
  return { cpuSeconds: (user + system) / 1e6, memory: process.memoryUsage.rss() }
}

/** A target with an address of its own, as those of a hub have: so many at one would wait for each other. */
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
    settled: 'up',
  }
}
