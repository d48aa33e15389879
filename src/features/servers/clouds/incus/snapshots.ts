import { isObject } from '../../../../dns/octets'
import {
  CloudError,
  type CloudSnapshot,
  type CloudStorage,
  type SnapshotCommand,
  type Started,
  type VolumeSnapshotOrder,
} from '../cloud'
import { newerThan } from '../newer-snapshots'
import type { IncusClient } from './client'
import type { IncusCommands } from './commands'
import { pathOf, snapshotNameOf, type Instances } from './instances'
import { invalid } from './orders'
import { instanceOf, refOf, rootDisk, textsOf } from './readings'
import { poolPath, refIn, volumeIn, volumePath } from './volume-paths'

/**
 * Snapshots of instances and of custom volumes. They are deleted with them. A snapshot has no configuration of its own, so its name is its
 * mark. Refs begin with the ref of the instance (`<uuid>/<snapshot>`) or volume (`<pool>/<volume>/<snapshot>`).
 */
export class IncusSnapshots implements CloudStorage<CloudSnapshot, SnapshotCommand> {
  constructor(
    private readonly client: IncusClient,
    private readonly instances: Instances,
    private readonly commands: IncusCommands,
  ) {}

  async list(): Promise<CloudSnapshot[]> {
    const found: CloudSnapshot[] = []
    for (const row of await this.instances.rows()) {
      const instance = instanceOf(row)
      const rows = 'snapshots' in row ? row.snapshots : await this.client.list(`${pathOf(instance.name)}/snapshots?recursion=1`)
      if (Array.isArray(rows)) found.push(...rows.map(one => snapshotOf({ instance: refOf(instance) }, one)))
    }
    for (const { name } of await this.client.list('/storage-pools?recursion=1'))
      for (const row of await this.client.list(`${poolPath(String(name))}?recursion=1`)) {
        // Snapshots are listed with their volumes, as `<volume>/<snapshot>`.
        const [volume = '', snapshot] = String(row.name).split('/')
        if (snapshot !== undefined) found.push(snapshotOf({ volume: refIn(String(name), volume) }, row))
      }
    return found
  }

  /** ZFS can only restore the newest snapshot, unless it may remove the newer ones. */
  async newerThan(snapshotRef: string): Promise<CloudSnapshot[] | null> {
    const at = await this.#placeOf(snapshotRef)
    if (!at || at.pool === undefined) return null
    if ((await this.client.find(`/storage-pools/${encodeURIComponent(at.pool)}`))?.driver !== 'zfs') return null
    const volume = await this.client.find(at.volumePath)
    if (textsOf(volume?.config)['zfs.remove_snapshots'] === 'true') return null
    const rows = await this.client.list(`${at.path}/snapshots?recursion=1`)
    return newerThan(
      rows.map(one => snapshotOf(at.of, one)),
      snapshotRef,
    )
  }

  async get(ref: string): Promise<CloudSnapshot | null> {
    const at = await this.#placeOf(ref)
    const row = at && (await this.client.find(`${at.path}/snapshots/${encodeURIComponent(snapshotNameOf(ref))}`))
    return row ? snapshotOf(at.of, row) : null
  }

  async find({ mark, volumeRef }: { mark: string; volumeRef?: string }, serverRef: string | null): Promise<CloudSnapshot | null> {
    const of = volumeRef ?? serverRef
    return of === null ? null : await this.get(`${of}/${mark}`)
  }

  async start(ref: string | null, command: SnapshotCommand): Promise<Started> {
    if (command.verb === 'create') return await this.#create(command.order)
    if (command.verb === 'set_labels') throw invalid('Snapshots of Incus and LXD have no labels.')
    const at = await this.#placeOf(ref!)
    const path = at && `${at.path}/snapshots/${encodeURIComponent(snapshotNameOf(ref!))}`
    if (!path || !(await this.client.find(path))) return { state: 'done', unchanged: true }
    return await this.commands.send('DELETE', path, undefined, { name: at.name })
  }

  async #create({ mark, volumeRef }: VolumeSnapshotOrder): Promise<Started> {
    const { pool, name } = volumeIn(volumeRef)
    const started = await this.commands.send('POST', `${volumePath({ pool, name })}/snapshots`, { name: mark }, { name })
    return { ...started, ref: `${volumeRef}/${mark}` }
  }

  /** Where the instance or volume of a snapshot is; null if there is no such instance. */
  async #placeOf(snapshotRef: string) {
    const of = snapshotRef.slice(0, snapshotRef.lastIndexOf('/'))
    if (of.includes('/')) {
      const { pool, name } = volumeIn(of)
      const path = volumePath({ pool, name })
      return { path, name, pool, volumePath: path, of: { volume: of } }
    }
    const instance = await this.instances.byRef(of)
    if (!instance) return null
    const pool = rootDisk(instance.expandedDevices)?.[1].pool
    const type = instance.type === 'virtual-machine' ? 'virtual-machine' : 'container'
    const volumes = `/storage-pools/${encodeURIComponent(pool ?? '')}/volumes/${type}`
    const { name } = instance
    return { path: pathOf(name), name, pool, volumePath: `${volumes}/${encodeURIComponent(name)}`, of: { instance: of } }
  }
}

function snapshotOf(of: { instance?: string; volume?: string }, row: unknown): CloudSnapshot {
  const { name, size, stateful, created_at } = isObject(row) ? row : {}
  if (typeof name !== 'string' || name === '') throw new CloudError('incomplete', 'The response has a snapshot without a name.')
  // Lists name the instance or volume, too.
  const own = name.slice(name.lastIndexOf('/') + 1)
  const createdAt = Date.parse(String(created_at))
  return {
    ref: `${of.volume ?? of.instance}/${own}`,
    name: own,
    serverRef: of.instance ?? null,
    volumeRef: of.volume ?? null,
    status: 'available',
    // Storage pools without a usage report -1 or 0.
    sizeBytes: typeof size === 'number' && size > 0 ? size : null,
    includesMemory: stateful === true,
    // Older versions report the year 1 for snapshots of volumes.
    createdAt: createdAt > 0 ? createdAt : null,
    labels: {},
    mark: own.startsWith('snap_') ? own : null,
  }
}
