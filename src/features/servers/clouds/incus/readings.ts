import { classOf, formatAddress, parseAddress } from '../../../../core/net/address'
import { flatMapInTurns } from '../../../../core/time-slices'
import { isObject } from '../../../../dns/octets'
import type { LabelChange } from '../label-change'
import { CloudError, type CloudServer, type CloudStatus, type ServerAddress, type ServerUsage } from '../cloud'

/** Config keys at an instance. Keys below `user.` are free. */
export const markKey = 'user.bailiwick.server'
export const imageKey = 'user.bailiwick.image'
const labelPrefix = 'user.bailiwick.label.'
export const protectionKey = 'security.protection.delete'
const baseImageKey = 'volatile.base_image'

/** An instance of the API, with the fields that are used. */
export interface Instance {
  name: string
  status: string
  type: string
  location: string | null
  createdAt: string
  /** When it was started last. */
  startedAt: string
  config: Record<string, string>
  /** Including its profiles. */
  expandedConfig: Record<string, string>
  devices: Record<string, Device>
  expandedDevices: Record<string, Device>
  /** Network interfaces in the guest, if it runs. */
  interfaces: Record<string, unknown>[]
  /** Nanoseconds of CPU time, and bytes of memory, if it runs and its agent tells them. */
  cpuNanoseconds: number | null
  memoryBytes: number | null
}
export type Device = Record<string, string>

/** Parses an instance. @throws CloudError `incomplete` */
export function instanceOf(row: Record<string, unknown>): Instance {
  const { name, status, type, location, created_at, last_used_at, state } = row
  if (typeof name !== 'string' || name === '' || typeof status !== 'string' || !isObject(row.config))
    throw new CloudError('incomplete', 'The response has an instance without a name, status, or configuration.')
  const { network, cpu, memory } = isObject(state) ? state : {}
  return {
    name,
    status,
    type: String(type),
    // `none` without a cluster.
    location: typeof location === 'string' && location !== 'none' && location !== '' ? location : null,
    createdAt: String(created_at),
    startedAt: String(last_used_at),
    config: textsOf(row.config),
    expandedConfig: textsOf(row.expanded_config ?? row.config),
    devices: devicesOf(row.devices),
    expandedDevices: devicesOf(row.expanded_devices),
    interfaces: Object.values(isObject(network) ? network : {}).filter(isObject),
    cpuNanoseconds: isObject(cpu) ? amount(cpu.usage) : null,
    memoryBytes: isObject(memory) ? amount(memory.usage) : null,
  }
}

/** Identifies an instance. Names can be changed and used again. */
export const refOf = ({ config, name }: Instance): string => config['volatile.uuid'] ?? name

/** Converts all instances of a project. */
export async function serversOf(instances: readonly Instance[]): Promise<CloudServer[]> {
  const owners = new Map<string, Instance>()
  for (const one of instances) {
    const mark = one.config[markKey]
    if (mark !== undefined && isOlder(one, owners.get(mark))) owners.set(mark, one)
  }
  return await flatMapInTurns(instances, one => {
    const server = serverOf(one)
    // Copies of an instance have its mark.
    return [server.mark !== null && owners.get(server.mark) !== one ? { ...server, mark: null } : server]
  })
}

/** Whether an instance is older than another, which a copy is not. */
export const isOlder = (one: Instance, other: Instance | undefined): boolean => !other || one.createdAt < other.createdAt

export function serverOf(instance: Instance): CloudServer {
  const { name, status, type, location, config, expandedConfig } = instance
  const { status: word, power } = statuses[status.toLowerCase()] ?? unknown
  return {
    ref: refOf(instance),
    // A name can be used again, a UUID can't.
    identity: config['volatile.uuid'] === undefined ? instance.createdAt : null,
    name,
    kind: type === 'virtual-machine' ? 'vm' : 'container',
    status: word,
    statusText: status,
    power,
    location,
    size: null,
    resources: {
      cores: coresOf(expandedConfig['limits.cpu']),
      memoryBytes: bytesOf(expandedConfig['limits.memory']),
      diskBytes: bytesOf(rootDisk(instance.expandedDevices)?.[1].size),
    },
    image: imageOf(config),
    addresses: addressesOf(instance),
    labels: labelsOf(config),
    protection: { delete: expandedConfig[protectionKey] === 'true', rebuild: false },
    backups: null,
    mark: config[markKey] ?? null,
  }
}

/** The device with the root disk, and its name. */
export const rootDisk = (devices: Record<string, Device>): [name: string, device: Device] | undefined =>
  Object.entries(devices).find(([, device]) => device.type === 'disk' && device.path === '/')

// Status codes of the API (linuxcontainers.org/incus/docs/main/rest-api). An error means that the state is not known.
const unknown: { status: CloudStatus; power: CloudServer['power'] } = { status: 'unknown', power: 'unknown' }
const statuses: Readonly<Record<string, typeof unknown>> = {
  __proto__: null!,
  running: { status: 'running', power: 'on' },
  ready: { status: 'running', power: 'on' },
  thawed: { status: 'running', power: 'on' },
  freezing: { status: 'running', power: 'on' },
  frozen: { status: 'suspended', power: 'on' },
  starting: { status: 'starting', power: 'on' },
  stopping: { status: 'stopping', power: 'on' },
  aborting: { status: 'stopping', power: 'on' },
  stopped: { status: 'off', power: 'off' },
  error: { status: 'error', power: 'unknown' },
}

/** Parses a number of cores, or a list such as `0-3,8`; null if there is no limit. */
export function coresOf(limit: string | undefined): number | null {
  if (limit === undefined || limit === '') return null
  if (/^\d{1,5}$/.test(limit)) return Number(limit)
  const counts = limit.split(',').map(part => {
    const [, from, to] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()) ?? []
    return from === undefined ? NaN : Number(to ?? from) - Number(from) + 1
  })
  const sum = counts.reduce((all, one) => all + one, 0)
  return sum > 0 ? sum : null
}

/** Parses a size such as `2GiB`; null for none, a percentage, or more than can be counted. */
export function bytesOf(limit: string | undefined): number | null {
  const [, digits, unit = ''] = /^(\d+)\s*([kKMGTPE]?i?B?)$/.exec(limit?.trim() ?? '') ?? []
  if (digits === undefined) return null
  const power = 'KMGTPE'.indexOf(unit.charAt(0).toUpperCase()) + 1
  const bytes = Number(digits) * (unit.includes('i') ? 1024 : 1000) ** (unit === '' || unit === 'B' ? 0 : power)
  return Number.isSafeInteger(bytes) ? bytes : null
}

/** Writes a size as short as possible. */
export function sizeText(bytes: number): string {
  const power = [4, 3, 2, 1].find(each => bytes % 1024 ** each === 0 && bytes > 0) ?? 0
  return `${bytes / 1024 ** power}${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`
}

/** The name that the image had when it was used, if it is still that image; otherwise its fingerprint. */
function imageOf(config: Record<string, string>): string | null {
  const fingerprint = config[baseImageKey] || null
  const [named, slug] = (config[imageKey] ?? '').split(' ')
  return slug !== undefined && named === fingerprint ? slug : fingerprint
}

/** Value of {@link imageKey}. */
export const imageValue = (fingerprint: string, slug: string): string => `${fingerprint} ${slug}`

/** The configuration that a change of labels sets. An empty value removes a key. */
export const labelConfig = ({ set, remove }: LabelChange): Record<string, string> =>
  Object.fromEntries([
    ...remove.map(key => [`${labelPrefix}${key}`, '']),
    ...Object.entries(set).map(([key, value]) => [`${labelPrefix}${key}`, value]),
  ])

export const labelsOf = (config: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(config).flatMap(([key, value]) =>
      // An empty value removes a key.
      key.startsWith(labelPrefix) && value !== '' ? [[key.slice(labelPrefix.length), value]] : [],
    ),
  )

/** A positive number; null if it is missing, as for a virtual machine whose agent doesn’t run. */
const amount = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null)

/** What a running instance uses; null for others. @param hostCores what it can use without a limit; null if unknown */
export function usageOf(instance: Instance, hostCores: number | null): ServerUsage | null {
  if (serverOf(instance).status !== 'running') return null
  const { cpuNanoseconds, memoryBytes, expandedConfig } = instance
  const cores = coresOf(expandedConfig['limits.cpu']) ?? hostCores
  const counters = ownInterfaces(instance).flatMap(one => (isObject(one.counters) ? [one.counters] : []))
  const sum = (name: string) => (counters.length === 0 ? null : counters.reduce((all, one) => all + (amount(one[name]) ?? 0), 0))
  return {
    cpu: cpuNanoseconds === null || cores === null ? null : { seconds: cpuNanoseconds / 1e9, cores },
    memoryBytes,
    received: sum('bytes_received'),
    sent: sum('bytes_sent'),
    read: null,
    written: null,
  }
}

/** The network devices. Interfaces that the guest created, such as for containers, don’t count. */
function ownInterfaces({ config, expandedDevices, interfaces }: Instance): Record<string, unknown>[] {
  const own = new Set(
    [
      ...Object.entries(config).flatMap(([key, value]) => (/^volatile\..*\.hwaddr$/.test(key) ? [value] : [])),
      ...Object.values(expandedDevices).flatMap(device => device.hwaddr ?? []),
    ].map(one => one.toLowerCase()),
  )
  return interfaces.filter(({ hwaddr, type }) => (own.size === 0 ? type !== 'loopback' : own.has(String(hwaddr).toLowerCase())))
}

/** Global addresses of the network devices. */
function addressesOf(instance: Instance): ServerAddress[] {
  const addresses = ownInterfaces(instance)
    .flatMap(one => (Array.isArray(one.addresses) ? one.addresses : []))
    .flatMap((one: unknown): ServerAddress[] => {
      if (!isObject(one) || one.scope !== 'global' || typeof one.address !== 'string') return []
      const address = parseAddress(one.address)
      if (!address) return []
      const scope = classOf(address) === 'public' ? 'public' : 'private'
      return [{ address: formatAddress(address), family: address.kind() === 'ipv4' ? 4 : 6, scope, ptr: null }]
    })
  const rank = ({ scope, family }: ServerAddress) => (scope === 'public' ? 0 : 10) + family
  return addresses
    .filter((one, place) => addresses.findIndex(each => each.address === one.address) === place)
    .sort((a, b) => rank(a) - rank(b))
}

export const textsOf = (value: unknown): Record<string, string> =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)])) : {}

export const devicesOf = (value: unknown): Record<string, Device> =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, device]) => [name, textsOf(device)])) : {}
