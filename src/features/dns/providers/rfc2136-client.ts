import { queryServer } from '../../../dns/client/query-server'
import { QueryFailed } from '../../../dns/client/failure'
import type { QueriedServer } from '../../../dns/client/server'
import { rcodeMessage } from '../../../dns/client/signed-answer'
import { querySoa } from '../../../dns/client/soa'
import { transferZone, type TransferLimits } from '../../../dns/client/transfer'
import { RCODE } from '../../../dns/message'
import type { TsigKey } from '../../../dns/tsig'
import { updateMessage, type Prerequisite, type UpdateStep } from '../../../dns/update'
import { EgressRefused } from '../../../core/net/egress'
import { originOf } from '../zones/names'
import { toProviderError } from './query-failures'
import { ProviderError, type AdapterContext } from './provider'
import { readTransfer, type Transferred } from './zone-transfer'

/** Address of a server, and the TSIG keys to use. */
export interface ServerSettings {
  host: string
  port: number
  key: TsigKey
  transferKey: TsigKey
}

// As many records as a process can compare, and longer than any server needs.
const transferLimits: TransferLimits = { records: 500_000, octets: 64 * 1024 * 1024, timeoutMs: 120_000 }
/** Timeout of an update in milliseconds: servers with inline signing sign before they respond. */
const updateMs = 30_000
/** Timeout of each query of a check. */
const checkMs = 10_000

/** Response codes that mean nothing was applied. After SERVFAIL something may have been. */
const refusals = new Set<number>([RCODE.FORMERR, RCODE.NOTIMP, RCODE.REFUSED, RCODE.NOTAUTH, RCODE.NOTZONE])
export const isRefusal = (rcode: number | null): boolean => rcode !== null && refusals.has(rcode)

/** Queries, transfers and updates at one server. Zone names have no trailing dot. */
export class Rfc2136Client {
  constructor(
    readonly settings: ServerSettings,
    readonly around: AdapterContext,
  ) {}

  /** Checks that the server responds and accepts the key. Any other response is fine. @throws ProviderError */
  async reach(): Promise<void> {
    const server = await this.#server(this.settings.key)
    try {
      await querySoa(server, '.')
    } catch (error) {
      if (!(error instanceof QueryFailed)) throw error
      if (error.failure !== 'refused') throw toProviderError(error)
    }
  }

  /** Serial of a zone; null if the server is not authoritative for it. @throws ProviderError */
  async serial(zoneName: string): Promise<number | null> {
    const server = await this.#server(this.settings.key)
    try {
      const answer = await querySoa(server, originOf(zoneName))
      if (answer.serial === null && answer.rcode === RCODE.SERVFAIL)
        throw new ProviderError('refused', rcodeMessage(answer.rcode))
      return answer.serial
    } catch (error) {
      if (!(error instanceof QueryFailed)) throw error
      // Some servers don't sign refusals.
      if (error.failure === 'refused' && isRefusal(error.rcode)) return null
      throw toProviderError(error)
    }
  }

  /** @throws ProviderError */
  async transfer(zoneName: string): Promise<Transferred> {
    const server = await this.#server(this.settings.transferKey)
    try {
      return await readTransfer(server, zoneName, transferLimits)
    } catch (error) {
      if (!(error instanceof QueryFailed)) throw error
      throw error.failure === 'refused' ? await this.refusedFor(zoneName, error.rcode!) : toProviderError(error)
    }
  }

  /** Tests whether a transfer starts. @throws QueryFailed, ProviderError */
  async beginTransfer(zoneName: string): Promise<void> {
    const server = await this.#server(this.settings.transferKey)
    for await (const _ of transferZone(server, originOf(zoneName), { ...transferLimits, timeoutMs: checkMs })) break
  }

  /** Sends an empty update to test permissions. @returns the response code @throws QueryFailed, ProviderError */
  async tryUpdate(zoneName: string): Promise<number> {
    return await this.#update(zoneName, [], [], checkMs)
  }

  /** Sends one update, without retries. @returns the response code @throws QueryFailed; ProviderError if nothing was sent */
  async update(zoneName: string, prerequisites: Prerequisite[], steps: UpdateStep[]): Promise<number> {
    return await this.#update(zoneName, prerequisites, steps, updateMs)
  }

  async #update(zoneName: string, prerequisites: Prerequisite[], steps: UpdateStep[], timeoutMs: number): Promise<number> {
    const server = await this.#server(this.settings.key)
    const message = updateMessage(0, originOf(zoneName), prerequisites, steps)
    const { rcode } = await queryServer(server, message, { by: 'tcp', timeoutMs })
    return rcode
  }

  /** Servers respond the same for unknown zones and for denied operations. */
  async refusedFor(zoneName: string, rcode: number): Promise<ProviderError> {
    return (await this.serial(zoneName)) === null ? zoneNotFound(zoneName) : new ProviderError('refused', rcodeMessage(rcode))
  }

  /** Resolves and vets the address for each connection. @throws ProviderError `unreachable` */
  async #server(key: TsigKey): Promise<QueriedServer> {
    const { host, port } = this.settings
    try {
      return { at: await this.around.vet(host, port), key, now: () => this.around.clock.now() }
    } catch (error) {
      if (error instanceof EgressRefused) throw new ProviderError('unreachable', error.message)
      throw error
    }
  }
}

export const zoneNotFound = (zoneName: string): ProviderError =>
  new ProviderError('zone_not_found', `The server is not authoritative for the zone ${zoneName}.`)
