import { rdataOfText } from '../../src/dns/rdata'
import { hetzner } from '../../src/features/dns/providers/hetzner'
import type { ProviderRrset } from '../../src/features/dns/providers/provider'
import { originOf } from '../../src/features/dns/zones/names'
import type { ApiFault, ApiRequest } from './api-double'
import type { HetznerDouble } from './hetzner'
import type { HetznerZone } from './hetzner-zone'
import type { TroubledUnderTest } from './hub-zone'
import { pluginContext } from './plugin-context'

let zones = 0

/** The double of Hetzner, for the provider suites. */
export function hetznerUnderTest(double: HetznerDouble): TroubledUnderTest {
  const zoneNamed = (name: string) => double.zones.find(one => one.name === name)!
  const changing = (fault: ApiFault) => (request: ApiRequest) => (request.method === 'GET' ? null : fault)
  const isReading = ({ method, path, query }: ApiRequest) => method === 'GET' && path.endsWith('/rrsets') && !query.has('name')
  const settings = { api_token: double.token, base_url: double.url }
  return {
    kind: hetzner.kind,
    settings,
    caps: hetzner.open(settings, pluginContext()).caps,
    makeZone: async () => double.zone(`zone-${++zones}.example`).name,
    look: async name => looked(zoneNamed(name)),
    async changeExternally(zoneName, name, type, ttl, values) {
      const zone = zoneNamed(zoneName)
      zone.rows = zone.rows.filter(one => !(one.name === name && one.type === type))
      if (values) zone.create({ name, type, ttl, records: values.map(value => ({ value })) })
    },
    lacks: ['TYPE65280'],
    async makeForeign(zoneName) {
      const zone = zoneNamed(zoneName)
      const row = zone.create({ name: 'new', type: 'TXT', records: [{ value: '"of a new type"' }] })
      Object.assign(row, { id: 'new/NEWTYPE', type: 'NEWTYPE' })
      return { name: 'new', type: 'NEWTYPE' }
    },
    trouble: {
      throttle: () => (double.fault = () => 'throttled'),
      shorten: () => (double.answered = one => (one.rrsets ? { ...one, rrsets: one.rrsets.slice(0, 7) } : one)),
      fallSilent: () => (double.fault = changing('lost')),
      lose(kept, from) {
        let started = from === 'now'
        double.fault = request => {
          started ||= request.method !== 'GET'
          return null
        }
        double.answered = (one, request) => {
          if (!started || !isReading(request)) return one
          // The SOA does not count.
          const rrsets = one.rrsets.slice(0, kept + 1)
          const pagination = { ...one.meta.pagination, total_entries: rrsets.length, last_page: 1, next_page: null }
          return { rrsets, meta: { pagination } }
        }
      },
      interrupt(changeExternally) {
        let isDone = false
        // The hub reads the whole zone to compare, and the adapter the name again to be sure.
        double.fault = request => {
          if (isDone || !request.query.has('name') || !request.path.endsWith('/rrsets')) return null
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

const looked = ({ name: zoneName, rows, ttl: defaultTtl }: HetznerZone): ProviderRrset[] =>
  rows
    .filter(one => one.type !== 'SOA')
    .map(({ name, type, ttl, records }) => ({
      name,
      type,
      ttl: ttl ?? defaultTtl,
      values: records.map(one => rdataOfText(type, one.value, originOf(zoneName))),
    }))
