import type { Command } from 'commander'
import { EngineSupervisor } from '../../checks/engine/engine-supervisor'
import { systemClock } from '../../core/clock'
import { openLog } from '../../core/log'
import type { Threads } from '../../hub/run'
import type { Bench, Figure } from './bench'
import { runToEnd, startServer } from './child-processes'
import { measureHubScans } from './tls-scan-hub'

/** `bailiwick bench tls-scan`: scans of local TLS servers, with the check thread alone in a process and with a whole hub. */
export const tlsScanBench: Bench = {
  name: 'tls-scan',
  summary: 'Scan the TLS of local servers',
  options: [
    { name: 'endpoints', description: 'Number of servers', default: 5000 },
    { name: 'monitors', description: 'Number of monitors that the hub checks every 10 seconds', default: 1000 },
    { name: 'seconds', description: 'Seconds to measure the hub without scans', default: 60 },
    { name: 'engine', description: '1 scans with the check thread alone, 0 skips this', default: 1, min: 0 },
    { name: 'hub', description: '1 scans with a whole hub, 0 skips this', default: 1, min: 0 },
  ],
  async run({ endpoints, monitors, seconds, engine, hub }) {
    const modern = await startServer(['bench', 'check-targets'])
    const old = await startServer(['bench', 'check-targets', '--old'])
    const ports = { modern: modern.port, old: old.port }
    try {
      const figures: Figure[] = []
      if (engine) {
        const printed = await runToEnd(['bench', 'tls-scans', '--port', String(ports.modern), '--endpoints', String(endpoints)])
        figures.push(...(JSON.parse(printed) as Figure[]))
      }
      if (hub) figures.push(...(await measureHubScans({ ports, endpoints: endpoints!, monitors: monitors!, seconds: seconds! })))
      return {
        figures,
        notes: [
          'Each server has an address of its own in 127.0.0.0/8. They run in two separate processes on the same machine: one accepts TLS 1.2 and 1.3, the other TLS 1.0 to 1.3.',
          'Engine: the servers with TLS 1.2 and 1.3 alone. CPU and memory are those of a process that contains only the check thread.',
          'Hub: half of the servers are old ones. CPU and memory are those of the whole process, without the CPU time of the monitors.',
        ],
      }
    } finally {
      await modern.stop()
      await old.stop()
    }
  },
}

/** A run of the benchmark in a process that contains only the engine. Prints the figures as JSON. */
export function addTlsScans(bench: Command, threads: Threads): void {
  bench
    .command('tls-scans', { hidden: true })
    .requiredOption('--port <port>')
    .requiredOption('--endpoints <number>')
    .action(async ({ port, endpoints }: { port: string; endpoints: string }) => {
      const engine = new EngineSupervisor({ entry: threads.checks, clock: systemClock, log: openLog('warn'), resolvers: null })
      const figures = await measure(engine, Number(port), Number(endpoints))
      await engine.stop()
      console.log(JSON.stringify(figures.map(one => ({ ...one, name: `engine: ${one.name}` }))))
    })
}

// As many as a hub scans at once.
const scansAtOnce = 16
const policy = { allowPrivate: true, allowRanges: [], requireHttps: false }

async function measure(engine: EngineSupervisor, port: number, endpoints: number): Promise<Figure[]> {
  const durations: number[] = []
  let [connections, failed, block, next] = [0, 0, 0, 0]
  engine.onMessage(message => {
    if (message.kind === 'pulse') block = Math.max(block, message.pulse.block_ms)
  })
  engine.start()
  const [startedAt, before] = [performance.now(), process.cpuUsage()]
  const scanNext = async () => {
    while (next < endpoints) {
      const host = addressOf(next++)
      const { addresses } = await engine.scanTls({ host, port, protocol: 'tls', servername: 'localhost', group: 'bench' }, policy)
      const [found] = addresses
      if (!found?.speaks_tls || found.errors.length > 0) failed++
      durations.push(found?.duration_ms ?? 0)
      connections += found?.connections ?? 0
    }
  }
  await Promise.all(Array.from({ length: scansAtOnce }, scanNext))
  const { user, system } = process.cpuUsage(before)
  durations.sort((a, b) => a - b)
  const share = (part: number) => durations[Math.min(durations.length - 1, Math.floor(durations.length * part))]!
  return [
    { name: 'time', value: (performance.now() - startedAt) / 1000, unit: 's' },
    { name: 'CPU time', value: (user + system) / 1e6, unit: 's' },
    { name: 'CPU time of each scan', value: (user + system) / 1e3 / endpoints, unit: 'ms' },
    { name: 'duration of a scan, median', value: share(0.5), unit: 'ms' },
    { name: 'duration of a scan, p99', value: share(0.99), unit: 'ms' },
    { name: 'connections of each scan', value: connections / endpoints, unit: '' },
    { name: 'longest block of the check thread', value: block, unit: 'ms' },
    { name: 'memory of the process', value: process.memoryUsage.rss() / 1e6, unit: 'MB' },
    { name: 'failed scans', value: failed, unit: '' },
  ]
}

/** Addresses from 127.0.1.1. */
const addressOf = (n: number): string => `127.${Math.floor(n / 62_500)}.${1 + (Math.floor(n / 250) % 250)}.${1 + (n % 250)}`
