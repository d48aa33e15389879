/** A zone as it is served: plain values that cross from the hub to the thread of the name server. */
export interface ServedZone {
  /** An absolute name. */
  name: string
  /** Every RRset of the zone with its SOA. */
  rrsets: ServedSet[]
}

/** An RRset of a zone. */
export interface ServedSet {
  /** An absolute name within the zone. */
  name: string
  /** Mnemonic or `TYPEnnn`. */
  type: string
  /** Seconds. */
  ttl: number
  /** The rdata of its records in wire form with whole names; none means that the set is gone. */
  rdata: Uint8Array[]
}
