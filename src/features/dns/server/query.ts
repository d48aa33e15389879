import { OPT_CODE } from '../../../dns/edns'
import { catchFormatError } from '../../../dns/format-error'
import { decodeMessage } from '../../../dns/message-decode'
import type { TsigRecord } from '../../../dns/tsig-record'
import { NAME_OCTETS_MAX, type NameKey } from './name-key'

/** The question of a message. */
export interface Question {
  key: NameKey
  type: number
  class: number
  /** Offset after the question. */
  end: number
}

/** The parts after the question. */
export interface Extras {
  /** EDNS UDP payload size; null without EDNS. */
  udpSize: number | null
  version: number
  dnssecOk: boolean
  tsig: TsigRecord | null
}

const lower = Buffer.alloc(NAME_OCTETS_MAX + 2)
const PLAIN: Extras = { udpSize: null, version: 0, dnssecOk: false, tsig: null }

/** Parses the question at octet 12; null if it is truncated, compressed or too long. */
export function readQuestion(octets: Uint8Array): Question | null {
  let at = 12
  let length = 0
  for (;;) {
    const size = octets[at]!
    if (size === undefined || size > 63 || length + size >= NAME_OCTETS_MAX) return null
    lower[length++] = size
    at++
    if (size === 0) break
    for (const end = at + size; at < end; at++) {
      const octet = octets[at]!
      if (octet === undefined) return null
      lower[length++] = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet
    }
  }
  if (at + 4 > octets.length) return null
  const type = (octets[at]! << 8) | octets[at + 1]!
  return { key: lower.toString('latin1', 0, length), type, class: (octets[at + 2]! << 8) | octets[at + 3]!, end: at + 4 }
}

/** Parses what follows the question; null if it is malformed (FORMERR). */
export function readExtras(octets: Uint8Array, end: number): Extras | null {
  if (octets[6] === 0 && octets[7] === 0 && octets[8] === 0 && octets[9] === 0 && octets[10] === 0) {
    if (octets[11] === 0 && octets.length === end) return PLAIN
    if (octets[11] === 1 && isOpt(octets, end)) {
      return {
        udpSize: (octets[end + 3]! << 8) | octets[end + 4]!,
        version: octets[end + 6]!,
        dnssecOk: (octets[end + 7]! & 0x80) !== 0,
        tsig: null,
      }
    }
  }
  const message = catchFormatError(
    () => decodeMessage(octets),
    () => null,
  )
  if (!message) return null
  const { edns, tsig } = message
  return { udpSize: edns?.udpSize ?? null, version: edns?.version ?? 0, dnssecOk: edns?.dnssec ?? false, tsig }
}

/** Returns whether the rest is exactly one valid OPT record (RFC 6891 section 6.1.2). */
function isOpt(octets: Uint8Array, at: number): boolean {
  if (octets.length < at + 11 || octets[at] !== 0 || octets[at + 1] !== 0 || octets[at + 2] !== OPT_CODE) return false
  if (octets.length !== at + 11 + ((octets[at + 9]! << 8) | octets[at + 10]!)) return false
  let option = at + 11
  while (option + 4 <= octets.length) option += 4 + ((octets[option + 2]! << 8) | octets[option + 3]!)
  return option === octets.length
}
