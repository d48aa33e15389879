import { monitorEventLoopDelay } from 'node:perf_hooks'
import { count } from 'drizzle-orm'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { callerAddress, type Peer } from '../access/door'
import type { EnginePulse } from '../checks/messages'
import { limiterOf } from '../access/limiter'
import { failedCredentials } from '../access/rate-limits'
import { constantTimeEqual, sha256 } from '../core/crypto'
import { jobs } from '../core/db/tables'
import type { Hub } from '../core/hub'
import type { Worker } from '../core/jobs/worker'
import { classOf, parseAddress } from '../core/net/address'
import { Problem, tryAgain } from '../core/problem'
import { monitoringOf } from '../features/monitors/live/watch'
import { tallied, tallies, type TallyName } from '../core/tally'
import { version } from '../core/version'

const jobStates: readonly (typeof jobs.$inferSelect)['state'][] = ['ready', 'running', 'failed']

/** The figures of one hub, in the text format of Prometheus. */
export class Metrics {
  private readonly registry = new Registry()
  private readonly requests: Counter<'method' | 'route' | 'status'>
  private readonly durations: Histogram<'method' | 'route'>

  constructor(hub: Hub, worker: Worker) {
    const registers = [this.registry]
    new Gauge({ name: 'bailiwick_info', help: 'Version of this hub.', labelNames: ['version'], registers }).set({ version }, 1)
    this.requests = new Counter({
      name: 'bailiwick_http_requests_total',
      help: 'Requests answered, by route and status.',
      labelNames: ['method', 'route', 'status'],
      registers,
    })
    this.durations = new Histogram({
      name: 'bailiwick_http_request_duration_seconds',
      help: 'Time from the arrival of a request to its answer.',
      labelNames: ['method', 'route'],
      registers,
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    })
    new Gauge({
      name: 'bailiwick_jobs_running',
      help: 'Jobs that this hub has under way, by kind.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, running] of Object.entries(worker.counts())) this.set({ kind }, running)
      },
    })
    new Gauge({
      name: 'bailiwick_jobs',
      help: 'Jobs in the database, of all its hubs, by kind and state.',
      labelNames: ['kind', 'state'],
      registers,
      async collect() {
        this.reset()
        for (const kind of Object.keys(worker.counts())) for (const state of jobStates) this.set({ kind, state }, 0)
        const rows = await hub.read
          .select({ kind: jobs.kind, state: jobs.state, n: count() })
          .from(jobs)
          .groupBy(jobs.kind, jobs.state)
        for (const { kind, state, n } of rows) this.set({ kind, state }, n)
      },
    })
    addEngine(hub, registers)
    for (const [name, help] of Object.entries(tallies) as [TallyName, string][]) {
      new Counter({
        name: `bailiwick_${name}_total`,
        help,
        labelNames: ['kind'],
        registers,
        collect() {
          this.reset()
          for (const [kind, n] of tallied(hub, name)) this.inc({ kind }, n)
        },
      })
    }
  }

  /** Counts an answer. `route` is the pattern of the path, so that ids make no series of their own. */
  answered(method: string, route: string, status: number, seconds: number): void {
    this.requests.inc({ method, route, status })
    this.durations.observe({ method, route }, seconds)
  }

  /** Everything, for one scrape. */
  async text(): Promise<string> {
    return `${await this.registry.metrics()}\n${await processRegistry().metrics()}`
  }

  readonly contentType = this.registry.contentType
}

/** How the engine of checks is. */
function addEngine(hub: Hub, registers: Registry[]): void {
  const gauges: [name: string, help: string, figure: (pulse: EnginePulse) => number][] = [
    ['monitors', 'Monitors that this hub checks.', pulse => pulse.monitors],
    ['checks_in_flight', 'Checks under way.', pulse => pulse.in_flight],
    [
      'check_lag_seconds',
      'From when a check was due to when it began, at the 99th percentile of the last minute.',
      pulse => pulse.lag_p99_ms / 1000,
    ],
    [
      'check_loop_block_seconds',
      'The longest that the thread of checks stood still in the last minute.',
      pulse => pulse.block_ms / 1000,
    ],
    [
      'check_location_impaired',
      'Whether results of this hub do not count at present.',
      pulse => (pulse.impaired === null ? 0 : 1),
    ],
  ]
  for (const [name, help, figure] of gauges)
    new Gauge({
      name: `bailiwick_${name}`,
      help,
      registers,
      collect() {
        const pulse = monitoringOf(hub)?.standing().pulse
        this.set(pulse ? figure(pulse) : 0)
      },
    })
  const counters: [name: string, help: string, figure: (pulse: EnginePulse) => number][] = [
    ['checks_started', 'Checks begun since the thread of checks started.', pulse => pulse.runs],
    [
      'checks_skipped',
      'Turns that were left out: the check before was still under way, or too much was.',
      pulse => pulse.skipped,
    ],
    ['check_lookups_cached', 'Names that a check needed and the cache had.', pulse => pulse.resolver.hits],
    ['check_lookups_asked', 'Names that a check needed and resolvers were asked for.', pulse => pulse.resolver.misses],
    ['check_lookups_failed', 'Names that no resolver answered for.', pulse => pulse.resolver.failures],
  ]
  for (const [name, help, figure] of counters)
    new Counter({
      name: `bailiwick_${name}_total`,
      help,
      registers,
      collect() {
        const pulse = monitoringOf(hub)?.standing().pulse
        this.reset()
        if (pulse) this.inc(figure(pulse))
      },
    })
  new Gauge({
    name: 'bailiwick_monitor_shares',
    help: 'Shares of the monitors that this hub runs, of 256.',
    registers,
    collect() {
      this.set(monitoringOf(hub)?.standing().sharesHeld ?? 0)
    },
  })
}

/**
 * Lets in the callers of this machine, and holders of the token.
 * @throws Problem 401, 403 or 429
 */
export function admitToMetrics(hub: Hub, request: Request, peer: Peer | null): void {
  const address = callerAddress(hub, request, peer)
  const expected = hub.config.metricsToken
  const given = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (given !== undefined && expected !== null) {
    // Digests are of one length, so the time tells nothing of the token's.
    if (constantTimeEqual(sha256(given), sha256(expected))) return
    const verdict = limiterOf(hub).take([failedCredentials(address, hub.config.failedCredentialsPerMinute)], hub.clock.now())
    if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds)
    throw new Problem('invalid_token', 'This is not the token of BAILIWICK_METRICS_TOKEN.', challenge)
  }
  const parsed = parseAddress(address)
  // A proxy on this machine that nobody declared brings callers from anywhere; they are known by the headers it adds.
  const relayed = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some(name => request.headers.has(name))
  if (parsed && classOf(parsed) === 'loopback' && !relayed) return
  if (expected !== null)
    throw new Problem('unauthenticated', 'Send the token of BAILIWICK_METRICS_TOKEN as: Authorization: Bearer …', challenge)
  throw new Problem(
    'address_not_allowed',
    'Figures are told to this machine only. Set BAILIWICK_METRICS_TOKEN to read them from elsewhere.',
  )
}

const challenge = { headers: { 'WWW-Authenticate': 'Bearer realm="bailiwick metrics"' } }

// What prom-client collects by default and Bun answers truly. The rest is of Node's engine (libuv handles, V8 heap spaces, garbage
// collection), counts reserved addresses as data, or, as CPU time and the event loop's lag, begins anew where it should go on.
const trueOnBun = new Set([
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
])
const lagResolutionMs = 50
let ofProcess: Registry | null = null

/** The figures of the process, which all hubs in it share. Made at the first scrape: watching the event loop has a timer of its own. */
function processRegistry(): Registry {
  if (ofProcess) return ofProcess
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const { name } of registry.getMetricsAsArray()) if (!trueOnBun.has(name)) registry.removeSingleMetric(name)
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time spent, user and system.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  const lag = monitorEventLoopDelay({ resolution: lagResolutionMs })
  lag.enable()
  new Gauge({
    name: 'bailiwick_event_loop_lag_seconds',
    help: 'How late the event loop was since the last scrape, by quantile.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of [0.5, 0.9, 0.99, 1]) this.set({ quantile }, lag.count > 0 ? lag.percentile(quantile * 100) / 1e9 : 0)
      lag.reset()
    },
  })
  return (ofProcess = registry)
}
