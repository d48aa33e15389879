import type { DomainStatus } from './statuses'

/** An amount of money, as a decimal string. */
interface Money {
  amount: string
  /** ISO 4217. */
  currency: string
}

interface DsRecord {
  key_tag: number
  algorithm: number
  digest_type: number
  digest: string
}

interface GlueHost {
  name: string
  addresses: string[]
}

/** What a registrar or a registry says about a domain. Times in ms UTC; null if it doesn’t say. */
export interface DomainFacts {
  /** The word of a registrar for the status; null if it has none. */
  status: DomainStatus | null
  expires_at: number | null
  /** The date of the registrar, as far as the registry knows it. */
  registrar_expires_at: number | null
  /** In the words of RDAP. */
  statuses: string[]
  registered_at: number | null
  registrar: { name: string | null; iana_id: number | null } | null
  /** A-labels in lowercase without a trailing dot. */
  nameservers: string[]
  auto_renew: boolean | null
  locked: boolean | null
  privacy: boolean | null
  ds: DsRecord[]
  glue: GlueHost[]
  renewal_price: Money | null
  /** What can be done at the registrar, such as `renew`. */
  capabilities: string[]
}

export const noFacts: DomainFacts = {
  status: null,
  expires_at: null,
  registrar_expires_at: null,
  statuses: [],
  registered_at: null,
  registrar: null,
  nameservers: [],
  auto_renew: null,
  locked: null,
  privacy: null,
  ds: [],
  glue: [],
  renewal_price: null,
  capabilities: [],
}
