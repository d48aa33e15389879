/** A zone as plain values. */
export interface ServedZone {
  /** Absolute name. */
  name: string
  /** Owner whose keys may transfer it. Without an owner, no key may. */
  owner?: string
  /** Visible only with its keys, as catalog zones are (RFC 9432 section 7). */
  hidden?: boolean
  /** All RRsets of the zone, including the SOA. */
  rrsets: ServedSet[]
}

/** An RRset of a zone. */
export interface ServedSet {
  /** Absolute name within the zone. */
  name: string
  /** Mnemonic or `TYPEnnn`. */
  type: string
  /** Seconds. */
  ttl: number
  /** Rdata of its records in wire form without compression; empty to remove the RRset. */
  rdata: Uint8Array[]
}
