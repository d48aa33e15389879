import { createHash } from 'node:crypto'
import { isIP, connect as openSocket, type Socket } from 'node:net'
import {
  checkServerIdentity,
  connect as openTls,
  createSecureContext,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import type { VettedHost } from '../core/net/egress'
import type { Attempt } from './attempt'
import { certificateFacts } from './certificate'
import type { CertificateFacts } from './check'
import { certificateFailure, CheckFailed, connectFailure } from './connect-failure'

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
}

/**
 * Connects to a host by TCP, at an address that was vetted for this connection. Writes `dns`, `connect`, `address` and `connected`.
 * @throws CheckFailed
 */
export async function connectTcp(attempt: Attempt, host: string, port: number, family?: 4 | 6): Promise<Socket> {
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
  const dialled = around.now()
  const socket = attempt.hold(openSocket({ host: vetted.address, port: vetted.port, family: vetted.family }))
  try {
    await attempt.within(happened(socket, 'connect'), 'no connection')
  } catch (error) {
    throw connectFailure(error, 'connecting')
  }
  attempt.spent('connect', dialled)
  facts.connected = true
  return socket
}

/**
 * Makes TLS of a connection: at once, or after a STARTTLS that the server agreed to. Nobody may read the plain socket any more.
 * Writes `tls`, the certificate even of a server that is not trusted. Nothing is sent to one before it throws.
 * @throws CheckFailed `tls`, `certificate`, `closed`, `timeout`
 */
export async function upgradeToTls(attempt: Attempt, socket: Socket, wish: TlsWish): Promise<TLSSocket> {
  const { facts, around } = attempt
  const began = around.now()
  const address = isIP(wish.name) !== 0
  let secured: TLSSocket
  try {
    secured = openTls({
      socket,
      secureContext: contextOf(wish),
      // Judged below: a certificate that is not trusted is to be read too.
      rejectUnauthorized: false,
      host: wish.name,
      checkServerIdentity: (_, certificate) => (wish.verify ? identityFailure(wish.name, certificate) : undefined),
      // SNI has no addresses (RFC 6066 section 3).
      ...(!address && { servername: wish.name }),
      ...(wish.alpn && { ALPNProtocols: [...wish.alpn] }),
    })
  } catch {
    throw new CheckFailed('tls', 'the given certificates or key cannot be used')
  }
  attempt.hold(secured)
  try {
    await attempt.within(happened(secured, 'secureConnect'), 'no end of the TLS handshake')
  } catch (error) {
    throw connectFailure(error, 'handshake')
  }
  attempt.spent('tls', began)
  const certificate = shownBy(secured, around.wallNow())
  facts.tls = { version: versionOf(secured), cipher: cipherOf(secured), certificate }
  if (wish.verify && !secured.authorized) {
    throw certificateFailure(secured.authorizationError, certificate, wish.name, around.wallNow())
  }
  return secured
}

/** Connects by TCP and then TLS. @throws CheckFailed */
export async function connectTls(
  attempt: Attempt,
  host: string,
  port: number,
  wish: TlsWish,
  family?: 4 | 6,
): Promise<TLSSocket> {
  return await upgradeToTls(attempt, await connectTcp(attempt, host, port, family), wish)
}

/** A certificate without a name in subjectAltName is for none: browsers do not look at its common name (RFC 9525 section 6.3). */
function identityFailure(name: string, certificate: PeerCertificate): Error | undefined {
  if (!certificate.subjectaltname) return Object.assign(new Error('no name'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  return checkServerIdentity(name, certificate)
}

const versionNames = { '1.0': 'TLSv1', '1.1': 'TLSv1.1', '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const

/** Contexts by what they are made of, since making one reads some 150 certificates. A context keeps no sessions by itself. */
const contexts = new Map<string, SecureContext>()
const contextsMost = 200

function contextOf({ minVersion = '1.2', ca, clientCertificate }: TlsWish): SecureContext {
  const own = ca !== undefined || clientCertificate
  const key = own ? digestOf([minVersion, ca, clientCertificate?.cert, clientCertificate?.key]) : minVersion
  const known = contexts.get(key)
  if (known) return known
  const made = createSecureContext({
    minVersion: versionNames[minVersion],
    maxVersion: 'TLSv1.3',
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

function shownBy(socket: TLSSocket, now: number): CertificateFacts | null {
  const leaf = socket.getPeerX509Certificate()
  return leaf ? certificateFacts(leaf, socket.authorized ? now : null) : null
}

/** `TLSv1.3` and `TLSv1` are OpenSSL's spelling. */
function versionOf(socket: TLSSocket): string {
  const version = (socket.getProtocol() ?? '').replace('TLSv', '')
  return version === '1' ? '1.0' : version
}

const cipherOf = (socket: TLSSocket): string => socket.getCipher()?.standardName ?? socket.getCipher()?.name ?? ''
