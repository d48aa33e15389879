import type { NameKey, WireName } from './name-key'
import type { AnswerSet } from './resolve'
import { TYPE, type IndexedRdata } from './indexed-set'

// Compression pointers have 14 bits (RFC 1035 section 4.1.4).
const POINTER_REACH = 0x4000
const QUESTION = 12
// A message, plus the record that turns out not to fit.
const CAPACITY = 3 * 0x10000

/**
 * Writes the records of a response after the question. Compresses names case-insensitively, as all servers do, so the result fits
 * the question in any case.
 */
export class AnswerWriter {
  readonly bytes = new Uint8Array(CAPACITY)
  offset = 0
  #question: NameKey = ''
  readonly #names = new Map<NameKey, number>()
  readonly #order: NameKey[] = []

  /**
   * Starts after the question, which is in `bytes` from octet 12 to `end`. Names can point to it.
   * @param common the end of the question that names in rdata may point to. With less than the whole name, the records also fit other
   *   questions of the same length and end.
   */
  begin(key: NameKey, end: number, common: NameKey = key): void {
    this.#question = key
    this.#names.clear()
    this.#order.length = 0
    for (let rest = common, at = QUESTION + key.length - common.length; rest.length > 1;) {
      this.#names.set(rest, at)
      const size = 1 + rest.charCodeAt(0)
      rest = rest.slice(size)
      at += size
    }
    this.offset = end
  }

  /**
   * Writes RRsets until one does not fit; an RRset is never split (RFC 2181 sections 5 and 9).
   * @returns the number of records written, and whether everything fit
   */
  sets(sets: readonly AnswerSet[], room: number): { records: number; whole: boolean } {
    let records = 0
    for (const { owner, set } of sets) {
      const start = this.offset
      for (const rdata of set.rdata) {
        this.#record(owner, set.type, set.ttl, rdata)
        if (this.offset > room) {
          this.#rewind(start)
          return { records, whole: false }
        }
      }
      records += set.rdata.length
    }
    return { records, whole: true }
  }

  u16(value: number): void {
    this.bytes[this.offset++] = value >> 8
    this.bytes[this.offset++] = value
  }

  #record(owner: WireName, type: number, ttl: number, rdata: IndexedRdata): void {
    if (owner.key === this.#question) this.u16(0xc000 | QUESTION)
    else this.#name(owner)
    this.u16(type)
    this.u16(1)
    this.u16(ttl >>> 16)
    this.u16(ttl & 0xffff)
    const size = this.offset
    this.offset += 2
    const { octets, namesAt, names } = rdata
    // DNAME targets must not be compressed: the type is newer than RFC 1035 (RFC 3597 section 4).
    if (names.length === 0 || type === TYPE.DNAME) this.#octets(octets, 0)
    else {
      for (let at = 0; at < namesAt; at++) this.bytes[this.offset++] = octets[at]!
      let at = namesAt
      for (const name of names) {
        this.#name(name)
        at += name.octets.length
      }
      this.#octets(octets, at)
    }
    const length = this.offset - size - 2
    this.bytes[size] = length >> 8
    this.bytes[size + 1] = length
  }

  #octets(octets: Uint8Array, from: number): void {
    if (octets.length - from > 24) {
      this.bytes.set(from === 0 ? octets : octets.subarray(from), this.offset)
      this.offset += octets.length - from
    } else for (let at = from; at < octets.length; at++) this.bytes[this.offset++] = octets[at]!
  }

  #name({ key, octets }: WireName): void {
    let rest = key
    for (let at = 0; rest.length > 1;) {
      const known = this.#names.get(rest)
      if (known !== undefined) return this.u16(0xc000 | known)
      if (this.offset < POINTER_REACH) {
        this.#names.set(rest, this.offset)
        this.#order.push(rest)
      }
      const size = 1 + rest.charCodeAt(0)
      for (const end = at + size; at < end; at++) this.bytes[this.offset++] = octets[at]!
      rest = rest.slice(size)
    }
    this.bytes[this.offset++] = 0
  }

  /** Discards everything from `offset` on, including names recorded there. */
  #rewind(offset: number): void {
    while (this.#order.length > 0 && this.#names.get(this.#order.at(-1)!)! >= offset) this.#names.delete(this.#order.pop()!)
    this.offset = offset
  }
}
