import { maxChainCertificates, type CipherSuite, type EphemeralKey, type ProtocolVersion } from './facts'
import { TlsFormatError } from './format-error'
import { groupOf } from './groups'
import { renegotiationExtension, versionNumbers } from './hello'
import { OctetReader } from './octet-reader'
import { suiteOf } from './suites'

/** What a server answers to a ClientHello, up to where keys would be needed to read on. */
export interface ServerFlight {
  version: ProtocolVersion
  suite: CipherSuite
  ephemeral: EphemeralKey | null
  compression: boolean
  secureRenegotiation: boolean
  /** DER. Null if the server sent none, or encrypted ones. At most {@link maxChainCertificates}. */
  certificates: Uint8Array[] | null
  /** How many certificates the server sent. */
  certificateCount: number
  /** The OCSP response that was sent along, DER. */
  staple: Uint8Array | null
}

/** A server's final answer to a ClientHello: its flight, or the number of the alert that refuses it (RFC 8446 section 6). */
export type Answer = { kind: 'accepted'; flight: ServerFlight } | { kind: 'refused'; alert: number }

/** Limits of what is read. Chains of public servers have less than 20,000 bytes. */
const maxRecordBytes = 2 ** 14 + 2048
const maxFlightBytes = 256 * 1024
const maxRecords = 300
const maxWarnings = 10

/**
 * Reads the answer to a ClientHello from the octets of a connection, as they arrive. Bounded in length, number of records and messages.
 * Everything that the server chooses must have been offered, so that a scan which stops offering it ends.
 */
export class FlightReader {
  #unread = Buffer.alloc(0)
  #bytes = 0
  #records = 0
  #warnings = 0
  #handshake = Buffer.alloc(0)
  #flight: ServerFlight | null = null

  constructor(private readonly offer: { suites: readonly number[]; groups: readonly number[] }) {}

  /** @returns the answer, once it is complete; null before @throws TlsFormatError */
  push(octets: Uint8Array): Answer | null {
    this.#unread = Buffer.concat([this.#unread, octets])
    this.#bytes += octets.length
    if (this.#bytes > maxFlightBytes) throw new TlsFormatError(`sent a handshake of more than ${maxFlightBytes} bytes`)
    for (;;) {
      const record = this.#nextRecord()
      if (!record) return null
      const answer = record.type === recordTypes.alert ? this.#alert(record.content) : this.#messages(record.content)
      if (answer) return answer
    }
  }

  #nextRecord(): { type: number; content: Uint8Array } | null {
    const unread = this.#unread
    // Other protocols show in the first octets, and may send less than the header of a record.
    if (unread.length > 0 && !isRecordStart(unread)) throw new TlsFormatError('does not speak TLS on this port')
    if (unread.length < 5) return null
    const length = unread.readUInt16BE(3)
    if (length > maxRecordBytes) throw new TlsFormatError(`sent a record of ${length} bytes`)
    if (unread.length < 5 + length) return null
    if (++this.#records > maxRecords) throw new TlsFormatError(`sent more than ${maxRecords} records`)
    this.#unread = unread.subarray(5 + length)
    return { type: unread[0]!, content: unread.subarray(5, 5 + length) }
  }

  #alert(content: Uint8Array): Answer | null {
    const reader = new OctetReader(content, 'an alert')
    const [level, alert] = [reader.number(1), reader.number(1)]
    // TLS 1.3 ignores the level, but servers warn in older versions, about the name for example (RFC 6066 section 3).
    if (level === 1 && alert !== 0) {
      if (++this.#warnings > maxWarnings) throw new TlsFormatError(`sent more than ${maxWarnings} warnings`)
      return null
    }
    return { kind: 'refused', alert }
  }

  #messages(content: Uint8Array): Answer | null {
    if (content.length === 0) throw new TlsFormatError('sent an empty record')
    this.#handshake = this.#handshake.length === 0 ? Buffer.from(content) : Buffer.concat([this.#handshake, content])
    while (this.#handshake.length >= 4) {
      const type = this.#handshake[0]!
      const length = this.#handshake.readUIntBE(1, 3)
      if (length > maxFlightBytes) throw new TlsFormatError(`sent a handshake message of ${length} bytes`)
      if (this.#handshake.length < 4 + length) return null
      const message = this.#handshake.subarray(4, 4 + length)
      this.#handshake = this.#handshake.subarray(4 + length)
      if (this.#message(type, message)) return { kind: 'accepted', flight: this.#flight! }
    }
    return null
  }

  /** @returns whether the flight is complete */
  #message(type: number, content: Uint8Array): boolean {
    if (type === messages.hello) {
      if (this.#flight) throw new TlsFormatError('sent two ServerHello messages')
      this.#flight = this.#serverHello(content)
      return this.#flight.version === '1.3'
    }
    const flight = this.#flight
    if (!flight) throw new TlsFormatError(`sent handshake message ${type} before its ServerHello`)
    if (type === messages.certificate) Object.assign(flight, certificatesIn(content))
    else if (type === messages.status) flight.staple = stapleIn(content)
    else if (type === messages.keyExchange) flight.ephemeral = keyIn(content, flight.suite, this.offer.groups)
    return type === messages.done
  }

  #serverHello(content: Uint8Array): ServerFlight {
    const reader = new OctetReader(content, 'a ServerHello')
    let version = reader.number(2)
    reader.take(32)
    const session = reader.vector(1)
    if (session.length > 32) throw new TlsFormatError('sent a session ID of more than 32 bytes')
    const number = reader.number(2)
    const compression = reader.number(1)
    const extensions = reader.remaining > 0 ? extensionsIn(reader.vector(2)) : new Map<number, Uint8Array>()
    reader.end()
    const selected = extensions.get(43)
    if (selected) version = new OctetReader(selected, 'a version').number(2)
    const known = versionNames.get(version)
    if (!known) throw new TlsFormatError(`chose the unknown version 0x${version.toString(16).padStart(4, '0')}`)
    const suite = this.offer.suites.includes(number) ? suiteOf.get(number) : undefined
    if (!suite) throw new TlsFormatError(`chose the suite 0x${number.toString(16).padStart(4, '0')}, which was not offered`)
    const share = extensions.get(51)
    const ephemeral =
      known === '1.3' && share ? namedKey(new OctetReader(share, 'a key share').number(2), this.offer.groups) : null
    return {
      version: known,
      suite,
      ephemeral,
      compression: compression !== 0,
      secureRenegotiation: extensions.has(renegotiationExtension),
      certificates: null,
      certificateCount: 0,
      staple: null,
    }
  }
}

const recordTypes = { alert: 21, handshake: 22 }
const messages = { hello: 2, certificate: 11, keyExchange: 12, done: 14, status: 22 }
const versionNames = new Map(Object.entries(versionNumbers).map(([name, number]) => [number as number, name as ProtocolVersion]))

/** Whether octets start like an alert or a handshake message of SSLv3 or later. */
function isRecordStart([type, major]: Uint8Array): boolean {
  return (type === recordTypes.alert || type === recordTypes.handshake) && (major === undefined || major === 3)
}

function extensionsIn(octets: Uint8Array): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>()
  const reader = new OctetReader(octets, 'a list of extensions')
  while (reader.remaining > 0) {
    const type = reader.number(2)
    if (found.has(type)) throw new TlsFormatError(`sent the extension ${type} twice`)
    found.set(type, reader.vector(2))
  }
  return found
}

function certificatesIn(octets: Uint8Array): Pick<ServerFlight, 'certificates' | 'certificateCount'> {
  const message = new OctetReader(octets, 'a Certificate message')
  const list = new OctetReader(message.vector(3), 'a list of certificates')
  message.end()
  const certificates: Uint8Array[] = []
  let certificateCount = 0
  while (list.remaining > 0) {
    const certificate = list.vector(3)
    // Copied, because the octets around it would stay in memory with it.
    if (++certificateCount <= maxChainCertificates) certificates.push(Uint8Array.from(certificate))
  }
  return { certificates, certificateCount }
}

/** The OCSP response in a CertificateStatus message (RFC 6066 section 8). */
function stapleIn(octets: Uint8Array): Uint8Array | null {
  const reader = new OctetReader(octets, 'a CertificateStatus message')
  if (reader.number(1) !== 1) return null
  return Uint8Array.from(reader.vector(3))
}

/** The server's key in a ServerKeyExchange message, whose format depends on the suite. Null for formats without one. */
function keyIn(octets: Uint8Array, suite: CipherSuite, groups: readonly number[]): EphemeralKey | null {
  const reader = new OctetReader(octets, 'a ServerKeyExchange message')
  // A hint about the key precedes everything else (RFC 4279 section 2, RFC 5489 section 2).
  if (suite.authentication === 'psk') reader.vector(2)
  switch (suite.key_exchange) {
    case 'dhe':
    case 'dhe_export':
      return { kind: 'dh', bits: bitsOf(reader.vector(2)), group: null }
    case 'rsa_export':
      return { kind: 'rsa', bits: bitsOf(reader.vector(2)), group: null }
    case 'ecdhe': {
      const kind = reader.number(1)
      if (kind === 3) return namedKey(reader.number(2), groups)
      // Explicit curves of prime or binary fields (RFC 4492 section 5.4).
      return { kind: 'ec', bits: kind === 1 ? bitsOf(reader.vector(1)) : reader.number(2), group: null }
    }
    default:
      return null
  }
}

function namedKey(id: number, groups: readonly number[]): EphemeralKey {
  const group = groups.includes(id) ? groupOf.get(id) : undefined
  if (!group) throw new TlsFormatError(`chose the group 0x${id.toString(16).padStart(4, '0')}, which was not offered`)
  return { kind: group.kind, bits: group.bits, group: group.name }
}

/** Size of a number in bits, without leading zeros. */
function bitsOf(octets: Uint8Array): number {
  const first = octets.findIndex(octet => octet !== 0)
  return first < 0 ? 0 : (octets.length - first) * 8 - Math.clz32(octets[first]!) + 24
}
