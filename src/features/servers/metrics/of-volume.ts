import type { AgentReport } from '../../../wire/agent'
import { columnOf, type MetricName } from './names'

type Mount = NonNullable<AgentReport['mounts']>[number]

/** A volume, as it is attached to a server. */
interface AttachedVolume {
  /** Path of the device in the server, as the cloud names it. */
  device: string | null
  /** Where the cloud mounts it in the server. */
  mountPath: string | null
}

const byId = '/dev/disk/by-id/'

/** The file system of a volume, of those that the agent of its server found. */
export function mountOf({ device, mountPath }: AttachedVolume, mounts: readonly Mount[]): Mount | undefined {
  const id = device?.startsWith(byId) ? device.slice(byId.length) : null
  return (
    mounts.find(one => (id !== null && one.disk_ids?.includes(id)) || (device !== null && one.source === device)) ??
    mounts.find(one => mountPath !== null && one.path === mountPath)
  )
}

const ofFileSystem: readonly [MetricName, MetricName][] = [
  ['filesystem.used_bytes', 'volume.used_bytes'],
  ['filesystem.size_bytes', 'volume.size_bytes'],
  ['filesystem.inodes_used_percent', 'volume.inodes_used_percent'],
]
const ofDisk: readonly [MetricName, MetricName][] = [
  ['disk.read_bytes_per_second', 'volume.read_bytes_per_second'],
  ['disk.write_bytes_per_second', 'volume.write_bytes_per_second'],
  ['disk.read_operations_per_second', 'volume.read_operations_per_second'],
  ['disk.write_operations_per_second', 'volume.write_operations_per_second'],
  ['disk.busy_percent', 'volume.busy_percent'],
  ['disk.wait_ms', 'volume.wait_ms'],
]

/** The metrics of a volume, by the columns in which they are stored for its server. */
export const volumeColumns = ({ path, disk }: Mount): ReadonlyMap<string, MetricName> =>
  new Map([
    ...ofFileSystem.map(([name, own]) => [columnOf(name, path), own] as const),
    ...(disk === undefined ? [] : ofDisk.map(([name, own]) => [columnOf(name, disk), own] as const)),
  ])
