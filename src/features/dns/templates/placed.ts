/** What a binding put into its zone at one name and type. */
export interface PlacedRrset {
  /** Within the zone; `@` is the apex. */
  name: string
  type: string
  /** Seconds; null where it is not the template that says. */
  ttl: number | null
  /** Whether nothing else is to be there. */
  whole: boolean
  /** Whether an edit of it counts as one of the binding. */
  essential: boolean
  values: PlacedValue[]
  /** Terms in an SPF record that others may share. */
  spf: PlacedSpf | null
}

export interface PlacedValue {
  /** Of the canonical rdata. */
  hash: string
  content: string
  /** Of a TXT: what it says it is, where a name has one of that kind. */
  tag: string | null
  /** Whether it was not there before. */
  made: boolean
}

export interface PlacedSpf {
  terms: string[]
  /** Those of them that were not there before. */
  added: string[]
  /** Whether the record was not there before. */
  made: boolean
}
