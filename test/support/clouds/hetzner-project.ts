import type { Clock } from '../../../src/core/clock'
import { HetznerRefused, invalidInput, notFound } from '../hetzner-refused'
import {
  extraPrices,
  images,
  locations,
  serverTypes,
  type HetznerImage,
  type HetznerLocation,
  type HetznerServerType,
} from './hetzner-catalog'

/** A change in progress. Its effect happens when it ends. */
export interface HetznerAction {
  id: number
  command: string
  startedAt: number
  endsAt: number
  resources: { id: number; type: string }[]
  error: { code: string; message: string } | null
}

export interface HetznerSshKey {
  id: number
  name: string
  fingerprint: string
  public_key: string
  labels: Record<string, string>
  created: string
}

export interface HetznerNetwork {
  id: number
  name: string
  ip_range: string
  subnets: { type: string; ip_range: string; network_zone: string; gateway: string }[]
  labels: Record<string, string>
  created: string
  servers: number[]
}

export interface HetznerPrimaryIp {
  id: number
  name: string
  type: 'ipv4' | 'ipv6'
  ip: string
  location: string
  assignee_id: number | null
  auto_delete: boolean
  labels: Record<string, string>
  created: string
}

export interface HetznerVolume {
  id: number
  name: string
  /** GB. */
  size: number
  format: string | null
  location: string
  server: number | null
  status: 'creating' | 'available'
  labels: Record<string, string>
  protection: { delete: boolean }
  created: string
}

export interface HetznerRule {
  direction: 'in' | 'out'
  protocol: 'tcp' | 'udp' | 'icmp' | 'esp' | 'gre'
  port: string | null
  source_ips: string[]
  destination_ips: string[]
  description: string | null
}

export interface HetznerFirewall {
  id: number
  name: string
  labels: Record<string, string>
  created: string
  rules: HetznerRule[]
  /** Servers it is applied to directly. */
  servers: number[]
  /** Label selectors it is applied to. */
  selectors: string[]
}

export type HetznerStatus = 'initializing' | 'starting' | 'running' | 'stopping' | 'off' | 'deleting' | 'migrating' | 'rebuilding'

export interface HetznerServer {
  id: number
  name: string
  created: string
  status: HetznerStatus
  type: HetznerServerType
  /** GB. */
  disk: number
  image: HetznerImage | null
  location: string
  labels: Record<string, string>
  protection: { delete: boolean; rebuild: boolean }
  backupWindow: string | null
  isRescueEnabled: boolean
  ipv4: HetznerPrimaryIp | null
  ipv6: HetznerPrimaryIp | null
  privateNets: { network: number; ip: string; mac_address: string; alias_ips: string[] }[]
  /** Names of the SSH keys that were injected. */
  sshKeys: string[]
  userData: string | null
  /** How often it was started, to find commands that were carried out twice. */
  boots: number
}

/** The state of a project at the double of Hetzner Cloud, with the time on its clock. */
export class HetznerProject {
  readonly locations = locations()
  readonly serverTypes = serverTypes()
  readonly images = new Map(images().map(one => [one.id, one]))
  readonly servers = new Map<number, HetznerServer>()
  readonly sshKeys = new Map<number, HetznerSshKey>()
  readonly networks = new Map<number, HetznerNetwork>()
  readonly primaryIps = new Map<number, HetznerPrimaryIp>()
  readonly volumes = new Map<number, HetznerVolume>()
  readonly firewalls = new Map<number, HetznerFirewall>()
  readonly actions = new Map<number, HetznerAction>()
  /** Locations without space for volumes. */
  readonly fullLocations = new Set<string>()
  prices = extraPrices()
  /** How long actions take. By default, they are finished as soon as something else is requested. */
  actionMs: (command: string) => number = () => 0
  /** Errors in which actions end, by command. */
  actionErrors: Record<string, { code: string; message: string }> = {}
  /** Whether servers that could not be created stay, switched off. */
  keepsFailedServers = false
  /** How long guests take to shut down; infinite if they ignore the request. */
  shutdownMs = 0
  /** Maximum number of servers. */
  serverLimit = Infinity
  readonly #running = new Set<HetznerAction>()
  #lastId = 4710
  #lastAddress = 0
  #effects: { at: number; run: () => void }[] = []

  constructor(readonly clock: Clock) {}

  newId(): number {
    return ++this.#lastId
  }

  /** The time in responses, to the second. */
  now(): string {
    return time(this.clock.now())
  }

  /** Lets everything happen that is due. */
  settle(): void {
    const now = this.clock.now()
    while (this.#effects.length > 0 && this.#effects[0]!.at <= now) this.#effects.shift()!.run()
  }

  /** @param ms from now */
  later(ms: number, run: () => void): void {
    if (ms === Infinity) return
    this.#at(this.clock.now() + ms, run)
  }

  /**
   * Starts an action.
   * @param effect what it changes when it ends, unless it fails
   * @param after an action that it waits for, and with which it fails
   * @param failed called instead of `effect` if it fails
   */
  act(
    command: string,
    resources: HetznerAction['resources'],
    effect: () => void,
    { after, failed = () => {} }: { after?: HetznerAction; failed?: () => void } = {},
  ): HetznerAction {
    const startedAt = this.clock.now()
    const action: HetznerAction = {
      ...{ id: this.newId(), command, startedAt, resources },
      endsAt: (after?.endsAt ?? startedAt) + this.actionMs(command),
      error: this.actionErrors[command] ?? null,
    }
    this.actions.set(action.id, action)
    this.#running.add(action)
    this.#at(action.endsAt, () => {
      this.#running.delete(action)
      action.error ??= after?.error ?? null
      if (action.error) failed()
      else effect()
    })
    return action
  }

  isRunning(action: HetznerAction): boolean {
    return this.#running.has(action)
  }

  /** Whether an action of a resource is running. Servers are not locked by their firewalls. */
  isLocked(type: string, id: number): boolean {
    return [...this.#running].some(
      one =>
        one.resources.some(resource => resource.id === id && resource.type === type) &&
        !(type === 'server' && one.command.endsWith('_firewall')),
    )
  }

  actionsOf(type: string, id?: number): HetznerAction[] {
    const isOf = (one: HetznerAction) =>
      one.resources.some(resource => resource.type === type && (id === undefined || resource.id === id))
    return [...this.actions.values()].filter(isOf)
  }

  location(idOrName: string | number): HetznerLocation {
    const found = this.locations.find(one => one.name === idOrName || String(one.id) === String(idOrName))
    if (!found) throw invalidInput('location', 'location not found')
    return found
  }

  serverType(idOrName: string | number): HetznerServerType {
    const found = this.serverTypes.find(one => one.name === idOrName || String(one.id) === String(idOrName))
    if (!found) throw invalidInput('server_type', 'server type not found')
    return found
  }

  image(idOrName: string | number, architecture: string): HetznerImage {
    const found = [...this.images.values()].find(
      one => String(one.id) === String(idOrName) || (one.name === idOrName && one.architecture === architecture),
    )
    if (!found || found.status !== 'available') throw invalidInput('image', 'image not found')
    if (found.architecture !== architecture)
      throw invalidInput('image', 'image has a different architecture than the server type')
    return found
  }

  sshKey(idOrName: string | number): HetznerSshKey {
    const found = [...this.sshKeys.values()].find(one => one.name === idOrName || String(one.id) === String(idOrName))
    if (!found) throw notFound(`SSH key with ID '${idOrName}'`)
    return found
  }

  /** Creates a primary IP for a server. */
  primaryIp(type: 'ipv4' | 'ipv6', location: string, assignee_id: number): HetznerPrimaryIp {
    const id = this.newId()
    const number = ++this.#lastAddress
    const ip =
      type === 'ipv4'
        ? `203.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
        : `2001:db8:${number.toString(16)}::/64`
    const one = {
      id,
      name: `primary_ip-${id}`,
      type,
      ip,
      location,
      assignee_id,
      auto_delete: true,
      labels: {},
      created: this.now(),
    }
    this.primaryIps.set(id, one)
    return one
  }

  /** Removes a server with the addresses that were created for it. */
  remove(server: HetznerServer): void {
    this.servers.delete(server.id)
    for (const ip of [server.ipv4, server.ipv6]) if (ip) this.primaryIps.delete(ip.id)
    for (const network of this.networks.values()) network.servers = network.servers.filter(id => id !== server.id)
    for (const volume of this.volumes.values()) if (volume.server === server.id) volume.server = null
    for (const firewall of this.firewalls.values()) firewall.servers = firewall.servers.filter(id => id !== server.id)
    for (const image of [...this.images.values()]) if (image.bound_to === server.id) this.images.delete(image.id)
  }

  #at(at: number, run: () => void): void {
    const place = this.#effects.findLastIndex(one => one.at <= at)
    this.#effects.splice(place + 1, 0, { at, run })
  }
}

export const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, '+00:00')

/** Validates labels. @throws HetznerRefused */
export function refuseLabels(labels: Record<string, string> = {}): void {
  const segment = '[a-zA-Z0-9](?:[a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?'
  const key = RegExp(`^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?${segment}$`)
  for (const one of Object.keys(labels))
    if (!key.test(one) || one.startsWith('hetzner.cloud/'))
      throw invalidInput('labels', `label key '${one}' is not correctly formatted`)
  for (const one of Object.values(labels))
    if (one !== '' && !RegExp(`^${segment}$`).test(one))
      throw invalidInput('labels', `label value '${one}' is not correctly formatted`)
}

/** Parses a label selector (docs.hetzner.cloud/reference/cloud, Label Selector). */
export function labelSelector(text: string | null): (labels: Record<string, string>) => boolean {
  if (text === null || text.trim() === '') return () => true
  const terms = text.split(/,(?![^(]*\))/).map(term => {
    const [, key, operator, value] = /^\s*([\w./-]+)\s*(==|=|!=| in | notin )\s*(.*?)\s*$/.exec(term) ?? []
    if (key !== undefined) {
      const values = /^\((.*)\)$/
        .exec(value!)?.[1]!
        .split(',')
        .map(one => one.trim()) ?? [value!]
      const isNegated = operator === '!=' || operator === ' notin '
      return (labels: Record<string, string>) => values.includes(labels[key]!) !== isNegated
    }
    const [, not, name] = /^\s*(!?)\s*([\w./-]+)\s*$/.exec(term) ?? []
    if (name === undefined) throw invalidInput('label_selector', 'label selector is not correctly formatted')
    return (labels: Record<string, string>) => name in labels === (not === '')
  })
  return labels => terms.every(term => term(labels))
}

export const uniqueness = (what: string) => new HetznerRefused(409, 'uniqueness_error', `${what} is already used`)
