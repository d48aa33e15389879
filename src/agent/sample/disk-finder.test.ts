import { expect, test } from 'bun:test'
import { MachineFiles } from '../../../test/support/machine-files'
import { diskFinder } from './disk-finder'
import { Root } from './root'

test('the disk of a device is found, also of a partition or a link, with its IDs', () => {
  using machine = new MachineFiles()
  machine.write({
    'dev/sdb': '',
    'dev/sdc1': '',
    'dev/dm-0': '',
    'dev/mapper/vg-data': '→ ../dm-0',
    'dev/disk/by-id/scsi-0HC_Volume_4713': '→ ../../sdb',
    'dev/disk/by-id/wwn-0x5000': '→ ../../sdc',
    'dev/disk/by-id/wwn-0x5000-part1': '→ ../../sdc1',
    'dev/disk/by-id/unreadable': 'no link',
    'sys/devices/pci0/block/sdb/size': '1',
    'sys/devices/pci0/block/sdc/sdc1/partition': '1',
    'sys/class/block/sdb': '→ ../../devices/pci0/block/sdb',
    'sys/class/block/sdc1': '→ ../../devices/pci0/block/sdc/sdc1',
  })
  const diskOf = diskFinder(new Root(machine.folder))
  expect(diskOf('/dev/sdb')).toEqual({ disk: 'sdb', disk_ids: ['scsi-0HC_Volume_4713'] })
  expect(diskOf('/dev/sdc1')).toEqual({ disk: 'sdc', disk_ids: ['wwn-0x5000-part1', 'wwn-0x5000'] })
  expect(diskOf('/dev/mapper/vg-data')).toEqual({ disk: 'dm-0' })
  expect(diskOf('tank/data')).toEqual({})
  expect(diskOf('nas:/dev/sdb')).toEqual({})
})
