import { basename, dirname } from 'node:path'
import type { AgentReport } from '../../wire/agent'
import { nameOf } from './line'
import type { Root } from './root'

type Disk = Pick<NonNullable<AgentReport['mounts']>[number], 'disk' | 'disk_ids'>

const idFolder = 'dev/disk/by-id'
const maxLinks = 500
const maxIds = 10

/**
 * Finds the disks of devices such as `/dev/sdb1`: their names in metrics, and the IDs that udev found in the disk and the partition.
 * Clouds name their volumes by these.
 */
export function diskFinder(root: Root): (source: string) => Disk {
  let idsOf: Map<string, string[]> | null = null
  return source => {
    if (!source.startsWith('/dev/')) return {}
    idsOf ??= Map.groupBy(root.names(idFolder).sort().slice(0, maxLinks), id => basename(root.link(`${idFolder}/${id}`) ?? ''))
    const path = source.slice(1)
    const device = basename(root.link(path) ?? path)
    const folder = `sys/class/block/${device}`
    const disk = root.exists(`${folder}/partition`) ? basename(dirname(root.link(folder) ?? device)) : device
    const ids = [...new Set([device, disk])].flatMap(name => idsOf!.get(name) ?? []).map(id => nameOf(id, 200))
    return { disk: nameOf(disk, 100), ...(ids.length > 0 && { disk_ids: ids.slice(0, maxIds) }) }
  }
}
