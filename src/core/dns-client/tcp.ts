import type { Socket } from 'bun'
import { framed, FrameReader } from '../dns/tcp-frame'
import type { lifetime } from '../net/request-lifetime'
import { AskFailed } from './failure'
import type { ServerAddress } from './server'

/** A connection that carries messages (RFC 1035 4.2.2). */
export interface DnsConnection {
  send(message: Uint8Array): void
  /** The next message; null when the server ended the connection. @throws AskFailed `timeout` */
  next(): Promise<Uint8Array | null>
  close(): void
}

/** Octets that have come and were not read yet, above which the server is kept waiting. */
const unreadMost = 1024 * 1024

/**
 * Connects to a server. `life` bounds it and every wait on it; its messages are for people.
 * @throws AskFailed `unreachable` or `timeout`, with nothing sent
 */
export async function connectTcp(at: ServerAddress, life: ReturnType<typeof lifetime>): Promise<DnsConnection> {
  const frames = new FrameReader()
  let unread = 0
  let paused = false
  let unsent: Uint8Array = new Uint8Array()
  let ended = false
  let wake = () => {}
  const end = () => {
    ended = true
    wake()
  }
  const flush = (socket: Socket) => {
    if (unsent.length > 0) unsent = unsent.subarray(Math.max(0, socket.write(unsent)))
  }
  const connecting = Bun.connect({
    hostname: at.address,
    port: at.port,
    socket: {
      data(socket, octets) {
        frames.push(octets)
        unread += octets.length
        if (unread > unreadMost && !paused) {
          paused = true
          socket.pause()
        }
        wake()
      },
      drain: flush,
      close: end,
      end,
      error: end,
      connectError: end,
    },
  })
  let socket: Socket
  try {
    socket = await life.orEnd(connecting)
  } catch {
    // It may still come about after nobody waits for it.
    connecting.then(
      late => late.terminate(),
      () => {},
    )
    if (life.reason) throw new AskFailed('timeout', 'The connection could not be made in time.', false)
    throw new AskFailed('unreachable', 'The server could not be reached.', false)
  }
  return {
    send(message) {
      unsent = unsent.length > 0 ? Buffer.concat([unsent, framed(message)]) : framed(message)
      flush(socket)
    },
    async next() {
      for (;;) {
        const message = frames.next()
        if (message) {
          unread -= message.length + 2
          if (paused && unread <= unreadMost / 2) {
            paused = false
            socket.resume()
          }
          return message
        }
        if (ended) return null
        const more = new Promise<void>(resolve => (wake = resolve))
        try {
          await life.orEnd(more)
        } catch (error) {
          throw life.reason ? new AskFailed('timeout', life.reason.message, true) : error
        }
      }
    },
    close() {
      socket.end()
    },
  }
}
