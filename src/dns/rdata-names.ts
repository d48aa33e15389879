import { ofField } from './format-error'
import { typeCode } from './type-codes'
import { WireReader } from './wire-reader'
import { WireWriter } from './wire-writer'

/** A part of rdata: a number of octets, a character-string, or a name. */
type Step = number | 'string' | 'name'

// Types whose names are lower case in canonical form (RFC 4034 section 6.2, without NSEC by RFC 6840 section 5.1). They are also the
// only types whose names may be compressed in messages (RFC 3597 section 4). Some have only a number here.
const LAYOUTS = new Map<number, readonly Step[]>([
  ...[2, 3, 4, 5, 7, 8, 9, 12, 39].map((code): [number, Step[]] => [code, ['name']]), // NS MD MF CNAME MB MG MR PTR DNAME
  [6, ['name', 'name']], // SOA
  [14, ['name', 'name']], // MINFO
  [17, ['name', 'name']], // RP
  ...[15, 18, 21, 36].map((code): [number, Step[]] => [code, [2, 'name']]), // MX AFSDB RT KX
  [24, [18, 'name']], // SIG
  [26, [2, 'name', 'name']], // PX
  [30, ['name']], // NXT
  [33, [6, 'name']], // SRV
  [35, [4, 'string', 'string', 'string', 'name']], // NAPTR
  [46, [18, 'name']], // RRSIG
])

// Types of RFC 1035, whose names every receiver can decompress (RFC 3597 section 4).
const COMPRESSED = new Set([2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 15])

/** Copies rdata from a message, with names decompressed. The reader ends with the rdata. */
export function readRdata(reader: WireReader, code: number): Uint8Array {
  const layout = LAYOUTS.get(code)
  if (!layout || reader.left === 0) return reader.rest().slice()
  const whole = new WireWriter(reader.left + 32)
  walk(reader, layout, whole, () => whole.name(reader.name()))
  return whole.finish()
}

/** Writes rdata to a message, and compresses names if every receiver can decompress them. */
export function writeRdata(writer: WireWriter, code: number, rdata: Uint8Array): void {
  const layout = COMPRESSED.has(code) && rdata.length > 0 ? LAYOUTS.get(code) : undefined
  if (!layout) return writer.octets(rdata)
  const reader = new WireReader(rdata)
  walk(reader, layout, writer, () => writer.name(reader.name(false), true))
}

/**
 * Canonical form of rdata, for comparing, hashing and signing (RFC 4034 section 6.2): names in lower case for the listed types. Invalid
 * rdata is returned unchanged.
 */
export function canonicalRdata(type: string, rdata: Uint8Array): Uint8Array {
  const layout = LAYOUTS.get(typeCode(type))
  if (!layout) return rdata
  const reader = new WireReader(rdata)
  const canonical = new WireWriter(rdata.length)
  try {
    walk(reader, layout, canonical, () => canonical.lowerName(reader.name(false)))
  } catch {
    return rdata
  }
  return canonical.finish()
}

function walk(reader: WireReader, layout: readonly Step[], writer: WireWriter, name: () => void): void {
  ofField('rdata', 'RFC 1035 3.2.1', () => {
    for (const step of layout) {
      if (step === 'name') name()
      else if (step === 'string') {
        const size = reader.u8()
        writer.u8(size)
        writer.octets(reader.take(size))
      } else writer.octets(reader.take(step))
    }
    writer.octets(reader.rest())
  })
}
