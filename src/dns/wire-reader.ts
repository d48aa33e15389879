import { DnsFormatError } from './format-error'
import { LABEL_MAX, NAME_MAX, NAME_TEXT, nameTooLong } from './name'

// A name has at most 127 labels, and each needs at most one pointer.
const POINTERS_MAX = 128

/** Reads the octets of a message or rdata sequentially. Fails when the end is exceeded. */
export class WireReader {
  constructor(
    readonly bytes: Uint8Array,
    public offset = 0,
    /** End of the data; only compression pointers look elsewhere. */
    public end = bytes.length,
  ) {}

  get left(): number {
    return this.end - this.offset
  }

  u8(): number {
    return this.bytes[this.skip(1)]!
  }

  u16(): number {
    const at = this.skip(2)
    return (this.bytes[at]! << 8) | this.bytes[at + 1]!
  }

  u32(): number {
    return this.u16() * 0x10000 + this.u16()
  }

  u48(): number {
    return this.u16() * 0x100000000 + this.u32()
  }

  /** Next `count` octets, as a view. */
  take(count: number): Uint8Array {
    const at = this.skip(count)
    return this.bytes.subarray(at, at + count)
  }

  rest(): Uint8Array {
    return this.take(this.left)
  }

  /**
   * Reads a name in its absolute form. Compression pointers (RFC 1035 section 4.1.4) must point before everything read of the name, which
   * rules out loops.
   * @param pointers whether the name may be compressed; not in rdata of newer types (RFC 3597 section 4)
   */
  name(pointers = true): string {
    const bytes = this.bytes
    let at = this.offset
    let end = this.end
    let lowest = at
    let after = -1
    let jumps = 0
    let length = 1
    let text = ''
    for (;;) {
      if (at >= end) throw new DnsFormatError('ends within a name')
      const size = bytes[at]!
      if (size === 0) break
      if (size >= 0xc0) {
        if (!pointers) throw new DnsFormatError('has a compressed name where compression is not allowed', null, 'RFC 3597 4')
        if (at + 1 >= end) throw new DnsFormatError('ends within a name')
        const target = ((size & 0x3f) << 8) | bytes[at + 1]!
        if (target >= lowest || ++jumps > POINTERS_MAX) {
          throw new DnsFormatError(
            'has a compression pointer that does not point back to an earlier name',
            null,
            'RFC 1035 4.1.4',
          )
        }
        if (after < 0) after = at + 2
        lowest = at = target
        end = bytes.length
        continue
      }
      if (size > LABEL_MAX) throw new DnsFormatError('has a label of an unknown type', null, 'RFC 6891 5')
      length += size + 1
      if (length > NAME_MAX) throw nameTooLong()
      const stop = at + 1 + size
      if (stop > end) throw new DnsFormatError('ends within a name')
      while (++at < stop) text += NAME_TEXT[bytes[at]!]!
      text += '.'
    }
    this.offset = after < 0 ? at + 1 : after
    return text === '' ? '.' : text
  }

  /** Advances by `count` octets and returns where they begin. @throws DnsFormatError if there are fewer */
  skip(count: number): number {
    const at = this.offset
    if (count > this.end - at) throw new DnsFormatError('ends too early')
    this.offset = at + count
    return at
  }
}
