import { CLASS, message, RCODE, type Message } from '../../core/dns/message'
import { decodeMessage } from '../../core/dns/message-decode'
import { encodeMessage } from '../../core/dns/message-encode'
import { DnsFormatError } from '../../core/dns/format-error'
import { rdataOfText } from '../../core/dns/rdata'
import { systemResolve, type Resolve } from '../../core/net/egress'
import { sendTo } from '../../features/dns/server/udp'
import { loopback } from './ports'

/** The domain of the demo: names below it are this machine, for what is checked and called. */
export const domain = 'kestrel.example'
/** A network of others that some of its records lead to, with an address of those kept for documents (RFC 5737). */
const elsewhere = { suffix: '.fastedge.example.', address: '198.51.100.80' }

const ttl = 60

/** Answers questions for addresses by UDP: names of the demo are this machine, and of others there is nothing. */
export async function resolver(port: number): Promise<{ stop(): void }> {
  const socket = await Bun.udpSocket({
    hostname: loopback,
    port,
    socket: {
      data(from, octets, peerPort, peer) {
        const answer = answerTo(octets)
        if (answer) sendTo(from, answer, peerPort, peer)
      },
    },
  })
  return { stop: () => socket.close() }
}

/** The same for what the hub itself calls; other names are looked up as ever. */
export const resolveHere: Resolve = async name =>
  name === domain || name.endsWith(`.${domain}`) ? [loopback] : await systemResolve(name)

function answerTo(octets: Uint8Array): Uint8Array | null {
  let query: Message
  try {
    query = decodeMessage(octets)
  } catch (error) {
    if (error instanceof DnsFormatError) return null
    throw error
  }
  const [asked] = query.question
  if (!asked) return null
  const name = asked.name.toLowerCase()
  const address =
    name === `${domain}.` || name.endsWith(`.${domain}.`) ? loopback : name.endsWith(elsewhere.suffix) ? elsewhere.address : null
  const has = address !== null && asked.type === 'A'
  return encodeMessage(
    message({
      id: query.id,
      flags: { qr: true, aa: true, rd: query.flags.rd, ra: true },
      rcode: address === null ? RCODE.NXDOMAIN : RCODE.NOERROR,
      question: [asked],
      answer: has ? [{ name: asked.name, type: 'A', class: CLASS.IN, ttl, rdata: rdataOfText('A', address, null) }] : [],
    }),
  )
}
