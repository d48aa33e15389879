import { DnsFormatError } from './format-error'
import type { WireReader } from './wire-reader'
import type { WireWriter } from './wire-writer'

/** The OPT record of a message (RFC 6891 section 6.1). */
export interface Edns {
  /** UDP payload size of the sender. */
  readonly udpSize: number
  readonly version: number
  /** True if DNSSEC records are requested (RFC 3225). */
  readonly dnssec: boolean
  readonly options: readonly EdnsOption[]
}

interface EdnsOption {
  readonly code: number
  readonly value: Uint8Array
}

/** UDP payload size that avoids fragmentation (DNS flag day 2020). */
export const UDP_SIZE = 1232

export const OPT_CODE = 41
const DNSSEC_OK = 0x8000

/** Reads an OPT record after its type. The reader ends with the rdata. */
export function readEdns(udpSize: number, ttl: number, reader: WireReader): { edns: Edns; highRcode: number } {
  const options: EdnsOption[] = []
  while (reader.left > 0) {
    const code = reader.u16()
    options.push({ code, value: reader.take(reader.u16()).slice() })
  }
  const edns = { udpSize, version: (ttl >>> 16) & 0xff, dnssec: (ttl & DNSSEC_OK) !== 0, options }
  return { edns, highRcode: ttl >>> 24 }
}

/** Writes the OPT record, with the extended bits of the RCODE. */
export function writeEdns(writer: WireWriter, edns: Edns, rcode: number): void {
  writer.u8(0)
  writer.u16(OPT_CODE)
  writer.u16(edns.udpSize)
  writer.u8(rcode >> 4)
  writer.u8(edns.version)
  writer.u16(edns.dnssec ? DNSSEC_OK : 0)
  const size = writer.offset
  writer.u16(0)
  for (const { code, value } of edns.options) {
    if (value.length > 0xffff) throw new DnsFormatError('An EDNS option must be at most 65535 octets', null, 'RFC 6891 6.1.2')
    writer.u16(code)
    writer.u16(value.length)
    writer.octets(value)
  }
  writer.u16At(size, writer.offset - size - 2)
}

/** Size of an OPT record. */
export function ednsLength(edns: Edns): number {
  return edns.options.reduce((sum, { value }) => sum + 4 + value.length, 11)
}
