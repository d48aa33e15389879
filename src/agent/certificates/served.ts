import { connect as openSocket, isIP, type Socket } from 'node:net'
import { connect as openTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import { certificateDetails } from '../../checks/certificate-details'
import type { AgentServedCertificate } from '../../wire/agent-certificates'
import { certificateLimits } from '../../wire/agent-limits'
import type { Root } from '../sample/root'
import { listeningTcp, type ListeningSocket } from '../sample/sockets'
import { startTls, startTlsPorts } from './start-tls'

/** What ports present, as plain values. */
interface FoundServed {
  served: AgentServedCertificate[]
  /** The certificates as DER in base64, by SHA-256. */
  certificates: Record<string, string>
  /** Sockets that don’t use TLS, by their number. */
  withoutTls: string[]
  problems: string[]
}

const maxPorts = 50
const portsAtOnce = 4
/** All connections to a port end within this time (ms). */
const portMs = 5000
const maxNames = 100

/** Well-known ports of protocols without TLS, and of printers, which would print what they receive. */
const plainPorts = new Set([
  ...[21, 22, 23, 53, 67, 79, 80, 111, 139, 445, 515, 631, 873, 2049, 3306, 3310, 5355, 6379, 9000, 11_211, 27_017],
  ...[9100, 9101, 9102],
])
/** Programs that count other connections as failures. Some of them then block the address. */
const plainProgram =
  /^(sshd|dropbear|mysqld|mariadbd?|redis|valkey|memcached|rpcbind|named|unbound|dnsmasq|systemd-resolve|cupsd|chronyd)/

/**
 * Connects to the TCP ports on which this server listens, from itself, and reads the certificates that they present.
 * @param names server names to send
 * @param processes names of programs by the numbers of their sockets
 * @param withoutTls sockets that did not use TLS the last time, which are not asked again
 */
export async function findServed(
  root: Root,
  names: readonly string[],
  processes: Readonly<Record<string, string>>,
  withoutTls: ReadonlySet<string>,
): Promise<FoundServed> {
  const found: FoundServed = { served: [], certificates: {}, withoutTls: [], problems: [] }
  const sockets = ports(listeningTcp(root) ?? []).filter(
    ({ port, inode }) => !plainPorts.has(port) && !plainProgram.test(processes[inode] ?? ''),
  )
  const open = sockets.filter(one => !withoutTls.has(one.inode))
  found.withoutTls = sockets.filter(one => withoutTls.has(one.inode)).map(one => one.inode)
  if (open.length > maxPorts) found.problems.push(`Certificates of only ${maxPorts} of ${open.length} ports are read.`)
  const sent = names
    .filter(name => hostName.test(name) && isIP(name) === 0)
    .slice(0, maxNames)
    .map(sentName)
  const waiting = open.slice(0, maxPorts)
  const work = async () => {
    for (let socket; (socket = waiting.shift());) await readPort(socket, sent, processes[socket.inode] ?? null, found)
  }
  await Promise.all(Array.from({ length: portsAtOnce }, work))
  found.served.sort((a, b) => a.port - b.port || (`${a.address} ${a.sni ?? ''}` < `${b.address} ${b.sni ?? ''}` ? -1 : 1))
  if (found.served.length > certificateLimits.served)
    found.problems.push(`Only ${certificateLimits.served} of ${found.served.length} certificates of ports are reported.`)
  found.served = found.served.slice(0, certificateLimits.served)
  return found
}

/** Any name that the wildcard covers. */
const sentName = (name: string): string => name.replace(/^\*\./, 'www.')

/** Each port once for each address, and only once if it listens on all addresses of IPv4 and IPv6. */
function ports(sockets: readonly ListeningSocket[]): ListeningSocket[] {
  const all = new Map<string, ListeningSocket>()
  for (const one of sockets) {
    const isAny = one.address === '0.0.0.0' || one.address === '::'
    const key = `${isAny ? '*' : one.address} ${one.port}`
    if (!all.has(key)) all.set(key, one)
  }
  return [...all.values()].toSorted((a, b) => a.port - b.port)
}

type Presented = Pick<AgentServedCertificate, 'chain' | 'protocol'> & {
  names: readonly string[]
  certificates: Record<string, string>
}

async function readPort(
  socket: ListeningSocket,
  names: readonly string[],
  process: string | null,
  found: FoundServed,
): Promise<void> {
  const { address, port, inode } = socket
  const starttls = startTlsPorts[port] ?? null
  const until = performance.now() + portMs
  const row = { address, port, process, starttls }
  const present = (sni: string | null) => presented(socket, sni, until)
  const add = (sni: string | null, { chain, protocol, certificates }: Presented) => {
    found.served.push({ ...row, sni, protocol, chain, error: null })
    Object.assign(found.certificates, certificates)
  }
  const first = await present(null)
  if (first === 'plain' || first === 'unknown') {
    // A server that offers no TLS now may do so after a reload.
    if (first === 'plain' && starttls === null) found.withoutTls.push(inode)
    return
  }
  if (typeof first === 'object') add(null, first)
  let isAny = typeof first === 'object'
  for (const name of names) {
    if (performance.now() >= until) {
      found.problems.push(`Not all server names were asked for on port ${port} within ${portMs / 1000} seconds.`)
      break
    }
    const one = await present(name)
    if (typeof one !== 'object') continue
    isAny = true
    const isOther = typeof first !== 'object' || one.chain[0] !== first.chain[0]
    if (isOther || covers(one.names, name)) add(name, one)
  }
  if (!isAny && first === 'alert')
    found.served.push({ ...row, sni: null, protocol: null, chain: [], error: 'The server refused the TLS handshake.' })
}

/** Certificates can contain any text as names. */
const hostName = /^[a-z0-9_*][a-z0-9_.-]{0,252}$/i

const covers = (names: readonly string[], name: string): boolean =>
  names.includes(name) || names.includes(name.replace(/^[^.]+/, '*'))

/** Connects once. `plain`: it is not TLS. `alert`: it is, but the handshake was refused. `unknown`: there was no response. */
async function presented(
  { address, port }: ListeningSocket,
  sni: string | null,
  until: number,
): Promise<Presented | 'plain' | 'alert' | 'unknown'> {
  let socket = open(loopback[address] ?? address, port)
  const late = Promise.withResolvers<never>()
  let isLate = false
  const timer = setTimeout(
    () => {
      isLate = true
      late.reject(new Error('timeout'))
    },
    Math.max(1, until - performance.now()),
  )
  let isConnected = false
  let destroy = () => void socket.destroy()
  try {
    await Promise.race([late.promise, event(socket, 'connect')]).catch(async error => {
      if (address !== '::' || isLate) throw error
      // Without IPv6 on the loopback interface, such a socket can still accept connections over IPv4.
      socket.destroy()
      socket = open('127.0.0.1', port)
      await Promise.race([late.promise, event(socket, 'connect')])
    })
    isConnected = true
    const protocol = startTlsPorts[port]
    if (protocol) await Promise.race([late.promise, startTls(socket, protocol)])
    const secured = openTls({ socket, rejectUnauthorized: false, ...(sni !== null && { servername: sni }) })
    secured.on('error', () => {})
    destroy = () => {
      secured.destroy()
      socket.destroy()
    }
    await Promise.race([late.promise, event(secured, 'secureConnect')])
    return chainOf(secured)
  } catch (error) {
    return /ALERT/i.test(String((error as NodeJS.ErrnoException).code)) ? 'alert' : isConnected && !isLate ? 'plain' : 'unknown'
  } finally {
    clearTimeout(timer)
    late.promise.catch(() => {})
    destroy()
  }
}

function open(host: string, port: number): Socket {
  const socket = openSocket({ host, port })
  socket.on('error', () => {})
  return socket
}

const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

function event(socket: Socket, name: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(name, () => resolve())
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('closed')))
  })
}

function chainOf(socket: TLSSocket): Presented | 'plain' {
  const certificates: Record<string, string> = {}
  const chain: string[] = []
  let names: readonly string[] = []
  let at: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  while (at?.raw && chain.length < certificateLimits.chain) {
    const details = certificateDetails(at.raw)
    if (!details || details.raw.length > certificateLimits.certificateBytes || details.sha256 in certificates) break
    if (chain.length === 0) names = details.names
    chain.push(details.sha256)
    certificates[details.sha256] = Buffer.from(details.raw).toString('base64')
    at = at.issuerCertificate
  }
  if (chain.length === 0) return 'plain'
  return { chain, certificates, names, protocol: socket.getProtocol()?.replace('TLSv', '') ?? null }
}
