import { sqliteFile, type Config } from '../../core/config'
import { createTokenAsOperator } from '../../access/tokens'
import type { Bench } from './bench'
import { fillZone } from './dns-fill'
import { scratch, serveAgain } from './hub-process'
import { load, requestBytes, type LoadResult } from './load'
import { ownApi } from './own-api'

/** `bailiwick bench api`: what the API costs above the query it runs. */
export const apiBench: Bench = {
  name: 'api',
  summary: 'List 100 of many DNS records through the API, beside the same query on a bare Bun.serve.',
  options: [
    { name: 'records', meaning: 'how many there are', default: 100_000 },
    { name: 'seconds', meaning: 'length of each run; there are three of each, taken in turns', default: 5 },
    { name: 'connections', meaning: 'connections kept busy', default: 32 },
  ],
  async run(args) {
    const { config, folder, remove } = scratch()
    try {
      const { readToken, workspaceId } = await seedRecords(config, args.records!)
      const hub = await serveAgain(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
      const bare = await serveAgain(['bench', 'bare-server', sqliteFile(config), workspaceId])
      try {
        const options = { connections: args.connections!, seconds: args.seconds! }
        const request = requestBytes('GET', '/v1/dns/records?limit=100', { Authorization: `Bearer ${readToken}` })
        const runs: { api: LoadResult; bare: LoadResult }[] = []
        await load(hub, { ...options, seconds: 1 }, () => request)
        await load(bare, { ...options, seconds: 1 }, () => request)
        for (let n = 0; n < 3; n++)
          runs.push({ api: await load(hub, options, () => request), bare: await load(bare, options, () => request) })
        const best = (kind: 'api' | 'bare') => runs.map(run => run[kind]).reduce((a, b) => (b.perSecond > a.perSecond ? b : a))
        const [api, plain] = [best('api'), best('bare')]
        return {
          figures: [
            { name: 'api', value: api.perSecond, unit: 'requests/s' },
            { name: 'api p99', value: api.p99, unit: 'ms' },
            { name: 'bare', value: plain.perSecond, unit: 'requests/s' },
            { name: 'bare p99', value: plain.p99, unit: 'ms' },
            { name: 'share of bare', value: api.perSecond / plain.perSecond, unit: '' },
            { name: 'failures', value: runs.reduce((sum, run) => sum + run.api.failures + run.bare.failures, 0), unit: '' },
          ],
          notes: [
            `The best of three runs of ${args.seconds} s each; client and servers share the machine. Both answer the same members of the same records.`,
          ],
        }
      } finally {
        await hub.stop()
        await bare.stop()
      }
    } finally {
      remove()
    }
  },
}

/** A zone of so many records, and a token that reads them. */
async function seedRecords(config: Config, records: number): Promise<{ readToken: string; workspaceId: string }> {
  const api = await ownApi(config)
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
