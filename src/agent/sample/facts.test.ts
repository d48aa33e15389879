import { expect, test } from 'bun:test'
import { MachineFiles } from '../../../test/support/machine-files'
import { readFacts } from './facts'
import { Root } from './root'
import { countUpdates, managerOf, packageManagers } from './updates'
import { virtualization } from './virtualization'

const debian = {
  'etc/hostname': 'web\n',
  'etc/hosts': '127.0.0.1 localhost\n# 10.0.0.9 web.old.example\n10.0.0.2 web.example.com web alias\n',
  'etc/os-release': 'PRETTY_NAME="Debian \\"GNU\\"/Linux 12 (bookworm)"\nNAME=\'Debian\'\nID=debian\nVERSION_ID="12"\n',
  'proc/sys/kernel/osrelease': '6.1.0-28-amd64\n',
  'proc/cpuinfo':
    'processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor lahf_lm\n\nprocessor\t: 1\nmodel name\t: AMD EPYC\n',
  'proc/meminfo': 'MemTotal:       2000 kB\n',
  'proc/stat': 'cpu 1 2 3\nbtime 1795716225\n',
  'sys/block/sda/size': '2000\n',
  'sys/block/sda/device/model': 'X\n',
  'sys/block/zram0/size': '5000\n',
  'sys/block/dm-0/size': '1000\n',
  'sys/block/dm-0/slaves/sda1': '',
  'etc/localtime': '→ /usr/share/zoneinfo/Europe/Berlin',
  'proc/1/net/route': `Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF
down\t00000000\t010200C0\t0002\t0\t0\t0\t00000000
`,
  'proc/1/net/ipv6_route': `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00000400 1 0 00000003 wan0
${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'0'.repeat(32)} ffffffff 1 0 00200200 lo
`,
  'sys/class/dmi/id/sys_vendor': 'QEMU\n',
  'sys/devices/system/clocksource/clocksource0/available_clocksource': 'kvm-clock tsc acpi_pm \n',
  'run/reboot-required': '',
}
const factsOf = (files: Record<string, string>) => {
  using machine = new MachineFiles()
  return readFacts(new Root(machine.write(files).folder))
}

test('facts are read from files of the server', () => {
  expect(factsOf(debian)).toEqual({
    hostname: 'web',
    fqdn: 'web.example.com',
    os: 'Debian "GNU"/Linux 12 (bookworm)',
    image: 'debian-12',
    kernel: '6.1.0-28-amd64',
    arch: expect.any(String),
    virtualization: 'kvm',
    cpu_model: 'AMD EPYC',
    cores: 2,
    memory_bytes: 2_048_000,
    disk_bytes: 2000 * 512,
    uplinks: ['eth0', 'wan0'],
    agent_uid: expect.any(Number),
    agent_platform: process.arch === 'x64' ? 'linux-x64-baseline' : 'linux-arm64',
    agent_as_root: expect.any(Boolean),
    boot_at: 1_795_716_225_000,
    timezone: 'Europe/Berlin',
    reboot_required: true,
  })
})

test('a server with the loader of musl needs the program for it, unless its shell uses glibc', () => {
  const isMusl = (files: Record<string, string>) => factsOf({ ...debian, ...files }).agent_platform?.includes('-musl')
  const loader = { 'lib/ld-musl-x86_64.so.1': '' }
  expect(isMusl({})).toBe(false)
  expect(isMusl(loader)).toBe(true)
  expect(isMusl({ ...loader, 'bin/sh': '\x7fELF /lib/ld-musl-x86_64.so.1' })).toBe(true)
  expect(isMusl({ ...loader, 'bin/sh': '\x7fELF /lib64/ld-linux-x86-64.so.2' })).toBe(false)
})

test('what is unknown is left out', () => {
  expect(Object.keys(factsOf({}))).toEqual([
    'arch',
    'virtualization',
    'uplinks',
    'agent_uid',
    'agent_platform',
    'agent_as_root',
    'reboot_required',
  ])
  expect(factsOf({ 'etc/os-release': '\u0000PRETTY_NAME=\n=\nID', 'etc/hostname': '\u0007\n' })).not.toHaveProperty('hostname')
})

test('a restart is required after the running kernel was removed', () => {
  const modules = (kernel: string) => ({ 'proc/sys/kernel/osrelease': '6.1.0\n', [`lib/modules/${kernel}/modules.dep`]: '' })
  expect([modules('6.1.0'), modules('6.2.0')].map(files => factsOf(files).reboot_required)).toEqual([false, true])
  expect(factsOf({ ...modules('6.2.0'), 'run/systemd/container': 'lxc\n' }).reboot_required).toBe(false)
})

test.each<[kind: string, files: Record<string, string>]>([
  ['none', { 'proc/cpuinfo': 'flags : fpu vme\n', 'sys/class/dmi/id/sys_vendor': 'Dell Inc.\n' }],
  ['vm-other', { 'proc/cpuinfo': 'flags\t\t: fpu hypervisor vme\n' }],
  ['kvm', { 'sys/class/dmi/id/sys_vendor': 'Hetzner\n', 'sys/class/dmi/id/product_name': 'vServer\n' }],
  ['qemu', { 'sys/class/dmi/id/sys_vendor': 'QEMU\n' }],
  ['vmware', { 'sys/class/dmi/id/sys_vendor': 'VMware, Inc.\n' }],
  [
    'microsoft',
    { 'sys/class/dmi/id/sys_vendor': 'Microsoft Corporation\n', 'sys/class/dmi/id/product_name': 'Virtual Machine\n' },
  ],
  ['none', { 'sys/class/dmi/id/sys_vendor': 'Microsoft Corporation\n', 'sys/class/dmi/id/product_name': 'Surface\n' }],
  ['xen', { 'sys/hypervisor/type': 'xen\n' }],
  ['lxc', { 'run/systemd/container': 'lxc\n', 'sys/class/dmi/id/sys_vendor': 'QEMU\n' }],
  ['lxc', { 'proc/1/environ': 'HOME=/\0container=lxc\0TERM=linux\0' }],
  ['lxc', { 'proc/self/mountinfo': '1 2 0:50 /proc/cpuinfo /proc/cpuinfo rw,nosuid - fuse.lxcfs lxcfs rw\n' }],
  ['none', { 'proc/self/mountinfo': '1 2 0:50 / /var/lib/lxcfs rw,nosuid - fuse.lxcfs lxcfs rw\n' }],
  ['docker', { '.dockerenv': '' }],
  ['podman', { 'run/.containerenv': '' }],
  ['docker', { 'proc/1/cgroup': '12:cpu:/docker/0123456789abcdef\n' }],
  ['openvz', { 'proc/vz/version': '1\n' }],
  ['none', { 'proc/vz/version': '1\n', 'proc/bc/0': '1\n' }],
  ['wsl', { 'proc/sys/kernel/osrelease': '5.15.90.1-microsoft-standard-WSL2\n' }],
  ['container-other', { 'run/systemd/container': 'Some Thing\n' }],
])('virtualization: %s', (kind, files) => {
  using machine = new MachineFiles()
  expect(virtualization(new Root(machine.write(files).folder))).toBe(kind)
})

const apt = `NOTE: This is only a simulation!
Inst base-files [12.4+deb12u11] (12.4+deb12u15 Debian:12.15/oldstable [amd64])
Inst libgcrypt20 [1.10.1-3] (1.10.1-3+deb12u1 Debian:12.15/oldstable, Debian-Security:12/oldstable-security [amd64]) []
Inst openssl [3.0.2] (3.0.3 Ubuntu:22.04/jammy-updates, Ubuntu:22.04/jammy-security [amd64])
Inst linux-image-6.1.0-30-amd64 (6.1.124-1 Debian-Security:12/stable-security [amd64])
Conf base-files (12.4+deb12u15 Debian:12.15/oldstable [amd64])
Remv old [1.0]
`
const dnf = `
kernel.x86_64                    5.14.0-427.13.1.el9_4              baseos
openssl.x86_64                   1:3.0.7-27.el9                     baseos
Obsoleting Packages
iptables-nft.x86_64              1.8.8-6.el9                        baseos
    iptables.x86_64              1.8.8-4.el9                        @baseos
`
const apk =
  'Installed:                                Available:\nopenssl-3.1.4-r0                        < 3.1.4-r5 \nmusl-1.2.4-r1                           < 1.2.4-r2 \n'
test('updates are counted in the output of each package manager', () => {
  expect(countUpdates(packageManagers.apt.all, apt)).toBe(3)
  // New packages, such as another kernel, are not updates of installed ones.
  expect(countUpdates(packageManagers.apt.security, apt)).toBe(2)
  expect(countUpdates(packageManagers.dnf.all, dnf)).toBe(2)
  expect(countUpdates(packageManagers.apk.all, apk)).toBe(2)
  for (const manager of Object.values(packageManagers)) expect(countUpdates(manager.all, '')).toBe(0)
})

test('updates are counted by the package manager of the server, not by dpkg on Fedora', () => {
  using machine = new MachineFiles()
  const root = new Root(machine.folder)
  expect(managerOf(root)).toBeUndefined()
  machine.write({ 'var/lib/dpkg/status': '', 'var/lib/rpm/rpmdb.sqlite': 'x' })
  expect(managerOf(root)).toBe(packageManagers.dnf)
  machine.write({ 'var/lib/dpkg/status': 'Package: bash\n' })
  expect(managerOf(root)).toBe(packageManagers.apt)
})
