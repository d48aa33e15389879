import type { AccountCheck } from '../../../adapters/adapter'
import { QueryFailed } from '../../../dns/client/failure'
import { rcodeMessage } from '../../../dns/client/signed-answer'
import { RCODE } from '../../../dns/message'
import { MESSAGE_MAX } from '../../../dns/message-encode'
import { wireLength } from '../../../dns/name'
import { tsigLength } from '../../../dns/tsig'
import { TTL_MAX } from '../../../dns/ttl'
import { originOf, rrsetKey } from '../zones/names'
import { toProviderError } from './query-failures'
import {
  ProviderError,
  resultOf,
  type Caps,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderRrset,
  type ProviderZone,
  type Snapshot,
  type AdapterContext,
  type UnsupportedRrset,
} from './provider'
import { isRefusal, zoneNotFound, Rfc2136Client, type ServerSettings } from './rfc2136-client'
import { batchesOf, isApexNs, rrsetOctets, updateOf } from './rfc2136-steps'
import { sameValues } from './same-rrset'

/** Access to a server, and the zones to list, without the trailing dot. */
interface DynamicUpdateSettings extends ServerSettings {
  zones: string[] | null
}

/** Maximum size of an rrset, so that the old and new one fit into a message. */
const maxRrsetOctets = MESSAGE_MAX / 2 - 1024
/** Zones queried at once when listing. */
const zonesPerBatch = 20
/** Maximum number of zones that a check queries. */
const maxCheckedZones = 10

/** Capabilities of every server that supports dynamic updates. */
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

/** A name server that is changed by dynamic updates and read by zone transfers. */
export class DynamicUpdateServer implements DnsProvider {
  readonly caps = updateCaps
  readonly listZones?: () => Promise<ProviderZone[]>

  readonly #client: Rfc2136Client

  constructor(
    readonly settings: DynamicUpdateSettings,
    around: AdapterContext,
  ) {
    this.#client = new Rfc2136Client(settings, around)
    const { zones } = settings
    if (zones) this.listZones = () => this.#listed(zones)
  }

  async check(): Promise<AccountCheck> {
    const { host, port, zones } = this.settings
    if (zones === null || zones.length === 0) {
      await this.#client.reach()
      const warnings = ['Permissions of the key can only be checked if the settings list `zones`.']
      return { detail: `Name server at ${host}, port ${port}.`, warnings }
    }
    const checked = zones.slice(0, maxCheckedZones)
    // In parallel, so that timeouts don't add up.
    const found = await Promise.all(checked.map(async name => (await this.#objections(name)).map(one => `${name}: ${one}`)))
    const named = checked.length < zones.length ? `the first ${checked.length} zones` : checked.join(', ')
    return { detail: `Name server at ${host}, port ${port}. Checked: ${named}.`, warnings: found.flat() }
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    return (await this.#client.serial(name)) === null ? null : { name, ref: null }
  }

  async read({ name }: ProviderZone): Promise<Snapshot> {
    const { rrsets, serial } = await this.#client.transfer(name)
    return { rrsets, serial }
  }

  async readSerial({ name }: ProviderZone): Promise<number> {
    const serial = await this.#client.serial(name)
    if (serial === null) throw zoneNotFound(name)
    return serial
  }

  findUnsupported(rrset: ProviderRrset): UnsupportedRrset[] {
    const { name, type } = rrset
    if (updateCaps.unsupported.has(type)) return [{ name, type, detail: `Name servers don’t support ${type} records.` }]
    // The old and new rrset are in one message.
    if (rrsetOctets(rrset) > maxRrsetOctets)
      return [{ name, type, detail: 'The record set is too large for a DNS update message.' }]
    return []
  }

  async apply({ name }: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    const { batches, tooLong } = batchesOf(ops, this.#availableOctets(name))
    const impossible = new Map<Op, string>(tooLong.map(op => [op, 'The record set is too large for a DNS update message.']))
    for (const op of ops)
      if (isApexNs(op) && op.after === null)
        impossible.set(op, 'The apex must keep at least one NS record (RFC 2136 section 3.4.2.4).')
    if (impossible.size > 0)
      return ops.map(op => (impossible.has(op) ? resultOf(op, 'refused', impossible.get(op)) : resultOf(op, 'skipped')))

    const results = new Map<string, OpResult>()
    for (const batch of batches) {
      const some = await this.#applyBatch(name, batch, results.size > 0)
      for (const one of some) results.set(rrsetKey(one), one)
      if (some.some(one => one.outcome !== 'done')) break
    }
    return ops.map(op => results.get(rrsetKey(op)) ?? resultOf(op, 'skipped'))
  }

  /** @param begun whether earlier steps were applied, so errors can no longer be thrown */
  async #applyBatch(zoneName: string, batch: Op[], begun: boolean): Promise<OpResult[]> {
    const { prerequisites, steps } = updateOf(zoneName, batch)
    let rcode: number
    try {
      rcode = await this.#client.update(zoneName, prerequisites, steps)
    } catch (error) {
      if (error instanceof QueryFailed && error.sent) {
        const isRefused = error.failure === 'bad_key' || isRefusal(error.rcode)
        return batch.map(op => resultOf(op, isRefused ? 'refused' : 'unknown', error.message))
      }
      if (!(error instanceof QueryFailed || error instanceof ProviderError)) throw error
      if (begun) return batch.map(op => resultOf(op, 'skipped', error.message))
      throw error instanceof QueryFailed ? toProviderError(error) : error
    }
    if (rcode === RCODE.NOERROR) return batch.map(op => resultOf(op, 'done'))
    if (stale.has(rcode)) return await this.#findStale(zoneName, batch)
    return batch.map(op => resultOf(op, isRefusal(rcode) ? 'refused' : 'unknown', rcodeMessage(rcode)))
  }

  /** Reads the zone to find out which prerequisite failed: the server doesn't report it. */
  async #findStale(zoneName: string, batch: Op[]): Promise<OpResult[]> {
    const detail = 'Changed at the server since it was read.'
    const others = 'Another record set in the same update was changed at the server since it was read.'
    let now: Map<string, ProviderRrset>
    try {
      const { rrsets } = await this.read({ name: zoneName, ref: null })
      now = new Map(rrsets.map(one => [rrsetKey(one), one]))
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      return batch.map(op => resultOf(op, 'stale', detail))
    }
    const moved = batch.filter(op => !sameValues(op.type, now.get(rrsetKey(op))?.values ?? [], op.before?.values ?? []))
    const culprits = new Set(moved.length > 0 ? moved : batch)
    return batch.map(op => (culprits.has(op) ? resultOf(op, 'stale', detail) : resultOf(op, 'skipped', others)))
  }

  /** Octets available for records in a message. */
  #availableOctets(zoneName: string): number {
    const header = 12
    const question = wireLength(originOf(zoneName)) + 4
    return MESSAGE_MAX - header - question - tsigLength(this.settings.key)
  }

  async #listed(zones: string[]): Promise<ProviderZone[]> {
    const found: ProviderZone[] = []
    for (let at = 0; at < zones.length; at += zonesPerBatch) {
      const some = await Promise.all(zones.slice(at, at + zonesPerBatch).map(name => this.findZone(name)))
      found.push(...some.filter(zone => zone !== null))
    }
    return found
  }

  /** Finds limitations of the key for a zone. */
  async #objections(name: string): Promise<string[]> {
    if (!(await this.findZone(name))) return ['the server is not authoritative for this zone.']
    const objections: string[] = []
    try {
      await this.#client.beginTransfer(name)
    } catch (error) {
      if (!(error instanceof QueryFailed)) throw error
      objections.push(`zone transfers are not possible. ${error.message}`)
    }
    try {
      // Without prerequisites and changes, the server only checks permissions.
      const rcode = await this.#client.tryUpdate(name)
      if (rcode !== RCODE.NOERROR) objections.push(`updates are not possible. ${rcodeMessage(rcode)}`)
    } catch (error) {
      if (!(error instanceof QueryFailed)) throw error
      objections.push(`updates are not possible. ${error.message}`)
    }
    return objections
  }
}

/** Response codes for failed prerequisites (RFC 2136 section 3.2). */
const stale = new Set<number>([RCODE.NXDOMAIN, RCODE.YXDOMAIN, RCODE.YXRRSET, RCODE.NXRRSET])
