/** Writes variable-length numbers: seven bits per byte, least significant first; the eighth bit means that more bytes follow. */
export class Packer {
  private buffer: Uint8Array
  length = 0

  constructor(capacity = 64) {
    this.buffer = new Uint8Array(capacity)
  }

  byte(value: number): void {
    if (this.length === this.buffer.length) {
      const larger = new Uint8Array(this.buffer.length * 2)
      larger.set(this.buffer)
      this.buffer = larger
    }
    this.buffer[this.length++] = value
  }

  /** @param value an integer from 0 to 2^53 - 1 */
  count(value: number): void {
    let left = value
    while (left >= 128) {
      this.byte((left % 128) | 128)
      left = Math.floor(left / 128)
    }
    this.byte(left)
  }

  /** Writes an integer of up to 52 bits. Small positive and negative numbers take one byte. */
  signed(value: number): void {
    this.count(value < 0 ? -2 * value - 1 : 2 * value)
  }

  /** Returns a copy of the bytes written so far. */
  bytes(): Uint8Array {
    return this.buffer.slice(0, this.length)
  }
}

/** Packed data is truncated or invalid. */
export class BadPacking extends Error {
  override name = 'BadPacking'
}

/** Reads the output of a {@link Packer}. Methods throw BadPacking at the end of the data. */
export class Unpacker {
  private position = 0

  constructor(private readonly buffer: Uint8Array) {}

  get done(): boolean {
    return this.position >= this.buffer.length
  }

  byte(): number {
    const value = this.buffer[this.position++]
    if (value === undefined) throw new BadPacking('Unexpected end of data.')
    return value
  }

  count(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      if (scale > 2 ** 49) throw new BadPacking('Number too long.')
      const next = this.byte()
      value += (next & 127) * scale
      if (next < 128) return value
    }
  }

  signed(): number {
    const value = this.count()
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2
  }
}

/** Writes single bits, least significant first. */
export class BitPacker {
  private byte = 0
  private filled = 0

  constructor(private readonly to: Packer) {}

  bit(on: boolean): void {
    if (on) this.byte |= 1 << this.filled
    if (++this.filled === 8) this.end()
  }

  number(value: number, bits: number): void {
    for (let bit = 0; bit < bits; bit++) this.bit(((value >> bit) & 1) === 1)
  }

  /** Completes the byte. */
  end(): void {
    if (this.filled > 0) this.to.byte(this.byte)
    this.byte = 0
    this.filled = 0
  }
}

/** Reads the output of a {@link BitPacker}. */
export class BitUnpacker {
  private byte = 0
  private left = 0

  constructor(private readonly from: Unpacker) {}

  bit(): boolean {
    if (this.left === 0) {
      this.byte = this.from.byte()
      this.left = 8
    }
    const on = (this.byte & 1) === 1
    this.byte >>= 1
    this.left--
    return on
  }

  number(bits: number): number {
    let value = 0
    for (let bit = 0; bit < bits; bit++) if (this.bit()) value |= 1 << bit
    return value
  }

  /** Skips the rest of the byte. */
  end(): void {
    this.left = 0
  }
}
