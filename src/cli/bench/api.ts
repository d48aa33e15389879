import { sqliteFile, type Config } from '../../core/config'
import { createTokenAsOperator } from '../../features/tokens/commands'
import type { Bench } from './bench'
import { fillZone } from './dns-fill'
import { temporaryInstallation, startServer } from './child-processes'
import { load, requestBytes, type LoadResult } from './load'
import { openInProcessApi } from './in-process-api'

/** `bailiwick bench api`: the overhead of the API compared to its database query. */
export const apiBench: Bench = {
  name: 'api',
  summary: 'List DNS records with the API, compared to a minimal server that runs the same query',
  options: [
    { name: 'records', description: 'Number of DNS records', default: 100_000 },
    { name: 'seconds', description: 'Seconds per run, with three alternating runs each', default: 5 },
    { name: 'connections', description: 'Number of concurrent connections', default: 32 },
  ],
  async run(args) {
    const { config, folder, remove } = temporaryInstallation()
    try {
      const { readToken, workspaceId } = await seedRecords(config, args.records!)
      const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
      const baseline = await startServer(['bench', 'baseline-server', sqliteFile(config), workspaceId])
      try {
        const options = { connections: args.connections!, seconds: args.seconds! }
        const request = requestBytes('GET', '/v1/dns/records?limit=100', { Authorization: `Bearer ${readToken}` })
        const runs: { api: LoadResult; baseline: LoadResult }[] = []
        await load(hub, { ...options, seconds: 1 }, () => request)
        await load(baseline, { ...options, seconds: 1 }, () => request)
        for (let n = 0; n < 3; n++)
          runs.push({ api: await load(hub, options, () => request), baseline: await load(baseline, options, () => request) })
        const best = (kind: 'api' | 'baseline') =>
          runs.map(run => run[kind]).reduce((a, b) => (b.perSecond > a.perSecond ? b : a))
        const [bestApi, bestBaseline] = [best('api'), best('baseline')]
        return {
          figures: [
            { name: 'api', value: bestApi.perSecond, unit: 'requests/s' },
            { name: 'api p99', value: bestApi.p99, unit: 'ms' },
            { name: 'baseline', value: bestBaseline.perSecond, unit: 'requests/s' },
            { name: 'baseline p99', value: bestBaseline.p99, unit: 'ms' },
            { name: 'api / baseline', value: bestApi.perSecond / bestBaseline.perSecond, unit: '' },
            { name: 'failures', value: runs.reduce((sum, run) => sum + run.api.failures + run.baseline.failures, 0), unit: '' },
          ],
          notes: [
            `Best of three runs of ${args.seconds} s each. Client and servers share the machine. Both servers return the same fields of the same records.`,
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

/** Creates a zone with records and a token to read them. */
async function seedRecords(config: Config, records: number): Promise<{ readToken: string; workspaceId: string }> {
  const api = await openInProcessApi(config)
  try {
    const { hub, workspaceId } = api
    const { id } = await api.call('POST', '/v1/dns/zones', { name: 'bench.test' })
    await fillZone(hub, id, records)
    const readToken = await createTokenAsOperator(hub, {
      workspaceId,
      name: 'read',
      mode: 'read_only',
      permissions: [],
      expiresAt: null,
    })
    return { readToken, workspaceId }
  } finally {
    await api.close()
  }
}
