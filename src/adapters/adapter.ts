import type { Settings, SettingsDefinition } from '../core/sealed-settings'

/** A kind of external system that a workspace connects to with settings and secrets. */
export interface AdapterKind extends SettingsDefinition {
  /** Identifier in the API, such as `powerdns`. */
  kind: string
  /** Display name, such as `PowerDNS Authoritative Server`. */
  title: string
}

/** What a check of an account found. */
export interface AccountCheck {
  /** Server version, account, or whatever identifies it to a person. */
  detail: string
  /** Limitations, such as missing permissions. */
  warnings: string[]
}

/**
 * Rate limit that the hub keeps for an account. 20 % is reserved for people who wait for the response. Several hubs use half of it
 * each.
 */
export interface Pace {
  perSecond: number
  /** Requests that can be sent at once; a multiple of `perSecond`. */
  burst: number
  /** Changes in any 24 hours. */
  writesPerDay?: number
  /**
   * What the limit of the requests belongs to, such as a token, if accounts of several kinds can share it. Default: the account. Only a
   * hash of it is kept.
   */
  sharedBy?(settings: Settings): string
}
