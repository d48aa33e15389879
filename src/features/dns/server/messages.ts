import type { ServedSet } from './served-zone'

/** Where the name server listens, and how much it sends. */
export interface ListenWish {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Answers a second to one network by UDP; null for no limit. */
  responsesPerSecond: number | null
  /** Holds this machine's own addresses to the limit as well, which tests of it need. */
  limitLoopback: boolean
}

/** What the hub tells the thread of the name server. */
export type ToServer =
  | { kind: 'listen'; wish: ListenWish }
  /** RRsets of a zone that is sent in pieces; with the `last` it takes the place of what was served of it. */
  | { kind: 'zone'; name: string; rrsets: ServedSet[]; last: boolean }
  /** RRsets of a zone that changed; without rdata those that are gone. */
  | { kind: 'change'; name: string; rrsets: ServedSet[] }
  | { kind: 'remove'; name: string }
  /** Every zone has been sent once. */
  | { kind: 'complete' }
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
  | { kind: 'stopped' }

/** Figures by kind, such as `{ answers: { NOERROR: 12 } }`. */
export interface Counts {
  queries: Record<string, number>
  answers: Record<string, number>
  held: Record<string, number>
}
