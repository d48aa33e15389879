import { lowerName } from '../../src/dns/name'
import { powerDns } from '../../src/features/dns/providers/power-dns'
import { absoluteOf, withinZone } from '../../src/features/dns/zones/names'
import type { TroubledUnderTest } from './hub-zone'
import type { PowerDnsDouble } from './power-dns-double'
import { rrset } from './provider-contract'

let zones = 0

/** The double of PowerDNS, for the provider suites. */
export function powerDnsDoubleUnderTest(double: PowerDnsDouble): TroubledUnderTest {
  const put = (zone: string, name: string, type: string, ttl: number, values: readonly string[] | null) =>
    double.put(`${zone}.`, absoluteOf(name, zone), type, ttl, values && [...values])
  const isReading = (request: string) => request.startsWith('GET /zones/')
  return {
    kind: powerDns.kind,
    settings: { url: double.url, api_key: double.apiKey },
    caps: powerDns.caps,
    async makeZone() {
      const name = `zone-${++zones}.example`
      const body = JSON.stringify({ name: `${name}.`, kind: 'Native', nameservers: ['ns1.example.net.'] })
      const created = await fetch(`${double.url}/api/v1/servers/localhost/zones`, {
        method: 'POST',
        headers: { 'x-api-key': double.apiKey },
        body,
      })
      if (created.status !== 201) throw new Error(await created.text())
      return name
    },
    async look(name) {
      return [...double.zones.get(`${name}.`)!.rrsets.values()]
        .filter(one => one.type !== 'SOA')
        .map(({ name: fqdn, type, ttl, records }) =>
          rrset(
            withinZone(lowerName(fqdn), name)!,
            type,
            ttl,
            records.map(one => one.content),
          ),
        )
    },
    async changeExternally(zone, name, type, ttl, values) {
      put(zone, name, type, ttl, values)
    },
    trouble: {
      throttle: () => (double.trouble = () => ({ status: 429, headers: { 'retry-after': '7' } })),
      shorten: () => (double.trouble = () => 'half of the rrsets'),
      fallSilent: () => (double.trouble = request => (request.startsWith('PATCH') ? 'cut connection after doing it' : null)),
      lose(kept, from) {
        let started = from === 'now'
        double.trouble = request => {
          started ||= request.startsWith('PATCH')
          // The SOA does not count.
          return started && isReading(request) ? { rrsets: kept + 1 } : null
        }
      },
      interrupt(changeExternally) {
        let readings = 0
        // The hub reads to compare, and the adapter once more to be sure.
        double.trouble = async request => {
          if (isReading(request) && ++readings === 2) await changeExternally()
          return null
        }
      },
      calm: () => (double.trouble = () => null),
    },
    stop: () => {},
  }
}
