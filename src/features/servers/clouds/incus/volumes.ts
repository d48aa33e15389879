import { pluralize } from '../../../../core/pluralize'
import { isObject } from '../../../../dns/octets'
import {
  CloudError,
  type CloudStorage,
  type CloudVolume,
  type Started,
  type VolumeCapabilities,
  type VolumeCommand,
  type VolumeOrder,
  type VolumeUsage,
} from '../cloud'
import { isLabeled } from '../label-change'
import type { IncusClient } from './client'
import type { IncusCommands } from './commands'
import { snapshotNameOf, type Instances } from './instances'
import { invalid, volumeDevices } from './orders'
import { bytesOf, devicesOf, instanceOf, labelConfig, labelsOf, refOf, sizeText, textsOf, type Instance } from './readings'
import type { IncusSettings } from './settings'
import { poolPath, refIn, volumeIn, volumePath } from './volume-paths'

const mebibyte = 2 ** 20
// Each is one request.
const maxMeasured = 200
// Incus answers once the data has been copied, which takes long in pools of the type `dir`. Shorter than the lease of the action.
const restoreMs = 180_000
const isConnectionFailure: ReadonlySet<string> = new Set(['unreachable', 'timeout', 'unauthorized', 'throttled'])

export const volumeCapabilities: VolumeCapabilities = {
  names: {
    pattern: '^[A-Za-z0-9](?:[A-Za-z0-9-]{0,58}[A-Za-z0-9])?$',
    rule: 'must be 1 to 60 letters, digits, and hyphens, and start and end with a letter or digit.',
  },
  minBytes: 16 * mebibyte,
  maxBytes: 2 ** 50,
  stepBytes: mebibyte,
  formats: [],
  isMounted: true,
  protection: false,
  snapshots: true,
  renamedInUse: false,
}

const markKey = 'user.bailiwick.volume'

/** A custom volume of a storage pool. */
interface Custom {
  pool: string
  name: string
  config: Record<string, string>
  location: string | null
  /** Names of the instances that it is attached to. */
  users: string[]
}

/** Custom volumes with file systems, in all storage pools. */
export class IncusVolumes implements CloudStorage<CloudVolume, VolumeCommand> {
  constructor(
    private readonly client: IncusClient,
    private readonly instances: Instances,
    private readonly commands: IncusCommands,
    private readonly settings: IncusSettings,
  ) {}

  async list(): Promise<CloudVolume[]> {
    const [pools, instances] = [await this.#pools(), (await this.client.list('/instances?recursion=1')).map(instanceOf)]
    const found: CloudVolume[] = []
    for (const pool of pools)
      for (const row of await this.client.list(`${poolPath(pool)}?recursion=1`)) {
        const custom = customOf(pool, row)
        if (row.content_type !== 'block' && row.content_type !== 'iso' && !custom.name.includes('/'))
          found.push(
            volumeOf(
              custom,
              instances.find(one => custom.users.includes(one.name)),
            ),
          )
      }
    return found
  }

  async get(ref: string): Promise<CloudVolume | null> {
    const custom = await this.#custom(ref)
    return custom && (await this.#volumeOf(custom))
  }

  async find({ mark, name }: Pick<VolumeOrder, 'mark' | 'name'>): Promise<CloudVolume | null> {
    const all = await this.list()
    const pool = await this.#pool()
    return all.find(one => one.mark === mark) ?? all.find(one => one.ref === refIn(pool, name)) ?? null
  }

  async start(ref: string | null, command: VolumeCommand): Promise<Started> {
    if (command.verb === 'create') return await this.#create(command.order)
    const custom = await this.#custom(ref!)
    if (!custom) {
      if (command.verb === 'delete') return unchanged
      const renamed = command.verb === 'update' && command.name !== null ? await this.#renamed(ref!, command.name) : null
      if (renamed && command.verb === 'update' && renamed.mark === command.mark)
        return { state: 'done', unchanged: true, ref: renamed.ref }
      throw new CloudError('not_found', 'The volume doesn’t exist.', null, false)
    }
    const volume = await this.#volumeOf(custom)
    const path = volumePath(custom)
    switch (command.verb) {
      case 'attach':
        if (volume.serverRef === command.serverRef) return unchanged
        if (volume.serverRef !== null) throw invalid('The volume is attached to another server.')
        return await this.#attach(custom, command.serverRef, command.mountPath)
      case 'detach':
        return volume.serverRef === null ? unchanged : await this.#detach(custom)
      case 'resize':
        if (volume.sizeBytes === command.sizeBytes) return unchanged
        if (volume.sizeBytes !== null && command.sizeBytes < volume.sizeBytes)
          throw invalid(`The volume can’t be shrunk from ${sizeText(volume.sizeBytes)} to ${sizeText(command.sizeBytes)}.`)
        return await this.commands.send('PATCH', path, { config: { size: sizeText(command.sizeBytes) } }, { name: custom.name })
      case 'restore_snapshot':
        if (volume.serverRef !== null) throw invalid('The volume is attached to a server.')
        return await this.commands.send(
          'PUT',
          path,
          { restore: snapshotNameOf(command.snapshotRef) },
          { name: custom.name },
          restoreMs,
        )
      case 'update':
        return await this.#update(custom, volume, command)
      case 'set_protection':
        throw invalid('Incus and LXD don’t protect volumes.')
      case 'delete':
        if (volume.serverRef !== null) throw invalid('The volume is attached to a server.')
        await this.#refuseSnapshots(path)
        return await this.commands.send('DELETE', path, undefined, { name: custom.name })
    }
  }

  /** Storage pools that don't know the usage of their volumes answer with an error, or with nothing. */
  async usage(seen: readonly CloudVolume[]): Promise<Map<string, VolumeUsage>> {
    const found = new Map<string, VolumeUsage>()
    for (const { ref, sizeBytes } of seen.slice(0, maxMeasured)) {
      const usedBytes = await this.#usedBytes(ref)
      if (usedBytes !== null) found.set(ref, { usedBytes, sizeBytes })
    }
    return found
  }

  async #usedBytes(ref: string): Promise<number | null> {
    const { pool, name } = volumeIn(ref)
    try {
      const usage = (await this.client.find(`${volumePath({ pool, name })}/state`))?.usage
      return isObject(usage) && typeof usage.used === 'number' && usage.used >= 0 ? usage.used : null
    } catch (error) {
      if (error instanceof CloudError && !isConnectionFailure.has(error.failure)) return null
      throw error
    }
  }

  /** The workspace may not know all snapshots, such as those that someone just created. They would be deleted with the volume. */
  async #refuseSnapshots(path: string): Promise<void> {
    const { length } = await this.client.list(`${path}/snapshots?recursion=1`)
    if (length > 0)
      throw invalid(
        `The volume has ${pluralize(length, 'snapshots')} at the cloud, which would be deleted with it. Delete them first.`,
      )
  }

  async #create({ mark, name, sizeBytes, location, labels }: VolumeOrder): Promise<Started> {
    refuseInvalidName(name)
    const pool = await this.#pool()
    const config = {
      size: sizeText(sizeBytes),
      [markKey]: mark,
      ...labelConfig({ set: labels, remove: [] }),
    }
    const target = location === null ? '' : `?target=${encodeURIComponent(location)}`
    const started = await this.commands.send('POST', `${poolPath(pool)}${target}`, { name, config }, { name })
    return { ...started, ref: refIn(pool, name) }
  }

  /** The volume with another name in the same pool: an earlier attempt may have renamed it. */
  async #renamed(ref: string, name: string): Promise<CloudVolume | null> {
    const { pool } = volumeIn(ref)
    return await this.get(refIn(pool, name))
  }

  /** The name is part of the ref. */
  async #update(custom: Custom, { labels, mark }: CloudVolume, change: VolumeCommand & { verb: 'update' }): Promise<Started> {
    const { pool, name } = custom
    const newName = change.name ?? name
    const isRenamed = newName !== name
    if (isRenamed) refuseInvalidName(newName)
    const config = {
      ...(!isLabeled(labels, change.labels) && labelConfig(change.labels)),
      // Another attempt finds it by its mark. One that another installation set stays.
      ...(isRenamed && mark === null && { [markKey]: change.mark }),
    }
    const isConfigured = Object.keys(config).length > 0
    const last = isConfigured ? await this.commands.send('PATCH', volumePath(custom), { config }, { name }) : unchanged
    if (!isRenamed) return last
    await this.commands.send('POST', volumePath(custom), { name: newName }, { name })
    return { state: 'done', ref: refIn(pool, newName) }
  }

  async #attach(custom: Custom, serverRef: string, mountPath: string | null): Promise<Started> {
    const instance = await this.instances.byRef(serverRef)
    if (!instance) throw new CloudError('not_found', 'The server doesn’t exist.', null, false)
    const volume = { ref: refIn(custom.pool, custom.name), mountPath }
    const change = (row: Record<string, unknown>) => {
      const { devices, expandedDevices } = instanceOf(row)
      const others = Object.entries(expandedDevices).filter(([, one]) => !isOf(custom, one))
      // All devices are replaced.
      return { devices: { ...devices, ...volumeDevices([volume], Object.fromEntries(others)) } }
    }
    return await this.commands.update('PATCH', instance, change, { name: instance.name })
  }

  /** A device can only be removed by replacing the whole instance. */
  async #detach(custom: Custom): Promise<Started> {
    let last: Started = unchanged
    const without = (row: Record<string, unknown>) => {
      const { architecture, config, ephemeral, profiles, stateful, description } = row
      const devices = Object.fromEntries(Object.entries(devicesOf(row.devices)).filter(([, one]) => !isOf(custom, one)))
      return { architecture, config, ephemeral, profiles, stateful, description, devices }
    }
    for (const name of custom.users) last = await this.commands.update('PUT', { name }, without, { name })
    return last
  }

  async #custom(ref: string): Promise<Custom | null> {
    const { pool, name } = volumeIn(ref)
    const row = pool === '' || name === '' ? null : await this.client.find(volumePath({ pool, name }))
    return row && customOf(pool, row)
  }

  async #volumeOf(custom: Custom): Promise<CloudVolume> {
    const [user] = custom.users
    return volumeOf(custom, user === undefined ? undefined : ((await this.instances.byName(user)) ?? undefined))
  }

  async #pools(): Promise<string[]> {
    return (await this.client.list('/storage-pools?recursion=1')).map(({ name }) => String(name))
  }

  /** The storage pool of new volumes. */
  async #pool(): Promise<string> {
    if (this.settings.storage_pool !== undefined) return this.settings.storage_pool
    const profiles = await Promise.all(
      (this.settings.profiles ?? ['default']).map(one => this.client.find(`/profiles/${encodeURIComponent(one)}`)),
    )
    const root = profiles.flatMap(one => Object.values(devicesOf(one?.devices))).find(one => one.path === '/')
    if (root?.pool === undefined) throw invalid('The profiles have no root disk. Set a storage pool for new volumes.')
    return root.pool
  }
}

/** @throws CloudError `invalid` */
function refuseInvalidName(name: string): void {
  if (!new RegExp(volumeCapabilities.names.pattern).test(name)) throw invalid(`The name ${name} is invalid.`)
}

const unchanged: Started = { state: 'done', unchanged: true }

function customOf(pool: string, { name, config, location, used_by }: Record<string, unknown>): Custom {
  if (typeof name !== 'string' || name === '' || !isObject(config))
    throw new CloudError('incomplete', 'The response has a volume without a name or configuration.')
  const users = (Array.isArray(used_by) ? used_by : []).flatMap(
    one => /^\/1\.0\/(?:instances|containers|virtual-machines)\/([^/?]+)(?:\?|$)/.exec(String(one))?.[1] ?? [],
  )
  return {
    ...{ pool, name, config: textsOf(config) },
    location: typeof location === 'string' && location !== 'none' && location !== '' ? location : null,
    users: users.map(decodeURIComponent),
  }
}

/** Whether a device is a volume. */
const isOf = ({ pool, name }: Custom, device: Record<string, string>): boolean =>
  device.type === 'disk' && device.pool === pool && device.source === name

function volumeOf(custom: Custom, user: Instance | undefined): CloudVolume {
  const { pool, name, config, location } = custom
  const device = user && Object.values(user.expandedDevices).find(one => isOf(custom, one))
  return {
    ref: refIn(pool, name),
    name,
    status: 'available',
    serverRef: user ? refOf(user) : null,
    location,
    sizeBytes: bytesOf(config.size),
    format: null,
    device: null,
    mountPath: device?.path ?? null,
    labels: labelsOf(config),
    isProtected: false,
    mark: config[markKey] ?? null,
  }
}
