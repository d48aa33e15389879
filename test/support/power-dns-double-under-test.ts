import { lowerName } from '../../src/core/dns/name'
import { powerDns } from '../../src/features/dns/providers/power-dns'
import { absoluteOf, withinZone } from '../../src/features/dns/zone-names'
import type { TroubledUnderTest } from './hub-zone'
import type { PowerDnsDouble } from './power-dns-double'
import { rrset } from './provider-contract'

let zones = 0

/** The double of PowerDNS, as suites for all kinds of servers want it. */
export function powerDnsDoubleUnderTest(double: PowerDnsDouble): TroubledUnderTest {
  const put = (zone: string, name: string, type: string, ttl: number, values: readonly string[] | null) =>
    double.put(`${zone}.`, absoluteOf(name, zone), type, ttl, values && [...values])
  const isReading = (asked: string) => asked.startsWith('GET /zones/')
  return {
    kind: powerDns.kind,
    settings: { url: double.url, api_key: double.apiKey },
    caps: powerDns.caps,
    async makeZone() {
      const name = `zone-${++zones}.example`
      const body = JSON.stringify({ name: `${name}.`, kind: 'Native', nameservers: ['ns1.example.net.'] })
      const made = await fetch(`${double.url}/api/v1/servers/localhost/zones`, {
        method: 'POST',
        headers: { 'x-api-key': double.apiKey },
        body,
      })
      if (made.status !== 201) throw new Error(await made.text())
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
    async meddle(zone, name, type, ttl, values) {
      put(zone, name, type, ttl, values)
    },
    trouble: {
      throttle: () => (double.trouble = () => ({ status: 429, headers: { 'retry-after': '7' } })),
      shorten: () => (double.trouble = () => 'half of the rrsets'),
      fallSilent: () => (double.trouble = asked => (asked.startsWith('PATCH') ? 'cut connection after doing it' : null)),
      lose(kept, from) {
        let begun = from === 'now'
        double.trouble = asked => {
          begun ||= asked.startsWith('PATCH')
          // The SOA is none of those that are kept.
          return begun && isReading(asked) ? { rrsets: kept + 1 } : null
        }
      },
      interrupt(meddle) {
        let readings = 0
        // The hub reads to compare, and the adapter once more to be sure.
        double.trouble = async asked => {
          if (isReading(asked) && ++readings === 2) await meddle()
          return null
        }
      },
      calm: () => (double.trouble = () => null),
    },
    stop: () => {},
  }
}
