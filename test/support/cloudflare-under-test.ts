import { rdataOfText } from '../../src/core/dns/rdata'
import { cloudflare } from '../../src/features/dns/providers/cloudflare'
import type { ProviderRrset } from '../../src/features/dns/providers/provider'
import { withinZone } from '../../src/features/dns/zone-names'
import type { CloudflareAsked, CloudflareDouble, CloudflareFault } from './cloudflare'
import type { CloudflareRow, CloudflareZone } from './cloudflare-zone'
import type { TroubledUnderTest } from './hub-zone'
import { surroundings } from './surroundings'

let zones = 0

/** The double of Cloudflare, as suites for all kinds of servers want it. */
export function cloudflareUnderTest(double: CloudflareDouble): TroubledUnderTest {
  const zoneNamed = (name: string) => double.zones.find(one => one.name === name)!
  const changing = (fault: CloudflareFault) => (asked: CloudflareAsked) => (asked.method === 'GET' ? null : fault)
  const isReading = ({ method, path, query }: CloudflareAsked) =>
    method === 'GET' && path.endsWith('/dns_records') && !query.has('name.exact')
  const settings = { api_token: double.token, account_id: double.accountId, base_url: double.url }
  return {
    kind: cloudflare.kind,
    settings,
    caps: cloudflare.open(settings, surroundings()).caps,
    // 1,000 rrsets are more than the free plan has room for; that batches are of 200 depends on the settings alone.
    makeZone: async () => double.zone(`zone-${++zones}.example`, 'pro').name,
    look: async name => looked(zoneNamed(name)),
    async meddle(zoneName, name, type, ttl, values) {
      const zone = zoneNamed(zoneName)
      const fqdn = name === '@' ? zoneName : `${name}.${zoneName}`
      zone.rows = zone.rows.filter(one => !(one.name === fqdn && one.type === type))
      for (const content of values ?? []) zone.post({ name, type, ttl, content })
    },
    // It has ALIAS at the apex alone: see the tests of its own.
    lacks: ['ALIAS', 'TYPE65280'],
    trouble: {
      throttle: () => (double.fault = () => 'throttled'),
      shorten: () => (double.answered = one => (Array.isArray(one.result) ? { ...one, result: one.result.slice(0, 7) } : one)),
      fallSilent: () => (double.fault = changing('lost')),
      lose(kept, from) {
        let begun = from === 'now'
        double.fault = asked => {
          begun ||= asked.method !== 'GET'
          return null
        }
        double.answered = (one, asked) => {
          if (!begun || !isReading(asked)) return one
          const result = one.result.slice(0, kept)
          return {
            ...one,
            result,
            result_info: { ...one.result_info, count: result.length, total_count: result.length, total_pages: 1 },
          }
        }
      },
      interrupt(meddle) {
        let isDone = false
        // The hub reads all of the zone to compare, and the adapter the names in question to be sure.
        double.fault = asked => {
          if (isDone || !asked.query.has('name.exact')) return null
          isDone = true
          void meddle()
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

/** A record by its text, which the provider does not look at where there is `data`. */
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
