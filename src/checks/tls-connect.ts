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
import type { VettedHost } from '../core/net/egress'
import type { Attempt } from './attempt'
import { certificateFacts, type ShownCertificate } from './certificate'
import { certificateFailure, CheckFailed, codeOf, connectFailure } from './connect-failure'

export const tlsVersions = ['1.0', '1.1', '1.2', '1.3'] as const
export type TlsVersion = (typeof tlsVersions)[number]

/** How to speak TLS with a server. */
export interface TlsWish {
  /** Name that is shown in SNI and that the certificate must be for; an address is only compared. */
  name: string
  /** Whether the certificate must be trusted, valid now and for the name. What it says is read either way. */
  verify: boolean
  minVersion?: TlsVersion
  /** Application protocols by preference (RFC 7301): `h2`, `http/1.1`. */
  alpn?: readonly string[]
  /** PEM certificates that are trusted in place of the public authorities. */
  ca?: string
  clientCertificate?: { cert: string; key: string }
  /** That nothing is sent which would be worth keeping until it can be read: spares the costlier key exchange, unless the server wants it. */
  nothingSecret?: boolean
}

/**
 * Connects to a host by TCP, at an address that was vetted for this connection. Writes `dns`, `connect`, `address` and `connected`.
 * @throws CheckFailed
 */
export async function connectTcp(attempt: Attempt, host: string, port: number, family?: 4 | 6): Promise<Socket> {
  return await dial(attempt, await vettedFor(attempt, host, port, family), openSocket)
}

/**
 * Makes TLS of a connection: at once, or after a STARTTLS that the server agreed to. Nobody may read the plain one any more.
 * Writes `tls`, the certificate even of a server that is not trusted. Nothing is sent to one before it throws.
 * @throws CheckFailed `tls`, `certificate`, `closed`, `timeout`
 */
export async function upgradeToTls(attempt: Attempt, socket: Duplex, wish: TlsWish): Promise<TLSSocket> {
  const handshake = new Handshake(wish)
  const began = attempt.around.now()
  return await handshake.end(attempt, attempt.hold(handshake.open({ socket, host: wish.name })), began)
}

/** Connects by TCP and then TLS, on one socket, which costs less than making one of the other. @throws CheckFailed */
export async function connectTls(
  attempt: Attempt,
  host: string,
  port: number,
  wish: TlsWish,
  family?: 4 | 6,
): Promise<TLSSocket> {
  const handshake = new Handshake(wish)
  const vetted = await vettedFor(attempt, host, port, family)
  const secured = await dial(attempt, vetted, address => handshake.open(address))
  try {
    return await handshake.end(attempt, secured, attempt.around.now())
  } catch (error) {
    if (!wish.nothingSecret || !handshake.nothingInCommon) throw error
    // Some servers may insist on what was not offered.
    attempt.close()
    return await connectTls(attempt, host, port, { ...wish, nothingSecret: false }, family)
  }
}

async function vettedFor(attempt: Attempt, host: string, port: number, family?: 4 | 6): Promise<VettedHost> {
  const { facts, around } = attempt
  const asked = around.now()
  let vetted: VettedHost
  try {
    vetted = await attempt.within(around.vet(host, port, family), 'the name was not resolved')
  } catch (error) {
    throw connectFailure(error, 'connecting')
  }
  attempt.spent('dns', asked)
  facts.address = vetted.address
  return vetted
}

async function dial<S extends Socket>(
  attempt: Attempt,
  { address, port, family }: VettedHost,
  open: (where: { host: string; port: number; family: 4 | 6 }) => S,
): Promise<S> {
  const { facts, around } = attempt
  const dialled = around.now()
  const socket = attempt.hold(open({ host: address, port, family }))
  try {
    await attempt.within(happened(socket, 'connect'), 'no connection')
  } catch (error) {
    throw connectFailure(error, 'connecting')
  }
  attempt.spent('connect', dialled)
  facts.connected = true
  return socket
}

/** One handshake of TLS, and the certificate that it shows. */
class Handshake {
  private shown: ShownCertificate | null = null
  /** Whether the server said so of what it was offered. */
  nothingInCommon = false

  constructor(private readonly wish: TlsWish) {}

  /** @param where a socket that is connected, or where to connect to @throws CheckFailed `tls` */
  open(where: Pick<ConnectionOptions, 'socket' | 'host' | 'port'>): TLSSocket {
    const { wish } = this
    try {
      return openTls({
        ...where,
        secureContext: contextOf(wish),
        // Those of the context count. Without this, the list of all is parsed for each connection and thrown away.
        ciphers: '',
        // Judged below: a certificate that is not trusted is to be read too.
        rejectUnauthorized: false,
        checkServerIdentity: (_, certificate) => {
          // Reading it again would parse the whole chain again.
          this.shown = certificate
          return wish.verify ? identityFailure(wish.name, certificate) : undefined
        },
        // SNI has no addresses (RFC 6066 section 3).
        ...(isIP(wish.name) === 0 && { servername: wish.name }),
        ...(wish.alpn && { ALPNProtocols: [...wish.alpn] }),
      })
    } catch {
      throw new CheckFailed('tls', 'the given certificates or key cannot be used')
    }
  }

  /** Waits for its end and judges it. @param began when it could begin, by `around.now` @throws CheckFailed */
  async end(attempt: Attempt, secured: TLSSocket, began: number): Promise<TLSSocket> {
    const { facts, around } = attempt
    const { wish } = this
    try {
      await attempt.within(happened(secured, 'secureConnect'), 'no end of the TLS handshake')
    } catch (error) {
      this.nothingInCommon = codeOf(error) === 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'
      throw connectFailure(error, 'handshake')
    }
    attempt.spent('tls', began)
    const shown = this.shown ?? secured.getPeerCertificate(true)
    // Without one it is an object without members.
    const certificate = shown?.raw ? certificateFacts(shown, secured.authorized ? around.wallNow() : null) : null
    facts.tls = { version: versionOf(secured), cipher: cipherOf(secured), certificate }
    if (wish.verify && !secured.authorized) {
      throw certificateFailure(secured.authorizationError, certificate, wish.name, around.wallNow())
    }
    return secured
  }
}

/** A certificate without a name in subjectAltName is for none: browsers do not look at its common name (RFC 9525 section 6.3). */
function identityFailure(name: string, certificate: PeerCertificate): Error | undefined {
  if (!certificate.subjectaltname) return Object.assign(new Error('no name'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  return checkServerIdentity(name, certificate)
}

/**
 * Groups for the key exchange (RFC 8446 section 4.2.7) by preference. X25519MLKEM768 withstands quantum computers; making its key,
 * which BoringSSL does wherever it is in the list, takes a sixth of the time of a handshake.
 */
const groups = { lasting: 'X25519MLKEM768:X25519:P-256:P-384:P-521', plain: 'X25519:P-256:P-384:P-521' }

const versionNames = { '1.0': 'TLSv1', '1.1': 'TLSv1.1', '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const

/** Contexts by what they are made of, since making one reads some 150 certificates. A context keeps no sessions by itself. */
const contexts = new Map<string, SecureContext>()
const contextsMost = 200

function contextOf({ minVersion = '1.2', ca, clientCertificate, nothingSecret }: TlsWish): SecureContext {
  const ecdhCurve = nothingSecret ? groups.plain : groups.lasting
  const own = ca !== undefined || clientCertificate
  const usual = `${minVersion} ${ecdhCurve}`
  const key = own ? digestOf([usual, ca, clientCertificate?.cert, clientCertificate?.key]) : usual
  const known = contexts.get(key)
  if (known) return known
  const made = createSecureContext({
    minVersion: versionNames[minVersion],
    maxVersion: 'TLSv1.3',
    ecdhCurve,
    ...(ca !== undefined && { ca }),
    ...clientCertificate,
  })
  const [oldest] = contexts.keys()
  if (contexts.size >= contextsMost) contexts.delete(oldest!)
  contexts.set(key, made)
  return made
}

const digestOf = (parts: unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64')

/** Settles with the first of: the event, an error, the end of the connection. Errors that come later go nowhere. */
function happened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
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

/** `TLSv1.3` and `TLSv1` are OpenSSL's spelling. */
function versionOf(socket: TLSSocket): string {
  const version = (socket.getProtocol() ?? '').replace('TLSv', '')
  return version === '1' ? '1.0' : version
}

function cipherOf(socket: TLSSocket): string {
  const cipher = socket.getCipher()
  return cipher?.standardName ?? cipher?.name ?? ''
}
