/** What a binding placed in its zone at one name and type. */
export interface PlacedRrset {
  /** Relative to the zone; `@` is the apex. */
  name: string
  type: string
  /** Seconds; null if not set by the template. */
  ttl: number | null
  /** Whether the binding owns the whole rrset, so that additional values count as modifications. */
  exclusive: boolean
  /** Whether an edit marks the binding as modified. */
  essential: boolean
  values: PlacedValue[]
  /** Terms in an SPF record that may be shared with other bindings. */
  spf: PlacedSpf | null
}

interface PlacedValue {
  /** Hash of the canonical rdata. */
  hash: string
  content: string
  /** For TXT: its version tag, such as `dmarc1`. A name can have only one TXT per tag. Null for other texts. */
  tag: string | null
  /** Whether the binding created it; false if it already existed. */
  created: boolean
}

export interface PlacedSpf {
  terms: string[]
  /** The terms that the binding added; the others already existed. */
  added: string[]
  /** Whether the binding created the record. */
  created: boolean
}
