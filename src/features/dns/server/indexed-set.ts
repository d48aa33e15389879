import { endOfName, keyOfOctets, type WireName } from './name-key'

/** Type codes with special handling. */
export const TYPE = {
  NS: 2,
  CNAME: 5,
  SOA: 6,
  HINFO: 13,
  AAAA: 28,
  A: 1,
  DNAME: 39,
  DS: 43,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  ALIAS: 65401,
} as const

/** An RRset, ready to be written. */
export interface IndexedSet {
  readonly type: number
  readonly ttl: number
  readonly rdata: readonly IndexedRdata[]
}

/** Rdata, and the position of names in it that may be compressed (RFC 3597 section 4). */
export interface IndexedRdata {
  readonly octets: Uint8Array
  /** Offset of the first name. */
  readonly namesAt: number
  readonly names: readonly WireName[]
}

/** RFC 1035 types with names in their rdata: number of octets before the names, and number of names. */
const named = new Map<number, readonly [before: number, names: number]>([
  [2, [0, 1]], // NS
  [5, [0, 1]], // CNAME
  [6, [0, 2]], // SOA
  [12, [0, 1]], // PTR
  [15, [2, 1]], // MX
  [39, [0, 1]], // DNAME, never compressed, but its target is needed
  [65401, [0, 1]], // ALIAS, followed, never returned
])

/** Finds the names in rdata. */
export function indexed(type: number, octets: Uint8Array): IndexedRdata {
  const [namesAt, count] = named.get(type) ?? [octets.length, 0]
  const names: WireName[] = []
  for (let at = namesAt; names.length < count;) {
    const end = endOfName(octets, at)
    if (end < 0) return { octets, namesAt: octets.length, names: [] }
    const name = octets.subarray(at, end)
    names.push({ key: keyOfOctets(name), octets: name })
    at = end
  }
  return { octets, namesAt, names }
}
