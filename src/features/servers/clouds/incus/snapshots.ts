import { isObject } from '../../../../dns/octets'
import { CloudError, type CloudSnapshot, type CloudStorage, type SnapshotCommand, type Started } from '../cloud'
import { newerThan } from '../newer-snapshots'
import type { IncusClient } from './client'
import type { IncusCommands } from './commands'
import { pathOf, snapshotNameOf, snapshotPath, type Instances } from './instances'
import { instanceOf, refOf, rootDisk, textsOf } from './readings'

/** Snapshots of instances. They are deleted with their instance. A snapshot has no configuration of its own, so its name is its mark. */
export class IncusSnapshots implements CloudStorage<CloudSnapshot, SnapshotCommand> {
  constructor(
    private readonly client: IncusClient,
    private readonly instances: Instances,
    private readonly commands: IncusCommands,
  ) {}

  async list(): Promise<CloudSnapshot[]> {
    return (await this.client.list('/instances?recursion=2')).flatMap(row => {
      const instance = refOf(instanceOf(row))
      return (Array.isArray(row.snapshots) ? row.snapshots : []).map(one => snapshotOf(instance, one))
    })
  }

  /** ZFS can only restore the newest snapshot, unless it may remove the newer ones. */
  async newerThan(instanceRef: string, snapshotRef: string): Promise<CloudSnapshot[] | null> {
    const instance = await this.instances.byRef(instanceRef)
    const pool = instance ? rootDisk(instance.expandedDevices)?.[1].pool : undefined
    if (!instance || pool === undefined) return null
    const poolPath = `/storage-pools/${encodeURIComponent(pool)}`
    if ((await this.client.find(poolPath))?.driver !== 'zfs') return null
    const type = instance.type === 'virtual-machine' ? 'virtual-machine' : 'container'
    const volume = await this.client.find(`${poolPath}/volumes/${type}/${encodeURIComponent(instance.name)}`)
    if (textsOf(volume?.config)['zfs.remove_snapshots'] === 'true') return null
    const rows = await this.client.list(`${pathOf(instance.name)}/snapshots?recursion=1`)
    return newerThan(
      rows.map(one => snapshotOf(instanceRef, one)),
      snapshotRef,
    )
  }

  async get(ref: string): Promise<CloudSnapshot | null> {
    const instance = await this.instances.byRef(instanceRefOf(ref))
    const row = instance && (await this.client.find(snapshotPath(instance.name, snapshotNameOf(ref))))
    return row ? snapshotOf(instanceRefOf(ref), row) : null
  }

  async find({ mark }: { mark: string }, serverRef: string | null): Promise<CloudSnapshot | null> {
    return serverRef === null ? null : await this.get(`${serverRef}/${mark}`)
  }

  async start(ref: string | null): Promise<Started> {
    const instance = await this.instances.byRef(instanceRefOf(ref!))
    const path = instance && snapshotPath(instance.name, snapshotNameOf(ref!))
    if (!path || !(await this.client.find(path))) return { state: 'done', unchanged: true }
    return await this.commands.send('DELETE', path, undefined, { name: instance.name })
  }
}

const instanceRefOf = (ref: string): string => ref.slice(0, ref.lastIndexOf('/'))

function snapshotOf(instanceRef: string, row: unknown): CloudSnapshot {
  const { name, size, stateful, created_at } = isObject(row) ? row : {}
  if (typeof name !== 'string' || name === '') throw new CloudError('incomplete', 'The response has a snapshot without a name.')
  // Lists name the instance, too.
  const own = name.slice(name.lastIndexOf('/') + 1)
  const createdAt = Date.parse(String(created_at))
  return {
    ref: `${instanceRef}/${own}`,
    name: own,
    serverRef: instanceRef,
    status: 'available',
    // Storage pools without a usage report -1 or 0.
    sizeBytes: typeof size === 'number' && size > 0 ? size : null,
    includesMemory: stateful === true,
    createdAt: Number.isNaN(createdAt) ? null : createdAt,
    labels: {},
    mark: own.startsWith('snap_') ? own : null,
  }
}
