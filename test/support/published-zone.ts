import type { Reader } from '../../src/core/db/transaction'
import { typeName } from '../../src/dns/type-codes'
import { WireReader } from '../../src/dns/wire-reader'
import { readPackedZone } from '../../src/features/dns/publish/packed-zones'
import type { ServedSet } from '../../src/features/dns/server/served-zone'
import { serialOf, ZoneIndex } from '../../src/features/dns/server/zone-index'

/** A zone as the name server serves it. */
export interface ReadZone {
  name: string
  owner: string
  serial: number
  soa: { ttl: number; rdata: Uint8Array; minimum: number }
  /** All rrsets except the SOA, unordered. */
  rrsets: ServedSet[]
}

/** Reads a zone as the name server does; null if it isn’t served. */
export async function readPublishedZone(read: Reader, id: string, afterPage?: () => Promise<void>): Promise<ReadZone | null> {
  const zone = await readPackedZone(read, id, afterPage)
  if (!zone) return null
  const index = new ZoneIndex(zone.name, zone.owner, zone.packed)
  for (const set of zone.changes) index.put(set)
  const rrsets: ServedSet[] = []
  for (const { name, sets } of index.nodes())
    for (const { type, ttl, rdata } of sets.values())
      rrsets.push({ name: new WireReader(name.octets).name(), type: typeName(type), ttl, rdata: rdata.map(one => one.octets) })
  const soa = rrsets.find(one => one.type === 'SOA')!
  const [rdata] = soa.rdata as [Uint8Array]
  const minimum = new DataView(rdata.buffer, rdata.byteOffset).getUint32(rdata.length - 4)
  return {
    name: zone.name,
    owner: zone.owner,
    serial: serialOf(rdata),
    soa: { ttl: soa.ttl, rdata, minimum },
    rrsets: rrsets.filter(one => one !== soa),
  }
}
