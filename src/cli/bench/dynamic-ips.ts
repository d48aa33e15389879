import { sql } from 'drizzle-orm'
import type { Config } from '../../core/config'
import { dynamicIpUpdates } from '../../features/dynamic-ips/tables'
import type { Bench } from './bench'
import { cpuSecondsOf, startServer, temporaryInstallation } from './child-processes'
import { openInProcessApi, pagesOf } from './in-process-api'
import { pacedLoad, requestBytes } from './load'

interface Source {
  id: string
  token: string
  /** The last address that was acknowledged, and the one that is being reported. */
  address: string
  next: string | null
}

/** `bailiwick bench dynamic-ips`: reports of routers. Some of them change an address. */
export const dynamicIpsBench: Bench = {
  name: 'dynamic-ips',
  summary: 'Report addresses of dynamic IP sources at a fixed rate',
  options: [
    { name: 'sources', description: 'Number of sources, each with two hosts in one of ten zones', default: 1_000 },
    { name: 'rate', description: 'Reports per second', default: 1_000 },
    { name: 'changes', description: 'Reports per second that change an address', default: 50 },
    { name: 'seconds', description: 'Duration in seconds', default: 60 },
  ],
  async run(args) {
    const { config, folder, remove } = temporaryInstallation()
    try {
      const sources = await createSources(config, args.sources!)
      const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
      try {
        const every = Math.max(1, Math.round(args.rate! / args.changes!))
        let sent = 0
        let changed = 0
        const request = () => {
          const source = sources[sent % sources.length]!
          // Another source in each turn.
          const isChange = (sent + Math.floor(sent / sources.length)) % every === 0 && source.next === null
          sent++
          if (isChange) source.next = addressOf(++changed)
          const path = `/nic/update?myip=${source.next ?? source.address}`
          const bytes = requestBytes('GET', path, { Authorization: `Bearer ${source.token}`, 'User-Agent': 'bench/1' })
          return { bytes, done: (body: string) => acknowledge(source, body) }
        }
        const warmUp = { rate: args.rate!, seconds: 3 }
        await pacedLoad(hub, warmUp, request)
        const [cpu, changedBefore] = [cpuSecondsOf(hub.pid), changed]
        const result = await pacedLoad(hub, { rate: args.rate!, seconds: args.seconds! }, request)
        const cpuMs = ((cpuSecondsOf(hub.pid) - cpu) * 1000) / result.responses
        await hub.stop()
        const { wrong, stored } = await verify(config, sources)
        return {
          figures: [
            { name: 'reports', value: result.perSecond, unit: '1/s' },
            { name: 'changes', value: (changed - changedBefore) / result.seconds, unit: '1/s' },
            { name: 'p50', value: result.p50, unit: 'ms' },
            { name: 'p99', value: result.p99, unit: 'ms' },
            { name: 'failed', value: result.failures, unit: '' },
            { name: 'CPU of the hub per report', value: cpuMs, unit: 'ms' },
            { name: 'records that differ from the last acknowledged report', value: wrong, unit: '' },
            { name: 'stored changes beyond the acknowledged ones', value: stored - changed, unit: '' },
          ],
          notes: [
            'Times are from when each report was due. Each change was committed with its two records before the response. Client and hub share the machine.',
          ],
        }
      } finally {
        await hub.stop()
      }
    } finally {
      remove()
    }
  },
}

/** Remembers an address that the hub has confirmed. */
function acknowledge(source: Source, body: string): void {
  if (source.next !== null && body.startsWith(`good ${source.next}`)) {
    source.address = source.next
    source.next = null
  }
}

const addressOf = (n: number): string => `198.${18 + ((n >> 16) & 1)}.${(n >> 8) & 255}.${n & 255}`
const zoneCount = 10

async function createSources(config: Config, count: number): Promise<Source[]> {
  const api = await openInProcessApi(config)
  try {
    for (let n = 0; n < zoneCount; n++) await api.call('POST', '/v1/dns/zones', { name: `zone-${n}.example` })
    const sources: Source[] = []
    for (let n = 0; n < count; n++) {
      const zone = `zone-${n % zoneCount}.example`
      const { id, secret } = await api.call('POST', '/v1/dynamic-ips', {
        name: `Router ${n}`,
        // The addresses are those for benchmarks (RFC 2544).
        allow_private: true,
        hosts: [{ name: `home-${n}.${zone}` }, { name: `vpn-${n}.${zone}` }],
      })
      const address = '203.0.113.7'
      await api.call('POST', `/v1/dynamic-ips/${id}/report`, { ipv4: address })
      sources.push({ id, token: secret, address, next: null })
    }
    return sources
  } finally {
    await api.close()
  }
}

/** Compares the records with what was acknowledged, and counts the stored changes. */
async function verify(config: Config, sources: readonly Source[]): Promise<{ wrong: number; stored: number }> {
  const api = await openInProcessApi(config)
  try {
    const expected = new Map(sources.map(one => [one.id, one]))
    let wrong = 0
    for await (const page of pagesOf(api, '/v1/dynamic-ips'))
      for (const { id, hosts } of page) {
        const { address, next } = expected.get(id)!
        // A report without a response may have been stored.
        const isRight = (content: string) => content === address || content === next
        wrong += hosts.filter((host: any) => !isRight(host.records[0]?.content)).length
      }
    const [row] = await api.hub.read
      .select({ n: sql<number>`count(*)` })
      .from(dynamicIpUpdates)
      .where(sql`${dynamicIpUpdates.changed}`)
    return { wrong, stored: Number(row!.n) - sources.length }
  } finally {
    await api.close()
  }
}
