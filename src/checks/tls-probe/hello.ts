import { randomBytes } from 'node:crypto'
import type { ProtocolVersion } from './facts'

/** What a ClientHello offers. */
export interface HelloOffer {
  version: Exclude<ProtocolVersion, 'ssl2'>
  /** Numbers of suites, in the order of preference. */
  suites: readonly number[]
  /** Numbers of groups, in the order of preference. */
  groups: readonly number[]
  servername: string | null
  /** Whether to offer compression as well. */
  compression?: boolean
  /** An X25519 public key. TLS 1.3 servers that get none ask for one (RFC 8446 section 4.1.4), which is cheaper for both sides. */
  keyShare?: Uint8Array
}

/** Numbers of versions on the wire. */
export const versionNumbers = { ssl2: 0x0002, ssl3: 0x0300, '1.0': 0x0301, '1.1': 0x0302, '1.2': 0x0303, '1.3': 0x0304 } as const

/** Encodes a ClientHello in one record (RFC 8446 section 4.1.2, RFC 5246 section 7.4.1.2, RFC 6101 section 5.6.1.2). */
export function clientHello(offer: HelloOffer): Buffer {
  const { version, suites } = offer
  // SSLv3 has no extensions: a suite that is none stands for the one about renegotiation (RFC 5746 section 3.3).
  const numbers = version === 'ssl3' ? [...suites, renegotiationSuite] : suites
  const is13 = version === '1.3'
  const body = Buffer.concat([
    u16(Math.min(versionNumbers[version], versionNumbers['1.2'])),
    randomBytes(32),
    // Middleboxes expect a session to be resumed (RFC 8446 appendix D.4).
    u8List(is13 ? randomBytes(32) : empty),
    u16List(numbers),
    u8List(Buffer.from(offer.compression ? [deflate, lzs, 0] : [0])),
    version === 'ssl3' ? empty : extensionsOf(offer),
  ])
  const message = Buffer.concat([Buffer.from([1, 0]), u16List(body)])
  // Old servers reject records of versions they do not know.
  const recordVersion = version === 'ssl3' ? versionNumbers.ssl3 : versionNumbers['1.0']
  return Buffer.concat([Buffer.from([22]), u16(recordVersion), u16List(message)])
}

/** Encodes the ClientHello of SSLv2, which has a format of its own (SSL 0.2 protocol specification, section 2.5). */
export function clientHello2(suites: readonly number[]): Buffer {
  const body = Buffer.concat([
    Buffer.from([1]),
    u16(versionNumbers.ssl2),
    u16(suites.length * 3),
    u16(0),
    u16(16),
    ...suites.map(one => Buffer.from([one >> 16, (one >> 8) & 0xff, one & 0xff])),
    randomBytes(16),
  ])
  return Buffer.concat([u16(0x8000 | body.length), body])
}

/** Ends a handshake on purpose: `user_canceled`, as fatal (RFC 8446 section 6). */
export const farewell = Buffer.from([21, 3, 1, 0, 2, 2, 90])

function extensionsOf({ version, groups, servername, keyShare }: HelloOffer): Buffer {
  const parts: Buffer[] = []
  const add = (type: number, content: Buffer) => parts.push(u16(type), u16(content.length), content)
  if (servername !== null) {
    const name = Buffer.from(servername, 'latin1')
    add(0, lengthPrefixed(Buffer.concat([Buffer.from([0]), lengthPrefixed(name)])))
  }
  if (groups.length > 0) {
    add(10, u16List(groups))
    add(11, u8List(Buffer.from([0])))
  }
  if (version === '1.2' || version === '1.3') add(13, u16List(signatureAlgorithms))
  // Asks for the OCSP response (RFC 6066 section 8), without naming responders.
  if (version !== '1.3') add(5, Buffer.from([1, 0, 0, 0, 0]))
  add(23, empty)
  if (version === '1.3') {
    add(43, u8List(u16(versionNumbers['1.3'])))
    add(51, lengthPrefixed(keyShare ? Buffer.concat([u16(0x001d), lengthPrefixed(keyShare)]) : empty))
  } else add(renegotiationExtension, u8List(empty))
  return lengthPrefixed(Buffer.concat(parts))
}

/** The extension about secure renegotiation (RFC 5746). */
export const renegotiationExtension = 0xff01
const renegotiationSuite = 0x00ff
const deflate = 1
const lzs = 64

// Everything that is registered, strong ones first: a server must not refuse because of its certificate (RFC 8446 section 4.2.3).
const signatureAlgorithms = [
  ...[0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x0804, 0x0805, 0x0806, 0x0809, 0x080a, 0x080b, 0x0401, 0x0501, 0x0601],
  ...[0x081a, 0x081b, 0x081c, 0x0904, 0x0905, 0x0906, 0x0708, 0x0709, 0x070a, 0x070b, 0x070c, 0x070d, 0x070e, 0x070f],
  ...[0x0402, 0x0502, 0x0602, 0x0303, 0x0301, 0x0302, 0x0203, 0x0201, 0x0202, 0x0101],
]

const empty = Buffer.alloc(0)
const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])
const u8List = (content: Uint8Array): Buffer => Buffer.concat([Buffer.from([content.length]), content])
const lengthPrefixed = (content: Uint8Array): Buffer => Buffer.concat([u16(content.length), content])

/** A list of octets, or of numbers of two octets, after its length. */
function u16List(content: Buffer | readonly number[]): Buffer {
  if (Buffer.isBuffer(content)) return lengthPrefixed(content)
  const octets = Buffer.allocUnsafe(2 + content.length * 2)
  octets.writeUInt16BE(content.length * 2, 0)
  for (let at = 0; at < content.length; at++) octets.writeUInt16BE(content[at]!, 2 + at * 2)
  return octets
}
