import { AskFailed } from '../../../core/dns-client/failure'
import { refusal } from '../../../core/dns-client/signed-answer'
import { RCODE } from '../../../core/dns/message'
import { MESSAGE_MAX } from '../../../core/dns/message-encode'
import { wireLength } from '../../../core/dns/name'
import { tsigLength } from '../../../core/dns/tsig'
import { TTL_MAX } from '../../../core/dns/ttl'
import { originOf } from '../zone-names'
import { providerErrorOf } from './ask-failures'
import {
  ProviderError,
  type Caps,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderCheck,
  type ProviderRrset,
  type ProviderZone,
  type Snapshot,
  type Surroundings,
  type Unfit,
} from './provider'
import { isRefusal, notThere, ServerLine, type ServerSettings } from './rfc2136-line'
import { batchesOf, isApexNs, rrsetOctets, updateOf } from './rfc2136-steps'
import { sameValues, stepKey } from './same-rrset'

/** How a server is spoken with, and which zones of it to list, without the dot at the end. */
export interface UpdatedServerSettings extends ServerSettings {
  zones: string[] | null
}

/** Octets of an rrset that can become another one as long. */
const rrsetMost = MESSAGE_MAX / 2 - 1024
/** Zones that are asked for at once, to list them. */
const askedAtOnce = 20
/** Zones that a check looks at. */
const checkedMost = 10

/** What every server does that takes dynamic updates. */
export const updateCaps: Caps = {
  unit: 'rrset',
  atomic: 'batch',
  cas: 'prerequisite',
  unsupported: new Set(['ALIAS']),
  ttl: { min: 0, max: TTL_MAX },
  batchOps: 1000,
  rechunksTxt: false,
  alias: 'expand',
  apexNs: 'rw',
}

/** A name server that is changed by dynamic updates and read by transfers. */
export class UpdatedServer implements DnsProvider {
  readonly caps = updateCaps
  readonly listZones?: () => Promise<ProviderZone[]>

  readonly #line: ServerLine

  constructor(
    readonly settings: UpdatedServerSettings,
    around: Surroundings,
  ) {
    this.#line = new ServerLine(settings, around)
    const { zones } = settings
    if (zones) this.listZones = () => this.#listed(zones)
  }

  async check(): Promise<ProviderCheck> {
    const { host, port, zones } = this.settings
    if (zones === null || zones.length === 0) {
      await this.#line.reach()
      const warnings = ['What the key may do is seen only where the settings name `zones`.']
      return { detail: `A name server answers at ${host}, port ${port}.`, warnings }
    }
    const looked = zones.slice(0, checkedMost)
    // At once, so that those at which a server falls silent do not add up.
    const found = await Promise.all(looked.map(async name => (await this.#objections(name)).map(one => `${name}: ${one}`)))
    const named = looked.length < zones.length ? `the first ${looked.length} zones` : looked.join(', ')
    return { detail: `A name server answers at ${host}, port ${port}. Looked at: ${named}.`, warnings: found.flat() }
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    return (await this.#line.serial(name)) === null ? null : { name, ref: null }
  }

  async read({ name }: ProviderZone): Promise<Snapshot> {
    const { rrsets, serial } = await this.#line.transfer(name)
    return { rrsets, serial }
  }

  async readSerial({ name }: ProviderZone): Promise<number> {
    const serial = await this.#line.serial(name)
    if (serial === null) throw notThere(name)
    return serial
  }

  unfit(rrset: ProviderRrset): Unfit[] {
    const { name, type } = rrset
    if (updateCaps.unsupported.has(type)) return [{ name, type, detail: `${type} is known to no name server.` }]
    // What was and what is to be are in one message.
    if (rrsetOctets(rrset) > rrsetMost) return [{ name, type, detail: 'It is too long for a message to change it.' }]
    return []
  }

  async apply({ name }: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    const { batches, tooLong } = batchesOf(ops, this.#roomFor(name))
    const impossible = new Map<Op, string>(tooLong.map(op => [op, 'It is too long for a message to change it.']))
    for (const op of ops)
      if (isApexNs(op) && op.after === null) impossible.set(op, 'The apex has to keep an NS (RFC 2136 3.4.2.4).')
    if (impossible.size > 0)
      return ops.map(op => (impossible.has(op) ? told(op, 'refused', impossible.get(op)) : told(op, 'left')))

    const results = new Map<string, OpResult>()
    for (const batch of batches) {
      const some = await this.#sent(name, batch, results.size > 0)
      for (const one of some) results.set(stepKey(one), one)
      if (some.some(one => one.outcome !== 'done')) break
    }
    return ops.map(op => results.get(stepKey(op)) ?? told(op, 'left'))
  }

  /** @param begun whether steps before these were done, so that nothing may be thrown any more */
  async #sent(zoneName: string, batch: Op[], begun: boolean): Promise<OpResult[]> {
    const { prerequisites, steps } = updateOf(zoneName, batch)
    let rcode: number
    try {
      rcode = await this.#line.update(zoneName, prerequisites, steps)
    } catch (error) {
      if (error instanceof AskFailed && error.sent) {
        const isRefused = error.failure === 'bad_key' || isRefusal(error.rcode)
        return batch.map(op => told(op, isRefused ? 'refused' : 'unknown', error.message))
      }
      if (!(error instanceof AskFailed || error instanceof ProviderError)) throw error
      if (begun) return batch.map(op => told(op, 'left', error.message))
      throw error instanceof AskFailed ? providerErrorOf(error) : error
    }
    if (rcode === RCODE.NOERROR) return batch.map(op => told(op, 'done'))
    if (stale.has(rcode)) return await this.#staleOnes(zoneName, batch)
    return batch.map(op => told(op, isRefusal(rcode) ? 'refused' : 'unknown', refusal(rcode)))
  }

  /** The server does not tell which prerequisite failed, so the zone is read to see. */
  async #staleOnes(zoneName: string, batch: Op[]): Promise<OpResult[]> {
    const detail = 'It is not at the server as it was read.'
    const others = 'Something else of the same message is not at the server as it was read.'
    let now: Map<string, ProviderRrset>
    try {
      const { rrsets } = await this.read({ name: zoneName, ref: null })
      now = new Map(rrsets.map(one => [stepKey(one), one]))
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      return batch.map(op => told(op, 'stale', detail))
    }
    const moved = batch.filter(op => !sameValues(op.type, now.get(stepKey(op))?.values ?? [], op.before?.values ?? []))
    const culprits = new Set(moved.length > 0 ? moved : batch)
    return batch.map(op => (culprits.has(op) ? told(op, 'stale', detail) : told(op, 'left', others)))
  }

  /** Octets of a message that are left for records. */
  #roomFor(zoneName: string): number {
    const header = 12
    const question = wireLength(originOf(zoneName)) + 4
    return MESSAGE_MAX - header - question - tsigLength(this.settings.key)
  }

  async #listed(zones: string[]): Promise<ProviderZone[]> {
    const found: ProviderZone[] = []
    for (let at = 0; at < zones.length; at += askedAtOnce) {
      const some = await Promise.all(zones.slice(at, at + askedAtOnce).map(name => this.findZone(name)))
      found.push(...some.filter(zone => zone !== null))
    }
    return found
  }

  /** What will not work with a zone. */
  async #objections(name: string): Promise<string[]> {
    if (!(await this.findZone(name))) return ['the server does not answer for this zone.']
    const objections: string[] = []
    try {
      await this.#line.beginTransfer(name)
    } catch (error) {
      if (!(error instanceof AskFailed)) throw error
      objections.push(`it cannot be transferred. ${error.message}`)
    }
    try {
      // Without prerequisites and changes it is only looked at whether it is allowed.
      const rcode = await this.#line.tryUpdate(name)
      if (rcode !== RCODE.NOERROR) objections.push(`it cannot be changed. ${refusal(rcode)}`)
    } catch (error) {
      if (!(error instanceof AskFailed)) throw error
      objections.push(`it cannot be changed. ${error.message}`)
    }
    return objections
  }
}

/** A prerequisite that does not hold (RFC 2136 3.2). */
const stale = new Set<number>([RCODE.NXDOMAIN, RCODE.YXDOMAIN, RCODE.YXRRSET, RCODE.NXRRSET])
const told = (op: Op, outcome: OpResult['outcome'], detail?: string): OpResult => ({
  name: op.name,
  type: op.type,
  outcome,
  ...(detail !== undefined && { detail }),
})
