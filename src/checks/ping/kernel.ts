import { dlopen, ptr, read, type Pointer } from 'bun:ffi'
import type { Family } from './echo'

/** A received message: a reply, or a network error about a sent message. */
export interface Received {
  /** Includes the IP header for raw IPv4 sockets. */
  octets: Uint8Array
  /** Kernel timestamp (ns UTC); null if unknown. */
  atNs: bigint | null
  /** The errno(3) of an error, whose `octets` are the sent message; null for a reply. */
  errno: number | null
}

/** A non-blocking ICMP socket. */
export interface IcmpSocket {
  /** Sends to an address of the socket's family, in bytes. @returns 0 or an errno(3) */
  send(address: Uint8Array, octets: Uint8Array, dontFragment: boolean): number
  /** The next received message; null if there is none. Valid until the next call. */
  next(): Received | null
  close(): void
}

/** The clock of {@link Received.atNs}: ns UTC. */
type Clock = () => bigint

/** Kernel functions needed for pings. */
export interface IcmpKernel {
  /** @returns a socket or an errno(3) */
  open(family: Family, kind: 'datagram' | 'raw'): IcmpSocket | number
  clock: Clock
}

/**
 * The Linux kernel, called through glibc or musl; null on other systems. Constants are from its headers and the same on all supported
 * 64-bit architectures.
 */
export function linuxKernel(): IcmpKernel | null {
  if (process.platform !== 'linux') return null
  for (const name of [`libc.so.6`, `libc.musl-${machine()}.so.1`]) {
    try {
      return kernelOf(libraryOf(name))
    } catch {
      continue
    }
  }
  return null
}

// From <sys/socket.h>, <netinet/in.h>, <bits/socket_type.h>, <linux/errqueue.h>.
const AF = { 4: 2, 6: 10 } as const
const PROTOCOL = { 4: 1, 6: 58 } as const
const TYPE = { datagram: 2, raw: 3 } as const
const NONBLOCK_CLOEXEC = 0o2004000
const SOL_SOCKET = 1
const SO_RCVBUF = 8
const SO_TIMESTAMPNS = 35
const LEVEL = { 4: 0, 6: 41 } as const
const RECVERR = { 4: 11, 6: 25 } as const
const MTU_DISCOVER = { 4: 10, 6: 23 } as const
const PMTUDISC_DONT = 0
const PMTUDISC_DO = 2
const MSG_ERRQUEUE = 0x2000
const CLOCK_REALTIME = 0

const receiveBuffer = 1024 * 1024
const maxMessageBytes = 65_536
const maxControlBytes = 512
const sizeOfMsghdr = 56

const machine = (): string => (process.arch === 'arm64' ? 'aarch64' : 'x86_64')

const libraryOf = (name: string) =>
  dlopen(name, {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    sendto: { args: ['i32', 'ptr', 'u64', 'i32', 'ptr', 'u32'], returns: 'i64' },
    recvmsg: { args: ['i32', 'ptr', 'i32'], returns: 'i64' },
    close: { args: ['i32'], returns: 'i32' },
    clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' },
    __errno_location: { args: [], returns: 'ptr' },
  }).symbols

type Library = ReturnType<typeof libraryOf>

function kernelOf(library: Library): IcmpKernel {
  const errno = () => read.i32(library.__errno_location()!, 0)
  const now = new BigInt64Array(2)
  return {
    clock() {
      library.clock_gettime(CLOCK_REALTIME, now)
      return now[0]! * 1_000_000_000n + now[1]!
    },
    open(family, kind) {
      const socket = library.socket(AF[family], TYPE[kind] | NONBLOCK_CLOEXEC, PROTOCOL[family])
      return socket < 0 ? errno() : socketOf(library, errno, family, socket)
    },
  }
}

function socketOf(library: Library, errno: () => number, family: Family, socket: number): IcmpSocket {
  const set = (level: number, name: number, value: number) => library.setsockopt(socket, level, name, Int32Array.of(value), 4)
  set(SOL_SOCKET, SO_TIMESTAMPNS, 1)
  set(SOL_SOCKET, SO_RCVBUF, receiveBuffer)
  // Without this, the kernel does not report unreachable hosts.
  set(LEVEL[family], RECVERR[family], 1)
  let discovers: boolean | null = null
  const incoming = new Incoming()
  const receive = (flags: number): Received | null => {
    const length = Number(library.recvmsg(socket, incoming.header(), flags))
    return length < 0 ? null : incoming.received(length, flags === MSG_ERRQUEUE)
  }
  return {
    send(address, octets, dontFragment) {
      if (discovers !== dontFragment) set(LEVEL[family], MTU_DISCOVER[family], dontFragment ? PMTUDISC_DO : PMTUDISC_DONT)
      discovers = dontFragment
      const to = socketAddress(family, address)
      // A pending error of an earlier message fails one call; it is also in the error queue.
      for (let left = 2; ; left--) {
        if (library.sendto(socket, octets, BigInt(octets.length), 0, to, to.length) >= 0) return 0
        const error = errno()
        if (left === 0 || !passing.has(error)) return error
      }
    },
    // A pending error in the error queue fails the first call once.
    next: () => receive(0) ?? receive(MSG_ERRQUEUE),
    close() {
      library.close(socket)
    },
  }
}

// Errors that result from ICMP errors: ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EPROTO, EMSGSIZE.
const passing = new Set([111, 113, 101, 71, 90])

/** sockaddr_in and sockaddr_in6 of <netinet/in.h>. */
function socketAddress(family: Family, address: Uint8Array): Uint8Array {
  const octets = new Uint8Array(family === 4 ? 16 : 28)
  new DataView(octets.buffer).setUint16(0, AF[family], true)
  octets.set(address, family === 4 ? 4 : 8)
  return octets
}

/** Buffers for one message and its control data: msghdr, iovec and cmsghdr of <bits/socket.h> on 64-bit machines. */
class Incoming {
  private readonly octets = new Uint8Array(maxMessageBytes)
  private readonly control = new Uint8Array(maxControlBytes)
  private readonly vector = BigUint64Array.of(BigInt(ptr(this.octets)), BigInt(maxMessageBytes))
  private readonly message = new BigUint64Array(sizeOfMsghdr / 8)

  header(): Pointer {
    this.message.fill(0n)
    this.message[2] = BigInt(ptr(this.vector))
    this.message[3] = 1n
    this.message[4] = BigInt(ptr(this.control))
    this.message[5] = BigInt(maxControlBytes)
    return ptr(this.message)
  }

  received(length: number, isError: boolean): Received {
    const received: Received = { octets: this.octets.subarray(0, length), atNs: null, errno: null }
    const view = new DataView(this.control.buffer)
    const end = Number(this.message[5])
    for (let at = 0; at + 16 <= end;) {
      const size = Number(view.getBigUint64(at, true))
      const level = view.getInt32(at + 8, true)
      const type = view.getInt32(at + 12, true)
      if (size < 16) break
      if (level === SOL_SOCKET && type === SO_TIMESTAMPNS)
        received.atNs = view.getBigInt64(at + 16, true) * 1_000_000_000n + view.getBigInt64(at + 24, true)
      // sock_extended_err starts with the errno.
      else if (isError && (level === LEVEL[4] || level === LEVEL[6])) received.errno = view.getUint32(at + 16, true)
      at += (size + 7) & ~7
    }
    if (isError) received.errno ??= 0
    return received
  }
}
