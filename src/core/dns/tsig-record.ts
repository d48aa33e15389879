import type { WireReader } from './wire-reader'

/** A TSIG record as it stands in a message (RFC 8945 4.2). */
export interface TsigRecord {
  /** The name of the key. */
  readonly key: string
  readonly algorithm: string
  /** Seconds since 1970. */
  readonly timeSigned: number
  /** Seconds by which clocks may differ. */
  readonly fudge: number
  readonly mac: Uint8Array
  readonly originalId: number
  readonly error: number
  readonly other: Uint8Array
  /** Where the record begins in the message: what was signed ends there. */
  readonly at: number
}

export const TSIG_CODE = 250

/** Reads the rdata of a TSIG record, which ends where the reader ends. */
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
