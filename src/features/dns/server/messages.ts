import type { TsigKey } from '../../../core/dns/tsig'
import type { ServedSet } from './served-zone'
import type { TransferRights } from './transfer-keys'

/** Where the name server listens, and how much it sends. */
export interface ListenWish {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Answers a second to one network by UDP; null for no limit. */
  responsesPerSecond: number | null
  /** Holds this machine's own addresses to the limit as well, which tests of it need. */
  limitLoopback: boolean
  /** Transfers under way at once, others wait; 10 when left out. */
  transfers?: number
  /** Milliseconds in which a client has to take a message of its transfer, or is cut off; 10 s when left out. */
  stallMs?: number
}

/** What the hub tells the thread of the name server. */
export type ToServer =
  | { kind: 'listen'; wish: ListenWish }
  /** RRsets of a zone that is sent in pieces; with the `last` it takes the place of what was served of it. */
  | { kind: 'zone'; name: string; owner: string; hidden: boolean; rrsets: ServedSet[]; last: boolean }
  /** RRsets of a zone that changed; without rdata those that are gone. */
  | { kind: 'change'; name: string; rrsets: ServedSet[] }
  | { kind: 'remove'; name: string; hidden: boolean }
  /** Every zone has been sent once. */
  | { kind: 'complete' }
  /** All keys and what they open, in the place of those before. */
  | { kind: 'rights'; rights: TransferRights }
  /** To be sent back, which tells that all before it was taken. */
  | { kind: 'echo'; id: number }
  /** The answer to a question of the thread. */
  | { kind: 'answer'; id: number; answer: unknown }
  | { kind: 'stop' }

/** What the thread tells the hub. */
export type FromServer =
  | { kind: 'listening'; host: string; port: number }
  /** It cannot listen there: the system's code (`EADDRINUSE`) and its words. */
  | { kind: 'refused'; code: string; reason: string }
  /** What was counted since the last time. */
  | { kind: 'counted'; counts: Counts }
  /** A zone cannot be served; the others are. */
  | { kind: 'unfit'; name: string; reason: string }
  | { kind: 'echo'; id: number }
  | { kind: 'asks'; id: number; question: HubQuestion }
  | { kind: 'transferred'; transfer: Transferred }
  | { kind: 'stopped' }

/** What the thread does not know itself. */
export type HubQuestion =
  /** What changed in a zone since a serial: {@link Delta} by delta up to now, or null to send the whole zone. */
  | { kind: 'deltas'; zone: string; from: number; most: number }
  /** Somebody tells that a zone has changed elsewhere; whether it is a zone that is kept elsewhere too. */
  | { kind: 'notified'; zone: string }
  /** Which keys of this name the servers have at which a zone is kept: they sign with them what they tell of it. */
  | { kind: 'notify_keys'; zone: string; key: string }

/** The answers to each of them. */
export interface HubAnswers {
  deltas: Delta[] | null
  notified: boolean
  notify_keys: TsigKey[]
}

/** What leads from one serial to the next (RFC 1995 4). The SOA is not among what is removed and added. */
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

/** A transfer that was sent to its end. */
export interface Transferred {
  /** Absolute. */
  zone: string
  hidden: boolean
  key: string
  /** The address it went to. */
  peer: string
  serial: number
  /** `current`: the client had it already. */
  how: 'axfr' | 'ixfr' | 'current'
}

/** Figures by kind, such as `{ answers: { NOERROR: 12 } }`. */
export interface Counts {
  queries: Record<string, number>
  answers: Record<string, number>
  held: Record<string, number>
  transfers: Record<string, number>
  notifies: Record<string, number>
}
