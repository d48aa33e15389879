import { ednsLength, writeEdns } from './edns'
import { DnsFormatError } from './format-error'
import { FLAG_BITS, type Flags, type Message, type ResourceRecord } from './message'
import { lowerName } from './name'
import { writeRdata } from './rdata-names'
import { typeCode } from './type-codes'
import { WireWriter } from './wire-writer'

/** The most octets of any message: its length is two octets on TCP (RFC 1035 4.2.2). */
export const MESSAGE_MAX = 0xffff
/** The most octets by UDP without EDNS (RFC 1035 4.2.1). */
export const UDP_MAX_PLAIN = 512

/** What a message may take. */
export interface Limits {
  /** Octets; 65535 when left out. */
  limit?: number
  /** Octets after which a transfer goes on in another message, though a longer record may have all of one to itself. */
  aim?: number
  /** Octets kept free for the signature that is to follow, `tsigLength` of its key. */
  reserve?: number
}

/**
 * Writes a message; its `tsig` is left out. RRsets that do not fit are left out whole (RFC 2181 5, 9): of the answer
 * and the authority section that sets TC and ends the message, of the additional section only in referrals, whose
 * glue is needed (RFC 9471).
 * @throws DnsFormatError for names and types that are none, and when not even header, question and OPT fit
 */
export function encodeMessage(message: Message, { limit = MESSAGE_MAX, reserve = 0 }: Limits = {}): Uint8Array {
  const writer = new WireWriter(512)
  const room = Math.min(limit, MESSAGE_MAX) - reserve - (message.edns ? ednsLength(message.edns) : 0)
  writeHeader(writer, message)
  writeQuestion(writer, message.question)
  if (writer.offset > room) throw new DnsFormatError('A message must have room for its question', null, 'RFC 1035 4.1')

  // Names of a message without an answer of its own are those of servers to ask instead.
  const isReferral = message.answer.length === 0 && !message.flags.aa
  const sections = [message.answer, message.authority, message.additional]
  let cut = false
  let additional = 0
  for (const [at, records] of sections.entries()) {
    if (cut) break
    const written = writeSection(writer, records, room)
    writer.u16At(6 + 2 * at, written)
    cut = written < records.length && (at < 2 || isReferral)
    if (at === 2) additional = written
  }
  if (cut) writer.u16At(2, headerBits(message) | FLAG_BITS.tc)
  if (message.edns) {
    writeEdns(writer, message.edns, message.rcode)
    writer.u16At(10, additional + 1)
  }
  return writer.finish()
}

/**
 * Writes as many messages as a list of answers takes, as zone transfers do (RFC 5936 2.2): the question stands in the
 * first alone, and a set may be spread over two.
 * @param first the first message, without answers
 * @throws DnsFormatError for a record that fits no message
 */
export function* encodeTransfer(
  first: Message,
  answers: Iterable<ResourceRecord>,
  { limit = MESSAGE_MAX, aim = limit, reserve = 0 }: Limits = {},
): Generator<Uint8Array> {
  const room = Math.min(limit, MESSAGE_MAX) - reserve
  const wanted = Math.min(aim - reserve, room)
  let writer: WireWriter | null = null
  let count = 0
  let question = first.question
  const begin = () => {
    writer = new WireWriter(Math.min(limit, 0x4000))
    writeHeader(writer, { ...first, question })
    writeQuestion(writer, question)
    question = []
    count = 0
    return writer
  }
  const end = (full: WireWriter) => {
    full.u16At(6, count)
    return full.finish()
  }
  for (const answer of answers) {
    let current: WireWriter = writer ?? begin()
    let start = current.offset
    writeRecord(current, answer)
    if (current.offset > wanted && count > 0) {
      current.rewind(start)
      yield end(current)
      current = begin()
      start = current.offset
      writeRecord(current, answer)
    }
    if (current.offset > room) throw new DnsFormatError('A record must fit a message', null, 'RFC 5936 2.2')
    count++
  }
  yield end(writer ?? begin())
}

/** Writes records until an RRset does not fit. @returns how many were written */
function writeSection(writer: WireWriter, records: readonly ResourceRecord[], room: number): number {
  let setStart = writer.offset
  let written = 0
  for (const [at, record] of records.entries()) {
    if (at === 0 || !isSameSet(records[at - 1]!, record)) {
      setStart = writer.offset
      written = at
    }
    writeRecord(writer, record)
    if (writer.offset <= room) continue
    writer.rewind(setStart)
    return written
  }
  return records.length
}

function writeHeader(writer: WireWriter, message: Message): void {
  writer.u16(message.id)
  writer.u16(headerBits(message))
  writer.u16(message.question.length)
  writer.u16(0)
  writer.u16(0)
  writer.u16(0)
}

function writeQuestion(writer: WireWriter, question: Message['question']): void {
  for (const { name, type, class: classOf } of question) {
    writer.name(name, true)
    writer.u16(typeCode(type))
    writer.u16(classOf)
  }
}

function writeRecord(writer: WireWriter, { name, type, class: classOf, ttl, rdata }: ResourceRecord): void {
  const code = typeCode(type)
  writer.name(name, true)
  writer.u16(code)
  writer.u16(classOf)
  writer.u32(ttl)
  const size = writer.offset
  writer.u16(0)
  writeRdata(writer, code, rdata)
  writer.u16At(size, writer.offset - size - 2)
}

function headerBits({ opcode, rcode, flags }: Message): number {
  let bits = (opcode << 11) | (rcode & 15)
  for (const [flag, bit] of Object.entries(FLAG_BITS)) if (flags[flag as keyof Flags]) bits |= bit
  return bits
}

const isSameSet = (a: ResourceRecord, b: ResourceRecord): boolean =>
  a.type === b.type && a.class === b.class && lowerName(a.name) === lowerName(b.name)
