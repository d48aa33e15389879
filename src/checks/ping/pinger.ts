import { randomBytes } from 'node:crypto'
import { constants } from 'node:os'
import { parseAddress } from '../../core/net/address'
import { echoReply, echoRequest, echoSent, withoutHeader, type Family } from './echo'
import type { IcmpKernel, IcmpSocket, Received } from './kernel'
import { leastData, type PingReport, type PingSeries, type PingWay } from './series'

/** What sockets of a kernel may be used for pings: the kernel's own kind first, which needs no privilege (ping_group_range). */
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

/** Pings of one family on one socket, which is open while any waits for its answer. */
export class Pinger implements PingWay {
  readonly by: PingWay['by']
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
    this.by = kind === 'raw' ? 'raw_socket' : 'ping_socket'
  }

  async run(series: PingSeries, signal: AbortSignal): Promise<PingReport> {
    const report: PingReport = { sent: 0, times: [], error: null }
    const mine = new Set<number>()
    let wake = () => {}
    const settled = (sequence: number) => (outcome: number | string) => {
      mine.delete(sequence)
      if (typeof outcome === 'number') report.times.push(outcome)
      else report.error = outcome
      if (mine.size === 0) wake()
    }
    /** @param idle whether it ends too once nothing is waited for */
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
        if (report.sent > 0) await pause(series.gapMs, false)
        if (signal.aborted) break
        report.sent++
        const sequence = this.unused()
        mine.add(sequence)
        this.send(sequence, address, series, settled(sequence))
      }
      await pause(series.answerWithinMs, true)
      return report
    } finally {
      for (const sequence of mine) this.waiting.delete(sequence)
      this.rest()
    }
  }

  private send(sequence: number, address: Uint8Array, series: PingSeries, tell: Waiting['tell']): void {
    const socket = this.opened()
    if (typeof socket === 'number') return tell(nameOf(socket))
    const data = new Uint8Array(series.size)
    data.set(randomBytes(leastData))
    const octets = echoRequest(this.family, this.id, sequence, data)
    const sentNs = this.kernel.clock()
    this.sentAt = performance.now()
    this.waiting.set(sequence, { data, sentNs, sentAt: this.sentAt, tell })
    const errno = socket.send(address, octets, series.dontFragment)
    if (errno !== 0) {
      this.waiting.delete(sequence)
      return tell(nameOf(errno))
    }
    this.listen()
  }

  private opened(): IcmpSocket | number {
    if (this.socket) return this.socket
    const socket = this.kernel.open(this.family, this.kind)
    if (typeof socket === 'number') return socket
    this.id = randomBytes(2).readUInt16BE()
    this.socket = socket
    return socket
  }

  /** The kernel keeps when answers came, so that looking now and then costs nothing in accuracy. */
  private listen(): void {
    if (this.timer || this.waiting.size === 0) return
    const soon = performance.now() - this.sentAt < soonMs
    this.timer = setTimeout(
      () => {
        this.timer = null
        for (let left = mostAtOnce; left > 0; left--) {
          const received = this.socket?.next()
          if (!received) break
          this.take(received)
        }
        this.listen()
      },
      soon ? lookMs : lookLaterMs,
    )
  }

  private take(received: Received): void {
    if (received.errno !== null) {
      const sent = echoSent(this.family, received.octets)
      if (sent && this.isMine(sent.id)) this.settle(sent.sequence, nameOf(received.errno))
      return
    }
    const octets = this.kind === 'raw' && this.family === 4 ? withoutHeader(received.octets) : received.octets
    const reply = echoReply(this.family, octets)
    const asked = reply && this.isMine(reply.id) ? this.waiting.get(reply.sequence) : undefined
    if (!asked || !Buffer.from(asked.data).equals(reply!.data)) return
    const elapsed = performance.now() - asked.sentAt
    const byKernel = received.atNs === null ? elapsed : Number(received.atNs - asked.sentNs) / 1e6
    // The kernel's is a clock that can be set.
    this.settle(reply!.sequence, byKernel >= 0 && byKernel <= elapsed + 1 ? byKernel : elapsed)
  }

  /** Of the kernel's own kind it sets the id, and gives only what belongs to the socket. */
  private isMine(id: number): boolean {
    return this.kind === 'datagram' || id === this.id
  }

  private settle(sequence: number, outcome: number | string): void {
    const waiting = this.waiting.get(sequence)
    this.waiting.delete(sequence)
    waiting?.tell(outcome)
  }

  private unused(): number {
    do this.sequence = (this.sequence + 1) & 0xffff
    while (this.waiting.has(this.sequence))
    return this.sequence
  }

  /** A raw socket gets what everybody is sent: nobody is to listen when nothing is waited for. */
  private rest(): void {
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
  /** By the clock that cannot be set. */
  sentAt: number
  /** Milliseconds, or the name of an errno(3). */
  tell(outcome: number | string): void
}

// Most answers come within milliseconds, the others can wait.
const lookMs = 2
const lookLaterMs = 10
const soonMs = 100
const mostAtOnce = 5000

const nameOf = (errno: number): string =>
  Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`
