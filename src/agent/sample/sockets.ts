import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import type { AgentReport } from '../../wire/agent'
import { lineOf } from './line'
import { writeFile } from '../state/write-file'
import type { Root } from './root'

/** A socket that waits for connections or datagrams. */
export interface ListeningSocket {
  protocol: 'tcp' | 'udp'
  /** IPv4 or IPv6 address, as text: `0.0.0.0` or `::` for all addresses. */
  address: string
  port: number
  /** ID of the user who opened it. */
  uid: number
  /** Number of the socket, to find the process that has it open. */
  inode: string
}

type ReportedSocket = NonNullable<AgentReport['sockets']>[number]

const chunkBytes = 32 * 1024
const maxSockets = 200
/** Sockets whose programs root stores. Of several on the same port, any can be reported. */
const maxStored = 1000
/** Opening the folder of each process of a server that has more would use too much CPU time. */
const maxProcesses = 2000

/**
 * How many sockets listen for TCP connections. They precede the connections in `/proc/net/tcp`, so that a million of those are not read.
 * Undefined if the file can’t be read.
 */
export function listening(root: Root): number | undefined {
  const [four, six] = ['tcp', 'tcp6'].map(file => socketLines(root, file, '0A'))
  return four && four.length + (six?.length ?? 0)
}

/** Sockets that listen for TCP connections, of all processes; null if the kernel doesn’t report it. */
export function listeningTcp(root: Root): ListeningSocket[] | null {
  const lines = ['tcp', 'tcp6'].map(file => socketLines(root, file, '0A'))
  return lines[0] ? lines.flatMap(some => (some ?? []).flatMap(line => parseSocket('tcp', line) ?? [])) : null
}

/**
 * UDP sockets that aren’t connected. Those with a port that the kernel chooses for clients may be clients too, such as those of a DNS
 * resolver.
 */
const unconnectedUdp = (root: Root): ListeningSocket[] =>
  ['udp', 'udp6'].flatMap(file => socketLines(root, file, '07') ?? []).flatMap(line => parseSocket('udp', line) ?? [])

const keyOf = ({ protocol, address, port }: ListeningSocket): string => `${protocol} ${address} ${port}`

/** A client closes its socket within this time (s). What stays open longer is a server, such as WireGuard. */
const clientSeconds = 30

/** Reads which ports are open. */
export class OpenPorts {
  /** Since when sockets are open that may be those of clients, by number; null before the first reading. */
  private openSince: ReadonlyMap<string, number> | null = null
  private knownAt = 0
  /** UDP sockets of the last reading. */
  private reported: ReadonlySet<string> = new Set<string>()
  private processes: { of: string; names: ReadonlyMap<string, string> } | null = null

  /** @param seconds a time that no one sets back */
  constructor(
    private readonly root: Root,
    private readonly seconds: () => number = () => performance.now() / 1000,
    /** File in which root stores the programs of sockets. */
    private readonly processesFile: string | null = null,
  ) {}

  /** Sockets that listen, each address and port once; null if the kernel doesn’t report it, or not yet which are those of clients. */
  read(problem: (sentence: string) => void): ReportedSocket[] | null {
    const { root } = this
    const tcp = listeningTcp(root)
    if (tcp === null) return null
    const [low, high] = (root.line('proc/sys/net/ipv4/ip_local_port_range') ?? '32768 60999').split(/\s+/).map(Number)
    const all = unconnectedUdp(root)
    const possible = all.filter(({ port }) => port >= low! && port <= high!)
    const now = this.seconds()
    // Servers must not seem to be closed whenever the agent starts.
    if (!this.openSince && possible.length > 0) this.knownAt = now + clientSeconds
    const openSince = new Map(possible.map(({ inode }) => [inode, this.openSince?.get(inode) ?? now]))
    this.openSince = openSince
    if (now < this.knownAt) return null
    // A server that was restarted has another socket.
    const udp = all.filter(one => (openSince.get(one.inode) ?? -Infinity) <= now - clientSeconds || this.reported.has(keyOf(one)))
    this.reported = new Set(udp.map(keyOf))
    const found = new Map([...tcp, ...udp].map(one => [keyOf(one), one]))
    const sockets = [...found.values()].toSorted(
      (a, b) => a.port - b.port || (`${a.protocol} ${a.address}` < `${b.protocol} ${b.address}` ? -1 : 1),
    )
    if (sockets.length > maxSockets) problem(`Only ${maxSockets} of ${sockets.length} listening sockets are reported.`)
    const reported = sockets.slice(0, maxSockets)
    const users = userNames(root)
    const file = this.processesFile
    const storedAt = file === null ? 0 : statSync(file, { throwIfNoEntry: false })?.mtimeMs
    const of = [storedAt, ...reported.map(one => one.inode)].join()
    // Looking through the files of all processes takes longer than everything else, so it is done only if sockets have changed.
    if (this.processes?.of !== of) {
      const stored = file === null ? {} : storedProcesses(root, file)
      const own = socketProcesses(
        root,
        reported.filter(({ inode }) => !Object.hasOwn(stored, inode)),
      )
      this.processes = { of, names: new Map([...own, ...Object.entries(stored)]) }
    }
    const { names } = this.processes
    return reported.map(({ inode, uid, ...socket }) => ({
      ...socket,
      process: names.get(inode) ?? null,
      user: users.get(uid) ?? null,
    }))
  }
}

/**
 * Names of the programs that have sockets open, by the number of the socket. Only root sees the sockets of other users, so most are
 * unknown to an agent without privileges.
 */
export function socketProcesses(root: Root, sockets: readonly Pick<ListeningSocket, 'inode'>[]): Map<string, string> {
  const wanted = new Set(sockets.map(one => one.inode))
  const found = new Map<string, string>()
  const ids = root.names('proc').filter(name => /^\d+$/.test(name))
  for (const id of ids.slice(0, maxProcesses)) {
    if (found.size === wanted.size) break
    for (const file of root.names(`proc/${id}/fd`)) {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(root.link(`proc/${id}/fd/${file}`) ?? '') ?? []
      if (inode === undefined || !wanted.has(inode) || found.has(inode)) continue
      const name = lineOf(root.line(`proc/${id}/comm`), 100)
      if (name !== null) found.set(inode, name)
    }
  }
  return found
}

interface StoredProcesses {
  /** The numbers of sockets start again with the system. */
  boot_id: string | null
  /** Names of programs by the numbers of their sockets. */
  processes: Record<string, string>
}

const bootId = (root: Root): string | null => root.line('proc/sys/kernel/random/boot_id')

/** Stores which programs have the listening sockets open, for the agent. Only root sees those of all users. */
export function storeSocketProcesses(root: Root, file: string): void {
  const sockets = [...(listeningTcp(root) ?? []), ...unconnectedUdp(root)].slice(0, maxStored)
  const stored: StoredProcesses = { boot_id: bootId(root), processes: Object.fromEntries(socketProcesses(root, sockets)) }
  writeFile(file, JSON.stringify(stored), { mode: 0o644 })
}

/** None if root has not stored them since the system started. */
function storedProcesses(root: Root, file: string): Record<string, string> {
  try {
    const { boot_id: of, processes } = JSON.parse(readFileSync(file, 'utf8')) as StoredProcesses
    return of === bootId(root) ? processes : {}
  } catch {
    return {}
  }
}

/** Names of users by their IDs, from `/etc/passwd`. */
export function userNames(root: Root): Map<number, string> {
  const lines = (root.text('etc/passwd') ?? '').split('\n').map(line => line.split(':'))
  const named = lines.flatMap(([name, , id]) => {
    const text = lineOf(name, 100)
    return text !== null && id !== undefined && /^\d{1,10}$/.test(id) ? [[Number(id), text] as const] : []
  })
  // The first of several names for the same ID counts, as in getpwuid(3).
  return new Map(named.toReversed())
}

/** A line of `/proc/net/tcp` or `udp`: number, local address, remote address, state, queues, timer, retransmits, user, timeout, inode. */
function parseSocket(protocol: 'tcp' | 'udp', line: string): ListeningSocket | null {
  const [, local, port, uid, inode] =
    /^\s*\d+: ((?:[0-9A-F]{8}){1,4}):([0-9A-F]{4}) \S+ \S+ \S+ \S+ \S+\s+(\d+)\s+\d+ (\d+)/.exec(line) ?? []
  const address = local === undefined ? null : addressOf(local)
  return address === null ? null : { protocol, address, port: Number.parseInt(port!, 16), uid: Number(uid), inode: inode! }
}

/** An address as the kernel writes it: words of 4 bytes in the order of the CPU, which is little-endian on all that the agent supports. */
function addressOf(hex: string): string | null {
  const bytes = Buffer.from(hex, 'hex').swap32()
  if (bytes.length === 4) return [...bytes].join('.')
  if (bytes.length !== 16) return null
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** Lines about the sockets in a state, at the start of the file for TCP sockets that listen; undefined if it can’t be read. */
function socketLines(root: Root, name: string, state: '0A' | '07'): string[] | undefined {
  let file: number
  try {
    file = openSync(root.path(`${root.network}/${name}`), 'r')
  } catch {
    return undefined
  }
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    const found: string[] = []
    let rest = ''
    for (let read; (read = readSync(file, chunk, 0, chunkBytes, null)) > 0;) {
      const lines = (rest + chunk.toString('latin1', 0, read)).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const lineState = /^\s*\d+: \S+ \S+ ([0-9A-F]{2}) /.exec(line)?.[1]
        if (lineState === state) found.push(line)
        else if (state === '0A' && lineState !== undefined) return found
      }
    }
    return found
  } catch {
    return undefined
  } finally {
    closeSync(file)
  }
}
