import { words, perSecond, type DeviceFigures } from './figures'
import type { Root } from './root'

/** Devices that are not disks: parts of memory or files, and drives for removable media. */
const noDisk = /^(loop|ram|zram|sr|fd|nbd|nvme\d+c\d+n)\d/
/** Names of disks, which their partitions extend, for containers that can’t see `/sys/block`. */
const wholeDisk = /^((sd|vd|xvd|hd)[a-z]+|(nvme\d+n|mmcblk)\d+)$/

const sectorBytes = 512

/** Disks that store data themselves, unlike partitions and volumes of LVM or RAID, with physical ones first. */
export function disksOf(root: Root): { name: string; bytes: number }[] {
  const names = root.names('sys/block').filter(name => !noDisk.test(name))
  return names
    .filter(name => root.names(`sys/block/${name}/slaves`).length === 0)
    .map(name => ({ name, bytes: (root.number(`sys/block/${name}/size`) ?? 0) * sectorBytes }))
    .filter(({ bytes }) => bytes > 0)
    .sort(
      (a, b) =>
        Number(root.exists(`sys/block/${b.name}/device`)) - Number(root.exists(`sys/block/${a.name}/device`)) ||
        (a.name < b.name ? -1 : 1),
    )
}

/** Names of the disks to measure, of those in `/proc/diskstats`. */
export function diskNames(root: Root, counted: readonly string[]): string[] {
  const names = disksOf(root).map(({ name }) => name)
  return names.length > 0 ? names : counted.filter(name => wholeDisk.test(name))
}

/** `/proc/diskstats`: https://docs.kernel.org/admin-guide/iostats.html. */
export function disks(text: string, seconds: number): DeviceFigures {
  const found: DeviceFigures = new Map()
  for (const line of text.split('\n')) {
    const [, , name, ...numbers] = words(line)
    if (name === undefined || numbers.length < 11) continue
    const [reads, , readSectors, readMs, writes, , writtenSectors, writeMs, , busyMs] = numbers.map(Number) as number[]
    found.set(name, {
      'disk.read_bytes_per_second': perSecond(readSectors! * sectorBytes, seconds),
      'disk.write_bytes_per_second': perSecond(writtenSectors! * sectorBytes, seconds),
      'disk.read_operations_per_second': perSecond(reads!, seconds),
      'disk.write_operations_per_second': perSecond(writes!, seconds),
      'disk.busy_percent': perSecond(busyMs! / 10, seconds),
      'disk.wait_ms': { count: readMs! + writeMs!, per: reads! + writes! },
    })
  }
  return found
}
