import type { Socket } from 'bun'
import { framed } from '../../../core/dns/tcp-frame'
import type { Answerer } from './answerer'
import { countUp, type Counted } from './counted'
import type { Later } from './keyed-answers'
import { networkOf } from './rate-limit'

/** Connections that are open at once. */
const CONNECTIONS_MAX = 100
/** Seconds without a whole query after which a connection is closed (RFC 7766 6.2.3). */
const IDLE_SECONDS = 30
/** Octets of answers that a client may leave unread. */
const UNREAD_MAX = 512 * 1024

/** Octets of answers that are written together. */
const WRITE_OCTETS = 64 * 1024

/** Octets of queries that may wait behind an answer that takes its time. */
const WAITING_MAX = 128 * 1024
/** Milliseconds in which a client has to take a message of such an answer, or is cut off, and those that all of the answer may take. */
const STALL_MS = 10_000
const LATER_MS = 15 * 60_000

interface Connection {
  /** Whose it is, as far as connections are counted. */
  network: number | string
  /** Queries that are not whole yet, or not answered. */
  read: Uint8Array
  /** Answers that the system did not take yet. */
  unsent: Uint8Array
  /** Whether an answer of several messages is under way: what is asked after it waits. */
  busy: boolean
  closed: boolean
  /** Called when the system takes more, and when the connection ends. */
  moved: () => void
}

/** An open TCP port. */
export interface TcpPort {
  close(): void
}

/** Answers what comes by TCP: any number of queries on a connection, one after the other (RFC 7766). @throws Error with a code */
export function openTcp(
  host: string,
  port: number,
  { answerer, counted, stallMs = STALL_MS }: { answerer: Answerer<Later>; counted: Counted; stallMs?: number },
): TcpPort {
  // In the order of their last queries.
  const open = new Set<Socket<Connection>>()
  const isHeard = (socket: Socket<Connection>) => {
    open.delete(socket)
    open.add(socket)
  }

  /** Answers what has been read, up to an answer that takes its time. */
  const take = (socket: Socket<Connection>): void => {
    const { data } = socket
    const whole = data.read
    const answers: Uint8Array[] = []
    let octetsAtHand = 0
    let at = 0
    while (at + 2 <= whole.length) {
      const end = at + 2 + ((whole[at]! << 8) | whole[at + 1]!)
      if (end > whole.length) break
      counted.tcp++
      const answer = answerer.answer(whole.subarray(at + 2, end), 'tcp', socket.remoteAddress)
      at = end
      if (answer === null) {
        // No client sends this; what follows need not be looked at.
        counted.ignored++
        socket.terminate()
        return
      }
      if (!(answer instanceof Uint8Array)) {
        data.busy = true
        data.read = Uint8Array.from(whole.subarray(at))
        if (send(socket, answers)) void pump(socket, answer)
        return
      }
      answers.push(framed(answer))
      octetsAtHand += answer.length
      if (octetsAtHand < WRITE_OCTETS) continue
      // Queries are read thousands at a time, and an answer has up to 64 KiB.
      if (!send(socket, answers.splice(0))) return
      octetsAtHand = 0
    }
    data.read = at === whole.length ? NOTHING : whole.slice(at)
    if (at === 0) return
    socket.timeout(IDLE_SECONDS)
    isHeard(socket)
    send(socket, answers)
  }

  /** Sends an answer message by message, each when the client has taken the one before. */
  const pump = async (socket: Socket<Connection>, answer: Later): Promise<void> => {
    const { data } = socket
    // Who waits here is not idle; how long each step may take is held below.
    socket.timeout(0)
    const until = performance.now() + LATER_MS
    try {
      for await (const message of answer) {
        if (data.closed) return
        data.unsent = joined(data.unsent, framed(message))
        write(socket)
        isHeard(socket)
        const takenBy = Math.min(until, performance.now() + stallMs)
        while (data.unsent.length > 0 && !data.closed) {
          if (await hasMoved(data, takenBy - performance.now())) continue
          countUp(counted.transfers, 'stalled')
          socket.terminate()
          return
        }
      }
    } catch {
      // What was sent is no whole answer, and the client sees by the end of the connection that it is none.
      countUp(counted.transfers, 'failed')
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
    data: undefined as never,
    socket: {
      open(socket) {
        const network = networkOf(socket.remoteAddress) ?? socket.remoteAddress
        socket.data = { network, read: NOTHING, unsent: NOTHING, busy: false, closed: false, moved() {} }
        socket.timeout(IDLE_SECONDS)
        open.add(socket)
        if (open.size <= CONNECTIONS_MAX) return
        const quiet = leastMissed(open)
        open.delete(quiet)
        quiet.terminate()
      },
      data(socket, octets) {
        const { data } = socket
        data.read = data.read.length === 0 ? octets : joined(data.read, octets)
        if (!data.busy) take(socket)
        else if (data.read.length > WAITING_MAX) socket.terminate()
        else data.read = Uint8Array.from(data.read)
      },
      drain(socket) {
        write(socket)
        socket.data.moved()
      },
      timeout(socket) {
        socket.terminate()
      },
      close(socket) {
        open.delete(socket)
        socket.data.closed = true
        socket.data.moved()
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
 * The connection that goes when there are too many: of the network that has the most the one that was quiet the longest, so that whoever
 * opens many pushes out none but his own.
 */
function leastMissed(open: ReadonlySet<Socket<Connection>>): Socket<Connection> {
  const counts = new Map<number | string, number>()
  for (const { data } of open) counts.set(data.network, (counts.get(data.network) ?? 0) + 1)
  const most = Math.max(...counts.values())
  return [...open].find(({ data }) => counts.get(data.network) === most)!
}

/** @returns false when the connection was ended, since its client does not read */
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

/** Gives the system as much as it takes. */
function write(socket: Socket<Connection>): void {
  const { data } = socket
  if (data.unsent.length > 0) data.unsent = data.unsent.subarray(Math.max(0, socket.write(data.unsent)))
}

/** Waits until the system takes more, or the connection ends. @returns false when neither happens in time */
function hasMoved(data: Connection, ms: number): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(false), ms)
    data.moved = () => {
      clearTimeout(timer)
      resolve(true)
    }
  })
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}
