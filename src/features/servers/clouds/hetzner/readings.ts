import { formatAddress, parseAddress } from '../../../../core/net/address'
import { isObject } from '../../../../dns/octets'
import { markLabel } from '../../labels'
import { CloudError, type CloudServer, type CloudStatus, type Resources, type ServerAddress } from '../cloud'

const statuses: Readonly<Record<string, CloudStatus>> = {
  initializing: 'provisioning',
  starting: 'starting',
  running: 'running',
  stopping: 'stopping',
  off: 'off',
  deleting: 'deleting',
  migrating: 'migrating',
  rebuilding: 'rebuilding',
}

const powers: Readonly<Record<string, CloudServer['power']>> = { running: 'on', stopping: 'on', off: 'off' }

/** Parses a server of the API. @throws CloudError `invalid_response` */
export function serverOf(row: unknown): CloudServer {
  const {
    id,
    name,
    status,
    location,
    server_type,
    primary_disk_size,
    image,
    public_net,
    private_net,
    labels,
    protection,
    ...rest
  } = isObject(row) ? row : {}
  if (!Number.isSafeInteger(id) || typeof name !== 'string' || typeof status !== 'string' || !isObject(server_type))
    throw invalidServer('without an id, name, status, or type')
  if (!isObject(location) || typeof location.name !== 'string') throw invalidServer('without a location')
  const { [markLabel]: mark, ...others } = textsOf(labels)
  const flags = isObject(protection) ? protection : {}
  return {
    ref: String(id),
    // Ids are never used again.
    identity: null,
    name,
    kind: 'vm',
    status: statuses[status] ?? 'unknown',
    statusText: status,
    power: powers[status] ?? 'unknown',
    location: location.name,
    size: typeof server_type.name === 'string' ? server_type.name : null,
    resources: { ...resourcesOf(server_type), ...(isSize(primary_disk_size) && { diskBytes: bytesOf(primary_disk_size) }) },
    image: isObject(image) ? imageSlug(image) : null,
    addresses: [...publicAddresses(public_net), ...privateAddresses(private_net)],
    labels: others,
    protection: { delete: flags.delete === true, rebuild: flags.rebuild === true },
    backups: typeof rest.backup_window === 'string',
    mark: mark ?? null,
  }
}

/** How orders name an image: system images by name, others by id. */
export const imageSlug = ({ id, name }: Record<string, unknown>): string =>
  typeof name === 'string' && name !== '' ? name : String(id)

/** Parses what a server type has. The API’s gigabytes are powers of two. */
export const resourcesOf = ({ cores, memory, disk }: Record<string, unknown>): Resources => ({
  cores: Number.isSafeInteger(cores) && isSize(cores) ? cores : null,
  memoryBytes: bytesOf(memory),
  diskBytes: bytesOf(disk),
})

/** Null if it is not a size, or more than can be counted. */
function bytesOf(gibibytes: unknown): number | null {
  const bytes = isSize(gibibytes) ? Math.round(gibibytes * gibibyte) : NaN
  return Number.isSafeInteger(bytes) ? bytes : null
}

export const gibibyte = 1024 ** 3

const isSize = (value: unknown): value is number => typeof value === 'number' && value > 0

function publicAddresses(net: unknown): ServerAddress[] {
  const { ipv4, ipv6 } = isObject(net) ? net : {}
  const addresses: ServerAddress[] = []
  if (isObject(ipv4)) addresses.push(...addressOf(ipv4.ip, 'public', ipv4.dns_ptr))
  if (isObject(ipv6)) {
    // A server has a network, in which it uses the first address.
    const [network = ''] = String(ipv6.ip).split('/')
    const address = network.endsWith('::') ? `${network}1` : network
    const names = Array.isArray(ipv6.dns_ptr) ? ipv6.dns_ptr.filter(isObject) : []
    addresses.push(...addressOf(address, 'public', names.find(one => one.ip === address)?.dns_ptr))
  }
  return addresses
}

const privateAddresses = (nets: unknown): ServerAddress[] =>
  (Array.isArray(nets) ? nets.filter(isObject) : []).flatMap(({ ip, alias_ips }) =>
    [ip, ...(Array.isArray(alias_ips) ? alias_ips : [])].flatMap(one => addressOf(one, 'private', null)),
  )

function addressOf(text: unknown, scope: ServerAddress['scope'], ptr: unknown): ServerAddress[] {
  const address = parseAddress(String(text))
  if (!address) return []
  const family = address.kind() === 'ipv4' ? 4 : 6
  return [{ address: formatAddress(address), family, scope, ptr: typeof ptr === 'string' && ptr !== '' ? ptr : null }]
}

export const textsOf = (labels: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(labels) ? labels : {}).filter((one): one is [string, string] => typeof one[1] === 'string'),
  )

const invalidServer = (what: string) => new CloudError('invalid_response', `The response of Hetzner has a server ${what}.`)
