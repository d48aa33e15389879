import type { NameKey, WireName } from './name-key'
import type { Told } from './resolve'
import { TYPE, type IndexedRdata } from './zone-index'

// The 14 bits of a compression pointer reach no further (RFC 1035 4.1.4).
const POINTER_REACH = 0x4000
// A message, and the record that turns out not to fit it.
const CAPACITY = 3 * 0x10000

/**
 * Writes the records of an answer behind the question. Names are compressed whatever their case, as every server does:
 * so what is written holds for the question in any case.
 */
export class AnswerWriter {
  readonly bytes = new Uint8Array(CAPACITY)
  offset = 0
  readonly #names = new Map<NameKey, number>()
  readonly #order: NameKey[] = []

  /** Begins after the question, which stands in `bytes` from octet 12 to `end`; its name can be pointed to. */
  begin(key: NameKey, end: number): void {
    this.#names.clear()
    this.#order.length = 0
    for (let rest = key, at = 12; rest.length > 1;) {
      this.#names.set(rest, at)
      const size = 1 + rest.charCodeAt(0)
      rest = rest.slice(size)
      at += size
    }
    this.offset = end
  }

  /**
   * Writes sets one after the other until one does not fit in `room`; none is cut (RFC 2181 5, 9).
   * @returns how many records were written, and whether that was all of them
   */
  sets(sets: readonly Told[], room: number): { records: number; whole: boolean } {
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
    this.#name(owner)
    this.u16(type)
    this.u16(1)
    this.u16(ttl >>> 16)
    this.u16(ttl & 0xffff)
    const size = this.offset
    this.offset += 2
    const { octets, namesAt, names } = rdata
    // The target of a DNAME is of a later document than those every receiver reads compressed (RFC 3597 4).
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

  /** Takes back everything from `offset` on, also what could have been pointed to. */
  #rewind(offset: number): void {
    while (this.#order.length > 0 && this.#names.get(this.#order.at(-1)!)! >= offset) this.#names.delete(this.#order.pop()!)
    this.offset = offset
  }
}
