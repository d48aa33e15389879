import { indexed, TYPE, type IndexedRdata, type IndexedSet } from './indexed-set'
import { keyOfOctets, parentKey, wireName, type NameKey, type WireName } from './name-key'
import { BLOCK_MASK, blockOf, childrenOf, findKey, nameOf, recordsOf, ZonePacker, type PackedSets } from './packed-zone'
import type { ServedSet, ServedZone } from './served-zone'
import { typeCode } from '../../../dns/type-codes'

/** An existing name: it has RRsets, or names below it (an empty non-terminal, RFC 8020 section 2). Never changed, only replaced. */
export interface Node {
  readonly name: WireName
  readonly sets: ReadonlyMap<number, IndexedSet>
  /** Number of names directly below. */
  readonly children: number
}

/** A zone, indexed by name: packed RRsets, and the names that have changed since. */
export class ZoneIndex {
  readonly name: WireName
  /** SOA for negative responses, with the TTL of RFC 2308 section 5. */
  negative: IndexedSet = { type: TYPE.SOA, ttl: 0, rdata: [] }
  #apex: Node
  #aliases: number
  readonly #packed: PackedSets
  /** Names that have changed, or null for those that were removed. */
  readonly #changed = new Map<NameKey, Node | null>()

  /**
   * @param owner owner whose keys may transfer it; empty for none
   * @param packed its RRsets; none by default
   * @throws DnsFormatError for an invalid name
   */
  constructor(
    name: string,
    readonly owner = '',
    packed: PackedSets = new ZonePacker(name).finish(),
  ) {
    this.name = wireName(name)
    this.#packed = packed
    this.#aliases = packed.aliases
    this.#apex = this.#unpacked(findKey(packed, this.name.key, 0))
    this.#findNegative()
  }

  /** Creates a zone with all its RRsets. */
  static of({ name, owner, rrsets }: ServedZone): ZoneIndex {
    const packer = new ZonePacker(name)
    for (const set of rrsets) packer.addSet(set)
    return new ZoneIndex(name, owner, packer.finish())
  }

  get apex(): Node {
    return this.#apex
  }

  /** Null until it is set. */
  get soa(): IndexedSet | null {
    return this.apex.sets.get(TYPE.SOA) ?? null
  }

  node(key: NameKey): Node | undefined {
    if (!key.endsWith(this.name.key)) return undefined
    if (key.length === this.name.key.length) return this.#apex
    const changed = this.#changed.size > 0 ? this.#changed.get(key) : undefined
    if (changed !== undefined) return changed ?? undefined
    const offset = this.#offsetOf(key)
    return offset === 0 ? undefined : this.#unpacked(offset)
  }

  /** Whether a name within the zone exists. Unlike {@link node}, reads no RRsets. */
  has(key: NameKey): boolean {
    const changed = this.#changed.size > 0 ? this.#changed.get(key) : undefined
    return changed === undefined ? this.#offsetOf(key) !== 0 : changed !== null
  }

  get hasAliases(): boolean {
    return this.#aliases > 0
  }

  /** All names as of now, unordered: later changes of the zone don't affect the result. */
  nodes(): Iterable<Node> {
    return this.#nodesWith(new Map(this.#changed))
  }

  /** Replaces an RRset, or removes it if it has no rdata. Ignores RRsets outside the zone. */
  put({ name, type, ttl, rdata }: ServedSet): void {
    const owner = wireName(name)
    if (!owner.key.endsWith(this.name.key) || !this.#holds(owner.key)) return
    const code = typeCode(type)
    if (rdata.length === 0) this.#remove(owner.key, code)
    else {
      const node = this.#nodeAt(owner)
      const set = { type: code, ttl, rdata: rdata.map(octets => indexed(code, octets)) }
      this.#replace(node, { ...node, sets: new Map(node.sets).set(code, set) })
    }
    if (code === TYPE.SOA && owner.key === this.name.key) this.#findNegative()
  }

  #offsetOf(key: NameKey): number {
    return findKey(this.#packed, key, key.length - this.name.key.length)
  }

  #unpacked(offset: number): Node {
    const block = blockOf(this.#packed, offset)
    const at = offset & BLOCK_MASK
    const relative = nameOf(block, at)
    const octets = new Uint8Array(relative.length + this.name.octets.length)
    octets.set(relative)
    octets.set(this.name.octets, relative.length)
    const sets = new Map<number, { type: number; ttl: number; rdata: IndexedRdata[] }>()
    for (const { type, ttl, rdata } of recordsOf(this.#packed, offset)) {
      const one = indexed(type, rdata)
      const set = sets.get(type)
      if (set) set.rdata.push(one)
      else sets.set(type, { type, ttl, rdata: [one] })
    }
    return { name: { key: keyOfOctets(octets), octets }, sets, children: childrenOf(block, at) }
  }

  *#nodesWith(changed: ReadonlyMap<NameKey, Node | null>): Generator<Node> {
    for (const offset of this.#packed.slots) {
      if (offset === 0) continue
      const node = this.#unpacked(offset)
      if (!changed.has(node.name.key)) yield node
    }
    for (const node of changed.values()) if (node) yield node
  }

  /** Checks at label boundaries: a suffix of the key may start within a label. */
  #holds(key: NameKey): boolean {
    let at = key
    while (at.length > this.name.key.length) at = parentKey(at)
    return at === this.name.key
  }

  #nodeAt(name: WireName): Node {
    const known = this.node(name.key)
    if (known) return known
    const parent = this.#nodeAt(parentOf(name))
    this.#replace(parent, { ...parent, children: parent.children + 1 })
    const node: Node = { name, sets: new Map(), children: 0 }
    this.#changed.set(name.key, node)
    return node
  }

  #replace(before: Node, after: Node): void {
    const { key } = after.name
    this.#aliases += aliasesOf(after) - aliasesOf(before)
    this.#changed.set(key, after)
    if (key === this.name.key) this.#apex = after
  }

  #remove(key: NameKey, code: number): void {
    const node = this.node(key)
    if (!node?.sets.has(code)) return
    const sets = new Map(node.sets)
    sets.delete(code)
    this.#replace(node, { ...node, sets })
    for (let at = key; at !== this.name.key; at = parentKey(at)) {
      const { sets, children } = this.node(at)!
      if (sets.size > 0 || children > 0) return
      if (this.#offsetOf(at) === 0) this.#changed.delete(at)
      else this.#changed.set(at, null)
      const parent = this.node(parentKey(at))!
      this.#replace(parent, { ...parent, children: parent.children - 1 })
    }
  }

  #findNegative(): void {
    const soa = this.soa
    this.negative = soa
      ? { ...soa, ttl: Math.min(soa.ttl, minimumOf(soa.rdata[0]!.octets)) }
      : { type: TYPE.SOA, ttl: 0, rdata: [] }
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

const aliasesOf = ({ sets }: Node): number => sets.get(TYPE.ALIAS)?.rdata.length ?? 0

const parentOf = ({ key, octets }: WireName): WireName => ({ key: parentKey(key), octets: octets.subarray(1 + octets[0]!) })

/** Last field of an SOA (RFC 1035 section 3.3.13). */
const minimumOf = (soa: Uint8Array): number => numberAt(soa, soa.length - 4)

/** First of the five numbers in an SOA. */
export const serialOf = (soa: Uint8Array): number => numberAt(soa, soa.length - 20)

const numberAt = (octets: Uint8Array, at: number): number =>
  new DataView(octets.buffer, octets.byteOffset, octets.byteLength).getUint32(at)
