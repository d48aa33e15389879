import { rdataOfText } from '../../dns/rdata'
import type { ServedZone } from '../../features/dns/server/served-zone'

/** The zone that all measured servers serve. */
export const zoneName = 'bench.test'
const soa = 'ns1.bench.test. hostmaster.bench.test. 1 7200 3600 1209600 300'

/** The records of the zone: SOA, a name server, and A records. */
export function benchRecords(names: number): { name: string; type: string; ttl: number; content: string }[] {
  return [
    { name: zoneName, type: 'SOA', ttl: 3600, content: soa },
    { name: zoneName, type: 'NS', ttl: 3600, content: `ns1.${zoneName}.` },
    { name: `ns1.${zoneName}`, type: 'A', ttl: 3600, content: '127.0.0.1' },
    ...Array.from({ length: names }, (_, n) => ({
      name: `h${n}.${zoneName}`,
      type: 'A',
      ttl: 300,
      content: `192.0.2.${n % 256}`,
    })),
  ]
}

/** The zone in the format of the built-in server. Each RRset has one record. */
export const servedBenchZone = (names: number): ServedZone => ({
  name: `${zoneName}.`,
  rrsets: benchRecords(names).map(({ name, type, ttl, content }) => ({
    name: `${name}.`,
    type,
    ttl,
    rdata: [rdataOfText(type, content, null)],
  })),
})

/** The zone as a zone file. */
export const benchZoneFile = (names: number): string =>
  benchRecords(names)
    .map(({ name, type, ttl, content }) => `${name}. ${ttl} IN ${type} ${content}\n`)
    .join('')
