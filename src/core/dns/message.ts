import type { Edns } from './edns'
import type { TsigRecord } from './tsig-record'

/** Classes of RFC 1035 3.2.4 and RFC 2136 2.4; records of zones are of IN. */
export const CLASS = { IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 } as const

/** Kinds of queries (RFC 6895 2.2). */
export const OPCODE = { QUERY: 0, STATUS: 2, NOTIFY: 4, UPDATE: 5 } as const

/** Answers (RFC 6895 2.3). Those over 15 need EDNS. */
export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  BADVERS: 16,
} as const

/** The mnemonic of an answer's code, or the number as text. */
export const rcodeName = (rcode: number): string => Object.entries(RCODE).find(([, code]) => code === rcode)?.[0] ?? String(rcode)

export interface Question {
  readonly name: string
  /** Mnemonic or `TYPEnnn`. */
  readonly type: string
  readonly class: number
}

/** A resource record of a message, its rdata with whole names. Only `rdata.ts` knows what it means. */
export interface ResourceRecord {
  readonly name: string
  readonly type: string
  readonly class: number
  /** Seconds. */
  readonly ttl: number
  readonly rdata: Uint8Array
}

/** A DNS message. OPT and TSIG have places of their own and are not in `additional`. */
export interface Message {
  readonly id: number
  readonly opcode: number
  /** With the high bits of EDNS. */
  readonly rcode: number
  readonly flags: Flags
  readonly question: readonly Question[]
  readonly answer: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  readonly additional: readonly ResourceRecord[]
  readonly edns: Edns | null
  /** The signature as it was read, not yet verified; `signTsig` adds one to an encoded message. */
  readonly tsig: TsigRecord | null
}

/** The bits of the header by their names in RFC 1035 4.1.1 and RFC 4035 3. */
export interface Flags {
  readonly qr: boolean
  readonly aa: boolean
  readonly tc: boolean
  readonly rd: boolean
  readonly ra: boolean
  readonly ad: boolean
  readonly cd: boolean
}

/** Where each bit stands in the second word of the header. */
export const FLAG_BITS: Readonly<Record<keyof Flags, number>> = {
  qr: 0x8000,
  aa: 0x0400,
  tc: 0x0200,
  rd: 0x0100,
  ra: 0x0080,
  ad: 0x0020,
  cd: 0x0010,
}

export const NO_FLAGS: Flags = { qr: false, aa: false, tc: false, rd: false, ra: false, ad: false, cd: false }

/** A message with these parts and nothing else. */
export function message(parts: Partial<Omit<Message, 'flags' | 'tsig'>> & { id: number; flags?: Partial<Flags> }): Message {
  return {
    opcode: OPCODE.QUERY,
    rcode: RCODE.NOERROR,
    question: [],
    answer: [],
    authority: [],
    additional: [],
    edns: null,
    tsig: null,
    ...parts,
    flags: { ...NO_FLAGS, ...parts.flags },
  }
}
