import { CloudError, type ServerOrder, type SizeOrder } from '../cloud'
import type { IncusClient } from './client'
import { devicesOf, imageKey, imageValue, labelConfig, markKey, rootDisk, sizeText, type Device, type Instance } from './readings'
import type { IncusSettings } from './settings'
import { volumeIn } from './volume-paths'

/** Names that both Incus and LXD accept: hostnames that start with a letter. */
export const names = {
  pattern: '^[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$',
  rule: 'must be 1 to 63 letters, digits, and hyphens, start with a letter, and not end with a hyphen.',
}

/** Refuses a name before it is sent: without a name, the server would choose one. @throws CloudError `invalid` */
export function refuseInvalidName(name: string): void {
  if (!new RegExp(names.pattern).test(name)) throw invalid(`The name ${name} is invalid: it ${names.rule}`)
}

/** Builds the request that creates an instance. @throws CloudError */
export async function creationOf(order: ServerOrder, settings: IncusSettings, client: IncusClient): Promise<object> {
  const { name, image, mark, labels, networks, volumes = [], userData, sshKeys } = order
  refuseInvalidName(name)
  const { cores, memoryBytes, diskBytes } = freeSize(order.size)
  const profiles = settings.profiles ?? ['default']
  const inherited = await devicesOfProfiles(profiles, client)
  const { fingerprint, type } = await imageNamed(image, client)
  return {
    name,
    type,
    source: { type: 'image', fingerprint },
    profiles,
    config: {
      'limits.cpu': String(cores),
      'limits.memory': sizeText(memoryBytes),
      [markKey]: mark,
      [imageKey]: imageValue(fingerprint, image),
      ...labelConfig({ set: labels, remove: [] }),
      ...(userData !== null && { [userDataKey]: userData }),
      ...(sshKeys.length > 0 && { 'cloud-init.vendor-data': withKeys(sshKeys.map(one => one.publicKey)) }),
    },
    devices: {
      ...(await rootDevice(inherited, settings.storage_pool, type, diskBytes, client)),
      ...volumeDevices(
        volumes.map(ref => ({ ref })),
        inherited,
      ),
      ...networkDevices(networks.length > 0 ? networks : settings.network === undefined ? [] : [settings.network]),
    },
  }
}

export const userDataKey = 'cloud-init.user-data'

/** @throws CloudError `invalid` for a size of a catalog, which clouds of this kind don’t have */
export function freeSize(size: SizeOrder) {
  if ('slug' in size) throw invalid('A size must be given as cores, memory, and disk.')
  return size
}

/** Finds an image by alias or fingerprint. @throws CloudError `not_found` */
export async function imageNamed(slug: string, client: IncusClient): Promise<{ fingerprint: string; type: string }> {
  const isFingerprint = /^[0-9a-f]{64}$/.test(slug)
  const found = await client.find(isFingerprint ? `/images/${slug}` : `/images/aliases/${encodeURIComponent(slug)}`)
  const fingerprint = isFingerprint ? slug : found?.target
  if (!found || typeof fingerprint !== 'string')
    throw new CloudError('not_found', `The image ${slug} doesn’t exist in this project.`, null, false)
  return { fingerprint, type: found.type === 'virtual-machine' ? 'virtual-machine' : 'container' }
}

/** The device of the root disk with another size, or nothing to change if the storage pool has no quotas. */
export async function resizedRoot(instance: Instance, diskBytes: number, client: IncusClient): Promise<Record<string, Device>> {
  const [name, device] = rootDisk(instance.expandedDevices) ?? []
  if (name === undefined || !device || !(await hasQuotas(device.pool, instance.type, client))) return {}
  return { [name]: { ...device, size: sizeText(diskBytes) } }
}

/** Devices that new instances inherit. @throws CloudError `not_found` */
async function devicesOfProfiles(profiles: readonly string[], client: IncusClient): Promise<Record<string, Device>> {
  const found = await Promise.all(profiles.map(one => client.find(`/profiles/${encodeURIComponent(one)}`)))
  const missing = profiles.filter((_, place) => found[place] === null)
  if (missing.length > 0)
    throw new CloudError('not_found', `The profile ${missing[0]} doesn’t exist in this project.`, null, false)
  return Object.assign({}, ...found.map(one => devicesOf(one?.devices)))
}

/** The root disk of a new instance, if it differs from what it inherits. */
async function rootDevice(
  devices: Record<string, Device>,
  pool: string | undefined,
  type: string,
  diskBytes: number,
  client: IncusClient,
): Promise<Record<string, Device>> {
  const [name, inherited] = rootDisk(devices) ?? ['root', { type: 'disk', path: '/' }]
  const device: Device = { ...inherited, ...(pool !== undefined && { pool }) }
  if (device.pool === undefined) throw invalid('The profiles have no root disk. Set a storage pool for new servers.')
  const isSized = await hasQuotas(device.pool, type, client)
  return pool !== undefined || isSized ? { [name]: { ...device, ...(isSized && { size: sizeText(diskBytes) }) } } : {}
}

/** Whether a storage pool limits the size of a root disk. Folders can’t; virtual machines have an image file there. */
async function hasQuotas(pool: string | undefined, type: string, client: IncusClient): Promise<boolean> {
  if (pool === undefined) return false
  if (type === 'virtual-machine') return true
  return (await client.find(`/storage-pools/${encodeURIComponent(pool)}`))?.driver !== 'dir'
}

/**
 * The devices with which volumes are attached, by their names.
 * @param volumes refs are `<pool>/<name>`, as of `IncusVolumes`
 * @param others devices of the server, including those of its profiles
 * @throws CloudError `invalid` if another device has the name or path: it would be replaced
 */
export function volumeDevices(
  volumes: readonly { ref: string; mountPath?: string | null }[],
  others: Record<string, Device>,
): Record<string, Device> {
  const added: Record<string, Device> = {}
  for (const { ref, mountPath } of volumes) {
    const { pool, name } = volumeIn(ref)
    const [device, path] = [`bw-${name}`, mountPath ?? `/mnt/${name}`]
    const taken = Object.entries({ ...others, ...added })
    if (taken.some(([one]) => one === device))
      throw invalid(`The server has another device named ${device}, such as a volume of the same name in another storage pool.`)
    const there = taken.find(([, one]) => one.type === 'disk' && one.path === path)
    if (there) throw invalid(`The path ${path} is used by the device ${there[0]}.`)
    added[device] = { type: 'disk', pool, source: name, path }
  }
  return added
}

const networkDevices = (networks: readonly string[]): Record<string, Device> =>
  Object.fromEntries(networks.map((network, place) => [`eth${place}`, { type: 'nic', name: `eth${place}`, network }]))

/** Cloud-init configuration (JSON is YAML) that the user data of the server adds to. */
const withKeys = (keys: readonly string[]): string => `#cloud-config\n${JSON.stringify({ ssh_authorized_keys: keys })}\n`

export const invalid = (message: string): CloudError => new CloudError('invalid', message, null, false)
