/** A zone as it is served: plain values that cross from the hub to the thread of the name server. */
export interface ServedZone {
  /** An absolute name. */
  name: string
  /** Whose it is: their keys may transfer it. Without an owner nobody may. */
  owner?: string
  /** Told to holders of its keys alone, as catalog zones are (RFC 9432 7); to everybody else it is not there. */
  hidden?: boolean
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
