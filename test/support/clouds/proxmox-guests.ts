/** A virtual machine or container of the double. Tests change it as a person would in the console. */
export interface ProxmoxGuest {
  vmid: number
  type: 'qemu' | 'lxc'
  node: string
  /** `running`, `stopped`, `paused`, or another run state of QEMU. */
  status: string
  template: boolean
  /** As stored: the name is `name` or `hostname`, `description` ends with a line break. */
  config: Record<string, string>
  /** Changes of network devices that have no effect until it is switched off; absent if they have at once. */
  pending?: Record<string, string>
  /** Cores and memory that a running guest has, whatever its configuration says now. */
  live: { cores: number; memory: number } | null
  lock: string | null
  pool: string | null
  /** Whether the guest agent responds. */
  agentRuns: boolean
  addresses: { family: 4 | 6; address: string }[]
  /** Whether the operating system ignores a shutdown. */
  ignoresShutdown: boolean
  startedAt: number
  snapshots: ProxmoxSnapshot[]
}

export interface ProxmoxSnapshot {
  name: string
  description: string
  vmstate: boolean
  /** Unix time in seconds. */
  snaptime: number
  /** Set while it is created or deleted. */
  snapstate?: 'prepare' | 'delete'
  config: Record<string, string>
  isRunning: boolean
}

/** An error response of Proxmox. */
export class ProxmoxRefused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors?: Record<string, string>,
  ) {
    super(message)
  }
}

export const failed = (message: string) => new ProxmoxRefused(500, message)
export const wrongParameters = (errors: Record<string, string>) =>
  new ProxmoxRefused(400, 'Parameter verification failed.', errors)
export const denied = (what: string) => new ProxmoxRefused(403, `Permission check failed (${what})`)

export const wordOf = ({ type }: Pick<ProxmoxGuest, 'type'>) => (type === 'qemu' ? 'VM' : 'CT')
export const nameKey = ({ type }: Pick<ProxmoxGuest, 'type'>) => (type === 'qemu' ? 'name' : 'hostname')

/** The disk that a guest starts from. */
export const bootDisk = ({ type, config }: Pick<ProxmoxGuest, 'type' | 'config'>) =>
  type === 'lxc' ? 'rootfs' : (/order=(\w+)/.exec(config.boot ?? '')?.[1] ?? 'scsi0')

const units: Record<string, number> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }

/** Bytes of a size such as `32G`. */
export function bytesOf(size: string): number {
  const [, number, unit] = /^\+?(\d+(?:\.\d+)?)([KMGT]?)$/.exec(size)!
  return Number(number) * (units[unit!] ?? 1)
}

export const diskBytes = (guest: ProxmoxGuest, disk = bootDisk(guest)) =>
  bytesOf(/size=([\d.]+[KMGT]?)/.exec(guest.config[disk] ?? '')?.[1] ?? '0')

/** Cores and memory of the configuration. */
const configured = ({ config }: ProxmoxGuest) => ({
  cores: Number(config.cores ?? 1) * Number(config.sockets ?? 1),
  memory: Number(config.memory ?? 512) * 2 ** 20,
})

/** What the node's statistics tell about a guest. */
export function statsOf(guest: ProxmoxGuest): Record<string, unknown> {
  const { cores, memory } = guest.live ?? configured(guest)
  const isOn = guest.status !== 'stopped'
  return {
    name: guest.config[nameKey(guest)] ?? `${wordOf(guest)} ${guest.vmid}`,
    status: guest.status,
    template: Number(guest.template),
    uptime: isOn ? Math.floor((Date.now() - guest.startedAt) / 1000) : 0,
    ...{ maxcpu: cores, maxmem: memory, maxdisk: diskBytes(guest) },
    ...{ cpu: isOn ? 0.05 : 0, mem: isOn ? memory / 4 : 0, disk: 0, netin: 0, netout: 0, diskread: 0, diskwrite: 0 },
  }
}

export function powerOn(guest: ProxmoxGuest): void {
  guest.status = 'running'
  guest.live = configured(guest)
  guest.startedAt = Date.now()
}

export function powerOff(guest: ProxmoxGuest): void {
  guest.status = 'stopped'
  guest.live = null
}

const privilegeOf: [RegExp, string[]][] = [
  [/^(?:cores|sockets|cpu|cpulimit|cpuunits|vcpus|smp|numa\d*)$/, ['VM.Config.CPU']],
  [/^(?:memory|balloon|shares|swap)$/, ['VM.Config.Memory']],
  [/^(?:name|hostname|description|tags|protection|onboot|agent|boot|bootdisk|ostype)$/, ['VM.Config.Options']],
  [
    /^(?:ciuser|cipassword|citype|ciupgrade|sshkeys|nameserver|searchdomain|ipconfig\d+)$/,
    ['VM.Config.Cloudinit', 'VM.Config.Network'],
  ],
  [/^net\d+$/, ['VM.Config.Network']],
]

/** Privileges to change an option of the configuration; any one of them is enough. */
export const privilegesOfOption = (option: string): string[] =>
  privilegeOf.find(([options]) => options.test(option))?.[1] ?? ['VM.Config.HWType']

/** Changes options of a configuration. */
export function configure(guest: ProxmoxGuest, { delete: removed = '', ...options }: Record<string, string>): void {
  const { type, config } = guest
  if (guest.lock) throw failed(`${wordOf(guest)} is locked (${guest.lock})`)
  for (const option of removed.split(/[,; ]+/).filter(one => one !== '')) delete config[option]
  if (options.memory !== undefined && type === 'qemu') options.memory = options.memory.replace(/^current=/, '')
  if (options.balloon !== undefined && Number(options.balloon) > Number(options.memory ?? config.memory ?? 512))
    throw failed('balloon value too large (must be smaller than assigned memory)')
  if (options.description !== undefined) options.description = `${options.description.replace(/\n$/, '')}\n`
  if (options.tags !== undefined) options.tags = [...new Set(options.tags.split(/[,; ]+/))].sort().join(';')
  for (const [option, value] of Object.entries(options))
    (guest.pending && guest.status !== 'stopped' && /^net\d+$/.test(option) ? guest.pending : config)[option] = value
}

export function snapshotNamed(guest: ProxmoxGuest, name: string): ProxmoxSnapshot {
  const found = guest.snapshots.find(one => one.name === name)
  if (!found) throw failed(`snapshot '${name}' does not exist`)
  return found
}

/** Takes a snapshot. */
export function takeSnapshot(guest: ProxmoxGuest, name: string, description: string, vmstate: boolean): void {
  if (guest.lock) throw failed(`${wordOf(guest)} is locked (${guest.lock})`)
  const snaptime = Math.floor(Date.now() / 1000)
  const { parent: _, ...config } = guest.config
  guest.snapshots.push({ name, description, vmstate, snaptime, config, isRunning: guest.status !== 'stopped' })
  guest.config.parent = name
}

/** Returns to a snapshot. Without the memory, a guest is off afterwards, unless it is to be started. */
export function rollBack(guest: ProxmoxGuest, name: string, start: boolean): void {
  const snapshot = snapshotNamed(guest, name)
  if (guest.lock) throw failed(`${wordOf(guest)} is locked (${guest.lock})`)
  guest.config = { ...snapshot.config, parent: name }
  powerOff(guest)
  if (start || (snapshot.vmstate && snapshot.isRunning)) powerOn(guest)
}

export function deleteSnapshot(guest: ProxmoxGuest, name: string): void {
  guest.snapshots.splice(guest.snapshots.indexOf(snapshotNamed(guest, name)), 1)
  if (guest.config.parent !== name) return
  const last = guest.snapshots.at(-1)
  if (last) guest.config.parent = last.name
  else delete guest.config.parent
}

/** Grows a disk. */
export function resize(guest: ProxmoxGuest, disk: string, size: string): void {
  const { config } = guest
  if (guest.lock) throw failed(`${wordOf(guest)} is locked (${guest.lock})`)
  if (config[disk] === undefined) throw failed(`disk '${disk}' does not exist`)
  const before = diskBytes(guest, disk)
  const after = Math.floor(bytesOf(size) + (size.startsWith('+') ? before : 0))
  if (after < before) throw failed(guest.type === 'qemu' ? 'shrinking disks is not supported' : 'unable to shrink disk size')
  if (after === before && guest.type === 'lxc') throw failed('disk is already at specified size')
  const shown = after % 2 ** 30 === 0 ? `${after / 2 ** 30}G` : `${Math.ceil(after / 2 ** 20)}M`
  config[disk] = config[disk].replace(/size=[\d.]+[KMGT]?/, `size=${shown}`)
}

/** The configuration of a clone. */
export function clonedConfig(
  source: ProxmoxGuest,
  vmid: number,
  changes: Record<string, string | undefined>,
): ProxmoxGuest['config'] {
  const config: ProxmoxGuest['config'] = {}
  for (const [option, value] of Object.entries(source.config)) {
    const text = /^net\d+$/.test(option) ? value.replace(/(?:[0-9A-F]{2}:){5}[0-9A-F]{2}/, macAddress()) : value
    config[option] = text.replaceAll(`base-${source.vmid}-`, `vm-${vmid}-`)
    if (option === 'smbios1') config[option] = text.replace(/uuid=[^,]+/, `uuid=${crypto.randomUUID()}`)
  }
  for (const [option, value] of Object.entries(changes))
    if (value !== undefined) config[option] = option === 'description' ? `${value.replace(/\n$/, '')}\n` : value
  return config
}

let addressed = 0
const macAddress = () =>
  `BC:24:11:00:${[++addressed >> 8, addressed & 255].map(one => one.toString(16).padStart(2, '0').toUpperCase()).join(':')}`
