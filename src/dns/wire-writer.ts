import { DnsFormatError } from './format-error'
import { LABEL_MAX, NAME_MAX, labelTooLong, lowerName, nameTooLong, wireLength } from './name'
import { escapeAt } from './octets'

// Compression pointers have 14 bits (RFC 1035 section 4.1.4).
const POINTER_REACH = 0x4000

/** Writes the octets of a message or rdata, growing as needed. */
export class WireWriter {
  #bytes: Uint8Array
  #names = new Map<string, number>()
  #order: string[] = []
  offset = 0

  constructor(capacity = 64) {
    this.#bytes = new Uint8Array(capacity)
  }

  u8(value: number): void {
    this.#reserve(1)
    this.#bytes[this.offset++] = value
  }

  u16(value: number): void {
    this.#reserve(2)
    this.#bytes[this.offset++] = value >> 8
    this.#bytes[this.offset++] = value
  }

  u32(value: number): void {
    this.u16(Math.floor(value / 0x10000))
    this.u16(value & 0xffff)
  }

  u48(value: number): void {
    this.u16(Math.floor(value / 0x100000000))
    this.u32(value % 0x100000000)
  }

  octets(octets: Uint8Array): void {
    this.#reserve(octets.length)
    this.#bytes.set(octets, this.offset)
    this.offset += octets.length
  }

  /** Overwrites two octets, for a length or count that was not known before. */
  u16At(offset: number, value: number): void {
    this.#bytes[offset] = value >> 8
    this.#bytes[offset + 1] = value
  }

  /**
   * Writes an absolute name. With `compress`, points to earlier names if their case matches, so that the case is preserved.
   * @throws DnsFormatError if it is relative or too long
   */
  name(name: string, compress = false): void {
    if (name === '.') return this.u8(0)
    if (name.length >= NAME_MAX && wireLength(name) > NAME_MAX) throw nameTooLong()
    this.#reserve(name.length + 2)
    const bytes = this.#bytes
    for (let at = 0; at < name.length;) {
      if (compress) {
        const suffix = at === 0 ? name : name.slice(at)
        const known = this.#names.get(suffix)
        if (known !== undefined) return this.u16(0xc000 | known)
        if (this.offset < POINTER_REACH) {
          this.#names.set(suffix, this.offset)
          this.#order.push(suffix)
        }
      }
      const start = this.offset++
      for (;;) {
        const code = name.charCodeAt(at)
        if (code === 0x2e) break
        if (code === 0x5c) {
          const [octet, next] = escapeAt(name, at)
          bytes[this.offset++] = octet
          at = next
          continue
        }
        if (Number.isNaN(code)) throw new DnsFormatError('must be absolute: end it with a dot', null, 'RFC 1035 5.1')
        if (code > 0x7e) throw new DnsFormatError('must be ASCII', null, 'RFC 1035 3.1')
        bytes[this.offset++] = code
        at++
      }
      at++
      const size = this.offset - start - 1
      if (size === 0) throw new DnsFormatError('must not have an empty label', null, 'RFC 1035 3.1')
      if (size > LABEL_MAX) throw labelTooLong()
      bytes[start] = size
    }
    this.u8(0)
  }

  lowerName(name: string): void {
    this.name(lowerName(name))
  }

  /** Discards everything from `offset` on, including names recorded there. */
  rewind(offset: number): void {
    while (this.#order.length > 0 && this.#names.get(this.#order.at(-1)!)! >= offset) this.#names.delete(this.#order.pop()!)
    this.offset = offset
  }

  /** Copies what was written. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.offset)
  }

  #reserve(count: number): void {
    if (this.offset + count <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.offset + count))
    grown.set(this.#bytes.subarray(0, this.offset))
    this.#bytes = grown
  }
}
