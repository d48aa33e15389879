import { randomBytes } from 'node:crypto'
import { constants } from 'node:os'
import { parseAddress } from '../../core/net/address'
import { echoReply, echoRequest, echoSent, withoutHeader, type Family } from './echo'
import type { IcmpKernel, IcmpSocket, Received } from './kernel'
import { minDataBytes, type PingReport, type PingSeries, type PingMethod } from './series'

/** The socket kind this process may use for pings. Datagram (ping) sockets come first: they need no privilege (ping_group_range). */
export function socketKind(kernel: IcmpKernel, family: Family): 'datagram' | 'raw' | { errno: number } {
  for (const kind of ['datagram', 'raw'] as const) {
    const socket = kernel.open(family, kind)
    if (typeof socket !== 'number') {
      socket.close()
      return kind
    }
    if (kind === 'raw') return { errno: socket }
  }
  return { errno: 0 }
}

/** Sends pings of one address family on a shared socket, open only while replies are pending. */
export class Pinger implements PingMethod {
  readonly name: PingMethod['name']
  private socket: IcmpSocket | null = null
  private id = 0
  private sequence = 0
  private readonly waiting = new Map<number, Waiting>()
  private timer: ReturnType<typeof setTimeout> | null = null
  private sentAt = 0

  constructor(
    private readonly kernel: IcmpKernel,
    private readonly family: Family,
    private readonly kind: 'datagram' | 'raw',
  ) {
    this.name = kind === 'raw' ? 'raw_socket' : 'ping_socket'
  }

  async run(series: PingSeries, signal: AbortSignal): Promise<PingReport> {
    const report: PingReport = { sent: 0, times: [], error: null }
    const mine = new Set<number>()
    let wake = () => {}
    const settleFor = (sequence: number) => (outcome: number | string) => {
      mine.delete(sequence)
      if (typeof outcome === 'number') report.times.push(outcome)
      else report.error = outcome
      if (mine.size === 0) wake()
    }
    /** @param idle also ends once no reply is pending */
    const pause = (ms: number, idle: boolean) =>
      new Promise<void>(resolve => {
        if (signal.aborted || (idle && mine.size === 0)) return resolve()
        const end = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', end)
          wake = () => {}
          resolve()
        }
        const timer = setTimeout(end, ms)
        signal.addEventListener('abort', end)
        if (idle) wake = end
      })
    const address = Uint8Array.from(parseAddress(series.address)!.toByteArray())
    try {
      while (report.sent < series.count && !signal.aborted) {
        if (report.sent > 0) await pause(series.intervalMs, false)
        if (signal.aborted) break
        report.sent++
        const sequence = this.nextSequence()
        mine.add(sequence)
        this.send(sequence, address, series, settleFor(sequence))
      }
      await pause(series.replyTimeoutMs, true)
      return report
    } finally {
      for (const sequence of mine) this.waiting.delete(sequence)
      this.closeIfIdle()
    }
  }

  private send(sequence: number, address: Uint8Array, series: PingSeries, report: Waiting['report']): void {
    const socket = this.open()
    if (typeof socket === 'number') return report(nameOf(socket))
    const data = new Uint8Array(series.size)
    data.set(randomBytes(minDataBytes))
    const octets = echoRequest(this.family, this.id, sequence, data)
    const sentNs = this.kernel.clock()
    this.sentAt = performance.now()
    this.waiting.set(sequence, { data, sentNs, sentAt: this.sentAt, report })
    const errno = socket.send(address, octets, series.dontFragment)
    if (errno !== 0) {
      this.waiting.delete(sequence)
      return report(nameOf(errno))
    }
    this.listen()
  }

  private open(): IcmpSocket | number {
    if (this.socket) return this.socket
    const socket = this.kernel.open(this.family, this.kind)
    if (typeof socket === 'number') return socket
    this.id = randomBytes(2).readUInt16BE()
    this.socket = socket
    return socket
  }

  /** Polls for replies. The kernel timestamps them, so polling costs no accuracy. */
  private listen(): void {
    if (this.timer || this.waiting.size === 0) return
    const soon = performance.now() - this.sentAt < soonMs
    this.timer = setTimeout(
      () => {
        this.timer = null
        for (let left = maxPerPoll; left > 0; left--) {
          const received = this.socket?.next()
          if (!received) break
          this.receive(received)
        }
        this.listen()
      },
      soon ? pollMs : slowPollMs,
    )
  }

  private receive(received: Received): void {
    if (received.errno !== null) {
      const sent = echoSent(this.family, received.octets)
      if (sent && this.isMine(sent.id)) this.settle(sent.sequence, nameOf(received.errno))
      return
    }
    const octets = this.kind === 'raw' && this.family === 4 ? withoutHeader(received.octets) : received.octets
    const reply = echoReply(this.family, octets)
    const pending = reply && this.isMine(reply.id) ? this.waiting.get(reply.sequence) : undefined
    if (!pending || !Buffer.from(pending.data).equals(reply!.data)) return
    const elapsed = performance.now() - pending.sentAt
    const byKernel = received.atNs === null ? elapsed : Number(received.atNs - pending.sentNs) / 1e6
    // The kernel's timestamp uses a clock that can be set.
    this.settle(reply!.sequence, byKernel >= 0 && byKernel <= elapsed + 1 ? byKernel : elapsed)
  }

  /** For ping sockets, the kernel sets the id and delivers only replies to this socket. */
  private isMine(id: number): boolean {
    return this.kind === 'datagram' || id === this.id
  }

  private settle(sequence: number, outcome: number | string): void {
    const waiting = this.waiting.get(sequence)
    this.waiting.delete(sequence)
    waiting?.report(outcome)
  }

  private nextSequence(): number {
    do this.sequence = (this.sequence + 1) & 0xffff
    while (this.waiting.has(this.sequence))
    return this.sequence
  }

  /** Closes the idle socket: a raw socket receives all ICMP traffic of the host. */
  private closeIfIdle(): void {
    if (this.waiting.size > 0) return
    if (this.timer) clearTimeout(this.timer)
    this.timer = null
    this.socket?.close()
    this.socket = null
  }
}

interface Waiting {
  data: Uint8Array
  sentNs: bigint
  /** Monotonic. */
  sentAt: number
  /** Milliseconds, or the name of an errno(3). */
  report(outcome: number | string): void
}

// Most replies arrive within milliseconds; poll less often for the rest.
const pollMs = 2
const slowPollMs = 10
const soonMs = 100
const maxPerPoll = 5000

const nameOf = (errno: number): string =>
  Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`
