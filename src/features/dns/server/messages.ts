import type { TsigKey } from '../../../dns/tsig'
import type { ServedSet } from './served-zone'
import type { PackedZone } from './packed-zone'
import type { TransferRights } from './transfer-keys'

/** Where the name server listens, and its limits. */
export interface ListenOptions {
  host: string
  /** 0 picks a free port. */
  port: number
  /** What errors call the setting. */
  setting: string
  /** UDP responses per second to one network; null for no limit. */
  responsesPerSecond: number | null
  /** Applies the limit to loopback addresses too, for tests. */
  limitLoopback: boolean
  /** Maximum number of concurrent transfers, default 10. Others wait. */
  transfers?: number
  /** Whether several threads listen on the port. */
  isShared?: boolean
  /** Whether this is the first of them. It makes sure that nothing else uses the port. */
  isFirst?: boolean
  /** Milliseconds a client has to receive a message of a transfer before it is disconnected, default 10 s. */
  stallMs?: number
}

/** Messages from the hub to the name server thread. */
export type ToServer =
  | { kind: 'listen'; options: ListenOptions }
  /** A whole zone, which replaces the served one. */
  | { kind: 'zone'; zone: PackedZone }
  /** Changed RRsets of a zone; without rdata they are removed. */
  | { kind: 'change'; name: string; rrsets: ServedSet[] }
  | { kind: 'remove'; name: string; hidden: boolean }
  /** All zones have been sent once. */
  | { kind: 'complete' }
  /** Replaces all keys and what they give access to. */
  | { kind: 'rights'; rights: TransferRights }
  /** Sent back after all previous messages were processed. */
  | { kind: 'echo'; id: number }
  /** Response to a request of the thread. */
  | { kind: 'answer'; id: number; answer: unknown }
  | { kind: 'stop' }

/** Messages from the thread to the hub. */
export type FromServer =
  | { kind: 'listening'; host: string; port: number }
  /** Listening failed: system error code (`EADDRINUSE`) and message. */
  | { kind: 'refused'; code: string; reason: string }
  /** Counts since the last message. */
  | { kind: 'counts'; counts: Counts }
  /** A zone is invalid and can't be served. Others are not affected. */
  | { kind: 'invalid_zone'; name: string; reason: string }
  | { kind: 'echo'; id: number }
  | { kind: 'request'; id: number; question: HubRequest }
  | { kind: 'transferred'; transfer: Transferred }
  | { kind: 'stopped' }

/** Requests from the thread to the hub. */
export type HubRequest =
  /** Changes of a zone since a serial, as {@link Delta}s up to the current one; null to send the whole zone. */
  | { kind: 'deltas'; zone: string; from: number; maxRecords: number }
  /** A NOTIFY arrived; returns whether the zone has sync targets. */
  | { kind: 'notified'; zone: string }
  /** Keys with this name that are shared with the providers of a zone, to verify a NOTIFY. */
  | { kind: 'notify_keys'; zone: string; key: string }

/** Responses to these requests. */
export interface HubResponses {
  deltas: Delta[] | null
  notified: boolean
  notify_keys: TsigKey[]
}

/** The difference between two serials (RFC 1995 section 4), without the SOA. */
export interface Delta {
  fromSerial: number
  toSerial: number
  /** TTLs in seconds. */
  soaBefore: { ttl: number; rdata: Uint8Array }
  soaAfter: { ttl: number; rdata: Uint8Array }
  removed: DeltaRecord[]
  added: DeltaRecord[]
}

export interface DeltaRecord {
  /** Absolute, in lower case. */
  name: string
  type: string
  /** Seconds. */
  ttl: number
  rdata: Uint8Array
}

/** A completed transfer. */
export interface Transferred {
  /** Absolute. */
  zone: string
  hidden: boolean
  key: string
  /** Address of the client. */
  peer: string
  serial: number
  /** `up_to_date`: the client already had this serial. */
  type: 'axfr' | 'ixfr' | 'up_to_date'
}

/** Counts by label, such as `{ answers: { NOERROR: 12 } }`. */
export interface Counts {
  queries: Record<string, number>
  answers: Record<string, number>
  limited: Record<string, number>
  transfers: Record<string, number>
  notifies: Record<string, number>
}
