import type { Clock } from '../core/clock'
import type { Log } from '../core/log'
import type { VettedHost } from '../core/net/egress'
import type { FetchLimits, GuardedRequest, GuardedResponse } from '../core/net/guarded-fetch'

/** What a plug-in has access to. All connections follow the network policy of its workspace. */
export interface AdapterContext {
  clock: Clock
  log: Log
  /** Sends an HTTP request. @throws FetchFailed */
  request(request: GuardedRequest, limits?: FetchLimits): Promise<GuardedResponse>
  /** The same, without waiting for a rate limit, for reads in the middle of a change. Absent if there is no limit. */
  requestAtOnce?: AdapterContext['request']
  /** Reads the SHA-256 fingerprint of the certificate of a server, to compare it before it is trusted. Sends nothing. @throws FetchFailed */
  presentedFingerprint?(url: string): Promise<string>
  /** Checks a host for connections other than HTTP. The network policy is stricter for UDP packets to devices. @throws EgressRefused */
  vet(host: string, port: number, protocol?: 'tcp' | 'udp'): Promise<VettedHost>
}
