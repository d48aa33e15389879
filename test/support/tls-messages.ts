// Messages of a TLS server, as wrong as a test needs them.

const number = (size: number, value: number): Buffer => {
  const octets = Buffer.alloc(size)
  octets.writeUIntBE(value, 0, size)
  return octets
}
const prefixed = (size: number, content: Uint8Array): Buffer => Buffer.concat([number(size, content.length), content])

/** A record around a content of up to 65,535 bytes. @param type 21 for alerts, 22 for handshakes */
export const record = (content: Uint8Array, type = 22): Buffer => Buffer.concat([Buffer.from([type, 3, 3]), prefixed(2, content)])

export const alert = (description: number, level = 2): Buffer => record(Buffer.from([level, description]), 21)

export const handshake = (type: number, content: Uint8Array): Buffer => Buffer.concat([Buffer.from([type]), prefixed(3, content)])

export const extension = (type: number, content: Uint8Array): Buffer => Buffer.concat([number(2, type), prefixed(2, content)])

export function serverHello(hello: { version?: number; suite: number; compression?: number; extensions?: Buffer[] }): Buffer {
  const { version = 0x0303, suite, compression = 0, extensions = [] } = hello
  const parts = [number(2, version), Buffer.alloc(32, 7), prefixed(1, Buffer.alloc(32)), number(2, suite), number(1, compression)]
  if (extensions.length > 0) parts.push(prefixed(2, Buffer.concat(extensions)))
  return handshake(2, Buffer.concat(parts))
}

export const certificateMessage = (certificates: Uint8Array[]): Buffer =>
  handshake(11, prefixed(3, Buffer.concat(certificates.map(one => prefixed(3, one)))))

/** The server's key on a curve. */
export const curveKey = (group: number): Buffer =>
  handshake(12, Buffer.concat([Buffer.from([3]), number(2, group), prefixed(1, Buffer.alloc(65)), Buffer.alloc(72)]))

/** The server's key for a prime of this many bytes. */
export const primeKey = (prime: Uint8Array): Buffer =>
  handshake(12, Buffer.concat([prefixed(2, prime), prefixed(2, Buffer.from([2])), prefixed(2, prime), Buffer.alloc(72)]))

export const helloDone = handshake(14, Buffer.alloc(0))

/** Splits content into records of at most 16,384 bytes. */
export function records(content: Uint8Array): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < content.length; at += 16_384) parts.push(record(content.subarray(at, at + 16_384)))
  return Buffer.concat(parts)
}

/** What a ClientHello offers. */
export interface ReadHello {
  /** The newest version offered. */
  version: number
  suites: number[]
  compression: number[]
}

/** Reads a ClientHello in one record. */
export function readHello(octets: Buffer): ReadHello {
  let at = 5 + 4
  let version = octets.readUInt16BE(at)
  at += 2 + 32
  at += 1 + octets[at]!
  const suites = numbers(octets.subarray(at + 2, at + 2 + octets.readUInt16BE(at)))
  at += 2 + octets.readUInt16BE(at)
  const compression = [...octets.subarray(at + 1, at + 1 + octets[at]!)]
  at += 1 + octets[at]! + 2
  while (at < octets.length) {
    if (octets.readUInt16BE(at) === 43) version = octets.readUInt16BE(at + 5)
    at += 4 + octets.readUInt16BE(at + 2)
  }
  return { version, suites, compression }
}

const numbers = (octets: Buffer): number[] => Array.from({ length: octets.length / 2 }, (_, at) => octets.readUInt16BE(at * 2))
