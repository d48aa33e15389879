import { TlsFormatError } from './format-error'
import { OctetReader } from './octet-reader'

/** What a server says about SSLv2: it lists the suites that it accepts. */
interface Ssl2Hello {
  suites: number[]
  /** DER. */
  certificate: Uint8Array | null
}

const maxHelloBytes = 32 * 1024

/** Reads the answer to a ClientHello of SSLv2 (SSL 0.2 protocol specification, section 2.6). Bounded like {@link FlightReader}. */
export class Ssl2Reader {
  #octets = Buffer.alloc(0)

  constructor(private readonly offered: readonly number[]) {}

  /** @returns the answer once it is complete; `refused` if it is an error, or of another protocol @throws TlsFormatError */
  push(octets: Uint8Array): Ssl2Hello | 'refused' | null {
    this.#octets = Buffer.concat([this.#octets, octets])
    if (this.#octets.length > maxHelloBytes) throw new TlsFormatError(`sent a handshake of more than ${maxHelloBytes} bytes`)
    const [first] = this.#octets
    // Without padding, the first bit is set. Padding is only for encrypted records.
    if (first !== undefined && !(first & 0x80)) return 'refused'
    if (this.#octets.length < 3) return null
    const length = this.#octets.readUInt16BE(0) & 0x7fff
    if (this.#octets[2] !== 4) return 'refused'
    if (this.#octets.length < 2 + length) return null
    return this.#hello(new OctetReader(this.#octets.subarray(3, 2 + length), 'a SERVER-HELLO'))
  }

  #hello(reader: OctetReader): Ssl2Hello | 'refused' {
    reader.take(2)
    if (reader.number(2) !== 2) return 'refused'
    const [certificateLength, suitesLength, idLength] = [reader.number(2), reader.number(2), reader.number(2)]
    const certificate = Uint8Array.from(reader.take(certificateLength))
    const list = new OctetReader(reader.take(suitesLength), 'a list of suites')
    reader.take(idLength)
    reader.end()
    const suites: number[] = []
    while (list.remaining > 0) {
      const suite = list.number(3)
      if (this.offered.includes(suite) && !suites.includes(suite)) suites.push(suite)
    }
    // Servers without a suite in common list none.
    return { suites, certificate: certificate.length > 0 ? certificate : null }
  }
}
