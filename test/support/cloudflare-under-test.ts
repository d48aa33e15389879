import { rdataOfText } from '../../src/dns/rdata'
import { cloudflare } from '../../src/features/dns/providers/cloudflare'
import type { ProviderRrset } from '../../src/features/dns/providers/provider'
import { withinZone } from '../../src/features/dns/zones/names'
import type { CloudflareRequest, CloudflareDouble, CloudflareFault } from './cloudflare'
import type { CloudflareRow, CloudflareZone } from './cloudflare-zone'
import type { TroubledUnderTest } from './hub-zone'
import { pluginContext } from './plugin-context'

let zones = 0

/** The double of Cloudflare, for the provider suites. */
export function cloudflareUnderTest(double: CloudflareDouble): TroubledUnderTest {
  const zoneNamed = (name: string) => double.zones.find(one => one.name === name)!
  const changing = (fault: CloudflareFault) => (request: CloudflareRequest) => (request.method === 'GET' ? null : fault)
  const isReading = ({ method, path, query }: CloudflareRequest) =>
    method === 'GET' && path.endsWith('/dns_records') && !query.has('name.exact')
  const settings = { api_token: double.token, account_id: double.accountId, base_url: double.url }
  return {
    kind: cloudflare.kind,
    settings,
    caps: cloudflare.open(settings, pluginContext()).caps,
    // The free plan does not allow 1,000 rrsets; the batch size of 200 depends only on the settings.
    makeZone: async () => double.zone(`zone-${++zones}.example`, 'pro').name,
    look: async name => looked(zoneNamed(name)),
    async changeExternally(zoneName, name, type, ttl, values) {
      const zone = zoneNamed(zoneName)
      const fqdn = name === '@' ? zoneName : `${name}.${zoneName}`
      zone.rows = zone.rows.filter(one => !(one.name === fqdn && one.type === type))
      for (const content of values ?? []) zone.post({ name, type, ttl, content })
    },
    // ALIAS is supported only at the apex, and has its own tests.
    lacks: ['ALIAS', 'TYPE65280'],
    trouble: {
      throttle: () => (double.fault = () => 'throttled'),
      shorten: () => (double.answered = one => (Array.isArray(one.result) ? { ...one, result: one.result.slice(0, 7) } : one)),
      fallSilent: () => (double.fault = changing('lost')),
      lose(kept, from) {
        let started = from === 'now'
        double.fault = request => {
          started ||= request.method !== 'GET'
          return null
        }
        double.answered = (one, request) => {
          if (!started || !isReading(request)) return one
          const result = one.result.slice(0, kept)
          return {
            ...one,
            result,
            result_info: { ...one.result_info, count: result.length, total_count: result.length, total_pages: 1 },
          }
        }
      },
      interrupt(changeExternally) {
        let isDone = false
        // The hub reads the whole zone to compare, and the adapter the affected names to be sure.
        double.fault = request => {
          if (isDone || !request.query.has('name.exact')) return null
          isDone = true
          void changeExternally()
          return null
        }
      },
      calm() {
        double.fault = () => null
        double.answered = one => one
      },
    },
    stop() {},
  }
}

/** Parses a record from its text, which the provider ignores if there is `data`. */
const rdataOfRow = ({ type, content, priority }: CloudflareRow): Uint8Array =>
  rdataOfText(type, ['MX', 'URI'].includes(type) ? `${priority} ${content}` : content.replace(/^IN LOC /, ''), '.')

function looked({ name: zoneName, rows }: CloudflareZone): ProviderRrset[] {
  const groups = Map.groupBy(rows, one => `${one.name} ${one.type}`)
  return [...groups.values()].map(same => ({
    name: withinZone(`${same[0]!.name}.`, zoneName)!,
    type: same[0]!.type,
    ttl: same[0]!.ttl as number,
    values: same.map(rdataOfRow),
  }))
}
