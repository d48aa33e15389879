import { and, eq, max, ne, sql } from 'drizzle-orm'
import { systemClock } from '../../core/clock'
import type { Config } from '../../core/config'
import { webhookAttempts, webhookDeliveries } from '../../features/webhooks/deliveries/tables'
import { openHub } from '../../hub/run'
import type { Bench, Figure } from './bench'
import { cpuSecondsOf, temporaryInstallation, startServer } from './child-processes'
import { load, requestBytes } from './load'
import { median } from './median'
import { seed } from './seed'
import { countReceived } from './sink'
import { fillQueues, type Queue } from './webhook-queue'

/** `bailiwick bench webhooks`: throughput of deliveries, and latency of healthy endpoints while another one hangs. */
export const webhooksBench: Bench = {
  name: 'webhooks',
  summary: 'Deliver webhooks, including while one endpoint hangs',
  options: [
    { name: 'deliveries', description: 'Number of deliveries in the throughput run', default: 20_000 },
    { name: 'endpoints', description: 'Number of endpoints that receive each alert in the throughput run', default: 5 },
    { name: 'rounds', description: 'Rounds of the throughput run. The result is their median', default: 3 },
    { name: 'hanging', description: 'Deliveries queued for the hanging endpoint', default: 10_000, min: 0 },
    { name: 'healthy', description: 'Deliveries for each of 49 healthy endpoints while one hangs', default: 200 },
    { name: 'spread', description: 'Seconds over which the deliveries to healthy endpoints become due', default: 20 },
    { name: 'limit', description: 'Timeout of each run in seconds', default: 120 },
  ],
  async run(args) {
    const limitMs = args.limit! * 1000
    return {
      figures: [
        ...(await throughput(args.deliveries!, args.endpoints!, args.rounds!, limitMs)),
        ...(await fairness(args.hanging!, args.healthy!, args.spread! * 1000, limitMs)),
      ],
      notes: [
        'The deliveries are those of alerts, from failing pings on. Each was signed twice and posted over HTTP, and its attempt was flushed to disk. Hub and receiver share the machine.',
        'The hanging endpoint never responds, so that each of its attempts takes the full timeout of 15 seconds.',
      ],
    }
  },
}

/** Pings fail, and each of these alerts goes to all endpoints. */
async function throughput(deliveries: number, endpoints: number, rounds: number, limitMs: number): Promise<Figure[]> {
  const { config, folder, remove } = temporaryInstallation()
  const sink = await startServer(['bench', 'webhook-sink'])
  try {
    const alerts = Math.ceil(deliveries / endpoints)
    // One more round, in which the runtime still compiles the code.
    const { uuids } = await seed(config, alerts * (rounds + 1))
    const receivers = Array.from({ length: endpoints }, (_, n) => ({ url: `http://127.0.0.1:${sink.port}/hook/${n}`, dueAt: [] }))
    await fillQueues(config, receivers)
    const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
    const measured: { perSecond: number; cpuMs: number }[] = []
    let late = 0
    try {
      for (let round = 0; round <= rounds; round++) {
        const pings = uuids.slice(round * alerts, (round + 1) * alerts)
        const expected = (await countReceived(sink.port)) + alerts * endpoints
        const [startedAt, cpu] = [performance.now(), cpuSecondsOf(hub.pid)]
        let next = 0
        await load(hub, { connections, requests: alerts, seconds: limitMs / 1000 }, () =>
          requestBytes('GET', `/ping/${pings[next++]!}/fail`),
        )
        let received = 0
        while ((received = await countReceived(sink.port)) < expected && performance.now() - startedAt < limitMs)
          await Bun.sleep(20)
        const arrived = alerts * endpoints - Math.max(0, expected - received)
        const seconds = (performance.now() - startedAt) / 1000
        late += expected - received
        const cpuMs = ((cpuSecondsOf(hub.pid) - cpu) * 1000) / arrived
        if (round > 0) measured.push({ perSecond: arrived / seconds, cpuMs })
      }
    } finally {
      await hub.stop()
    }
    return [
      { name: 'deliveries', value: median(measured.map(one => one.perSecond)), unit: '1/s' },
      {
        name: 'CPU of the hub per delivery, including its share of the alert',
        value: median(measured.map(one => one.cpuMs)),
        unit: 'ms',
      },
      { name: 'not delivered in time', value: late, unit: '' },
    ]
  } finally {
    await sink.stop()
    remove()
  }
}

const connections = 64

// Time to fill the queues and start the hub before the first delivery is due.
const headStartMs = (deliveries: number) => 4_000 + deliveries / 2

async function fairness(hanging: number, healthy: number, spreadMs: number, limitMs: number): Promise<Figure[]> {
  const startAt = systemClock.now() + headStartMs(hanging + 49 * healthy)
  const queues = (port: number): Queue[] => [
    { url: `http://127.0.0.1:${port}/hang`, dueAt: Array(hanging).fill(startAt) },
    ...Array.from({ length: 49 }, (_, lane) => ({
      url: `http://127.0.0.1:${port}/hook/${lane}`,
      dueAt: Array.from({ length: healthy }, (_, n) => Math.round(startAt + ((n + lane / 49) * spreadMs) / healthy)),
    })),
  ]
  return await measured(queues, 49 * healthy, startAt + limitMs, async (config, ids, late) => {
    const { finishedAt, lateness } = await healthyFigures(config, ids[0]!)
    const at = (share: number) => lateness[Math.min(lateness.length - 1, Math.floor(lateness.length * share))] ?? Number.NaN
    return [
      { name: 'delay of first attempts to healthy endpoints, p50', value: at(0.5), unit: 'ms' },
      { name: 'delay of first attempts to healthy endpoints, p99', value: at(0.99), unit: 'ms' },
      { name: 'all healthy endpoints delivered after', value: (finishedAt - startAt) / 1000, unit: 's' },
      { name: 'healthy endpoints, not delivered in time', value: late, unit: '' },
    ]
  })
}

/** Runs a hub until `expected` messages arrived or `endAt` (ms UTC), then reads the figures from its database. */
async function measured(
  queues: (sinkPort: number) => Queue[],
  expected: number,
  endAt: number,
  readFigures: (config: Config, ids: string[], late: number) => Promise<Figure[]>,
): Promise<Figure[]> {
  const { config, folder, remove } = temporaryInstallation()
  const sink = await startServer(['bench', 'webhook-sink'])
  try {
    const ids = await fillQueues(config, queues(sink.port))
    const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
    let received = 0
    try {
      while ((received = await countReceived(sink.port)) < expected && systemClock.now() < endAt) await Bun.sleep(100)
      // The last attempts still have to be logged.
      await Bun.sleep(500)
    } finally {
      await hub.stop()
    }
    return await readFigures(config, ids, expected - received)
  } finally {
    await sink.stop()
    remove()
  }
}

/** Delays of first attempts (ms, ascending) and the end of the last delivery, for all endpoints except one. */
async function healthyFigures(config: Config, excludedId: string | null): Promise<{ finishedAt: number; lateness: number[] }> {
  const hub = await openHub(config)
  try {
    const others = excludedId === null ? undefined : ne(webhookDeliveries.endpointId, excludedId)
    const rows = await hub.read
      .select({ late: sql<number>`${webhookAttempts.startedAt} - ${webhookDeliveries.createdAt}` })
      .from(webhookAttempts)
      .innerJoin(webhookDeliveries, eq(webhookDeliveries.id, webhookAttempts.deliveryId))
      .where(and(eq(webhookAttempts.number, 1), others))
    const [last] = await hub.read
      .select({ at: max(webhookDeliveries.finishedAt) })
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.status, 'delivered'), others))
    return { finishedAt: last?.at ?? Number.NaN, lateness: rows.map(row => row.late).sort((a, b) => a - b) }
  } finally {
    await hub.store.close()
  }
}
