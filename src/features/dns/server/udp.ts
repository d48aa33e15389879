import type { Answerer } from './answerer'
import type { Counted } from './counted'
import type { KeyedAnswers, Later } from './keyed-answers'
import { networkOf, type ResponseRateLimit } from './rate-limit'

/** The part of a UDP socket that answering needs. */
interface Sending {
  send(octets: Uint8Array, port: number, address: string): boolean
}

/** An open UDP port. */
export interface UdpPort {
  readonly hostname: string
  readonly port: number
  close(): void
}

/** Answers what comes by UDP. @throws Error with a code such as EADDRINUSE */
export async function openUdp(
  host: string,
  port: number,
  {
    answerer,
    keyed,
    counted,
    limit,
    signedLimit,
    limitLoopback,
  }: {
    answerer: Answerer<Later>
    keyed: Pick<KeyedAnswers, 'verified'>
    counted: Counted
    limit: ResponseRateLimit | null
    /** The limit of answers to whoever signs with a key that is known. */
    signedLimit: ResponseRateLimit | null
    limitLoopback: boolean
  },
): Promise<UdpPort> {
  const socket = await Bun.udpSocket({
    hostname: host,
    port,
    socket: {
      data(from, query, peerPort, peer) {
        counted.udp++
        keyed.verified = false
        const answer = answerer.answer(query, 'udp', peer)
        if (answer === null) {
          counted.ignored++
          return
        }
        if (!(answer instanceof Uint8Array)) {
          void answer.next().then(({ value }) => value && sendTo(from, value, peerPort, peer))
          return
        }
        const held = keyed.verified ? signedLimit : limit
        const network = held && (networkOf(peer) ?? (limitLoopback ? LOOPBACK : null))
        const verdict = !network ? 'send' : held!.take(network, performance.now())
        if (verdict === 'send') return sendTo(from, answer, peerPort, peer)
        answerer.unsent()
        if (verdict === 'truncate') {
          counted.truncated++
          sendTo(from, answerer.truncated(query), peerPort, peer)
        } else counted.dropped++
      },
      // Without a handler an answer to a client that has gone (ICMP: port unreachable) ends the process.
      error() {},
    },
  })
  return { hostname: socket.address.address, port: socket.port, close: () => socket.close() }
}

// Of no other network, which are positive.
const LOOPBACK = -1

/**
 * Sends an answer. What the system reports at a `send` is the fate of an earlier packet to somebody else, and the
 * answer at hand is not sent then: so it is sent again.
 */
export function sendTo(socket: Sending, octets: Uint8Array, port: number, address: string): void {
  for (let tries = 0; tries < 2; tries++) {
    try {
      // False is a full buffer: then the answer is lost, as a packet may be, and the client asks again.
      socket.send(octets, port, address)
      return
    } catch {
      continue
    }
  }
}
