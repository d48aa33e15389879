import { OPT_CODE, readEdns, type Edns } from './edns'
import { DnsFormatError } from './format-error'
import { CLASS, FLAG_BITS, type Flags, type Message, type Question, type ResourceRecord } from './message'
import { readRdata } from './rdata-names'
import { TSIG_CODE, readTsig, type TsigRecord } from './tsig-record'
import { typeName } from './type-codes'
import { WireReader } from './wire-reader'

/**
 * Decodes a message (RFC 1035 section 4). Runs in time linear in its size: header counts are not trusted beyond the actual records.
 * Rdata of any type is copied, with names decompressed.
 * @throws DnsFormatError only
 */
export function decodeMessage(octets: Uint8Array): Message {
  const reader = new WireReader(octets)
  try {
    return messageIn(reader)
  } catch (error) {
    if (!(error instanceof DnsFormatError)) throw error
    throw new DnsFormatError(
      `${error.field ?? 'The message'} ${error.rule}, at octet ${reader.offset}`,
      null,
      error.reference ?? 'RFC 1035 4.1',
    )
  }
}

/** Decodes only the header, enough to respond with FORMERR; null if there is none. */
export function decodeHeader(octets: Uint8Array): { id: number; opcode: number; flags: Flags } | null {
  if (octets.length < 12) return null
  const reader = new WireReader(octets)
  const id = reader.u16()
  const bits = reader.u16()
  return { id, opcode: (bits >> 11) & 15, flags: flagsOf(bits) }
}

function messageIn(reader: WireReader): Message {
  const id = reader.u16()
  const bits = reader.u16()
  const counts = [reader.u16(), reader.u16(), reader.u16(), reader.u16()] as const
  const question: Question[] = []
  for (let left = counts[0]; left > 0; left--) {
    question.push({ name: reader.name(), type: typeName(reader.u16()), class: reader.u16() })
  }
  const special: Special = { edns: null, highRcode: 0, tsig: null }
  const answer = section(reader, counts[1], null)
  const authority = section(reader, counts[2], null)
  const additional = section(reader, counts[3], special)
  if (reader.left > 0) throw new DnsFormatError('has octets after its last record')
  const { edns, highRcode, tsig } = special
  return {
    id,
    opcode: (bits >> 11) & 15,
    rcode: (highRcode << 4) | (bits & 15),
    flags: flagsOf(bits),
    question,
    answer,
    authority,
    additional,
    edns,
    tsig,
  }
}

interface Special {
  edns: Edns | null
  highRcode: number
  tsig: TsigRecord | null
}

function section(reader: WireReader, count: number, special: Special | null): ResourceRecord[] {
  const records: ResourceRecord[] = []
  for (let left = count; left > 0; left--) {
    const at = reader.offset
    const name = reader.name()
    const code = reader.u16()
    const classOf = reader.u16()
    const ttl = reader.u32()
    const size = reader.u16()
    const rdata = new WireReader(reader.bytes, reader.skip(size), reader.offset)
    if (code === OPT_CODE) readOpt(name, classOf, ttl, rdata, special)
    else if (code === TSIG_CODE) {
      // It signs everything before it, so it must be last (RFC 8945 section 5.1).
      if (special === null || left > 1)
        throw new DnsFormatError('has a TSIG record that is not the last record', null, 'RFC 8945 5.1')
      if (classOf !== CLASS.ANY || ttl !== 0)
        throw new DnsFormatError('has a TSIG record with an invalid class or TTL', null, 'RFC 8945 4.2')
      special.tsig = readTsig(name, at, rdata)
      if (rdata.left > 0) throw new DnsFormatError('has a TSIG record with octets after its end', null, 'RFC 8945 4.2')
    } else records.push({ name, type: typeName(code), class: classOf, ttl, rdata: readRdata(rdata, code) })
  }
  return records
}

function readOpt(name: string, udpSize: number, ttl: number, rdata: WireReader, special: Special | null): void {
  if (special === null || special.edns !== null || name !== '.') {
    throw new DnsFormatError(
      'must have at most one OPT record, with the root name, in the additional section',
      null,
      'RFC 6891 6.1.1',
    )
  }
  Object.assign(special, readEdns(udpSize, ttl, rdata))
}

function flagsOf(bits: number): Flags {
  return {
    qr: (bits & FLAG_BITS.qr) !== 0,
    aa: (bits & FLAG_BITS.aa) !== 0,
    tc: (bits & FLAG_BITS.tc) !== 0,
    rd: (bits & FLAG_BITS.rd) !== 0,
    ra: (bits & FLAG_BITS.ra) !== 0,
    ad: (bits & FLAG_BITS.ad) !== 0,
    cd: (bits & FLAG_BITS.cd) !== 0,
  }
}
