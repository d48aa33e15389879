import { expect, test } from 'bun:test'
import { bootDiskOf, diskBytesOf, hasAgent, hasCloudInit, identityOf, macsOf, networkOptions, sizeOptions } from './config'

const gib = 2 ** 30

test('the boot disk is the first disk of the boot order, or what Proxmox takes without one', () => {
  const disks = { scsi0: 'a:1,size=8G', virtio1: 'a:2,size=10G', ide2: 'a:iso/debian.iso,media=cdrom,size=600M' }
  expect(bootDiskOf('qemu', { ...disks, boot: 'order=ide2;net0;virtio1;scsi0' })).toBe('virtio1')
  expect(bootDiskOf('qemu', { ...disks, boot: 'cdn', bootdisk: 'virtio1' })).toBe('virtio1')
  expect(bootDiskOf('qemu', disks)).toBe('scsi0')
  expect(bootDiskOf('qemu', { ide2: disks.ide2, boot: 'order=ide2' })).toBeNull()
  expect([bootDiskOf('lxc', { rootfs: 'a:3' }), bootDiskOf('lxc', {})]).toEqual(['rootfs', null])
})

test('a guest is identified by what its successor with the same VMID has not', () => {
  const net = { net1: 'virtio=BC:24:11:00:00:02', net0: 'virtio=BC:24:11:00:00:01,bridge=vmbr0' }
  const uuid = 'D3C1F2A4-5b6e-4788-9a0b-c1d2e3f4a5b6'
  const meta = 'creation-qemu=9.0.2,ctime=1764200000'
  const qemu = { ...net, smbios1: `base64=1,uuid=${uuid}`, vmgenid: 'changes', meta, scsi0: 'a:vm-1-disk-0,size=8G' }
  expect(identityOf('qemu', qemu)).toBe(`uuid ${uuid.toLowerCase()}`)
  expect(identityOf('qemu', { ...qemu, smbios1: 'product=x' })).toBe('created 1764200000')
  expect(identityOf('lxc', { ...net, hostname: 'a' })).toBe('mac bc:24:11:00:00:01')
  expect(identityOf('lxc', { rootfs: 'a:vm-1-disk-0,size=8G' })).toBe('volume a:vm-1-disk-0')
  expect(identityOf('lxc', {})).toBeNull()
})

test('sizes of disks', () => {
  const sizes = ['a:1,size=8G', 'a:1,size=2252M,ssd=1', 'a:1,iothread=1,size=1T', 'a:1,size=512', 'a:1', 'a:1,size=x'].map(
    scsi0 => diskBytesOf({ scsi0 }, 'scsi0'),
  )
  expect(sizes).toEqual([8 * gib, 2252 * 2 ** 20, 1024 * gib, 512, null, null])
  expect(diskBytesOf({}, null)).toBeNull()
})

test('the guest agent and the cloud-init drive', () => {
  expect(['1', 'enabled=1,fstrim_cloned_disks=1', '1,type=isa', '0', 'enabled=0'].map(agent => hasAgent({ agent }))).toEqual([
    ...[true, true, true, false, false],
  ])
  expect(hasAgent({})).toBe(false)
  expect(hasCloudInit({ ide2: 'local-lvm:vm-9000-cloudinit,media=cdrom' })).toBe(true)
  expect(hasCloudInit({ ide2: 'local:iso/debian.iso,media=cdrom', description: 'cloudinit' })).toBe(false)
})

test('MAC addresses of all devices', () => {
  const config = {
    net0: 'virtio=BC:24:11:00:00:0A,bridge=vmbr0',
    net1: 'name=eth1,hwaddr=bc:24:11:00:00:0b',
    description: 'BC:24:11:00:00:0C',
  }
  expect([...macsOf(config)]).toEqual(['bc:24:11:00:00:0a', 'bc:24:11:00:00:0b'])
})

test('networks of a new guest keep what the template sets', () => {
  const both = { enableIpv4: true, enableIpv6: true }
  const vm = { net0: 'virtio=BC:24:11:00:00:0A,bridge=vmbr0,tag=7', ipconfig0: 'ip=dhcp' }
  expect(networkOptions('qemu', vm, { bridges: [], ...both })).toEqual({ ipconfig0: 'ip=dhcp,ip6=auto' })
  expect(networkOptions('qemu', vm, { bridges: ['lan', 'dmz'], enableIpv4: false, enableIpv6: false })).toEqual({
    net0: 'virtio=BC:24:11:00:00:0A,tag=7,bridge=lan',
    net1: 'model=virtio,bridge=dmz',
  })
  const fixed = { ...vm, ipconfig0: 'ip=192.0.2.7/24,gw=192.0.2.1' }
  expect(networkOptions('qemu', fixed, { bridges: [], ...both })).toEqual({})
  const container = { net0: 'name=eth0,bridge=vmbr0,ip=dhcp,ip6=dhcp,firewall=1' }
  expect(networkOptions('lxc', container, { bridges: ['lan'], enableIpv4: true, enableIpv6: false })).toEqual({
    net0: 'name=eth0,firewall=1,bridge=lan,ip=dhcp',
  })
})

test('sizes of a new guest', () => {
  const size = { cores: 3, memoryBytes: 1.5 * gib + 1 }
  expect(sizeOptions('qemu', { sockets: '2', balloon: '4096' }, size)).toEqual({
    cores: 3,
    sockets: 1,
    memory: 1537,
    balloon: 1537,
  })
  expect(sizeOptions('qemu', { balloon: '512' }, size)).toEqual({ cores: 3, sockets: 1, memory: 1537 })
  expect(sizeOptions('lxc', {}, size)).toEqual({ cores: 3, memory: 1537 })
})
