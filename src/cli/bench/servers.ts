import { eq } from 'drizzle-orm'
import { record } from '../../core/change'
import type { Config } from '../../core/config'
import { insertFound, syncAccount } from '../../features/servers/accounts/sync'
import { cloudAccounts } from '../../features/servers/accounts/tables'
import { serverOf } from '../../features/servers/clouds/hetzner/readings'
import { fetchUnrestricted } from '../unrestricted-fetch'
import type { Bench, Figure } from './bench'
import { accountIn, measureChanges } from './cloud-changes'
import { cpuSecondsOf, residentBytes, startServer, temporaryInstallation, type ServerProcess } from './child-processes'
import { cloudServerRow } from './cloud-server'
import { listTimes } from './dns-lists'
import { openInProcessApi, type InProcessApi } from './in-process-api'
import { median } from './median'
import { measureMetrics } from './server-metrics'

const goals = { pageMs: 15, requests: 25, syncCpuSeconds: 1, idleShare: 0.03 }
const syncs = 5
const accountName = 'bailiwick-bench'
// Rows inserted at once.
const batchSize = 500
// Until the hub has finished the work of its start, including the first reading.
const settleSeconds = 15

/** Filters of the list. */
const filters = [
  '',
  'sort=name',
  'status=running',
  'health=down',
  'power=on',
  'kind=vm',
  'origin=found',
  'location=fsn1',
  'label_selector=role%3Dweb',
  'label_selector=role%3Dweb,group!%3Dg0',
  'label_selector=group%3Dg42',
  'q=server-4242',
  'q=server',
]

/** `bailiwick bench servers`: lists of servers, readings of a cloud account, and metrics. */
export const serversBench: Bench = {
  name: 'servers',
  summary: 'Measure lists of servers, how much it costs to read cloud accounts, and metrics',
  options: [
    { name: 'servers', description: 'Number of servers in lists', default: 10_000 },
    { name: 'synced', description: 'Number of servers in the account that is read', default: 1000 },
    { name: 'rounds', description: 'Number of changes of each kind at the cloud of `--account`', default: 20 },
    { name: 'idle', description: 'Seconds for measuring the idle hub. An account is read once a minute', default: 180 },
  ],
  file: {
    name: 'account',
    description:
      'JSON file with a cloud account: its kind, its settings, and the name of a server whose firewall is changed and which is restarted',
    isOptional: true,
  },
  parts: ['lists', 'sync', 'idle', 'metrics', 'changes'],
  async run(args, parts, file) {
    const account = parts.includes('changes') && file !== undefined ? accountIn(file) : null
    const cloud = await startServer(['bench', 'cloud-server', String(args.synced!)])
    try {
      const figures: Figure[] = []
      if (parts.includes('lists')) figures.push(...(await inInstallation(config => measureLists(config, args.servers!))))
      if (parts.includes('sync') || parts.includes('idle'))
        figures.push(
          ...(await inInstallation(async (config, folder) => {
            const read = await measureReadings(config, cloud)
            const idle = parts.includes('idle') ? await measureIdle(folder, args.idle!) : []
            await removeAccounts(config)
            return [...(parts.includes('sync') ? read : []), ...idle]
          })),
        )
      if (parts.includes('metrics')) figures.push(...(await inInstallation(measureMetrics)))
      if (account)
        figures.push(
          ...(await inInstallation(async (config, folder) => {
            const measured = await measureChanges(config, folder, accountName, account, args.rounds!)
            await removeAccounts(config)
            return measured
          })),
        )
      return {
        figures,
        notes: [
          ...(parts.some(one => one !== 'changes')
            ? [
                'The cloud is a small server with the API of Hetzner Cloud, in a process of its own. CPU times are of the hub alone.',
              ]
            : []),
          ...(parts.includes('changes')
            ? [
                account
                  ? 'Changes were measured at the cloud of --account.'
                  : 'Changes were not measured, because --account is missing.',
              ]
            : []),
        ],
      }
    } finally {
      await cloud.stop()
    }
  },
}

async function inInstallation(run: (config: Config, folder: string) => Promise<Figure[]>): Promise<Figure[]> {
  const { config, folder, remove } = temporaryInstallation()
  try {
    return await run(config, folder)
  } finally {
    remove()
  }
}

const goal = (name: string, value: number, unit: string): Figure => ({ name: `${name}, goal`, value, unit })

async function measureLists(config: Config, count: number): Promise<Figure[]> {
  const api = await openInProcessApi(config)
  try {
    // Nothing listens there: the servers are inserted as a reading would.
    const { id } = await addAccount(api, 'http://127.0.0.1:9/v1')
    await insertServers(api, id, count)
    const list = (filter: string) => api.call('GET', `/v1/servers?limit=100&${filter}`)
    const figures: Figure[] = []
    for (const filter of filters)
      figures.push(...(await listTimes(`list ${decodeURIComponent(filter) || 'all'}`, () => list(filter))))
    figures.push(...(await listTimes('list account_id', () => list(`account_id=${id}`))))
    await api.call('DELETE', `/v1/cloud-accounts/${id}`)
    return [...figures, goal('list, p50', goals.pageMs, 'ms')]
  } finally {
    await api.close()
  }
}

/** Deletes the account and its servers, because a database that is not temporary is used again. */
async function removeAccounts(config: Config): Promise<void> {
  const api = await openInProcessApi(config)
  try {
    for (const { id, name } of (await api.call('GET', '/v1/cloud-accounts')).data)
      if (name === accountName) await api.call('DELETE', `/v1/cloud-accounts/${id}`)
  } finally {
    await api.close()
  }
}

async function insertServers({ hub }: InProcessApi, accountId: string, count: number): Promise<void> {
  const [account] = await hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, accountId))
  for (let start = 0; start < count; start += batchSize) {
    const length = Math.min(batchSize, count - start)
    const batch = Array.from({ length }, (_, n) => serverOf(cloudServerRow(start + n)))
    await record(hub, tx => insertFound(tx, hub, account!, batch, null))
  }
}

const addAccount = (api: InProcessApi, base_url: string): Promise<{ id: string }> =>
  api.call('POST', '/v1/cloud-accounts', {
    kind: 'hetzner',
    name: accountName,
    settings: { api_token: 't'.repeat(64), base_url },
  })

/** Reads an account several times. The first reading adds its servers. */
async function measureReadings(config: Config, cloud: ServerProcess): Promise<Figure[]> {
  const api = await openInProcessApi(config)
  try {
    const { id } = await addAccount(api, `http://127.0.0.1:${cloud.port}/v1`)
    const runs: { cpu: number; seconds: number; requests: number }[] = []
    for (let n = 0; n <= syncs; n++) {
      const [account] = await api.hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, id))
      const [before, startedAt, requests] = [process.cpuUsage(), performance.now(), await countRequests(cloud)]
      const { error } = await syncAccount(api.hub, account!)
      if (error) throw new Error(`The account could not be read: ${error.detail}`)
      const { user, system } = process.cpuUsage(before)
      const seconds = (performance.now() - startedAt) / 1000
      runs.push({ cpu: (user + system) / 1e6, seconds, requests: (await countRequests(cloud)) - requests })
    }
    const [first, ...others] = runs
    return [
      { name: 'first sync: CPU', value: first!.cpu, unit: 's' },
      { name: 'sync: CPU', value: median(others.map(one => one.cpu)), unit: 's' },
      goal('sync: CPU', goals.syncCpuSeconds, 's'),
      { name: 'sync: time', value: median(others.map(one => one.seconds)), unit: 's' },
      { name: 'sync: requests', value: Math.max(...others.map(one => one.requests)), unit: '' },
      goal('sync: requests', goals.requests, ''),
    ]
  } finally {
    await api.close()
  }
}

/** Measures a hub that does nothing but read the account. */
async function measureIdle(folder: string, seconds: number): Promise<Figure[]> {
  const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
  try {
    await Bun.sleep(settleSeconds * 1000)
    const [before, startedAt] = [cpuSecondsOf(hub.pid), performance.now()]
    await Bun.sleep(seconds * 1000)
    const share = ((cpuSecondsOf(hub.pid) - before) * 1000) / (performance.now() - startedAt)
    return [
      { name: 'idle: CPU', value: share * 100, unit: '% of a core' },
      goal('idle: CPU', goals.idleShare * 100, '% of a core'),
      { name: 'idle: memory', value: residentBytes(hub.pid) / 1e6, unit: 'MB' },
    ]
  } finally {
    await hub.stop()
  }
}

async function countRequests({ port }: ServerProcess): Promise<number> {
  const { body } = await fetchUnrestricted({ url: `http://127.0.0.1:${port}/count`, method: 'GET' }, {})
  return Number(new TextDecoder().decode(body))
}
