import { ednsLength, writeEdns } from './edns'
import { DnsFormatError } from './format-error'
import { FLAG_BITS, type Flags, type Message, type ResourceRecord } from './message'
import { lowerName } from './name'
import { writeRdata } from './rdata-names'
import { typeCode } from './type-codes'
import { WireWriter } from './wire-writer'

/** Maximum size of a message: the TCP length prefix has two octets (RFC 1035 section 4.2.2). */
export const MESSAGE_MAX = 0xffff
/** Maximum UDP size without EDNS (RFC 1035 section 4.2.1). */
export const UDP_MAX_PLAIN = 512

/** Size limits of a message. */
interface Limits {
  /** Octets, default 65535. */
  limit?: number
  /** Octets after which a transfer continues in the next message, although a longer record may fill a whole message. */
  aim?: number
  /** Octets to reserve for a signature, `tsigLength` of its key. */
  reserve?: number
}

/**
 * Encodes a message, without `tsig`. RRsets that don't fit are omitted as a whole (RFC 2181 sections 5 and 9). In the answer and
 * authority section this sets TC and ends the message; in the additional section only for referrals, which need their glue (RFC 9471).
 * @throws DnsFormatError for invalid names and types, or if header, question and OPT don't fit
 */
export function encodeMessage(message: Message, { limit = MESSAGE_MAX, reserve = 0 }: Limits = {}): Uint8Array {
  const writer = new WireWriter(512)
  const room = Math.min(limit, MESSAGE_MAX) - reserve - (message.edns ? ednsLength(message.edns) : 0)
  writeHeader(writer, message)
  writeQuestion(writer, message.question)
  if (writer.offset > room) throw new DnsFormatError('The question does not fit into the message', null, 'RFC 1035 4.1')

  // Names in a response without answers are name servers to query instead.
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
 * Encodes a list of records as several messages, as in zone transfers (RFC 5936 section 2.2). Only the first one has the question. An
 * RRset can be split.
 * @param first the first message, without answers
 * @throws DnsFormatError for a record that doesn't fit into any message
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
    if (current.offset > room) throw new DnsFormatError('A record does not fit into a message', null, 'RFC 5936 2.2')
    count++
  }
  yield end(writer ?? begin())
}

/** Writes records until an RRset does not fit. @returns the number of records written */
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
