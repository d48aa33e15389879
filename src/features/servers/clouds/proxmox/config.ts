import { isObject } from '../../../../dns/octets'
import { CloudError } from '../cloud'

/** QEMU virtual machines and LXC containers, as in paths. */
export type GuestType = 'qemu' | 'lxc'

/** Options of a guest. Numbers are texts. */
export type Config = Record<string, string>

/** Parses the configuration of a guest. */
export function configOf(data: unknown): Config {
  if (!isObject(data)) throw new CloudError('invalid_response', 'The response of Proxmox has no configuration.')
  return Object.fromEntries(Object.entries(data).map(([option, value]) => [option, String(value)]))
}

/** Parses an option such as `virtio=BC:24:11:00:00:01,bridge=vmbr0`; `first` is the key of a value without one. */
const partsOf = (option: string, first: string): [key: string, value: string][] =>
  option.split(',').map(part => {
    const equals = part.indexOf('=')
    return equals < 0 ? [first, part] : [part.slice(0, equals), part.slice(equals + 1)]
  })

const printed = (parts: readonly [string, string][]) => parts.map(([key, value]) => `${key}=${value}`).join(',')

/** Changes keys of an option; undefined removes one. */
function withParts(option: string, changes: Record<string, string | undefined>): string {
  const kept = partsOf(option, '').filter(([key]) => !(key in changes))
  return printed([...kept, ...Object.entries(changes).filter((one): one is [string, string] => one[1] !== undefined)])
}

const isDisk = /^(?:scsi|virtio|sata|ide)\d+$/
const isCdrom = (drive: string) => /(?:^|,)media=cdrom(?:,|$)/.test(drive)

/** The storages of the disks of a guest. */
export const storagesOf = (config: Config): string[] =>
  Object.entries(config).flatMap(([option, value]) =>
    (isDisk.test(option) || /^(?:rootfs|mp\d+)$/.test(option)) && !isCdrom(value) ? (/^([^:,]+):/.exec(value)?.[1] ?? []) : [],
  )

/** The disk that a guest starts from; null if it has none. */
export function bootDiskOf(type: GuestType, config: Config): string | null {
  if (type === 'lxc') return config.rootfs === undefined ? null : 'rootfs'
  const order = /(?:^|,)order=([^,]+)/.exec(config.boot ?? '')?.[1]?.split(';') ?? []
  const disks = [...order, config.bootdisk ?? '', 'scsi0', 'virtio0', 'sata0', 'ide0']
  return disks.find(one => isDisk.test(one) && config[one] !== undefined && !isCdrom(config[one])) ?? null
}

/**
 * Tells apart guests that had the same VMID one after the other; null if nothing can. Proxmox gives each virtual machine a UUID, also
 * clones. Containers have none, but their network devices get random MAC addresses. The generation ID of a virtual machine is of no use:
 * it changes with each rollback.
 */
export function identityOf(type: GuestType, config: Config): string | null {
  const uuid = /(?:^|,)uuid=([^,]+)/.exec(config.smbios1 ?? '')?.[1]
  if (uuid !== undefined) return `uuid ${uuid.toLowerCase()}`
  const createdAt = /(?:^|,)ctime=(\d+)/.exec(config.meta ?? '')?.[1]
  if (createdAt !== undefined) return `created ${createdAt}`
  const [mac] = [...macsOf(config)].sort()
  if (mac !== undefined) return `mac ${mac}`
  const volume = config[bootDiskOf(type, config) ?? '']?.split(',')[0]
  return volume === undefined ? null : `volume ${volume}`
}

const units: Record<string, number> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }

/** Size of a disk; null if its configuration doesn't contain it. */
export function diskBytesOf(config: Config, disk: string | null): number | null {
  const [, number, unit] = /(?:^|,)size=(\d+(?:\.\d+)?)([KMGT]?)(?:,|$)/.exec(config[disk ?? ''] ?? '') ?? []
  return number === undefined ? null : Math.round(Number(number) * units[unit!]!)
}

/** Whether it has a drive for cloud-init, without which Proxmox ignores SSH keys and addresses. */
export const hasCloudInit = (config: Config): boolean =>
  Object.entries(config).some(([option, value]) => isDisk.test(option) && value.includes('cloudinit'))

/** Whether the guest agent is enabled. */
export const hasAgent = ({ agent = '0' }: Config): boolean => /^(?:enabled=)?1(?:,|$)/.test(agent)

const networkDevices = (config: Config) => Object.entries(config).filter(([option]) => /^net\d+$/.test(option))

/** Options that let firewalls filter the network devices that they don’t filter. */
export const filteringOptions = (config: Config): Record<string, string> =>
  Object.fromEntries(
    networkDevices(config).flatMap(([option, value]) =>
      partsOf(value, '').some(([key, set]) => key === 'firewall' && set === '1')
        ? []
        : [[option, withParts(value, { firewall: '1' })] as const],
    ),
  )

/** MAC addresses of the network devices, in lowercase. */
export const macsOf = (config: Config): Set<string> =>
  new Set(networkDevices(config).flatMap(([, value]) => value.toLowerCase().match(/(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/g) ?? []))

/** Addresses that the configuration sets: of containers in their devices, of virtual machines for cloud-init. */
export const staticAddresses = (config: Config): string[] =>
  Object.entries(config)
    .filter(([option]) => /^(?:net|ipconfig)\d+$/.test(option))
    .flatMap(([, value]) => partsOf(value, '').filter(([key]) => key === 'ip' || key === 'ip6'))
    .map(([, address]) => address.replace(/\/\d+$/, ''))

/** How a new guest is connected. */
interface Wiring {
  /** Bridges in order; none keeps those of the template. */
  bridges: readonly string[]
  enableIpv4: boolean
  enableIpv6: boolean
}

/** Options for the network devices and addresses of a clone: DHCP for IPv4, SLAAC for IPv6, unless the template sets addresses. */
export function networkOptions(
  type: GuestType,
  config: Config,
  { bridges, enableIpv4, enableIpv6 }: Wiring,
): Record<string, string> {
  const options: Record<string, string> = {}
  for (const [place, bridge] of bridges.entries())
    options[`net${place}`] = withParts(config[`net${place}`] ?? (type === 'qemu' ? 'model=virtio' : `name=eth${place}`), {
      bridge,
    })
  const addresses = { ...(enableIpv4 && { ip: 'dhcp' }), ...(enableIpv6 && { ip6: 'auto' }) }
  if (type === 'qemu') {
    if (Object.keys(addresses).length > 0 && staticAddresses(config).every(one => one === 'dhcp' || one === 'auto'))
      options.ipconfig0 = printed(Object.entries(addresses))
    return options
  }
  const device = options.net0 ?? config.net0
  if (device !== undefined) options.net0 = withParts(device, { ip: undefined, ip6: undefined, ...addresses })
  return options
}

/** Options for cores and memory. A template can have several sockets, and more memory for its balloon than is ordered. */
export function sizeOptions(
  type: GuestType,
  config: Config,
  size: { cores: number; memoryBytes: number },
): Record<string, string | number> {
  const memory = Math.ceil(size.memoryBytes / 2 ** 20)
  if (type === 'lxc') return { cores: size.cores, memory }
  return { cores: size.cores, sockets: 1, memory, ...(Number(config.balloon ?? 0) > memory && { balloon: memory }) }
}
