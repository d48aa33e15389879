import type { Clock } from '../clock'
import type { Log } from '../log'
import type { VettedHost } from './egress'
import type { FetchLimits, GuardedRequest, GuardedResponse } from './guarded-fetch'

/** The world as a plug-in may see it: every connection obeys the network policy of the workspace it works for. */
export interface Surroundings {
  clock: Clock
  log: Log
  /** One HTTP request. @throws FetchFailed */
  request(request: GuardedRequest, limits?: FetchLimits): Promise<GuardedResponse>
  /** An address to dial for anything that is not HTTP. @throws EgressRefused */
  vet(host: string, port: number): Promise<VettedHost>
}
