import type { WireReader } from './wire-reader'

/** A TSIG record in a message (RFC 8945 section 4.2). */
export interface TsigRecord {
  /** Name of the key. */
  readonly key: string
  readonly algorithm: string
  /** Seconds since 1970. */
  readonly timeSigned: number
  /** Allowed clock difference in seconds. */
  readonly fudge: number
  readonly mac: Uint8Array
  readonly originalId: number
  readonly error: number
  readonly other: Uint8Array
  /** Offset of the record in the message: everything before it is signed. */
  readonly at: number
}

export const TSIG_CODE = 250

/** Reads the rdata of a TSIG record. */
export function readTsig(key: string, at: number, reader: WireReader): TsigRecord {
  return {
    key,
    algorithm: reader.name(),
    timeSigned: reader.u48(),
    fudge: reader.u16(),
    mac: reader.take(reader.u16()).slice(),
    originalId: reader.u16(),
    error: reader.u16(),
    other: reader.take(reader.u16()).slice(),
    at,
  }
}
