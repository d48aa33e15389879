import { DnsFormatError } from '../../../dns/format-error'
import { isWithin } from '../../../dns/name'
import { typeCode } from '../../../dns/type-codes'
import { TYPE } from './indexed-set'
import { NAME_OCTETS_MAX, wireName } from './name-key'
import type { ServedSet, ServedZone } from './served-zone'

/**
 * The RRsets of a zone in a few blocks of shared memory, which all threads read without copying them. A record takes its name and
 * its rdata once, and about 30 octets more. It is never changed: `ZoneIndex` keeps changes separately.
 *
 * Numbers are little-endian. An offset is the number of a block in its upper 12 bits, and a position in it. A name is stored
 * as `head(4) children(4) length(1) octets`, without the name of the zone; a record as `next(4) type(2) ttl(4) length(2) rdata`. The
 * records of a name are a list from the last one added (`head`) to the first, whose `next` is 0. Names with names below them but no
 * records are stored too (empty non-terminals).
 */
export interface PackedSets {
  /** Hash table of the offsets of names; 0 is an empty slot. Its size is a power of two. */
  slots: Uint32Array
  blocks: Uint8Array[]
  /** Number of names. */
  names: number
  records: number
  /** Number of ALIAS records. */
  aliases: number
}

/** A zone as sent to the threads of the name server. */
export interface PackedZone extends Required<Omit<ServedZone, 'rrsets'>> {
  packed: PackedSets
  /** RRsets to replace or remove, as those that changed while the others were read. */
  changes: ServedSet[]
}

const BLOCK_BITS = 20
export const BLOCK_MASK = (1 << BLOCK_BITS) - 1
const MAX_BLOCK = 0xfff
const NAME_HEAD = 9
const RECORD_HEAD = 12
const FIRST_BLOCK = 1024
const FIRST_SLOTS = 16

/** A record of a packed zone. */
interface PackedRecord {
  type: number
  ttl: number
  rdata: Uint8Array
}

export const blockOf = ({ blocks }: Pick<PackedSets, 'blocks'>, offset: number): Uint8Array => blocks[offset >>> BLOCK_BITS]!

/** Number of names directly below a name. */
export const childrenOf = (block: Uint8Array, at: number): number => u32(block, at + 4)

/** The name at an offset, relative to the zone. */
export const nameOf = (block: Uint8Array, at: number): Uint8Array => block.slice(at + NAME_HEAD, at + NAME_HEAD + block[at + 8]!)

/** The records of a name, in the order in which they were added. */
export function recordsOf(sets: PackedSets, offset: number): PackedRecord[] {
  const found: PackedRecord[] = []
  for (let next = u32(blockOf(sets, offset), offset & BLOCK_MASK); next !== 0;) {
    const block = blockOf(sets, next)
    const at = next & BLOCK_MASK
    const rdata = at + RECORD_HEAD
    found.push({
      type: block[at + 4]! | (block[at + 5]! << 8),
      ttl: u32(block, at + 6),
      // A copy: not everything accepts views of shared memory.
      rdata: block.slice(rdata, rdata + (block[at + 10]! | (block[at + 11]! << 8))),
    })
    next = u32(block, at)
  }
  return found.reverse()
}

/** Offset of a name, 0 if it doesn't exist. @param key in lower case @param length of the part that is relative to the zone */
export function findKey({ slots, blocks }: PackedSets, key: string, length: number): number {
  let hash = HASH_SEED
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), HASH_PRIME)
  const mask = slots.length - 1
  for (let slot = placed(hash) & mask; ; slot = (slot + 1) & mask) {
    const offset = slots[slot]!
    if (offset === 0) return 0
    const block = blocks[offset >>> BLOCK_BITS]!
    const name = offset & BLOCK_MASK
    if (block[name + 8] !== length) continue
    let at = 0
    while (at < length && lower(block[name + NAME_HEAD + at]!) === key.charCodeAt(at)) at++
    if (at === length) return offset
  }
}

/** Collects the RRsets of a zone. */
export class ZonePacker {
  readonly #blocks: Uint8Array[] = [shared(FIRST_BLOCK)]
  // Offset 0 means none.
  #end = 4
  #slots = new Uint32Array(FIRST_SLOTS)
  #names = 0
  #records = 0
  #aliases = 0
  /** The name that is looked up or added, without the name of the zone. */
  readonly #name = new Uint8Array(NAME_OCTETS_MAX + 1)
  #length = 0
  #lastName: string | null = null
  #lastOffset = 0
  readonly #codes = new Map<string, number>()
  readonly #zoneOctets: number

  /** @param zone absolute name @throws DnsFormatError for an invalid name */
  constructor(private readonly zone: string) {
    this.#zoneOctets = wireName(zone).octets.length
    this.#find(0)
  }
  /** Adds the records of an RRset, unless it is outside the zone. @throws DnsFormatError for an invalid name or type */
  addSet({ name, type, ttl, rdata }: ServedSet): void {
    if (!isWithin(name, this.zone)) return
    const dot = this.zone === '.' ? 0 : 1
    const relative = name.length === this.zone.length ? '@' : name.slice(0, name.length - this.zone.length - dot)
    for (const one of rdata) this.add(relative, type, ttl, one)
  }

  /**
   * Adds a record. @param name relative to the zone, `@` for the apex @param ttl in seconds
   * @throws DnsFormatError for an invalid name or type
   */
  add(name: string, type: string, ttl: number, rdata: Uint8Array): void {
    const code = this.#codeOf(type)
    if (name !== this.#lastName) {
      this.#setName(name)
      this.#lastOffset = this.#find(0)
      this.#lastName = name
    }
    const offset = this.#lastOffset
    const block = this.#blockOf(offset)
    const head = offset & BLOCK_MASK
    const next = u32(block, head)
    if (code === TYPE.ALIAS) this.#aliases++
    const at = this.#allocate(RECORD_HEAD + rdata.length)
    const place = this.#blockOf(at)
    const start = at & BLOCK_MASK
    putU32(place, start, next)
    place[start + 4] = code
    place[start + 5] = code >> 8
    putU32(place, start + 6, ttl)
    place[start + 10] = rdata.length
    place[start + 11] = rdata.length >> 8
    place.set(rdata, start + RECORD_HEAD)
    // The block of the name may have been replaced by a larger one.
    putU32(this.#blockOf(offset), head, at)
    this.#records++
  }

  get hasAliases(): boolean {
    return this.#aliases > 0
  }

  finish(): PackedSets {
    const last = this.#blocks.length - 1
    const used = this.#end & BLOCK_MASK || this.#blocks[last]!.length
    const blocks = this.#blocks.with(last, resized(this.#blocks[last]!, used))
    const slots = new Uint32Array(new SharedArrayBuffer(this.#slots.byteLength))
    slots.set(this.#slots)
    return { slots, blocks, names: this.#names, records: this.#records, aliases: this.#aliases }
  }

  #codeOf(type: string): number {
    const known = this.#codes.get(type)
    if (known !== undefined) return known
    const code = typeCode(type)
    this.#codes.set(type, code)
    return code
  }

  #setName(text: string): void {
    const name = this.#name
    let label = 0
    let at = 1
    if (text === '@') at = 0
    for (let index = 0; at > 0 && index < text.length; index++) {
      const code = text.charCodeAt(index)
      // Escapes, invalid labels, and long names are left to the parser.
      if (code === BACKSLASH || code > 0x7e || at >= NAME_OCTETS_MAX - this.#zoneOctets) return this.#parseName(text)
      if (code !== DOT) {
        name[at++] = code
        continue
      }
      if (at - label - 1 === 0 || at - label - 1 > 63) return this.#parseName(text)
      name[label] = at - label - 1
      label = at++
    }
    if (at > 0) {
      if (at - label - 1 === 0 || at - label - 1 > 63) return this.#parseName(text)
      name[label] = at - label - 1
    }
    this.#length = at
  }

  #parseName(text: string): void {
    const { octets } = wireName(`${text}.${this.zone === '.' ? '' : this.zone}`)
    this.#length = octets.length - this.#zoneOctets
    this.#name.set(octets.subarray(0, this.#length))
  }

  /** Offset of the name without its first `from` octets, which is added if necessary. */
  #find(from: number): number {
    if (this.#names >= this.#slots.length * 0.75) this.#enlarge()
    const name = this.#name
    const length = this.#length - from
    const mask = this.#slots.length - 1
    let slot = hashOf(name, from, this.#length) & mask
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const offset = this.#slots[slot]!
      const block = this.#blockOf(offset)
      const start = offset & BLOCK_MASK
      if (block[start + 8] !== length) continue
      let at = 0
      while (at < length && lower(block[start + NAME_HEAD + at]!) === lower(name[from + at]!)) at++
      if (at === length) return offset
    }
    const offset = this.#allocate(NAME_HEAD + length)
    const block = this.#blockOf(offset)
    const start = offset & BLOCK_MASK
    block[start + 8] = length
    for (let at = 0; at < length; at++) block[start + NAME_HEAD + at] = name[from + at]!
    this.#slots[slot] = offset
    this.#names++
    if (length > 0) {
      const parent = this.#find(from + 1 + name[from]!)
      const above = this.#blockOf(parent)
      const at = (parent & BLOCK_MASK) + 4
      putU32(above, at, u32(above, at) + 1)
    }
    return offset
  }

  #enlarge(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (const offset of this.#slots) {
      if (offset === 0) continue
      const block = this.#blockOf(offset)
      const start = (offset & BLOCK_MASK) + NAME_HEAD
      let slot = hashOf(block, start, start + block[start - 1]!) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = offset
    }
    this.#slots = slots
  }

  #blockOf(offset: number): Uint8Array {
    return this.#blocks[offset >>> BLOCK_BITS]!
  }

  /** @returns the offset of free space */
  #allocate(size: number): number {
    let last = this.#blocks.length - 1
    let at = this.#end & BLOCK_MASK
    if (this.#end >>> BLOCK_BITS !== last || at + size > 1 << BLOCK_BITS) {
      this.#blocks.push(shared(1 << BLOCK_BITS))
      last++
      at = 0
    }
    if (at + size > this.#blocks[last]!.length) {
      const wanted = Math.max(this.#blocks[last]!.length * 2, 2 ** Math.ceil(Math.log2(at + size)))
      this.#blocks[last] = resized(this.#blocks[last]!, Math.min(1 << BLOCK_BITS, wanted))
    }
    if (last > MAX_BLOCK) throw new DnsFormatError('it needs more than 4 GiB of memory')
    const offset = last * (1 << BLOCK_BITS) + at
    this.#end = offset + size
    return offset
  }
}

const BACKSLASH = 0x5c
const DOT = 0x2e

const shared = (size: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(size))

function resized(block: Uint8Array, size: number): Uint8Array {
  const other = shared(size)
  other.set(block.subarray(0, Math.min(size, block.length)))
  return other
}

// FNV-1a, with its bits mixed for the lower ones to depend on all of them.
const HASH_SEED = 0x811c9dc5 | 0
const HASH_PRIME = 0x01000193
const placed = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) ^ (hash >>> 13)

function hashOf(octets: Uint8Array, from: number, to: number): number {
  let hash = HASH_SEED
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ lower(octets[at]!), HASH_PRIME)
  return placed(hash)
}

/** Label lengths are below 64, so they are never mistaken for letters. */
const lower = (octet: number): number => (octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet)

const u32 = (octets: Uint8Array, at: number): number =>
  (octets[at]! | (octets[at + 1]! << 8) | (octets[at + 2]! << 16) | (octets[at + 3]! << 24)) >>> 0

function putU32(octets: Uint8Array, at: number, value: number): void {
  octets[at] = value
  octets[at + 1] = value >> 8
  octets[at + 2] = value >> 16
  octets[at + 3] = value >> 24
}
