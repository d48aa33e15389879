import { count } from 'drizzle-orm'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { callerIp, type Peer } from '../api/serve'
import type { EnginePulse } from '../checks/messages'
import { limiterOf } from '../access/limiter'
import { failedCredentials } from '../access/rate-limits'
import { constantTimeEqual, sha256 } from '../core/crypto'
import { jobs } from '../core/db/tables'
import type { Hub } from '../core/hub'
import type { Worker } from '../core/jobs/worker'
import { lastBackup } from '../core/last-backup'
import { loopBlocks } from '../core/loop-blocks'
import { classOf, parseAddress } from '../core/net/address'
import { Problem, tooManyRequests } from '../core/problem'
import { monitoringOf } from '../features/monitors/live/watch'
import { counterValues, type MetricCounterName } from '../core/metric-counters'
import { metricCounters } from '../features/metric-counters'
import { version } from '../core/version'

/** The metrics of one hub, in the Prometheus text format. */
export class Metrics {
  private readonly registry = new Registry()
  private readonly requests: Counter<'method' | 'route' | 'status'>
  private readonly durations: Histogram<'method' | 'route'>

  constructor(hub: Hub, worker: Worker) {
    const registers = [this.registry]
    new Gauge({ name: 'bailiwick_info', help: 'Version of this hub.', labelNames: ['version'], registers }).set({ version }, 1)
    this.requests = new Counter({
      name: 'bailiwick_http_requests_total',
      help: 'HTTP requests, by method, route, and status.',
      labelNames: ['method', 'route', 'status'],
      registers,
    })
    this.durations = new Histogram({
      name: 'bailiwick_http_request_duration_seconds',
      help: 'Time from receiving a request to sending its response.',
      labelNames: ['method', 'route'],
      registers,
      // Each bucket is a time series of every route in use.
      buckets: [0.005, 0.025, 0.1, 0.25, 1, 5],
    })
    new Gauge({
      name: 'bailiwick_jobs_running',
      help: 'Jobs running on this hub, by kind.',
      labelNames: ['kind'],
      registers,
      collect() {
        this.reset()
        for (const [kind, running] of Object.entries(worker.counts())) if (running > 0) this.set({ kind }, running)
      },
    })
    new Gauge({
      name: 'bailiwick_jobs',
      help: 'Jobs in the database, of all hubs, by kind and state.',
      labelNames: ['kind', 'state'],
      registers,
      async collect() {
        this.reset()
        const rows = await hub.read
          .select({ kind: jobs.kind, state: jobs.state, n: count() })
          .from(jobs)
          .groupBy(jobs.kind, jobs.state)
        for (const { kind, state, n } of rows) this.set({ kind, state }, n)
      },
    })
    new Gauge({
      name: 'bailiwick_last_backup_timestamp_seconds',
      help: 'Time of the last successful backup, as a Unix timestamp. 0 if there is none.',
      registers,
      async collect() {
        const last = await lastBackup(hub.read)
        this.set(last ? Date.parse(last.created_at) / 1000 : 0)
      },
    })
    addCheckMetrics(hub, registers)
    for (const [name, help] of Object.entries(metricCounters) as [MetricCounterName, string][]) {
      new Counter({
        name: `bailiwick_${name}_total`,
        help,
        labelNames: ['kind'],
        registers,
        collect() {
          this.reset()
          for (const [kind, n] of counterValues(hub, name)) this.inc({ kind }, n)
        },
      })
    }
  }

  /** Records a response. `route` is the pattern of the path, so that IDs don't create new time series. */
  recordResponse(method: string, route: string, status: number, seconds: number): void {
    this.requests.inc({ method, route, status })
    this.durations.observe({ method, route }, seconds)
  }

  /** Returns all metrics, for a scrape. */
  async text(): Promise<string> {
    return `${await this.registry.metrics()}\n${await processRegistry().metrics()}`
  }

  readonly contentType = this.registry.contentType
}

/** Adds the metrics of the check engine. */
function addCheckMetrics(hub: Hub, registers: Registry[]): void {
  const gauges: [name: string, help: string, value: (pulse: EnginePulse) => number][] = [
    ['monitors', 'Monitors run by this hub.', pulse => pulse.monitors],
    ['checks_in_flight', 'Checks in progress.', pulse => pulse.in_flight],
    [
      'check_lag_seconds',
      'Delay between the due time and the start of checks: 99th percentile over the last minute.',
      pulse => pulse.lag_p99_ms / 1000,
    ],
    ['check_loop_block_seconds', 'Longest time the check thread was blocked in the last minute.', pulse => pulse.block_ms / 1000],
    [
      'check_location_impaired',
      '1 while the results of this hub are discarded because its own network is impaired, otherwise 0.',
      pulse => (pulse.impaired === null ? 0 : 1),
    ],
  ]
  for (const [name, help, value] of gauges)
    new Gauge({
      name: `bailiwick_${name}`,
      help,
      registers,
      collect() {
        const pulse = monitoringOf(hub)?.status().pulse
        this.set(pulse ? value(pulse) : 0)
      },
    })
  const counters: [name: string, help: string, value: (pulse: EnginePulse) => number][] = [
    ['checks_started', 'Checks started since the check thread was started.', pulse => pulse.runs],
    [
      'checks_skipped',
      'Checks skipped because the previous check was still running, or too many checks were.',
      pulse => pulse.skipped,
    ],
    ['check_lookup_cache_hits', 'DNS lookups of checks answered from the cache.', pulse => pulse.resolver.hits],
    ['check_lookup_cache_misses', 'DNS lookups of checks sent to resolvers.', pulse => pulse.resolver.misses],
    ['check_lookups_failed', 'DNS lookups of checks that no resolver answered.', pulse => pulse.resolver.failures],
  ]
  for (const [name, help, value] of counters)
    new Counter({
      name: `bailiwick_${name}_total`,
      help,
      registers,
      collect() {
        const pulse = monitoringOf(hub)?.status().pulse
        this.reset()
        if (pulse) this.inc(value(pulse))
      },
    })
  new Gauge({
    name: 'bailiwick_monitor_shares',
    help: 'Shares of the monitors run by this hub, out of 256.',
    registers,
    collect() {
      this.set(monitoringOf(hub)?.status().sharesHeld ?? 0)
    },
  })
}

/**
 * Allows clients on the same machine, and clients with the token.
 * @throws Problem 401, 403 or 429
 */
export function requireMetricsAccess(hub: Hub, request: Request, peer: Peer | null): void {
  const address = callerIp(hub, request, peer)
  const expected = hub.config.metricsToken
  const token = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (token !== undefined && expected !== null) {
    // Digests have the same length, so the duration doesn't reveal the length of the token.
    if (constantTimeEqual(sha256(token), sha256(expected))) return
    const verdict = limiterOf(hub).take([failedCredentials(address, hub.config.failedCredentialsPerMinute)], hub.clock.now())
    if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds)
    throw new Problem('invalid_token', 'The token does not match BAILIWICK_METRICS_TOKEN.', challenge)
  }
  const parsed = parseAddress(address)
  // Requests through an undeclared proxy on this machine can come from anywhere. Proxies add these headers.
  const isProxied = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some(name => request.headers.has(name))
  if (parsed && classOf(parsed) === 'loopback' && !isProxied) return
  if (expected !== null)
    throw new Problem('unauthenticated', 'Send the token from BAILIWICK_METRICS_TOKEN as `Authorization: Bearer …`.', challenge)
  throw new Problem(
    'address_not_allowed',
    'Metrics can only be read from the same machine. Set BAILIWICK_METRICS_TOKEN to read them from elsewhere.',
  )
}

const challenge = { headers: { 'WWW-Authenticate': 'Bearer realm="bailiwick metrics"' } }

// Default metrics of prom-client that are correct on Bun. The others are specific to Node.js (libuv handles, V8 heap spaces, garbage
// collection), count reserved address space as data, or reset when they should accumulate (CPU time, event loop lag).
const supportedOnBun = new Set([
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
])
let sharedRegistry: Registry | null = null

/** The metrics of the process, shared by all its hubs. */
function processRegistry(): Registry {
  if (sharedRegistry) return sharedRegistry
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const { name } of registry.getMetricsAsArray()) if (!supportedOnBun.has(name)) registry.removeSingleMetric(name)
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  const { lag } = loopBlocks
  new Gauge({
    name: 'bailiwick_event_loop_lag_seconds',
    help: 'Event loop lag since the last scrape, by percentile.',
    labelNames: ['percentile'],
    registers: [registry],
    collect() {
      for (const percentile of [50, 90, 99, 100]) this.set({ percentile }, lag.count > 0 ? lag.percentile(percentile) / 1e9 : 0)
      lag.reset()
    },
  })
  new Gauge({
    name: 'bailiwick_event_loop_block_seconds',
    help: 'Longest time the event loop was blocked in the last minute.',
    registers: [registry],
    collect() {
      this.set(loopBlocks.max / 1000)
    },
  })
  return (sharedRegistry = registry)
}
