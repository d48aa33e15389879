import { fetchUnrestricted } from '../unrestricted-fetch'
import type { Figure } from './bench'
import { cpuSecondsOf, residentBytes, startServer, temporaryInstallation, type ServerProcess } from './child-processes'
import { Client, createToken } from './client'

/** Servers to scan, and how many monitors are checked meanwhile. */
interface HubScans {
  /** Ports of the servers. Every second endpoint is one of the old servers. */
  ports: { modern: number; old: number }
  endpoints: number
  monitors: number
  /** How long the hub is measured without scans, in seconds. */
  seconds: number
}

/** How often monitors are checked. */
const intervalSeconds = 10
const perRequest = 500
const probeEveryMs = 100
const pollMs = 1000
const maxScanMs = 1_800_000

/** Measures a whole hub, first with monitors alone and then while it scans. */
export async function measureHubScans({ ports, endpoints, monitors, seconds }: HubScans): Promise<Figure[]> {
  const { config, folder, remove } = temporaryInstallation()
  try {
    const token = await createToken(config)
    const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
    try {
      const client = new Client(hub, token)
      await addMonitors(client, ports.modern, monitors)
      // Until all monitors were checked, and the runtime has compiled what it uses most.
      const warmUp = Math.min(seconds, 3 * intervalSeconds)
      await measure(hub, client, elapsedMs => elapsedMs > warmUp * 1000)
      const alone = await measure(hub, client, elapsedMs => elapsedMs > seconds * 1000)
      await client.longestBlock()
      const startedAt = performance.now()
      await importEndpoints(client, ports, endpoints)
      const importMs = performance.now() - startedAt
      const importBlock = await client.longestBlock()
      const scanning = await measure(hub, client, (_, { scans }) => scans === 0)
      const totalSeconds = scanning.seconds + importMs / 1000
      return [
        { name: 'hub: import of all endpoints', value: importMs, unit: 'ms' },
        { name: 'hub: longest block during the import', value: importBlock, unit: 'ms' },
        { name: 'hub: time until all endpoints are scanned', value: totalSeconds, unit: 's' },
        { name: 'hub: CPU time of the scans', value: scanning.cpuSeconds - alone.cpuShare * scanning.seconds, unit: 's' },
        { name: 'hub: peak memory', value: scanning.memory / 1e6, unit: 'MB' },
        { name: 'hub: longest block of the event loop', value: scanning.blockMs, unit: 'ms' },
        ...compared('delay of checks, p99', alone.lagMs, scanning.lagMs),
        ...compared('response time of the API, p50', share(alone.responses, 0.5), share(scanning.responses, 0.5)),
        ...compared('response time of the API, p99', share(alone.responses, 0.99), share(scanning.responses, 0.99)),
        { name: 'hub: skipped checks', value: scanning.skipped, unit: '' },
        { name: 'hub: endpoints without a grade', value: endpoints - (await gradedOf(client)), unit: '' },
      ]
    } finally {
      await hub.stop()
    }
  } finally {
    remove()
  }
}

const compared = (name: string, alone: number, scanning: number): Figure[] => [
  { name: `hub: ${name}, without scans`, value: alone, unit: 'ms' },
  { name: `hub: ${name}, during scans`, value: scanning, unit: 'ms' },
]

const share = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN

/** Checks the TCP ports of targets, which are not scanned for that. */
async function addMonitors(client: Client, port: number, count: number): Promise<void> {
  for (let from = 0; from < count; from += perRequest) {
    const operations = Array.from({ length: Math.min(perRequest, count - from) }, (_, n) => ({
      op: 'create',
      body: {
        ...{ type: 'tcp', name: `monitor ${from + n}`, target: `${addressOf(from + n, 64)}:${port}` },
        interval_seconds: intervalSeconds,
      },
    }))
    await client.call('POST', '/v1/monitors/bulk', { operations })
  }
}

async function importEndpoints(client: Client, ports: HubScans['ports'], count: number): Promise<void> {
  for (let from = 0; from < count; from += perRequest) {
    const lines = Array.from({ length: Math.min(perRequest, count - from) }, (_, n) => {
      const port = (from + n) % 2 === 0 ? ports.modern : ports.old
      return `${addressOf(from + n, 0)}:${port}\n`
    })
    const body = { text: lines.join(''), type: 'text/plain' }
    if (!(await client.send({ method: 'POST', path: '/v1/tls-endpoints/import', body })))
      throw new Error('The endpoints could not be imported.')
  }
}

/** Addresses from 127.FIRST.1.1. */
const addressOf = (n: number, first: number): string =>
  `127.${first + Math.floor(n / 62_500)}.${1 + (Math.floor(n / 250) % 250)}.${1 + (n % 250)}`

async function gradedOf(client: Client): Promise<number> {
  const { pagination } = await client.get('/v1/tls-endpoints?limit=1&include=total&grade=A%2B,A,A-,B,C,D,E,F,M,T')
  return pagination.total
}

interface Measured {
  seconds: number
  cpuSeconds: number
  /** CPU time by time, 0 to 1 with one core. */
  cpuShare: number
  /** Peak resident memory in bytes. */
  memory: number
  /** The highest p99 of the delay between the due time and the start of checks. */
  lagMs: number
  /** The longest time the event loop was blocked. */
  blockMs: number
  skipped: number
  /** Durations of small requests in milliseconds, sorted. */
  responses: number[]
}

/** Measures until something is done. */
async function measure(
  hub: ServerProcess,
  client: Client,
  isDone: (elapsedMs: number, figures: HubFigures) => boolean,
): Promise<Measured> {
  const [startedAt, cpu, first] = [performance.now(), cpuSecondsOf(hub.pid), await figuresOf(hub)]
  const waits: Promise<number>[] = []
  const probe = setInterval(() => waits.push(client.probe()), probeEveryMs)
  let [memory, lagMs, blockMs] = [0, 0, 0]
  let last = first
  try {
    for (let elapsedMs = 0; !isDone(elapsedMs, last); elapsedMs = performance.now() - startedAt) {
      if (elapsedMs > maxScanMs) throw new Error('The scans did not end within 30 minutes.')
      await Bun.sleep(pollMs)
      last = await figuresOf(hub)
      memory = Math.max(memory, residentBytes(hub.pid))
      lagMs = Math.max(lagMs, last.lagMs)
      blockMs = Math.max(blockMs, last.blockMs)
    }
  } finally {
    clearInterval(probe)
  }
  const seconds = (performance.now() - startedAt) / 1000
  const cpuSeconds = cpuSecondsOf(hub.pid) - cpu
  const responses = (await Promise.all(waits)).sort((a, b) => a - b)
  return {
    seconds,
    cpuSeconds,
    cpuShare: cpuSeconds / seconds,
    memory,
    lagMs,
    blockMs,
    skipped: last.skipped - first.skipped,
    responses,
  }
}

interface HubFigures {
  lagMs: number
  /** Since the last call. */
  blockMs: number
  skipped: number
  /** Scans that are waiting or running. */
  scans: number
}

async function figuresOf({ port }: ServerProcess): Promise<HubFigures> {
  const { body } = await fetchUnrestricted(
    { method: 'GET', url: `http://127.0.0.1:${port}/metrics` },
    { totalMs: 10_000, maxBodyBytes: 10_000_000 },
  )
  const text = new TextDecoder().decode(body)
  const value = (name: string) => Number(new RegExp(`^bailiwick_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  const jobs = text.matchAll(/^bailiwick_jobs\{[^}]*kind="tls\.scan"[^}]*\} (\S+)$/gm)
  const scans = [...jobs].reduce((sum, [, count]) => sum + Number(count), 0)
  const blockMs = value('event_loop_lag_seconds\\{percentile="100"\\}') * 1000
  return { lagMs: value('check_lag_seconds') * 1000, blockMs, skipped: value('checks_skipped_total'), scans }
}
