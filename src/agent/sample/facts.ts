import { hostname, machine, networkInterfaces } from 'node:os'
import type { AgentFacts } from '../../wire/agent'
import { hasSystemd } from '../systemd'
import { disksOf } from './disks'
import { numberAfter } from './figures'
import { lineOf } from './line'
import { isMeasured, uplinks } from './networks'
import type { Root } from './root'
import { containerKind, virtualization } from './virtualization'

const maxAddresses = 256
const maxUplinks = 32

/** Reads what is known about the server, except package updates. */
export function readFacts(root: Root): AgentFacts {
  const os = osRelease(root)
  const cpus = root.text('proc/cpuinfo') ?? ''
  const memory = numberAfter(root.text('proc/meminfo') ?? '', 'MemTotal:')
  const boot = numberAfter(root.text('proc/stat') ?? '', 'btime ')
  const name = (root.isOwn ? hostname() : root.line('etc/hostname')) || undefined
  const cores = cpus.match(/^processor\s*:/gm)?.length
  const routes = uplinks(root)
    .filter(one => lineOf(one, 15) === one)
    .slice(0, maxUplinks)
  const isContainer = containerKind(root) !== null
  return withoutUnknown({
    hostname: text(name, 253),
    fqdn: text(name && qualified(name, root.text('etc/hosts') ?? ''), 253),
    os: text(os.PRETTY_NAME, 200),
    image: text([os.ID, os.VERSION_ID].filter(Boolean).join('-'), 100),
    kernel: text(root.line('proc/sys/kernel/osrelease'), 200),
    arch: text(machine(), 50),
    virtualization: virtualization(root),
    cpu_model: text(cpuModel(cpus) ?? root.line('proc/device-tree/model'), 200),
    cores,
    memory_bytes: memory === undefined ? undefined : memory * 1024,
    // Containers see the disks of their host.
    disk_bytes: isContainer ? undefined : disksOf(root).reduce((sum, { bytes }) => sum + bytes, 0) || undefined,
    ...(root.isOwn && addresses(routes)),
    uplinks: routes,
    agent_uid: process.getuid?.(),
    agent_platform: platform(root, cpus),
    agent_as_root: hasSystemd(),
    boot_at: boot === undefined ? undefined : boot * 1000,
    timezone: text(timezone(root), 64),
    reboot_required: root.exists('run/reboot-required') || (!isContainer && hasOtherKernel(root)),
  })
}

/** Which program of the agent the server needs, as in the script that installs it. */
function platform(root: Root, cpus: string): string {
  const hasMusl = ['lib', 'usr/lib'].some(folder => root.names(folder).some(name => name.startsWith('ld-musl-')))
  // Systems with glibc can have musl too, but their shell doesn’t use it.
  const musl = hasMusl && !root.start('bin/sh', 4096)?.includes('/ld-linux') ? '-musl' : ''
  const baseline = process.arch === 'x64' && !/ avx2 /.test(cpus) ? '-baseline' : ''
  return `linux-${process.arch}${musl}${baseline}`
}

/** Text that a fact can be; undefined if it is unknown. */
const text = (value: string | null | undefined, maxLength: number): string | undefined => lineOf(value, maxLength) ?? undefined

const withoutUnknown = (facts: { [Name in keyof AgentFacts]: AgentFacts[Name] | undefined }): AgentFacts =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))

/** os-release(5): variables with values that can be in quotation marks. */
function osRelease(root: Root): Record<string, string | undefined> {
  const file = root.text('etc/os-release') ?? root.text('usr/lib/os-release') ?? ''
  return Object.fromEntries(
    [...file.matchAll(/^([A-Z_]+)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(.*))$/gm)].map(([, name, double, single, bare]) => [
      name,
      double?.replaceAll(/\\(.)/g, '$1') ?? single ?? bare,
    ]),
  )
}

/** The name with its domain, from a line of `/etc/hosts`. */
function qualified(name: string, hosts: string): string | undefined {
  if (name.includes('.')) return name
  const names = hosts.split('\n').map(line => line.replace(/#.*/, '').trim().split(/\s+/).slice(1))
  return names.find(one => one.includes(name))?.find(one => one.startsWith(`${name}.`))
}

/** The model in `/proc/cpuinfo`, whose fields differ between architectures. */
const cpuModel = (cpus: string): string | undefined => /^(?:model name|Model|cpu model|uarch)\s*:\s*(.+)$/m.exec(cpus)?.[1]

/** Addresses and MAC addresses, those of the default routes first. Link-local addresses don’t identify a server. */
function addresses(routes: readonly string[]): Pick<AgentFacts, 'addresses' | 'macs'> {
  const all = Object.entries(networkInterfaces())
    .filter(([name]) => isMeasured(name))
    .sort(([a], [b]) => Number(routes.includes(b)) - Number(routes.includes(a)))
    .flatMap(([, found]) => found ?? [])
    .filter(one => !one.internal)
  const unique = (values: string[]) => [...new Set(values)].slice(0, maxAddresses)
  return {
    addresses: unique(all.map(one => one.address).filter(one => !/^(fe[89ab][0-9a-f]:|169\.254\.)/i.test(one))),
    macs: unique(all.map(one => one.mac).filter(one => one !== '00:00:00:00:00:00')),
  }
}

function timezone(root: Root): string | undefined {
  const [, zone] = /zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(root.link('etc/localtime') ?? '') ?? []
  return zone ?? root.line('etc/timezone') ?? undefined
}

/** Whether an update removed the kernel that is running. */
function hasOtherKernel(root: Root): boolean {
  const running = root.line('proc/sys/kernel/osrelease')
  const modules = ['lib/modules', 'usr/lib/modules'].flatMap(folder => root.names(folder))
  return running !== null && modules.length > 0 && !modules.includes(running)
}
