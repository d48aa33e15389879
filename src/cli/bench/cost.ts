import { join } from 'node:path'
import type { Config } from '../../core/config'
import { createTokenAsOperator } from '../../features/tokens/commands'
import type { Bench, Figure } from './bench'
import { cpuSecondsOf, residentBytes, startServer, temporaryInstallation, type ServerProcess } from './child-processes'
import { costOperations, type CostOperation, type CostWorld } from './cost-operations'
import { fillZone } from './dns-fill'
import { addToFlatTable, openFlatDatabase } from './flat-tables'
import { openInProcessApi, pagesOf } from './in-process-api'
import { load } from './load'
import { addHeartbeats } from './seed'

const idle = 'idle'
// Until the hub has finished the work of its start.
const settleSeconds = 5
const idleGoal = { share: 0.005, memory: 120e6 }
const roundSeconds = 120

/** `bailiwick bench cost`: CPU time of the hub per operation. */
export const costBench: Bench = {
  name: 'cost',
  summary: 'Measure the CPU time of each operation, compared to a minimal server',
  options: [
    {
      name: 'requests',
      description: 'Number of requests per round; cheap operations get more, expensive ones fewer',
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
    try {
      const flatFile = join(folder, 'flat.db')
      const world = await prepareWorld(config, flatFile, args.records!, args.heartbeats!)
      const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
      const reference = await startServer(['bench', 'reference-server', flatFile])
      try {
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
          if (parts.includes(operation.name))
            figures.push(...(await measure(operation, world, { hub, reference, idleShare }, args)))
        return {
          figures,
          notes: [
            'CPU time of the whole process, from its own accounting, minus the CPU time of the idle hub. The reference is Bun.serve with bun:sqlite and flat tables with the same members; its creates are committed with an entry in a hash chain. Both commit with synchronous=FULL.',
          ],
        }
      } finally {
        await hub.stop()
        await reference.stop()
      }
    } finally {
      remove()
    }
  },
}

interface Servers {
  hub: ServerProcess
  reference: ServerProcess
  /** Share of a core that the idle hub uses, 0 to 1. */
  idleShare: number
}

async function measure(
  { name, goal, share, request }: CostOperation,
  world: CostWorld,
  { hub, reference, idleShare }: Servers,
  args: Readonly<Record<string, number>>,
): Promise<Figure[]> {
  const requests = Math.ceil(args.requests! * share)
  let n = 0
  const cost = async (server: ServerProcess, count: number, background: number): Promise<number> => {
    const before = cpuSecondsOf(server.pid)
    const options = { connections: args.connections!, requests: count, seconds: roundSeconds }
    const { responses, failures, seconds } = await load(server, options, () => request(world, n++))
    if (failures > 0) throw new Error(`${name}: ${failures} of ${responses} requests failed.`)
    return ((cpuSecondsOf(server.pid) - before - background * seconds) * 1000) / responses
  }
  const rounds: { hub: number; reference: number }[] = []
  // In the first round, the runtime still compiles the code.
  for (let round = 0; round <= args.rounds!; round++) {
    const both = {
      hub: await cost(hub, requests, idleShare),
      // The accounting has a resolution of 10 ms.
      reference: await cost(reference, requests * referenceFactor, 0),
    }
    if (round > 0) rounds.push(both)
  }
  const [own, bare] = [median(rounds.map(round => round.hub)), median(rounds.map(round => round.reference))]
  return [
    { name: `${name}: CPU`, value: own, unit: 'ms' },
    { name: `${name}: reference`, value: bare, unit: 'ms' },
    { name: `${name}: multiple`, value: own / bare, unit: '' },
    { name: `${name}: goal`, value: goal, unit: '' },
  ]
}

const referenceFactor = 4

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Share of a core that a process uses, 0 to 1. */
async function shareOfCore(server: ServerProcess, seconds: number): Promise<number> {
  const [startedAt, before] = [performance.now(), cpuSecondsOf(server.pid)]
  await Bun.sleep(seconds * 1000)
  return ((cpuSecondsOf(server.pid) - before) * 1000) / (performance.now() - startedAt)
}

/** Creates a zone with records, heartbeats, and flat tables of both. */
async function prepareWorld(config: Config, flatFile: string, records: number, heartbeats: number): Promise<CostWorld> {
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
    return { headers: { Authorization: `Bearer ${token}` }, zoneId, recordIds, uuids }
  } finally {
    flat.close()
    await api.close()
  }
}
