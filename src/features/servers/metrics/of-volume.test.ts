import { expect, test } from 'bun:test'
import { mountOf, volumeColumns } from './of-volume'

const root = { path: '/', source: '/dev/sda1', type: 'ext4', disk: 'sda', disk_ids: ['scsi-0QEMU_disk'] }
const data = { path: '/mnt/data', source: '/dev/sdb', type: 'ext4', disk: 'sdb', disk_ids: ['scsi-0HC_Volume_4713'] }
const share = { path: '/mnt/share', source: 'share', type: 'virtiofs' }
const mounts = [root, data, share]

test.each([
  [{ device: '/dev/disk/by-id/scsi-0HC_Volume_4713', mountPath: null }, data],
  [{ device: '/dev/disk/by-id/scsi-0HC_Volume_4714', mountPath: null }, undefined],
  [{ device: '/dev/sdb', mountPath: null }, data],
  [{ device: null, mountPath: '/mnt/share' }, share],
  [{ device: null, mountPath: null }, undefined],
])('the file system of the volume %j is found', (volume, mount) => {
  expect(mountOf(volume, mounts)).toBe(mount)
})

test('the metrics of a volume are those of its file system, and of its disk if it has one', () => {
  expect(volumeColumns(data).get('filesystem.used_bytes /mnt/data')).toBe('volume.used_bytes')
  expect(volumeColumns(data).get('disk.busy_percent sdb')).toBe('volume.busy_percent')
  expect([...volumeColumns(share).values()]).toEqual(['volume.used_bytes', 'volume.size_bytes', 'volume.inodes_used_percent'])
})
