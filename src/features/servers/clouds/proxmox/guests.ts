import { classOf, formatAddress, parseAddress } from '../../../../core/net/address'
import { isObject } from '../../../../dns/octets'
import { CloudError, type CloudServer, type CloudStatus, type ServerAddress, type ServerUsage } from '../cloud'
import { bootDiskOf, diskBytesOf, identityOf, staticAddresses, type Config, type GuestType } from './config'
import { parseNotes } from './notes'

/** A guest as Proxmox lists it. Values are null if its node doesn't report them. */
export interface Guest {
  vmid: number
  type: GuestType
  node: string
  /** Such as `running`; `unknown` if its node doesn't report it. */
  status: string
  name: string | null
  template: boolean
  lock: string | null
  tags: string[]
  cores: number | null
  memoryBytes: number | null
  diskBytes: number | null
  /** Seconds since it was started. */
  uptime: number
}

/** Everything in a cluster. */
export interface Inventory {
  guests: Guest[]
  nodes: string[]
  /** Nodes that respond. */
  online: ReadonlySet<string>
  /** What the guests use that run, by VMID as text. */
  usage: ReadonlyMap<string, ServerUsage>
}

/** Path of a guest. */
export const pathOf = ({ node, type, vmid }: Pick<Guest, 'node' | 'type' | 'vmid'>) =>
  `/nodes/${encodeURIComponent(node)}/${type}/${vmid}`

/** Parses `/cluster/resources`. @throws CloudError `invalid_response`, `incomplete` */
export function inventoryOf(data: unknown): Inventory {
  if (!Array.isArray(data) || !data.every(isObject))
    throw new CloudError('invalid_response', 'The response of Proxmox has no list.')
  const nodes = data.filter(row => row.type === 'node' && typeof row.node === 'string')
  const listed = data.filter(row => row.type === 'qemu' || row.type === 'lxc')
  const inventory: Inventory = {
    guests: listed.map(guestOf),
    usage: new Map(listed.filter(row => row.status === 'running').map(row => [String(row.vmid), usageOf(row)])),
    nodes: nodes.map(row => String(row.node)),
    online: new Set(nodes.filter(row => row.status === 'online').map(row => String(row.node))),
  }
  // While its cluster file system is not ready, Proxmox lists no guests, and doesn't know its own node.
  if (inventory.online.size === 0)
    throw new CloudError('incomplete', 'The list of guests is incomplete: Proxmox reports no node as online.')
  return inventory
}

function guestOf(row: Record<string, unknown>): Guest {
  const { vmid, node, type, status } = row
  if (typeof vmid !== 'number' || typeof node !== 'string' || typeof status !== 'string')
    throw new CloudError('incomplete', 'The list of guests is incomplete: a row has no VMID, node, or status.')
  return { vmid, node, type: type as GuestType, status, ...detailsOf(row, 'maxcpu') }
}

/** Parses the statistics of a guest. Its CPU is a fraction of all its cores. */
function usageOf({ cpu, mem, netin, netout, diskread, diskwrite }: Record<string, unknown>): ServerUsage {
  const [share, received, sent, read, written] = [cpu, netin, netout, diskread, diskwrite].map(count)
  return {
    cpu: share == null ? null : { percent: share * 100 },
    memoryBytes: amount(mem),
    ...{ received: received!, sent: sent!, read: read!, written: written! },
  }
}

/** A guest with what its node reports now. @param data of `status/current` */
export function refreshed(guest: Guest, data: unknown): Guest {
  if (!isObject(data)) throw new CloudError('invalid_response', 'The response of Proxmox has no status.')
  const status = text(data.qmpstatus) ?? text(data.status) ?? 'unknown'
  // A stopped virtual machine has no QEMU that could tell.
  return { ...guest, status: data.status === 'stopped' ? 'stopped' : status, ...detailsOf(data, 'cpus') }
}

const detailsOf = (row: Record<string, unknown>, cores: 'maxcpu' | 'cpus') => ({
  name: text(row.name),
  template: Number(row.template ?? 0) === 1,
  lock: text(row.lock),
  tags: (text(row.tags) ?? '').split(/[,; ]+/).filter(one => one !== ''),
  cores: amount(row[cores]),
  memoryBytes: amount(row.maxmem),
  diskBytes: amount(row.maxdisk),
  uptime: amount(row.uptime) ?? 0,
})

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** A number that is not negative; null if it is missing. */
const count = (value: unknown): number | null => (typeof value === 'number' && value >= 0 ? value : null)

/** A positive number; null if it is missing or out of range. */
const amount = (value: unknown): number | null =>
  typeof value === 'number' && value > 0 && Number.isSafeInteger(Math.round(value)) ? Math.round(value) : null

/** Statuses of pvestatd: those of QEMU (`RunState`), and `running` or `stopped`. */
const statuses = new Map<string, CloudStatus>(
  Object.entries({
    running: 'running',
    stopped: 'off',
    paused: 'suspended',
    suspended: 'suspended',
    prelaunch: 'starting',
    shutdown: 'stopping',
    inmigrate: 'migrating',
    postmigrate: 'migrating',
    'finish-migrate': 'migrating',
    'save-vm': 'running',
    'restore-vm': 'restoring',
    'internal-error': 'error',
    'io-error': 'error',
    'guest-panicked': 'error',
  }),
)

/** Locks that tell what is being done. With the others, such as `backup`, a guest runs on. */
const locked = new Map<string, CloudStatus>(
  Object.entries({
    create: 'provisioning',
    clone: 'provisioning',
    migrate: 'migrating',
    rollback: 'restoring',
    destroyed: 'deleting',
    suspended: 'suspended',
  }),
)

/** Locks of a guest that is being cloned, and has no description yet. */
export const isBeingCloned = ({ lock }: Guest): boolean => lock === 'clone' || lock === 'create'

/** A guest as a server. @param config null if it could not be read */
export function serverOf(guest: Guest, config: Config | null, addresses: readonly ServerAddress[]): CloudServer {
  const { vmid, type, node, status: statusText, lock } = guest
  const notes = parseNotes(String(config?.description ?? ''), vmid)
  const known = statuses.get(statusText) ?? 'unknown'
  return {
    ref: String(vmid),
    identity: config && identityOf(type, config),
    name: guest.name ?? config?.name ?? config?.hostname ?? `${type === 'qemu' ? 'VM' : 'CT'} ${vmid}`,
    kind: type === 'qemu' ? 'vm' : 'container',
    status: locked.get(lock ?? '') ?? known,
    statusText: lock === null ? statusText : `${statusText} (${lock})`,
    power: known === 'unknown' ? 'unknown' : known === 'off' ? 'off' : 'on',
    location: node,
    size: null,
    resources: {
      cores: guest.cores ?? (config ? amount(Number(config.cores ?? 1) * Number(config.sockets ?? 1)) : null),
      memoryBytes:
        guest.memoryBytes ?? (config?.memory === undefined ? null : amount(Number.parseInt(config.memory, 10) * 2 ** 20)),
      diskBytes: guest.diskBytes ?? (config ? amount(diskBytesOf(config, bootDiskOf(type, config))) : null),
    },
    image: notes.image,
    addresses: addresses.length > 0 ? [...addresses] : config ? sorted(staticAddresses(config)) : [],
    labels: { ...tagLabels(guest.tags), ...notes.labels },
    protection: { delete: config?.protection === '1', rebuild: false },
    backups: null,
    mark: notes.mark,
  }
}

/** Tag of the guests that Bailiwick creates. */
export const ownTag = 'bailiwick'

/** Tags of people, as labels. */
const tagLabels = (tags: readonly string[]): Record<string, string> =>
  Object.fromEntries(tags.filter(one => one !== ownTag && /^[A-Za-z0-9._-]{1,63}$/.test(one)).map(one => [one, 'true']))

/** Addresses from texts, public ones first; without those that only mean something within the guest or its network. */
export function sorted(texts: readonly string[]): ServerAddress[] {
  const found = new Map<string, ServerAddress>()
  for (const one of texts) {
    const address = parseAddress(one)
    const kind = address && classOf(address)
    if (!address || kind === 'loopback' || kind === 'link_local' || kind === 'unspecified' || kind === 'multicast') continue
    const shown = formatAddress(address)
    found.set(shown, {
      address: shown,
      family: address.kind() === 'ipv4' ? 4 : 6,
      scope: kind === 'private' ? 'private' : 'public',
      ptr: null,
    })
  }
  const all = [...found.values()]
  return [...all.filter(one => one.scope === 'public'), ...all.filter(one => one.scope === 'private')]
}
