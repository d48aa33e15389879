import type { Config } from '../../core/config'
import { createTokenAsOperator } from '../../features/tokens/commands'
import { join } from 'node:path'
import type { Bench } from './bench'
import { fillZone } from './dns-fill'
import { temporaryInstallation, startServer } from './child-processes'
import { load, requestBytes, type LoadResult } from './load'
import { addToFlatTable, openFlatDatabase } from './flat-tables'
import { openInProcessApi, pagesOf } from './in-process-api'

/** `bailiwick bench api`: the overhead of the API compared to its database query. */
export const apiBench: Bench = {
  name: 'api',
  summary: 'Measure how many lists of DNS records the API returns per second, compared to a minimal server',
  options: [
    { name: 'records', description: 'Number of DNS records', default: 100_000 },
    { name: 'seconds', description: 'Seconds per run. The hub and the minimal server run three times each', default: 5 },
    { name: 'connections', description: 'Number of concurrent connections', default: 32 },
  ],
  async run(args) {
    const { config, folder, remove } = temporaryInstallation()
    try {
      const flatFile = join(folder, 'flat.db')
      const readToken = await seedRecords(config, args.records!, flatFile)
      const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
      const baseline = await startServer(['bench', 'reference-server', flatFile])
      try {
        const options = { connections: args.connections!, seconds: args.seconds! }
        const request = requestBytes('GET', '/v1/dns/records?limit=100', { Authorization: `Bearer ${readToken}` })
        const runs: { api: LoadResult; baseline: LoadResult }[] = []
        await load(hub, { ...options, seconds: 1 }, () => request)
        await load(baseline, { ...options, seconds: 1 }, () => request)
        for (let n = 0; n < 3; n++)
          runs.push({ api: await load(hub, options, () => request), baseline: await load(baseline, options, () => request) })
        const middle = (kind: 'api' | 'baseline') =>
          runs.map(run => run[kind]).sort((a, b) => a.perSecond - b.perSecond)[Math.floor(runs.length / 2)]!
        const [api, flat] = [middle('api'), middle('baseline')]
        return {
          figures: [
            { name: 'api', value: api.perSecond, unit: 'requests/s' },
            { name: 'api p99', value: api.p99, unit: 'ms' },
            { name: 'baseline', value: flat.perSecond, unit: 'requests/s' },
            { name: 'baseline p99', value: flat.p99, unit: 'ms' },
            { name: 'api / baseline', value: api.perSecond / flat.perSecond, unit: '' },
            { name: 'failures', value: runs.reduce((sum, run) => sum + run.api.failures + run.baseline.failures, 0), unit: '' },
          ],
          notes: [
            `Median of three runs of ${args.seconds} s each. Client and servers share the machine. Both servers return the same fields of the same records.`,
          ],
        }
      } finally {
        await hub.stop()
        await baseline.stop()
      }
    } finally {
      remove()
    }
  },
}

/** Creates a zone with records, and a flat table of the same records. @returns a token to read them */
async function seedRecords(config: Config, records: number, flatFile: string): Promise<string> {
  const api = await openInProcessApi(config)
  const flat = openFlatDatabase(flatFile)
  try {
    const { hub, workspaceId } = api
    const { id } = await api.call('POST', '/v1/dns/zones', { name: 'bench.test' })
    await fillZone(hub, id, records)
    for await (const page of pagesOf(api, '/v1/dns/records')) addToFlatTable(flat, 'records', page)
    return await createTokenAsOperator(hub, { workspaceId, name: 'read', mode: 'read_only', permissions: [], expiresAt: null })
  } finally {
    flat.close()
    await api.close()
  }
}
