import type { Root } from './root'

/** Words in what the firmware says about the machine (DMI), with the kind of virtual machine. As in systemd-detect-virt(1). */
const vendors: readonly [RegExp, string][] = [
  [/KVM|OpenStack|KubeVirt|Hetzner|DigitalOcean|Linode|Vultr|UpCloud|Scaleway|OVHcloud/i, 'kvm'],
  [/Amazon EC2/i, 'amazon'],
  [/Google/i, 'google'],
  [/QEMU/i, 'qemu'],
  [/VMware|VMW/i, 'vmware'],
  [/innotek|VirtualBox|Oracle Corporation/i, 'oracle'],
  [/Xen/i, 'xen'],
  [/Bochs/i, 'bochs'],
  [/Parallels/i, 'parallels'],
  [/BHYVE/i, 'bhyve'],
  [/Hyper-V|Microsoft Corporation Virtual Machine/i, 'microsoft'],
  [/Apple Virtualization/i, 'apple'],
]

/** Clocks that a hypervisor offers to its guests. */
const clocks: readonly [RegExp, string][] = [
  [/kvm-clock/, 'kvm'],
  [/hyperv/, 'microsoft'],
  [/\bxen\b/, 'xen'],
]

/** Files in containers, with the kind of container. */
const containerFiles: readonly [path: string, kind: string][] = [
  ['run/.containerenv', 'podman'],
  ['.dockerenv', 'docker'],
  ['dev/incus/sock', 'lxc'],
  ['dev/lxd/sock', 'lxc'],
  ['proc/vz', 'openvz'],
]

/** Kind of container or virtual machine, in the words of systemd-detect-virt(1), which is not started; `none` on hardware. */
export const virtualization = (root: Root): string => containerKind(root) ?? machine(root)

/** Kind of container; null outside of containers. */
export function containerKind(root: Root): string | null {
  if (/microsoft|WSL/i.test(root.line('proc/sys/kernel/osrelease') ?? '')) return 'wsl'
  // Hosts of OpenVZ have the first folder, but only hosts have the second one.
  const found = containerFiles.find(([path]) => root.exists(path) && !(path === 'proc/vz' && root.exists('proc/bc')))
  // Systemd writes what the container manager says to a file for programs that can't read its environment.
  const named = root.line('run/systemd/container') ?? variableIn(root.text('proc/1/environ') ?? '')
  if (named !== null) return /^[a-z0-9-]{1,30}$/.test(named) ? named : 'container-other'
  if (found) return found[1]
  const [, kind] = /[/:](docker|lxc|libpod|kubepods)\b/.exec(root.text('proc/1/cgroup') ?? '') ?? []
  if (kind !== undefined) return kind === 'libpod' ? 'podman' : kind === 'kubepods' ? 'container-other' : kind
  // LXC mounts files with the limits of the container over those of the kernel.
  return /^(?:\S+ ){4}\/proc\/\w+ .* fuse\.lxcfs /m.test(root.text('proc/self/mountinfo') ?? '') ? 'lxc' : null
}

const variableIn = (environ: string): string | null =>
  environ
    .split('\0')
    .find(one => one.startsWith('container='))
    ?.slice('container='.length) || null

function machine(root: Root): string {
  const dmi = ['sys_vendor', 'product_name', 'board_vendor', 'bios_vendor', 'product_version']
  const firmware = dmi.map(file => root.line(`sys/class/dmi/id/${file}`) ?? '').join(' ')
  const clock = clocks.find(([pattern]) => pattern.test(clockSources(root)))?.[1]
  const vendor = vendors.find(([pattern]) => pattern.test(firmware))?.[1]
  // QEMU with hardware acceleration is KVM.
  if (vendor !== undefined) return vendor === 'qemu' ? (clock ?? vendor) : vendor
  const isGuest = /^flags\s*:.* hypervisor( |$)/m.test(root.text('proc/cpuinfo') ?? '')
  const type = root.line('sys/hypervisor/type') ?? root.line('proc/device-tree/hypervisor/compatible')
  if (type !== null) return type.includes('xen') ? 'xen' : 'kvm'
  return clock ?? (isGuest ? 'vm-other' : 'none')
}

const clockSources = (root: Root): string => root.line('sys/devices/system/clocksource/clocksource0/available_clocksource') ?? ''
