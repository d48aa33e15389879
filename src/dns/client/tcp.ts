import type { Socket } from 'bun'
import { framed, FrameReader } from '../tcp-frame'
import type { lifetime } from '../../core/net/request-lifetime'
import { QueryFailed } from './failure'
import type { ServerAddress } from './server'

/** A TCP connection for DNS messages (RFC 1035 section 4.2.2). */
interface DnsConnection {
  send(message: Uint8Array): void
  /** Next message; null if the server closed the connection. @throws QueryFailed `timeout` */
  next(): Promise<Uint8Array | null>
  close(): void
}

/** Unread octets above which reading is paused. */
const maxUnread = 1024 * 1024

/**
 * Connects to a server. `life` limits the connection and all waits; its messages are shown to people.
 * @throws QueryFailed `unreachable` or `timeout`, with nothing sent
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
        if (unread > maxUnread && !paused) {
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
    // It may still succeed later.
    connecting.then(
      late => late.terminate(),
      () => {},
    )
    if (life.reason) throw new QueryFailed('timeout', 'The connection timed out.', false)
    throw new QueryFailed('unreachable', 'The server could not be reached.', false)
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
          if (paused && unread <= maxUnread / 2) {
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
          throw life.reason ? new QueryFailed('timeout', life.reason.message, true) : error
        }
      }
    },
    close() {
      socket.end()
    },
  }
}
