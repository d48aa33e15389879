import { expect, test } from 'bun:test'
import { MachineFiles } from '../../../test/support/machine-files'
import { readArrays, softwareRaid } from './arrays'
import { Root } from './root'

const brief = (mdstat: string) =>
  softwareRaid(mdstat).map(({ name, state, degraded }) => `${name} ${state}${degraded ? ' degraded' : ''}`)

test('software RAID', () => {
  expect(
    brief(`Personalities : [raid1] [raid6] [raid5] [raid4] [raid0]
md0 : active raid1 sdb1[1] sda1[0]
      976630464 blocks super 1.2 [2/2] [UU]
      bitmap: 0/8 pages [0KB], 65536KB chunk

md1 : active raid1 sda2[0] sdb2[1](F)
      976630464 blocks super 1.2 [2/1] [U_]

md2 : active (auto-read-only) raid5 sdd1[3] sdc1[1] sdb1[0]
      1953260544 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]
      [=>...................]  recovery =  8.5% (83456/976630272) finish=12.3min speed=1200K/sec

md3 : active raid0 sdf1[1] sde1[0]
      1953260544 blocks super 1.2 512k chunks

md4 : active raid1 sdh1[1] sdg1[0]
      976630464 blocks super 1.2 [2/2] [UU]
      [>....................]  check =  1.0% (9766/976630464) finish=99.0min speed=1K/sec

md126 : inactive sdi1[0](S)
      976630464 blocks super 1.2

md127 : inactive sdj[1](S) sdk[0](S)
      5928 blocks super external:imsm

unused devices: <none>
`),
  ).toEqual([
    'md0 active',
    'md1 active degraded',
    'md2 active, recovery degraded',
    'md3 active',
    'md4 active, check',
    'md126 inactive degraded',
    'md127 inactive',
  ])
  expect(brief('Personalities : \nunused devices: <none>\n')).toEqual([])
})

test('pools of ZFS', () => {
  using machine = new MachineFiles()
  machine.write({
    'proc/spl/kstat/zfs/arcstats': 'size 4 100\n',
    'proc/spl/kstat/zfs/tank/state': 'ONLINE\n',
    'proc/spl/kstat/zfs/backup/state': 'DEGRADED\n',
    'proc/mdstat': 'md0 : active raid1 sda1[0]\n      1 blocks [2/1] [U_]\n',
  })
  expect(readArrays(new Root(machine.folder))).toEqual([
    { name: 'md0', kind: 'md', state: 'active', degraded: true },
    { name: 'backup', kind: 'zfs', state: 'DEGRADED', degraded: true },
    { name: 'tank', kind: 'zfs', state: 'ONLINE', degraded: false },
  ])
})
