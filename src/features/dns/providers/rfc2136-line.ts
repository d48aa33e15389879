import { ask } from '../../../core/dns-client/ask'
import { AskFailed } from '../../../core/dns-client/failure'
import type { NameServerAsked } from '../../../core/dns-client/server'
import { refusal } from '../../../core/dns-client/signed-answer'
import { askSoa } from '../../../core/dns-client/soa'
import { transferZone, type TransferLimits } from '../../../core/dns-client/transfer'
import { RCODE } from '../../../core/dns/message'
import type { TsigKey } from '../../../core/dns/tsig'
import { updateMessage, type Prerequisite, type UpdateStep } from '../../../core/dns/update'
import { EgressRefused } from '../../../core/net/egress'
import { originOf } from '../zone-names'
import { providerErrorOf } from './ask-failures'
import { ProviderError, type Surroundings } from './provider'
import { readTransfer, type Transferred } from './zone-transfer'

/** Where a server is, and the keys it is spoken to with. */
export interface ServerSettings {
  host: string
  port: number
  key: TsigKey
  transferKey: TsigKey
}

// As many as a process can compare, and longer than any server needs for them.
const transferLimits: TransferLimits = { records: 500_000, octets: 64 * 1024 * 1024, timeoutMs: 120_000 }
/** How long an update may take, in milliseconds: servers that sign do so before they answer. */
const updateMs = 30_000
/** How long each question of a check may take. */
const checkMs = 10_000

/** Answers after which nothing happened. SERVFAIL may come after something did. */
const refusals = new Set<number>([RCODE.FORMERR, RCODE.NOTIMP, RCODE.REFUSED, RCODE.NOTAUTH, RCODE.NOTZONE])
export const isRefusal = (rcode: number | null): boolean => rcode !== null && refusals.has(rcode)

/** What a server is asked about zones, by names without the dot at the end. */
export class ServerLine {
  constructor(
    readonly settings: ServerSettings,
    readonly around: Surroundings,
  ) {}

  /** Any answer but one about the key will do: whether it is responsible for the root is of no interest. @throws ProviderError */
  async reach(): Promise<void> {
    const server = await this.#server(this.settings.key)
    try {
      await askSoa(server, '.')
    } catch (error) {
      if (!(error instanceof AskFailed)) throw error
      if (error.failure !== 'refused') throw providerErrorOf(error)
    }
  }

  /** The serial of a zone; null where the server is not responsible for it. @throws ProviderError */
  async serial(zoneName: string): Promise<number | null> {
    const server = await this.#server(this.settings.key)
    try {
      const answer = await askSoa(server, originOf(zoneName))
      if (answer.serial === null && answer.rcode === RCODE.SERVFAIL) throw new ProviderError('refused', refusal(answer.rcode))
      return answer.serial
    } catch (error) {
      if (!(error instanceof AskFailed)) throw error
      // Of servers that sign no refusals.
      if (error.failure === 'refused' && isRefusal(error.rcode)) return null
      throw providerErrorOf(error)
    }
  }

  /** @throws ProviderError */
  async transfer(zoneName: string): Promise<Transferred> {
    const server = await this.#server(this.settings.transferKey)
    try {
      return await readTransfer(server, zoneName, transferLimits)
    } catch (error) {
      if (!(error instanceof AskFailed)) throw error
      throw error.failure === 'refused' ? await this.refusedFor(zoneName, error.rcode!) : providerErrorOf(error)
    }
  }

  /** Whether a transfer begins. @throws AskFailed, ProviderError */
  async beginTransfer(zoneName: string): Promise<void> {
    const server = await this.#server(this.settings.transferKey)
    for await (const _ of transferZone(server, originOf(zoneName), { ...transferLimits, timeoutMs: checkMs })) break
  }

  /** Whether the zone may be changed: nothing is. @returns the code of the answer @throws AskFailed, ProviderError */
  async tryUpdate(zoneName: string): Promise<number> {
    return await this.#update(zoneName, [], [], checkMs)
  }

  /** Sends one update, once. @returns the code of the answer @throws AskFailed; ProviderError with nothing sent */
  async update(zoneName: string, prerequisites: Prerequisite[], steps: UpdateStep[]): Promise<number> {
    return await this.#update(zoneName, prerequisites, steps, updateMs)
  }

  async #update(zoneName: string, prerequisites: Prerequisite[], steps: UpdateStep[], timeoutMs: number): Promise<number> {
    const server = await this.#server(this.settings.key)
    const message = updateMessage(0, originOf(zoneName), prerequisites, steps)
    const { rcode } = await ask(server, message, { by: 'tcp', timeoutMs })
    return rcode
  }

  /** Servers say the same of zones that they do not have and of what they do not allow. */
  async refusedFor(zoneName: string, rcode: number): Promise<ProviderError> {
    return (await this.serial(zoneName)) === null ? notThere(zoneName) : new ProviderError('refused', refusal(rcode))
  }

  /** Looked up and vetted anew for each connection. @throws ProviderError `unreachable` */
  async #server(key: TsigKey): Promise<NameServerAsked> {
    const { host, port } = this.settings
    try {
      return { at: await this.around.vet(host, port), key, now: () => this.around.clock.now() }
    } catch (error) {
      if (error instanceof EgressRefused) throw new ProviderError('unreachable', error.message)
      throw error
    }
  }
}

export const notThere = (zoneName: string): ProviderError =>
  new ProviderError('zone_not_found', `The server does not answer for the zone ${zoneName}.`)
