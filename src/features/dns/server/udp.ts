import type { Answerer } from './answerer'
import type { ServerCounters } from './server-counters'
import type { SignedAnswers, AnswerStream } from './signed-answers'
import { networkOf, type ResponseRateLimit } from './rate-limit'

/** The part of a UDP socket that is needed to answer. */
interface Sending {
  send(octets: Uint8Array, port: number, address: string): boolean
}

/** An open UDP port. */
interface UdpPort {
  readonly hostname: string
  readonly port: number
  close(): void
}

/** Answers queries over UDP. @throws Error with a code such as EADDRINUSE */
export async function openUdp(
  host: string,
  port: number,
  {
    answerer,
    keyed,
    counters,
    limit,
    signedLimit,
    limitLoopback,
    isShared,
  }: {
    answerer: Answerer<AnswerStream>
    keyed: Pick<SignedAnswers, 'verified'>
    counters: ServerCounters
    limit: ResponseRateLimit | null
    /** Limit for clients that sign with a known key. */
    signedLimit: ResponseRateLimit | null
    limitLoopback: boolean
    /** Whether other threads listen on the port too (SO_REUSEPORT). */
    isShared: boolean
  },
): Promise<UdpPort> {
  const socket = await Bun.udpSocket({
    hostname: host,
    port,
    ...(isShared && { flags: LIBUS_LISTEN_REUSE_PORT }),
    socket: {
      data(from, query, peerPort, peer) {
        counters.udp++
        keyed.verified = false
        const answer = answerer.answer(query, 'udp', peer)
        if (answer === null) {
          counters.ignored++
          return
        }
        if (!(answer instanceof Uint8Array)) {
          void answer.next().then(({ value }) => value && sendTo(from, value, peerPort, peer))
          return
        }
        const rateLimit = keyed.verified ? signedLimit : limit
        const network = rateLimit && (networkOf(peer) ?? (limitLoopback ? LOOPBACK : null))
        const verdict = !network ? 'send' : rateLimit!.take(network, performance.now())
        if (verdict === 'send') return sendTo(from, answer, peerPort, peer)
        answerer.unsent()
        if (verdict === 'truncate') {
          counters.truncated++
          sendTo(from, answerer.truncated(query), peerPort, peer)
        } else counters.dropped++
      },
      // Without a handler, an ICMP “port unreachable” from a client ends the process.
      error() {},
    },
  })
  return { hostname: socket.address.address, port: socket.port, close: () => socket.close() }
}

// Bun has no documented option for UDP sockets, but accepts the flags of its µSockets library.
const LIBUS_LISTEN_REUSE_PORT = 4

// Real networks are positive.
const LOOPBACK = -1

/**
 * Sends a datagram. An error of `send` may belong to an earlier datagram, and the current one is not sent then, so it is retried once.
 */
export function sendTo(socket: Sending, octets: Uint8Array, port: number, address: string): void {
  for (let tries = 0; tries < 2; tries++) {
    try {
      // False means that the buffer is full. The response is lost, and the client retries.
      socket.send(octets, port, address)
      return
    } catch {
      continue
    }
  }
}
