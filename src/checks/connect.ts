import { createHash } from 'node:crypto'
import { isIP, connect as openSocket, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  checkServerIdentity,
  connect as openTls,
  createSecureContext,
  type ConnectionOptions,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import type { Purpose, VettedHost } from '../core/net/egress'
import type { Attempt } from './attempt'
import { certificateFacts, type PresentedCertificate } from './certificate'
import { certificateFailure, CheckFailed, codeOf, connectFailure } from './connect-failure'

export const tlsVersions = ['1.0', '1.1', '1.2', '1.3'] as const
type TlsVersion = (typeof tlsVersions)[number]

/** How to run a TLS handshake with a server. */
export interface TlsSettings {
  /** Name sent in SNI and required in the certificate; an IP address is only compared with the certificate. */
  name: string
  /** Whether the certificate must be trusted, currently valid, and match the name. It is read either way. */
  verify: boolean
  minVersion?: TlsVersion
  /** Application protocols in order of preference (RFC 7301): `h2`, `http/1.1`. */
  alpn?: readonly string[]
  /** PEM certificates to trust instead of the public CAs. */
  ca?: string
  clientCertificate?: { cert: string; key: string }
  /** Skips the costlier post-quantum key exchange, unless the server requires it. For traffic not worth recording to decrypt later. */
  classicalKeyExchange?: boolean
}

/**
 * Connects to a host over TCP, at an address vetted for this connection. Records `dns`, `connect`, `address`, and `connected`.
 * @throws CheckFailed
 */
export async function connectTcp(
  attempt: Attempt,
  host: string,
  port: number,
  family?: 4 | 6,
  purpose?: Purpose,
): Promise<Socket> {
  return await connectVetted(attempt, await vettedFor(attempt, host, port, family, purpose))
}

/** Connects over TCP to an address that was vetted at most seconds ago. Records `connect` and `connected`. @throws CheckFailed */
export async function connectVetted(attempt: Attempt, vetted: VettedHost): Promise<Socket> {
  return await dial(attempt, vetted, openSocket)
}

/**
 * Upgrades a connection to TLS, right away or after STARTTLS. The plain socket must not be read afterwards. Records `tls`, including
 * the certificate of an untrusted server. Nothing is sent to such a server before this throws.
 * @throws CheckFailed `tls`, `certificate`, `closed`, `timeout`
 */
export async function upgradeToTls(attempt: Attempt, socket: Duplex, settings: TlsSettings): Promise<TLSSocket> {
  const handshake = new Handshake(settings)
  const startedAt = attempt.context.now()
  return await handshake.end(attempt, attempt.track(handshake.open({ socket, host: settings.name })), startedAt)
}

/** Connects over TCP and TLS on a single socket, which is cheaper than upgrading one. @throws CheckFailed */
export async function connectTls(
  attempt: Attempt,
  host: string,
  port: number,
  settings: TlsSettings,
  family?: 4 | 6,
): Promise<TLSSocket> {
  const handshake = new Handshake(settings)
  const vetted = await vettedFor(attempt, host, port, family)
  const secured = await dial(attempt, vetted, address => handshake.open(address))
  try {
    return await handshake.end(attempt, secured, attempt.context.now())
  } catch (error) {
    if (!settings.classicalKeyExchange || !handshake.noSharedParameters) throw error
    // Some servers may require what was not offered.
    attempt.close()
    return await connectTls(attempt, host, port, { ...settings, classicalKeyExchange: false }, family)
  }
}

/** Resolves a host and refuses forbidden addresses (`vetHost` in core/net/egress.ts). Runs for each connection, also after a redirect. */
export async function vettedFor(
  attempt: Attempt,
  host: string,
  port: number,
  family?: 4 | 6,
  purpose?: Purpose,
): Promise<VettedHost> {
  const { facts, context } = attempt
  const startedAt = context.now()
  let vetted: VettedHost
  try {
    vetted = await attempt.within(context.vet(host, port, family, purpose), 'the DNS lookup')
  } catch (error) {
    throw connectFailure(error, 'connecting')
  }
  attempt.addToPhase('dns', startedAt)
  facts.address = vetted.address
  return vetted
}

async function dial<S extends Socket>(
  attempt: Attempt,
  { address, port, family }: VettedHost,
  open: (where: { host: string; port: number; family: 4 | 6 }) => S,
): Promise<S> {
  const { facts, context } = attempt
  const startedAt = context.now()
  const socket = attempt.track(open({ host: address, port, family }))
  try {
    await attempt.within(waitFor(socket, 'connect'), 'the TCP connection')
  } catch (error) {
    throw connectFailure(error, 'connecting')
  }
  attempt.addToPhase('connect', startedAt)
  facts.connected = true
  return socket
}

/** One TLS handshake and the certificate it presents. */
class Handshake {
  private presented: PresentedCertificate | null = null
  /** Whether the server found nothing acceptable in what it was offered. */
  noSharedParameters = false

  constructor(private readonly settings: TlsSettings) {}

  /** @param where a connected socket, or where to connect @throws CheckFailed `tls` */
  open(where: Pick<ConnectionOptions, 'socket' | 'host' | 'port'>): TLSSocket {
    const { settings } = this
    try {
      return openTls({
        ...where,
        secureContext: contextOf(settings),
        // The context has its own list. Without this, the default list is parsed for each connection and discarded.
        ciphers: '',
        // Verified below: the certificate of an untrusted server must be readable too.
        rejectUnauthorized: false,
        checkServerIdentity: (_, certificate) => {
          // Calling getPeerCertificate would parse the whole chain again.
          this.presented = certificate
          return settings.verify ? identityFailure(settings.name, certificate) : undefined
        },
        // SNI does not allow IP addresses (RFC 6066 section 3).
        ...(isIP(settings.name) === 0 && { servername: settings.name }),
        ...(settings.alpn && { ALPNProtocols: [...settings.alpn] }),
      })
    } catch {
      throw new CheckFailed('tls', 'the configured certificates or key can’t be used')
    }
  }

  /** Waits for the handshake and verifies the certificate. @param startedAt when it started, by `context.now` @throws CheckFailed */
  async end(attempt: Attempt, secured: TLSSocket, startedAt: number): Promise<TLSSocket> {
    const { facts, context } = attempt
    const { settings } = this
    try {
      await attempt.within(waitFor(secured, 'secureConnect'), 'the TLS handshake')
    } catch (error) {
      this.noSharedParameters = codeOf(error) === 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'
      throw connectFailure(error, 'handshake')
    }
    attempt.addToPhase('tls', startedAt)
    const presented = this.presented ?? secured.getPeerCertificate(true)
    // Without a certificate this is an empty object.
    const certificate = presented?.raw ? certificateFacts(presented, secured.authorized ? context.wallNow() : null) : null
    facts.tls = { version: versionOf(secured), cipher: cipherOf(secured), certificate }
    if (settings.verify && !secured.authorized) {
      throw certificateFailure(secured.authorizationError, certificate, settings.name, context.wallNow())
    }
    return secured
  }
}

/** A certificate without subjectAltName matches no name: the common name is ignored, as in browsers (RFC 9525 section 6.3). */
function identityFailure(name: string, certificate: PeerCertificate): Error | undefined {
  if (!certificate.subjectaltname) return Object.assign(new Error('no name'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  return checkServerIdentity(name, certificate)
}

/**
 * Key exchange groups (RFC 8446 section 4.2.7) in order of preference. X25519MLKEM768 resists quantum computers, but generating its
 * key, which BoringSSL does wherever it is in the list, takes a sixth of the time of a handshake.
 */
const groups = { hybrid: 'X25519MLKEM768:X25519:P-256:P-384:P-521', classical: 'X25519:P-256:P-384:P-521' }

const versionNames = { '1.0': 'TLSv1', '1.1': 'TLSv1.1', '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const

/** Contexts by their settings: creating one parses about 150 certificates. A context does not cache sessions by itself. */
const contexts = new Map<string, SecureContext>()
const maxContexts = 200

function contextOf({ minVersion = '1.2', ca, clientCertificate, classicalKeyExchange }: TlsSettings): SecureContext {
  const ecdhCurve = classicalKeyExchange ? groups.classical : groups.hybrid
  const hasOwnSettings = ca !== undefined || clientCertificate
  const base = `${minVersion} ${ecdhCurve}`
  const key = hasOwnSettings ? digestOf([base, ca, clientCertificate?.cert, clientCertificate?.key]) : base
  const known = contexts.get(key)
  if (known) return known
  const context = createSecureContext({
    minVersion: versionNames[minVersion],
    maxVersion: 'TLSv1.3',
    ecdhCurve,
    ...(ca !== undefined && { ca }),
    ...clientCertificate,
  })
  const [oldest] = contexts.keys()
  if (contexts.size >= maxContexts) contexts.delete(oldest!)
  contexts.set(key, context)
  return context
}

const digestOf = (parts: unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64')

/** Settles with the event, an error, or the end of the connection, whichever is first. Later errors are ignored. */
function waitFor(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    socket.once(event, () => {
      socket.off('close', closed)
      resolve()
    })
    socket.on('error', reject)
    socket.once('close', closed)
  })
}

/** OpenSSL writes `TLSv1.3` and `TLSv1`. */
function versionOf(socket: TLSSocket): string {
  const version = (socket.getProtocol() ?? '').replace('TLSv', '')
  return version === '1' ? '1.0' : version
}

function cipherOf(socket: TLSSocket): string {
  const cipher = socket.getCipher()
  return cipher?.standardName ?? cipher?.name ?? ''
}
