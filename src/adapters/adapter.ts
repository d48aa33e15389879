import type { SettingsDefinition } from '../core/sealed-settings'

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
