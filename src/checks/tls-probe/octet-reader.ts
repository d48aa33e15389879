import { TlsFormatError } from './format-error'

/** Reads numbers and vectors from a message. @throws TlsFormatError if it ends too early */
export class OctetReader {
  #at = 0

  /** @param what names the message in errors, with its article: `a ServerHello` */
  constructor(
    private readonly octets: Uint8Array,
    private readonly what: string,
  ) {}

  get remaining(): number {
    return this.octets.length - this.#at
  }

  /** An unsigned number of this many octets, at most 4. */
  number(size: number): number {
    let value = 0
    for (const octet of this.take(size)) value = value * 256 + octet
    return value
  }

  take(count: number): Uint8Array {
    if (count > this.remaining) throw new TlsFormatError(`sent ${this.what} that is cut off`)
    return this.octets.subarray(this.#at, (this.#at += count))
  }

  /** A vector after its length, which has this many octets. */
  vector(lengthSize: number): Uint8Array {
    return this.take(this.number(lengthSize))
  }

  /** @throws TlsFormatError if anything remains */
  end(): void {
    if (this.remaining > 0) throw new TlsFormatError(`sent ${this.what} with ${this.remaining} surplus bytes`)
  }
}
