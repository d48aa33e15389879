import { CLASS, message, RCODE, type Message } from '../../dns/message'
import { decodeMessage } from '../../dns/message-decode'
import { encodeMessage } from '../../dns/message-encode'
import { DnsFormatError } from '../../dns/format-error'
import { rdataOfText } from '../../dns/rdata'
import { systemResolve, type Resolve } from '../../core/net/egress'
import { sendTo } from '../../features/dns/server/udp'
import { loopback } from './ports'

/** The domain of the demo. All names below it resolve to this machine. */
export const domain = 'kestrel.example'
/** Further domains, whose names resolve to this machine too. */
export const otherDomains = ['kestrel-cdn.example', 'kestrel-labs.example', 'kestrel-outfitters.example']
/** A third-party CDN that some records point to, with a documentation address (RFC 5737). */
const cdn = { suffix: '.fastedge.example.', address: '198.51.100.80' }

const ttl = 60

/** A UDP resolver: resolves names of the demo to this machine and responds to others with NXDOMAIN. */
export async function resolver(port: number): Promise<{ stop(): void }> {
  const socket = await Bun.udpSocket({
    hostname: loopback,
    port,
    socket: {
      data(from, octets, peerPort, peer) {
        const answer = answerTo(octets)
        if (answer) sendTo(from, answer, peerPort, peer)
      },
      // Without a handler, an ICMP “port unreachable” from a client ends the process.
      error() {},
    },
  })
  return { stop: () => socket.close() }
}

/** Resolves names of the demo to this machine for requests of the hub. Other names use the system resolver. */
export const resolveDemoNames: Resolve = async name => (isHere(name) ? [loopback] : await systemResolve(name))

const isHere = (name: string): boolean => [domain, ...otherDomains].some(one => name === one || name.endsWith(`.${one}`))

function answerTo(octets: Uint8Array): Uint8Array | null {
  let query: Message
  try {
    query = decodeMessage(octets)
  } catch (error) {
    if (error instanceof DnsFormatError) return null
    throw error
  }
  const [question] = query.question
  if (!question) return null
  const name = question.name.toLowerCase()
  const address = isHere(name.replace(/\.$/, '')) ? loopback : name.endsWith(cdn.suffix) ? cdn.address : null
  const hasAnswer = address !== null && question.type === 'A'
  return encodeMessage(
    message({
      id: query.id,
      flags: { qr: true, aa: true, rd: query.flags.rd, ra: true },
      rcode: address === null ? RCODE.NXDOMAIN : RCODE.NOERROR,
      question: [question],
      answer: hasAnswer ? [{ name: question.name, type: 'A', class: CLASS.IN, ttl, rdata: rdataOfText('A', address, null) }] : [],
    }),
  )
}
