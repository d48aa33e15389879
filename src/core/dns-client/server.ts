import type { TsigKey } from '../dns/tsig'
import type { VettedHost } from '../net/egress'

/** Where to dial: an address that was vetted for it just now, as {@link VettedHost} is. */
export type ServerAddress = Pick<VettedHost, 'address' | 'port'>

/** A name server to ask. */
export interface NameServerAsked {
  at: ServerAddress
  /** What questions are signed with, and answers have to be; null where nothing is signed. */
  key: TsigKey | null
  /** The time of day in milliseconds, which signatures hold. */
  now(): number
}
