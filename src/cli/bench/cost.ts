import { join } from 'node:path'
import type { Config } from '../../core/config'
import { createTokenAsOperator } from '../../features/tokens/commands'
import type { Bench, Figure } from './bench'
import { cpuSecondsOf, residentBytes, startServer, temporaryInstallation, type ServerProcess } from './child-processes'
import { costOperations, endpointsPerAlert, type CostOperation, type CostWorld } from './cost-operations'
import { fillZone } from './dns-fill'
import { addToFlatTable, openFlatDatabase } from './flat-tables'
import { openInProcessApi, pagesOf } from './in-process-api'
import { median } from './median'
import { load } from './load'
import { addHeartbeats } from './seed'
import { countReceived } from './sink'

const idle = 'idle'
// Until the hub has finished the work of its start.
const settleSeconds = 5
const idleGoal = { share: 0.005, memory: 120e6 }
const roundSeconds = 120
const afterAlertMs = 300
const watchedHeartbeats = 50
const [alert, delivery] = ['alert', 'delivery']
const isAlert = (name: string) => name === alert || name === delivery

/** `bailiwick bench cost`: CPU time of the hub per operation. */
export const costBench: Bench = {
  name: 'cost',
  summary: 'Measure the CPU time of each operation, compared to a minimal server',
  options: [
    {
      name: 'requests',
      description: 'Number of requests per round, more for cheap operations and fewer for expensive ones',
      default: 2000,
    },
    { name: 'rounds', description: 'Rounds per operation. The result is their median', default: 5 },
    { name: 'connections', description: 'Number of concurrent connections', default: 16 },
    { name: 'records', description: 'Number of DNS records', default: 10_000 },
    { name: 'heartbeats', description: 'Number of heartbeats', default: 1000, min: 2 },
    { name: 'idle', description: 'Seconds for measuring the idle hub', default: 30 },
  ],
  parts: [idle, ...costOperations.map(one => one.name)],
  async run(args, parts) {
    const { config, folder, remove } = temporaryInstallation()
    const sink = await startServer(['bench', 'webhook-sink'])
    try {
      const flatFile = join(folder, 'flat.db')
      const world = await prepareWorld(config, flatFile, args.records!, args.heartbeats!, sink.port)
      const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
      const reference = await startServer(['bench', 'reference-server', flatFile])
      try {
        let previous = Number.NaN
        await Bun.sleep(settleSeconds * 1000)
        const idleShare = await shareOfCore(hub, args.idle!)
        const figures: Figure[] = parts.includes(idle)
          ? [
              { name: 'idle: CPU', value: idleShare * 100, unit: '% of a core' },
              { name: 'idle: goal', value: idleGoal.share * 100, unit: '% of a core' },
              { name: 'idle: memory', value: residentBytes(hub.pid) / 1e6, unit: 'MB' },
              { name: 'idle: memory goal', value: idleGoal.memory / 1e6, unit: 'MB' },
            ]
          : []
        for (const operation of costOperations)
          if (parts.includes(operation.name) || (operation.name === alert && parts.includes(delivery))) {
            const [own, bare] = await measure(operation, world, { hub, reference, sink, idleShare }, args)
            const each = operation.deliveries ? (own - previous) / operation.deliveries : own
            previous = own
            figures.push(
              { name: `${operation.name}: CPU`, value: each, unit: 'ms' },
              { name: `${operation.name}: reference`, value: bare, unit: 'ms' },
              { name: `${operation.name}: multiple`, value: each / bare, unit: '' },
              { name: `${operation.name}: goal`, value: operation.goal, unit: '' },
            )
          }
        return {
          figures,
          notes: [
            'CPU time of the whole process, from its own accounting, minus the CPU time of the idle hub. The reference is Bun.serve with bun:sqlite and flat tables with the same members; its creates are committed with an entry in a hash chain. Both flush their changes to disk: the hub in another thread, and the reference with synchronous=FULL.',
          ],
        }
      } finally {
        await hub.stop()
        await reference.stop()
      }
    } finally {
      await sink.stop()
      remove()
    }
  },
}

interface Servers {
  hub: ServerProcess
  reference: ServerProcess
  sink: ServerProcess
  /** Share of a core that the idle hub uses, 0 to 1. */
  idleShare: number
}

/** @returns the CPU time of a request in milliseconds, in the hub and in the reference server */
async function measure(
  { name, share, request, reference: bareRequest = request, deliveries = 0 }: CostOperation,
  world: CostWorld,
  { hub, reference, sink, idleShare }: Servers,
  args: Readonly<Record<string, number>>,
): Promise<[own: number, bare: number]> {
  const requests = Math.ceil(args.requests! * share)
  const cost = async (server: ServerProcess, count: number, background: number, next: () => Uint8Array): Promise<number> => {
    const before = cpuSecondsOf(server.pid)
    const startedAt = performance.now()
    const expected = server === hub && deliveries > 0 ? (await countReceived(sink.port)) + count * deliveries : 0
    const options = { connections: args.connections!, requests: count, seconds: roundSeconds }
    const { responses, failures } = await load(server, options, next)
    if (failures > 0) throw new Error(`${name}: ${failures} of ${responses} requests failed.`)
    while ((await countReceived(sink.port)) < expected && performance.now() - startedAt < roundSeconds * 1000) await Bun.sleep(20)
    // Jobs and the log of attempts follow.
    if (server === hub && isAlert(name)) await Bun.sleep(afterAlertMs)
    const seconds = (performance.now() - startedAt) / 1000
    return ((cpuSecondsOf(server.pid) - before - background * seconds) * 1000) / responses
  }
  let [n, m] = [0, 0]
  const rounds: { hub: number; reference: number }[] = []
  // In the first round, the runtime still compiles the code.
  for (let round = 0; round <= args.rounds!; round++) {
    const both = {
      hub: await cost(hub, requests, idleShare, () => request(world, n++)),
      // The accounting has a resolution of 10 ms.
      reference: await cost(reference, requests * referenceFactor, 0, () => bareRequest(world, m++)),
    }
    if (round > 0) rounds.push(both)
  }
  return [median(rounds.map(round => round.hub)), median(rounds.map(round => round.reference))]
}

const referenceFactor = 4

/** Share of a core that a process uses, 0 to 1. */
async function shareOfCore(server: ServerProcess, seconds: number): Promise<number> {
  const [startedAt, before] = [performance.now(), cpuSecondsOf(server.pid)]
  await Bun.sleep(seconds * 1000)
  return ((cpuSecondsOf(server.pid) - before) * 1000) / (performance.now() - startedAt)
}

/** Creates a zone with records, heartbeats, and flat tables of both. */
async function prepareWorld(
  config: Config,
  flatFile: string,
  records: number,
  heartbeats: number,
  sinkPort: number,
): Promise<CostWorld> {
  const api = await openInProcessApi(config)
  const flat = openFlatDatabase(flatFile)
  try {
    const { hub, workspaceId } = api
    const token = await createTokenAsOperator(hub, { workspaceId, name: 'cost', mode: 'full', permissions: [], expiresAt: null })
    const { id: zoneId } = await api.call('POST', '/v1/dns/zones', { name: `cost-${crypto.randomUUID().slice(0, 8)}.test` })
    await fillZone(hub, zoneId, records)
    const uuids = await addHeartbeats(hub, workspaceId, heartbeats)
    const recordIds: string[] = []
    for await (const page of pagesOf(api, '/v1/dns/records')) {
      addToFlatTable(flat, 'records', page)
      recordIds.push(...page.map(item => item.id))
    }
    for await (const page of pagesOf(api, '/v1/heartbeats')) addToFlatTable(flat, 'heartbeats', page)
    const watchedUuids = await addHeartbeats(hub, workspaceId, watchedHeartbeats)
    const watched = (await api.call('GET', `/v1/heartbeats?limit=${watchedHeartbeats}`)).data
    for (let n = 0; n < endpointsPerAlert; n++)
      await api.call('POST', '/v1/webhook-endpoints', {
        url: `http://127.0.0.1:${sinkPort}/hook/${n}`,
        events: ['monitor.alert', 'monitor.recovered'],
        filters: { resource_ids: watched.map((one: { id: string }) => one.id) },
      })
    return { headers: { Authorization: `Bearer ${token}` }, zoneId, recordIds, uuids, watchedUuids }
  } finally {
    flat.close()
    await api.close()
  }
}
