import type { Socket } from 'bun'
import { framed } from '../../../core/dns/tcp-frame'
import type { Answerer } from './answerer'
import type { Counted } from './counted'

/** Connections that are open at once. */
const CONNECTIONS_MAX = 100
/** Seconds without a whole query after which a connection is closed (RFC 7766 6.2.3). */
const IDLE_SECONDS = 30
/** Octets of answers that a client may leave unread. */
const UNREAD_MAX = 512 * 1024

/** Octets of answers that are written together. */
const WRITE_OCTETS = 64 * 1024

interface Connection {
  /** Queries that are not whole yet. */
  read: Uint8Array
  /** Answers that the system did not take yet. */
  unsent: Uint8Array
}

/** An open TCP port. */
export interface TcpPort {
  close(): void
}

/** Answers what comes by TCP: any number of queries on a connection, one after the other (RFC 7766). @throws Error with a code */
export function openTcp(host: string, port: number, { answerer, counted }: { answerer: Answerer; counted: Counted }): TcpPort {
  // In the order of their last queries: whoever was quiet the longest goes when there are too many.
  const open = new Set<Socket<Connection>>()
  const listener = Bun.listen<Connection>({
    hostname: host,
    port,
    data: undefined as never,
    socket: {
      open(socket) {
        socket.data = { read: NOTHING, unsent: NOTHING }
        socket.timeout(IDLE_SECONDS)
        if (open.size >= CONNECTIONS_MAX) {
          const [quiet] = open
          open.delete(quiet!)
          quiet!.terminate()
        }
        open.add(socket)
      },
      data(socket, octets) {
        const { data } = socket
        const whole = data.read.length === 0 ? octets : joined(data.read, octets)
        const answers: Uint8Array[] = []
        let octetsAtHand = 0
        let at = 0
        let asked = false
        while (at + 2 <= whole.length) {
          const end = at + 2 + ((whole[at]! << 8) | whole[at + 1]!)
          if (end > whole.length) break
          asked = true
          counted.tcp++
          const answer = answerer.answer(whole.subarray(at + 2, end), 'tcp')
          if (answer === null) {
            // No client sends this; what follows need not be looked at.
            counted.ignored++
            socket.terminate()
            return
          }
          answers.push(framed(answer))
          octetsAtHand += answer.length
          at = end
          if (octetsAtHand < WRITE_OCTETS) continue
          // Queries are read thousands at a time, and an answer has up to 64 KiB.
          if (!send(socket, answers.splice(0))) return
          octetsAtHand = 0
        }
        data.read = at === whole.length ? NOTHING : whole.slice(at)
        if (!asked) return
        socket.timeout(IDLE_SECONDS)
        open.delete(socket)
        open.add(socket)
        send(socket, answers)
      },
      drain(socket) {
        send(socket, [])
      },
      timeout(socket) {
        socket.terminate()
      },
      close(socket) {
        open.delete(socket)
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

/** @returns false when the connection was ended, since its client does not read */
function send(socket: Socket<Connection>, answers: Uint8Array[]): boolean {
  const { data } = socket
  const unsent = data.unsent.length > 0 ? [data.unsent, ...answers] : answers
  if (unsent.length === 0) return true
  const all = unsent.length === 1 ? unsent[0]! : Buffer.concat(unsent)
  data.unsent = all.subarray(Math.max(0, socket.write(all)))
  if (data.unsent.length <= UNREAD_MAX) return true
  data.unsent = NOTHING
  socket.terminate()
  return false
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}
