import type { Edns } from './edns'
import type { TsigRecord } from './tsig-record'

/** Classes (RFC 1035 section 3.2.4, RFC 2136 section 2.4). Zone records have IN. */
export const CLASS = { IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 } as const

/** Opcodes (RFC 6895 section 2.2). */
export const OPCODE = { QUERY: 0, STATUS: 2, NOTIFY: 4, UPDATE: 5 } as const

/** RCODEs (RFC 6895 section 2.3). Those above 15 need EDNS. */
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

/** Mnemonic of an RCODE, or the number as text. */
export const rcodeName = (rcode: number): string => Object.entries(RCODE).find(([, code]) => code === rcode)?.[0] ?? String(rcode)

export interface Question {
  readonly name: string
  /** Mnemonic or `TYPEnnn`. */
  readonly type: string
  readonly class: number
}

/** A resource record of a message, with uncompressed names in its rdata, which only `rdata.ts` interprets. */
export interface ResourceRecord {
  readonly name: string
  readonly type: string
  readonly class: number
  /** Seconds. */
  readonly ttl: number
  readonly rdata: Uint8Array
}

/** A DNS message. OPT and TSIG have their own fields and are not in `additional`. */
export interface Message {
  readonly id: number
  readonly opcode: number
  /** Including the extended bits of EDNS. */
  readonly rcode: number
  readonly flags: Flags
  readonly question: readonly Question[]
  readonly answer: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  readonly additional: readonly ResourceRecord[]
  readonly edns: Edns | null
  /** The signature as read, not verified; `signTsig` adds one to an encoded message. */
  readonly tsig: TsigRecord | null
}

/** Header bits by name (RFC 1035 section 4.1.1, RFC 4035 section 3). */
export interface Flags {
  readonly qr: boolean
  readonly aa: boolean
  readonly tc: boolean
  readonly rd: boolean
  readonly ra: boolean
  readonly ad: boolean
  readonly cd: boolean
}

/** Position of each bit in the second word of the header. */
export const FLAG_BITS: Readonly<Record<keyof Flags, number>> = {
  qr: 0x8000,
  aa: 0x0400,
  tc: 0x0200,
  rd: 0x0100,
  ra: 0x0080,
  ad: 0x0020,
  cd: 0x0010,
}

const NO_FLAGS: Flags = { qr: false, aa: false, tc: false, rd: false, ra: false, ad: false, cd: false }

/** Builds a message from the given parts. */
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
