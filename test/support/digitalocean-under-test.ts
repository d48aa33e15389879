import { rdataOfFields, rdataOfText, rdataOfTxt, txtValue } from '../../src/dns/rdata'
import type { ProviderRrset } from '../../src/features/dns/providers/provider'
import type { DigitalOceanDouble } from './digitalocean'
import type { DigitalOceanDomain, DigitalOceanRow } from './digitalocean-domain'
import type { ServerUnderTest } from './provider-contract'

let zones = 0

/** The double of DigitalOcean, for the provider contract. */
export function digitalOceanUnderTest(double: DigitalOceanDouble): ServerUnderTest {
  const domainNamed = (name: string) => double.domains.find(one => one.name === name)!
  return {
    makeZone: async () => double.domain(`zone-${++zones}.example`).name,
    look: async name => looked(domainNamed(name)),
    async changeExternally(zoneName, name, type, ttl, values) {
      const domain = domainNamed(zoneName)
      domain.rows = domain.rows.filter(one => !(one.name === name && one.type === type))
      for (const value of values ?? []) domain.create({ type, name, ttl, data: dataOf(type, value) })
    },
    lacks: ['TYPE65280'],
    async makeForeign(zoneName) {
      const domain = domainNamed(zoneName)
      domain.rows.push({ ...domain.rows.at(-1)!, id: 7, name: 'new', type: 'NEWTYPE', data: 'of a new type' })
      return { name: 'new', type: 'NEWTYPE' }
    },
    trouble: {
      throttle: () => (double.fault = () => 'throttled'),
      shorten: () =>
        (double.answered = one => (one.domain_records ? { ...one, domain_records: one.domain_records.slice(0, 7) } : one)),
      fallSilent: () => (double.fault = ({ method }) => (method === 'GET' ? null : 'lost')),
      calm() {
        double.fault = () => null
        double.answered = one => one
      },
    },
    stop() {},
  }
}

const dataOf = (type: string, value: string): string =>
  type === 'TXT' ? Buffer.from(txtValue(rdataOfText('TXT', value, null))).toString() : value

function looked({ name: zoneName, rows }: DigitalOceanDomain): ProviderRrset[] {
  const groups = Map.groupBy(
    rows.filter(one => one.type !== 'SOA'),
    one => `${one.name} ${one.type}`,
  )
  return [...groups.values()].map(same => ({
    name: same[0]!.name,
    type: same[0]!.type,
    ttl: same[0]!.ttl,
    values: same.map(one => rdataOf(one, `${zoneName}.`)),
  }))
}

function rdataOf({ type, data, priority, weight, port, flags, tag }: DigitalOceanRow, zone: string): Uint8Array {
  const target = data === '@' ? zone : `${data.replace(/\.$/, '')}.`
  if (type === 'TXT') return rdataOfTxt(Buffer.from(data))
  if (type === 'CAA') return rdataOfFields(type, { flags, tag, value: data }, null)
  if (type === 'MX') return rdataOfText(type, `${priority} ${target}`, null)
  if (type === 'SRV') return rdataOfText(type, `${priority} ${weight} ${port} ${target}`, null)
  return rdataOfText(type, type === 'CNAME' || type === 'NS' ? target : data, null)
}
