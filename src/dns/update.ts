import { DnsFormatError } from './format-error'
import { CLASS, message, OPCODE, type Message, type ResourceRecord } from './message'
import { isMetaType, typeCode } from './type-codes'

/** A prerequisite of an update (RFC 2136 section 2.4). */
export type Prerequisite =
  | { kind: 'name_in_use'; name: string }
  | { kind: 'name_not_in_use'; name: string }
  | { kind: 'rrset_exists'; name: string; type: string }
  | { kind: 'rrset_absent'; name: string; type: string }
  /** One record of an RRset that must consist of exactly these records. */
  | { kind: 'rrset_is'; name: string; type: string; rdata: Uint8Array }

/** A change of an update (RFC 2136 section 2.5). */
export type UpdateStep =
  | { kind: 'add'; name: string; type: string; ttl: number; rdata: Uint8Array }
  | { kind: 'delete_record'; name: string; type: string; rdata: Uint8Array }
  | { kind: 'delete_rrset'; name: string; type: string }
  | { kind: 'delete_name'; name: string }

const NOTHING = new Uint8Array()

/** Builds an update message: prerequisites in the answer section, changes in the authority section. */
export function updateMessage(
  id: number,
  zone: string,
  prerequisites: readonly Prerequisite[],
  steps: readonly UpdateStep[],
): Message {
  return message({
    id,
    opcode: OPCODE.UPDATE,
    question: [{ name: zone, type: 'SOA', class: CLASS.IN }],
    answer: prerequisites.map(prerequisiteRecord),
    authority: steps.map(stepRecord),
  })
}

/**
 * Parses an update. Checks that need the zone, such as names outside it and failed prerequisites, are left to the caller.
 * @throws DnsFormatError for what RFC 2136 answers with FORMERR
 */
export function readUpdate(update: Message): { zone: string; prerequisites: Prerequisite[]; steps: UpdateStep[] } {
  const [zone, ...others] = update.question
  if (!zone || others.length > 0 || zone.type !== 'SOA' || zone.class !== CLASS.IN) {
    throw new DnsFormatError('An update must contain exactly one zone, with type SOA', null, 'RFC 2136 3.1.1')
  }
  return { zone: zone.name, prerequisites: update.answer.map(prerequisiteOf), steps: update.authority.map(stepOf) }
}

function prerequisiteRecord(one: Prerequisite): ResourceRecord {
  const { name } = one
  switch (one.kind) {
    case 'name_in_use':
      return { name, type: 'ANY', class: CLASS.ANY, ttl: 0, rdata: NOTHING }
    case 'name_not_in_use':
      return { name, type: 'ANY', class: CLASS.NONE, ttl: 0, rdata: NOTHING }
    case 'rrset_exists':
      return { name, type: one.type, class: CLASS.ANY, ttl: 0, rdata: NOTHING }
    case 'rrset_absent':
      return { name, type: one.type, class: CLASS.NONE, ttl: 0, rdata: NOTHING }
    case 'rrset_is':
      return { name, type: one.type, class: CLASS.IN, ttl: 0, rdata: one.rdata }
  }
}

function stepRecord(one: UpdateStep): ResourceRecord {
  const { name } = one
  switch (one.kind) {
    case 'add':
      return { name, type: one.type, class: CLASS.IN, ttl: one.ttl, rdata: one.rdata }
    case 'delete_record':
      return { name, type: one.type, class: CLASS.NONE, ttl: 0, rdata: one.rdata }
    case 'delete_rrset':
      return { name, type: one.type, class: CLASS.ANY, ttl: 0, rdata: NOTHING }
    case 'delete_name':
      return { name, type: 'ANY', class: CLASS.ANY, ttl: 0, rdata: NOTHING }
  }
}

function prerequisiteOf({ name, type, class: classOf, ttl, rdata }: ResourceRecord): Prerequisite {
  const plain = ttl === 0 && (type === 'ANY' || !isMetaType(typeCode(type)))
  if (plain && classOf === CLASS.IN && type !== 'ANY') return { kind: 'rrset_is', name, type, rdata }
  if (plain && rdata.length === 0 && classOf === CLASS.ANY) {
    return type === 'ANY' ? { kind: 'name_in_use', name } : { kind: 'rrset_exists', name, type }
  }
  if (plain && rdata.length === 0 && classOf === CLASS.NONE) {
    return type === 'ANY' ? { kind: 'name_not_in_use', name } : { kind: 'rrset_absent', name, type }
  }
  throw new DnsFormatError(`The update has an invalid prerequisite: ${name} ${type}`, null, 'RFC 2136 3.2')
}

function stepOf({ name, type, class: classOf, ttl, rdata }: ResourceRecord): UpdateStep {
  const isData = !isMetaType(typeCode(type))
  if (isData && classOf === CLASS.IN) return { kind: 'add', name, type, ttl, rdata }
  if (isData && classOf === CLASS.NONE && ttl === 0) return { kind: 'delete_record', name, type, rdata }
  if (classOf === CLASS.ANY && ttl === 0 && rdata.length === 0) {
    if (type === 'ANY') return { kind: 'delete_name', name }
    if (isData) return { kind: 'delete_rrset', name, type }
  }
  throw new DnsFormatError(`The update has an invalid change: ${name} ${type}`, null, 'RFC 2136 3.4.1')
}
