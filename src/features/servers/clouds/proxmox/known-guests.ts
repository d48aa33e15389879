import { limitConcurrency } from '../../../../checks/concurrency-limit'
import type { Clock } from '../../../../core/clock'
import { isObject } from '../../../../dns/octets'
import { CloudError, type CloudServer, type ServerAddress } from '../cloud'
import type { AccountState, KnownGuest } from './account-state'
import { NodeUnreachable, type ProxmoxClient } from './client'
import { configOf, hasAgent, macsOf, type Config } from './config'
import { pathOf, refreshed, serverOf, sorted, type Guest, type Inventory } from './guests'

/**
 * Reads what the list of guests doesn't contain: the configuration and the addresses of each. All of them are read once; later, those that
 * the list shows to be changed, and some of the others, so that a reading of 200 guests takes about 30 short calls.
 */
export class KnownGuests {
  constructor(
    private readonly client: ProxmoxClient,
    private readonly clock: Clock,
    private readonly state: AccountState,
  ) {}

  /** All guests but templates as servers. @throws CloudError */
  async servers(inventory: Inventory): Promise<CloudServer[]> {
    const guests = await this.#current(inventory)
    await this.readConfigs(guests, inventory)
    await this.#readAddresses(guests, inventory)
    for (const vmid of this.state.known.keys()) if (!guests.some(one => one.vmid === vmid)) this.state.known.delete(vmid)
    return guests.map(one => this.#serverOf(one))
  }

  /** One guest as a server, read again. @param online nodes that respond */
  async server(listed: Guest, online: ReadonlySet<string>): Promise<CloudServer> {
    const guest = online.has(listed.node) ? await this.#ifReachable(() => this.refresh(listed)) : null
    if (!guest) return this.#serverOf({ ...listed, status: 'unknown' })
    if ((await this.#readConfig(guest)) && wantsAddresses(guest, this.state.known.get(guest.vmid)!, this.clock.now()))
      await this.#readAddress(guest)
    return this.#serverOf(guest)
  }

  /** Reads the configurations of guests that are not known, or not well enough. @throws CloudError */
  async readConfigs(guests: readonly Guest[], { online }: Inventory): Promise<void> {
    const now = this.clock.now()
    const [outdated, known]: [Guest[], Guest[]] = [[], []]
    for (const guest of guests.filter(one => online.has(one.node))) (this.#isCurrent(guest) ? known : outdated).push(guest)
    const readAt = ({ vmid }: Guest) => this.state.known.get(vmid)!.readAt
    const aged = known.filter(one => readAt(one) + maxAgeMs < now).sort((one, other) => readAt(one) - readAt(other))
    const read = limitConcurrency(maxConcurrency, (guest: Guest) => this.#readConfig(guest))
    await Promise.all([...outdated, ...someOf(aged, guests.length)].map(read))
  }

  /** A guest with what its node reports now. @throws CloudError */
  async refresh(guest: Guest): Promise<Guest> {
    return refreshed(guest, await this.client.get(`${pathOf(guest)}/status/current`, {}, configLimits))
  }

  /** The configuration of a guest as it was read last; null if it never was. */
  configOf(vmid: number): Config | null {
    return this.state.known.get(vmid)?.config ?? null
  }

  /** Marks a guest to be read again. Its addresses are kept until then. */
  outdate(vmid: number): void {
    const known = this.state.known.get(vmid)
    if (known) Object.assign(known, { isOutdated: true, addressesDueAt: 0 })
  }

  /**
   * Guests with their current state: the list is up to 10 seconds old, which matters for those that we changed, and has no state of those
   * that are new. Templates are left out.
   */
  async #current({ guests, online }: Inventory): Promise<Guest[]> {
    const now = this.clock.now()
    for (const [vmid, at] of this.state.changed) if (at + statsAgeMs < now) this.state.changed.delete(vmid)
    const refresh = limitConcurrency(maxConcurrency, async (guest: Guest): Promise<Guest> => {
      // What a node reported before it went offline says nothing about now.
      if (!online.has(guest.node)) return { ...guest, status: 'unknown' }
      if (guest.status !== 'unknown' && !this.state.changed.has(guest.vmid)) return guest
      return (await this.#ifReachable(() => this.refresh(guest))) ?? guest
    })
    return await Promise.all(guests.filter(one => !one.template).map(refresh))
  }

  /** Whether the configuration is known as of what the list shows now. */
  #isCurrent(guest: Guest): boolean {
    const known = this.state.known.get(guest.vmid)
    return known !== undefined && !known.isOutdated && signatureOf(known.guest) === signatureOf(guest)
  }

  /** @returns whether it could be read: its node may be offline */
  async #readConfig(guest: Guest): Promise<boolean> {
    const data = await this.#ifReachable(() => this.client.get(`${pathOf(guest)}/config`, {}, configLimits))
    if (data === null) return false
    const known = this.state.known.get(guest.vmid)
    // A VMID can be used again by another guest.
    const isSame = known?.guest.type === guest.type
    this.state.known.set(guest.vmid, {
      ...(isSame ? known : { addresses: [], addressesDueAt: 0, addressFailures: 0 }),
      ...{ guest, config: configOf(data), readAt: this.clock.now(), isOutdated: false },
    })
    return true
  }

  async #readAddresses(guests: readonly Guest[], { online }: Inventory): Promise<void> {
    const start = this.clock.now()
    const due = guests.filter(one => {
      const known = this.state.known.get(one.vmid)
      return known !== undefined && online.has(one.node) && wantsAddresses(one, known, start)
    })
    const dueAt = ({ vmid }: Guest) => this.state.known.get(vmid)!.addressesDueAt
    const isUrgent = (one: Guest) => dueAt(one) === 0 || dueAt(one) > start
    const aged = due.filter(one => !isUrgent(one)).sort((one, other) => dueAt(one) - dueAt(other))
    const read = limitConcurrency(maxConcurrency, async (guest: Guest) => {
      if (this.clock.now() < start + maxAddressesMs) await this.#readAddress(guest)
    })
    await Promise.all([...due.filter(isUrgent), ...someOf(aged, guests.length)].map(read))
  }

  /** A guest that doesn't report its addresses keeps those that are known. */
  async #readAddress(guest: Guest): Promise<void> {
    const known = this.state.known.get(guest.vmid)!
    const found = await this.#addressesOf(guest, known.config)
    known.addressFailures = found ? 0 : known.addressFailures + 1
    if (found) known.addresses = found
    const waitMs = found && found.length > 0 ? maxAgeMs : Math.min(retryMs * 2 ** known.addressFailures, maxAgeMs)
    known.addressesDueAt = this.clock.now() + waitMs
    known.guest = { ...known.guest, uptime: guest.uptime }
  }

  async #addressesOf(guest: Guest, config: Config): Promise<ServerAddress[] | null> {
    try {
      const path = guest.type === 'qemu' ? 'agent/network-get-interfaces' : 'interfaces'
      const data = await this.client.get(`${pathOf(guest)}/${path}`, {}, addressLimits)
      return interfaceAddresses(isObject(data) ? data.result : data, macsOf(config))
    } catch (error) {
      // The agent may not run, or not respond, and the token may lack the privilege.
      if (error instanceof CloudError) return null
      throw error
    }
  }

  /** The result of a call to a node; null if it doesn't respond. */
  async #ifReachable<T>(call: () => Promise<T>): Promise<T | null> {
    try {
      return await call()
    } catch (error) {
      if (error instanceof NodeUnreachable) return null
      // It was deleted or migrated since it was listed.
      if (error instanceof CloudError && error.failure === 'not_found')
        throw new CloudError('incomplete', 'The list of guests changed while being read.')
      throw error
    }
  }

  #serverOf(guest: Guest): CloudServer {
    const known = this.state.known.get(guest.vmid)
    // While a node is offline, its guests keep what is known of them.
    const { cores, memoryBytes, diskBytes } = guest
    const filled =
      known && guest.status === 'unknown' ? { ...guest, ...pickKnown({ cores, memoryBytes, diskBytes }, known.guest) } : guest
    return serverOf(filled, known?.config ?? null, known?.addresses ?? [])
  }
}

const pickKnown = (now: Pick<Guest, 'cores' | 'memoryBytes' | 'diskBytes'>, before: Guest) => ({
  cores: now.cores ?? before.cores,
  memoryBytes: now.memoryBytes ?? before.memoryBytes,
  diskBytes: now.diskBytes ?? before.diskBytes,
})

/** Those that a reading refreshes, of guests that have not changed. @param aged oldest first */
const someOf = (aged: readonly Guest[], all: number) => aged.slice(0, Math.max(minRefreshed, Math.ceil(all / refreshedPart)))

/** What changes together with the configuration. */
const signatureOf = ({ type, node, name, template, lock, tags, cores, memoryBytes, diskBytes }: Guest) =>
  JSON.stringify([type, node, name, template, lock, tags, cores, memoryBytes, diskBytes])

function wantsAddresses(guest: Guest, { config, guest: before, addressesDueAt }: KnownGuest, now: number): boolean {
  if (guest.status !== 'running' || (guest.type === 'qemu' && !hasAgent(config))) return false
  return now >= addressesDueAt || guest.uptime < before.uptime
}

/** Addresses of the interfaces that are network devices of the guest, rather than bridges within it. */
export function interfaceAddresses(interfaces: unknown, macs: ReadonlySet<string>): ServerAddress[] {
  if (!Array.isArray(interfaces)) return []
  const texts = interfaces.filter(isObject).flatMap(one => {
    const mac = String(one['hardware-address'] ?? one.hwaddr ?? '').toLowerCase()
    const addresses = Array.isArray(one['ip-addresses']) ? one['ip-addresses'].filter(isObject) : []
    // Versions before 8.4 list one address of each family of a container.
    const listed = [...addresses.map(each => each['ip-address']), one.inet, one.inet6]
    return macs.has(mac) ? listed.flatMap(each => (typeof each === 'string' ? [each.replace(/\/\d+$/, '')] : [])) : []
  })
  return sorted(texts)
}

const maxConcurrency = 8
// Statistics are collected every 10 seconds, and can be one round late.
const statsAgeMs = 25_000
const maxAgeMs = 5 * 60_000
const minRefreshed = 5
const refreshedPart = 20
const retryMs = 15_000
/** How long a reading may ask for addresses; the others follow with the next reading. */
const maxAddressesMs = 5000
const configLimits = { totalMs: 15_000, maxBodyBytes: 256 * 1024 }
// Proxmox waits up to 10 seconds for an agent.
const addressLimits = { totalMs: 4000, maxBodyBytes: 256 * 1024 }
