import type { TsigKey } from '../tsig'
import type { VettedHost } from '../../core/net/egress'

/** Address to connect to, which has just been vetted like {@link VettedHost}. */
export type ServerAddress = Pick<VettedHost, 'address' | 'port'>

/** A name server to query. */
export interface QueriedServer {
  at: ServerAddress
  /** Key to sign queries and verify responses with; null without TSIG. */
  key: TsigKey | null
  /** Current time in milliseconds, for signatures. */
  now(): number
}
