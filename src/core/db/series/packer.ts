/** Writes numbers in as few octets as they need: seven bits an octet, least significant first, the eighth says that more follow. */
export class Packer {
  private octets: Uint8Array
  length = 0

  constructor(room = 64) {
    this.octets = new Uint8Array(room)
  }

  octet(value: number): void {
    if (this.length === this.octets.length) {
      const larger = new Uint8Array(this.octets.length * 2)
      larger.set(this.octets)
      this.octets = larger
    }
    this.octets[this.length++] = value
  }

  /** @param value a whole number from 0 to 2^53 - 1 */
  count(value: number): void {
    let left = value
    while (left >= 128) {
      this.octet((left % 128) | 128)
      left = Math.floor(left / 128)
    }
    this.octet(left)
  }

  /** Any whole number of up to 52 bits: small ones of either sign take one octet. */
  signed(value: number): void {
    this.count(value < 0 ? -2 * value - 1 : 2 * value)
  }

  /** What was written so far. A copy: writing may go on. */
  bytes(): Uint8Array {
    return this.octets.slice(0, this.length)
  }
}

/** What was packed ends too early, or holds what no packer writes. */
export class BadPacking extends Error {
  override name = 'BadPacking'
}

/** Reads what a {@link Packer} wrote. Its methods throw BadPacking at the end of the octets. */
export class Unpacker {
  private place = 0

  constructor(private readonly octets: Uint8Array) {}

  get done(): boolean {
    return this.place >= this.octets.length
  }

  octet(): number {
    const value = this.octets[this.place++]
    if (value === undefined) throw new BadPacking('It ends too early.')
    return value
  }

  count(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      if (scale > 2 ** 49) throw new BadPacking('A number is too long.')
      const next = this.octet()
      value += (next & 127) * scale
      if (next < 128) return value
    }
  }

  signed(): number {
    const value = this.count()
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2
  }
}
