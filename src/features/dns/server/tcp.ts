import type { Socket } from 'bun'
import { framed } from '../../../dns/tcp-frame'
import type { Answerer } from './answerer'
import { increment, type ServerCounters } from './server-counters'
import type { AnswerStream } from './signed-answers'
import { networkOf } from './rate-limit'

/** Maximum number of open connections. */
const CONNECTIONS_MAX = 100
/** Seconds without a complete query before a connection is closed (RFC 7766 section 6.2.3). */
const IDLE_SECONDS = 30
/** Maximum octets of unread responses per connection. */
const UNREAD_MAX = 512 * 1024

/** Responses are collected up to this size before they are written. */
const WRITE_OCTETS = 64 * 1024

/** Maximum octets of queries waiting behind a streamed response. */
const WAITING_MAX = 128 * 1024
/** Milliseconds a client has to receive one message of a streamed response, and the whole response. */
const STALL_MS = 10_000
const LATER_MS = 15 * 60_000

interface Connection {
  /** Network of the client, for counting connections. */
  network: number | string
  /** Queries that are incomplete or not processed yet. */
  read: Uint8Array
  /** Responses that are not written to the socket yet. */
  unsent: Uint8Array
  /** Whether a streamed response is in progress: later queries wait. */
  busy: boolean
  closed: boolean
  /** Called when the socket accepts more data, and when it closes. */
  onProgress: () => void
}

/** An open TCP port. */
export interface TcpPort {
  close(): void
}

/** Answers queries over TCP; supports pipelining (RFC 7766). @throws Error with a code */
export function openTcp(
  host: string,
  port: number,
  {
    answerer,
    counters,
    isShared,
    stallMs = STALL_MS,
  }: {
    answerer: Answerer<AnswerStream>
    counters: ServerCounters
    /** Whether other threads listen on the port too (SO_REUSEPORT). */
    isShared: boolean
    stallMs?: number
  },
): TcpPort {
  // Least recently used first.
  const open = new Set<Socket<Connection>>()
  const markUsed = (socket: Socket<Connection>) => {
    open.delete(socket)
    open.add(socket)
  }

  /** Processes received queries, up to a streamed response. */
  const take = (socket: Socket<Connection>): void => {
    const { data } = socket
    const whole = data.read
    const answers: Uint8Array[] = []
    let octetsAtHand = 0
    let at = 0
    while (at + 2 <= whole.length) {
      const end = at + 2 + ((whole[at]! << 8) | whole[at + 1]!)
      if (end > whole.length) break
      counters.tcp++
      const answer = answerer.answer(whole.subarray(at + 2, end), 'tcp', socket.remoteAddress)
      at = end
      if (answer === null) {
        // No valid client sends this: ignore the rest.
        counters.ignored++
        socket.terminate()
        return
      }
      if (!(answer instanceof Uint8Array)) {
        data.busy = true
        data.read = Uint8Array.from(whole.subarray(at))
        if (send(socket, answers)) void stream(socket, answer)
        return
      }
      answers.push(framed(answer))
      octetsAtHand += answer.length
      if (octetsAtHand < WRITE_OCTETS) continue
      // Many small queries can cause large responses: write in between.
      if (!send(socket, answers.splice(0))) return
      octetsAtHand = 0
    }
    data.read = at === whole.length ? NOTHING : whole.slice(at)
    if (at === 0) return
    socket.timeout(IDLE_SECONDS)
    markUsed(socket)
    send(socket, answers)
  }

  /** Sends a response message by message, waiting for the client to receive each. */
  const stream = async (socket: Socket<Connection>, answer: AnswerStream): Promise<void> => {
    const { data } = socket
    // The connection is not idle; each step has its own timeout below.
    socket.timeout(0)
    const until = performance.now() + LATER_MS
    try {
      for await (const message of answer) {
        if (data.closed) return
        data.unsent = concat(data.unsent, framed(message))
        write(socket)
        markUsed(socket)
        const takenBy = Math.min(until, performance.now() + stallMs)
        while (data.unsent.length > 0 && !data.closed) {
          if (await waitForProgress(data, takenBy - performance.now())) continue
          increment(counters.transfers, 'stalled')
          socket.terminate()
          return
        }
      }
    } catch {
      // The response is incomplete. The client notices when the connection closes.
      increment(counters.transfers, 'failed')
      socket.terminate()
    } finally {
      data.busy = false
    }
    if (data.closed) return
    socket.timeout(IDLE_SECONDS)
    take(socket)
  }

  const listener = Bun.listen<Connection>({
    hostname: host,
    port,
    // Not in the types of Bun.listen.
    ...(isShared && { reusePort: true }),
    data: undefined as never,
    socket: {
      open(socket) {
        const network = networkOf(socket.remoteAddress) ?? socket.remoteAddress
        socket.data = { network, read: NOTHING, unsent: NOTHING, busy: false, closed: false, onProgress() {} }
        socket.timeout(IDLE_SECONDS)
        open.add(socket)
        if (open.size <= CONNECTIONS_MAX) return
        const quiet = connectionToClose(open)
        open.delete(quiet)
        quiet.terminate()
      },
      data(socket, octets) {
        const { data } = socket
        data.read = data.read.length === 0 ? octets : concat(data.read, octets)
        if (!data.busy) take(socket)
        else if (data.read.length > WAITING_MAX) socket.terminate()
        else data.read = Uint8Array.from(data.read)
      },
      drain(socket) {
        write(socket)
        socket.data.onProgress()
      },
      timeout(socket) {
        socket.terminate()
      },
      close(socket) {
        open.delete(socket)
        socket.data.closed = true
        socket.data.onProgress()
      },
      error(socket) {
        socket.terminate()
      },
    },
  })
  return {
    close() {
      listener.stop(true)
    },
  }
}

const NOTHING = new Uint8Array()

/**
 * Picks a connection to close when there are too many: the longest idle one of the network with the most connections, so that a
 * client that opens many only affects itself.
 */
function connectionToClose(open: ReadonlySet<Socket<Connection>>): Socket<Connection> {
  const counts = new Map<number | string, number>()
  for (const { data } of open) counts.set(data.network, (counts.get(data.network) ?? 0) + 1)
  const max = Math.max(...counts.values())
  return [...open].find(({ data }) => counts.get(data.network) === max)!
}

/** @returns false if the connection was closed because the client doesn't read */
function send(socket: Socket<Connection>, answers: Uint8Array[]): boolean {
  const { data } = socket
  if (answers.length === 0) return true
  data.unsent = data.unsent.length === 0 && answers.length === 1 ? answers[0]! : Buffer.concat([data.unsent, ...answers])
  write(socket)
  if (data.unsent.length <= UNREAD_MAX) return true
  data.unsent = NOTHING
  socket.terminate()
  return false
}

/** Writes as much as the socket accepts. */
function write(socket: Socket<Connection>): void {
  const { data } = socket
  if (data.unsent.length > 0) data.unsent = data.unsent.subarray(Math.max(0, socket.write(data.unsent)))
}

/** Waits until the socket accepts more data, or closes. @returns false on a timeout */
function waitForProgress(data: Connection, ms: number): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(false), ms)
    data.onProgress = () => {
      clearTimeout(timer)
      resolve(true)
    }
  })
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}
