import { typeCode } from '../../../dns/type-codes'
import { endOfName, keyOfOctets, parentKey, wireName, type NameKey, type WireName } from './name-key'
import type { ServedSet, ServedZone } from './served-zone'

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

/** An existing name: it has RRsets, or names below it (an empty non-terminal, RFC 8020 section 2). */
export interface Node {
  readonly name: WireName
  readonly sets: Map<number, IndexedSet>
  /** Number of names directly below. */
  children: number
}

/** A zone, indexed by name. */
export class ZoneIndex {
  readonly name: WireName
  /** SOA for negative responses, with the TTL of RFC 2308 section 5. */
  negative: IndexedSet = { type: TYPE.SOA, ttl: 0, rdata: [] }
  readonly #nodes = new Map<NameKey, Node>()

  /**
   * Creates an empty zone.
   * @param owner owner whose keys may transfer it; empty for none
   * @throws DnsFormatError for an invalid name
   */
  constructor(
    name: string,
    readonly owner = '',
  ) {
    this.name = wireName(name)
    this.#nodeAt(this.name)
  }

  /** Creates a zone with all its RRsets. */
  static of({ name, owner, rrsets }: ServedZone): ZoneIndex {
    const zone = new ZoneIndex(name, owner)
    for (const set of rrsets) zone.put(set)
    return zone
  }

  get apex(): Node {
    return this.#nodes.get(this.name.key)!
  }

  /** Null until it is set. */
  get soa(): IndexedSet | null {
    return this.apex.sets.get(TYPE.SOA) ?? null
  }

  node(key: NameKey): Node | undefined {
    return this.#nodes.get(key)
  }

  get hasAliases(): boolean {
    for (const { sets } of this.#nodes.values()) if (sets.has(TYPE.ALIAS)) return true
    return false
  }

  /** All names with RRsets, unordered. */
  nodes(): Iterable<Node> {
    return this.#nodes.values()
  }

  /** Replaces an RRset, or removes it if it has no rdata. Ignores RRsets outside the zone. */
  put({ name, type, ttl, rdata }: ServedSet): void {
    const owner = wireName(name)
    if (!owner.key.endsWith(this.name.key) || !this.#holds(owner.key)) return
    const code = typeCode(type)
    if (rdata.length === 0) return this.#remove(owner.key, code)
    const set = { type: code, ttl, rdata: rdata.map(octets => indexed(code, octets)) }
    this.#nodeAt(owner).sets.set(code, set)
    if (code === TYPE.SOA && owner.key === this.name.key) this.negative = { ...set, ttl: Math.min(ttl, minimumOf(rdata[0]!)) }
  }

  /** Checks at label boundaries: a suffix of the key may start within a label. */
  #holds(key: NameKey): boolean {
    let at = key
    while (at.length > this.name.key.length) at = parentKey(at)
    return at === this.name.key
  }

  #nodeAt(name: WireName): Node {
    const known = this.#nodes.get(name.key)
    if (known) return known
    const node: Node = { name, sets: new Map(), children: 0 }
    this.#nodes.set(name.key, node)
    if (name.key !== this.name.key) this.#nodeAt(parentOf(name)).children++
    return node
  }

  #remove(key: NameKey, code: number): void {
    this.#nodes.get(key)?.sets.delete(code)
    for (let at = key; at !== this.name.key; at = parentKey(at)) {
      const node = this.#nodes.get(at)
      if (!node || node.sets.size > 0 || node.children > 0) return
      this.#nodes.delete(at)
      this.#nodes.get(parentKey(at))!.children--
    }
  }
}

/** All served zones. */
export class ZoneSet {
  readonly #zones = new Map<NameKey, ZoneIndex>()

  get size(): number {
    return this.#zones.size
  }

  /** Adds or replaces a zone. @throws Error if it has no SOA at its apex */
  put(zone: ZoneIndex): void {
    if (zone.negative.rdata.length === 0) throw new Error('A zone must have an SOA record at its apex')
    this.#zones.set(zone.name.key, zone)
  }

  get(name: string): ZoneIndex | undefined {
    return this.at(wireName(name).key)
  }

  /** The zone with exactly this name. */
  at(key: NameKey): ZoneIndex | undefined {
    return this.#zones.get(key)
  }

  remove(name: string): void {
    this.#zones.delete(wireName(name).key)
  }

  /**
   * The zone that answers for a name: the deepest one. DS records belong to the parent zone, if that is served too (RFC 4035
   * section 3.1.4.1).
   */
  enclosing(key: NameKey, type: number): ZoneIndex | undefined {
    let own: ZoneIndex | undefined
    for (let at = key; ; at = parentKey(at)) {
      const zone = this.#zones.get(at)
      if (zone && (type !== TYPE.DS || at.length < key.length)) return zone
      own ??= zone
      if (at.length === 1) return own
    }
  }
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

function indexed(type: number, octets: Uint8Array): IndexedRdata {
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

const parentOf = ({ key, octets }: WireName): WireName => ({ key: parentKey(key), octets: octets.subarray(1 + octets[0]!) })

/** Last field of an SOA (RFC 1035 section 3.3.13). */
const minimumOf = (soa: Uint8Array): number => numberAt(soa, soa.length - 4)

/** First of the five numbers in an SOA. */
export const serialOf = (soa: Uint8Array): number => numberAt(soa, soa.length - 20)

const numberAt = (octets: Uint8Array, at: number): number =>
  new DataView(octets.buffer, octets.byteOffset, octets.byteLength).getUint32(at)
