import { and, eq, max, ne, sql } from 'drizzle-orm'
import { systemClock } from '../../core/clock'
import type { Config } from '../../core/config'
import { webhookAttempts, webhookDeliveries } from '../../features/webhooks/tables'
import { openHub } from '../../hub/run'
import type { Bench, Figure } from './bench'
import { scratch, serveAgain } from './hub-process'
import { takenBy } from './sink'
import { fillQueues, type Queue } from './webhook-queue'

/** `bailiwick bench webhooks`: deliveries signed, sent to a process of their own, and logged; and how the healthy fare beside one that hangs. */
export const webhooksBench: Bench = {
  name: 'webhooks',
  summary: 'Deliver webhooks to a sink, and beside an endpoint that hangs.',
  options: [
    { name: 'deliveries', meaning: 'how many of them, for the throughput', default: 20_000 },
    { name: 'endpoints', meaning: 'how many they go to', default: 50 },
    { name: 'hanging', meaning: 'how many wait for the endpoint that hangs', default: 10_000, least: 0 },
    { name: 'healthy', meaning: 'how many each of 49 healthy endpoints is sent meanwhile', default: 200 },
    { name: 'spread', meaning: 'seconds over which those fall due', default: 20 },
    { name: 'limit', meaning: 'seconds to wait for either run', default: 120 },
  ],
  async run(args) {
    const limitMs = args.limit! * 1000
    return {
      figures: [
        ...(await throughput(args.deliveries!, args.endpoints!, limitMs)),
        ...(await fairness(args.hanging!, args.healthy!, args.spread! * 1000, limitMs)),
      ],
      notes: [
        'Each delivery was signed twice, posted over HTTP, and its attempt committed with synchronous=FULL; hub and sink share the machine.',
        'The endpoint that hangs never answers: each of its tries lasts its full 15 seconds.',
      ],
    }
  },
}

// Time to make the queues and start the hub before the first is due.
const headStartMs = (deliveries: number) => 4_000 + deliveries / 2

async function throughput(deliveries: number, endpoints: number, limitMs: number): Promise<Figure[]> {
  const startAt = systemClock.now() + headStartMs(deliveries)
  const each = Math.ceil(deliveries / endpoints)
  const queues = (port: number): Queue[] =>
    Array.from({ length: endpoints }, (_, n) => ({
      url: `http://127.0.0.1:${port}/taken/${n}`,
      dueAt: Array(each).fill(startAt),
    }))
  return await measured(queues, each * endpoints, startAt + limitMs, async (config, _ids, late) => {
    const { finishedAt } = await healthyFigures(config, null)
    return [
      { name: 'deliveries', value: (each * endpoints) / ((finishedAt - startAt) / 1000), unit: '1/s' },
      { name: 'not delivered in time', value: late, unit: '' },
    ]
  })
}

async function fairness(hanging: number, healthy: number, spreadMs: number, limitMs: number): Promise<Figure[]> {
  const startAt = systemClock.now() + headStartMs(hanging + 49 * healthy)
  const queues = (port: number): Queue[] => [
    { url: `http://127.0.0.1:${port}/hang`, dueAt: Array(hanging).fill(startAt) },
    ...Array.from({ length: 49 }, (_, lane) => ({
      url: `http://127.0.0.1:${port}/taken/${lane}`,
      dueAt: Array.from({ length: healthy }, (_, n) => Math.round(startAt + ((n + lane / 49) * spreadMs) / healthy)),
    })),
  ]
  return await measured(queues, 49 * healthy, startAt + limitMs, async (config, ids, late) => {
    const { finishedAt, lateness } = await healthyFigures(config, ids[0]!)
    const at = (share: number) => lateness[Math.min(lateness.length - 1, Math.floor(lateness.length * share))] ?? Number.NaN
    return [
      { name: 'lateness of healthy first tries, p50', value: at(0.5), unit: 'ms' },
      { name: 'lateness of healthy first tries, p99', value: at(0.99), unit: 'ms' },
      { name: 'all healthy delivered after', value: (finishedAt - startAt) / 1000, unit: 's' },
      { name: 'healthy not delivered in time', value: late, unit: '' },
    ]
  })
}

/** Runs a hub on the queues until `expected` messages arrived or `endAt` (ms UTC), and then asks its database. */
async function measured(
  queues: (sinkPort: number) => Queue[],
  expected: number,
  endAt: number,
  ask: (config: Config, ids: string[], late: number) => Promise<Figure[]>,
): Promise<Figure[]> {
  const { config, folder, remove } = scratch()
  const sink = await serveAgain(['bench', 'webhook-sink'])
  try {
    const ids = await fillQueues(config, queues(sink.port))
    const hub = await serveAgain(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
    let taken = 0
    try {
      while ((taken = await takenBy(sink.port)) < expected && systemClock.now() < endAt) await Bun.sleep(100)
      // The last ones are written down.
      await Bun.sleep(500)
    } finally {
      await hub.stop()
    }
    return await ask(config, ids, expected - taken)
  } finally {
    await sink.stop()
    remove()
  }
}

/** How late first tries began (ms, ascending), and when the last delivery ended, of all endpoints but one. */
async function healthyFigures(config: Config, without: string | null): Promise<{ finishedAt: number; lateness: number[] }> {
  const hub = await openHub(config)
  try {
    const others = without === null ? undefined : ne(webhookDeliveries.endpointId, without)
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
