import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { hmac, isSame, type CipherSuite } from './cipher-suites'

// Packets of RMCP+ (IPMI 2.0, sections 13.1 and 13.6). Readers return null for packets that they can't use, and never throw.

/** RMCP version 1.0, no acknowledgment, class IPMI. */
const rmcpHeader = Buffer.from([0x06, 0x00, 0xff, 0x07])
const rmcpPlus = 0x06
/** Payload types of session setup (table 13-16). A response has the next number. */
export const setupTypes = { openSession: 0x10, rakp1: 0x12, rakp3: 0x14 } as const
/** An IPMI message, encrypted and authenticated. */
const sealedMessage = 0xc0
const blockLength = 16

/** Keys of a session. */
export interface SessionKeys {
  suite: CipherSuite
  /** K1, for the integrity of packets. */
  integrity: Uint8Array
  /** First 16 octets of K2, for AES-CBC-128. */
  encryption: Uint8Array
}

/** A message outside of a session, in the format of IPMI 1.5. */
export const plainPacket = (message: Uint8Array): Buffer =>
  Buffer.concat([rmcpHeader, Buffer.alloc(9), Buffer.from([message.length]), message])

/** Returns the message of a packet outside of a session. */
export function openPlain(octets: Uint8Array): Buffer | null {
  const packet = Buffer.from(octets)
  if (!isIpmi(packet) || packet.length < 14 || packet.subarray(4, 13).some(octet => octet !== 0)) return null
  const length = packet[13]!
  return packet.length >= 14 + length ? packet.subarray(14, 14 + length) : null
}

export const setupPacket = (type: number, payload: Uint8Array): Buffer =>
  Buffer.concat([rmcpHeader, Buffer.from([rmcpPlus, type]), Buffer.alloc(8), uint16(payload.length), payload])

/** Returns the payload of a packet of session setup. */
export function openSetup(type: number, octets: Uint8Array): Buffer | null {
  const packet = Buffer.from(octets)
  if (!isIpmi(packet) || packet.length < 16 || packet[4] !== rmcpPlus || packet[5] !== type) return null
  const length = packet.readUInt16LE(14)
  return packet.length >= 16 + length ? packet.subarray(16, 16 + length) : null
}

/** @param sessionId of the receiver @param sequence of the session */
export function sealedPacket(message: Uint8Array, sessionId: Uint8Array, sequence: number, keys: SessionKeys): Buffer {
  const payload = encrypted(message, keys)
  const body = Buffer.concat([
    Buffer.from([rmcpPlus, sealedMessage]),
    sessionId,
    uint32(sequence),
    uint16(payload.length),
    payload,
  ])
  // Pads to a multiple of four, with the length of the padding and the next header.
  const padding = -(body.length + 2) & 3
  const authenticated = Buffer.concat([body, Buffer.alloc(padding, 0xff), Buffer.from([padding, 0x07])])
  return Buffer.concat([rmcpHeader, authenticated, mac(authenticated, keys)])
}

/** Returns the message of a packet of a session, whose authenticity it verifies. @param sessionId of this side */
export function openSealed(
  octets: Uint8Array,
  sessionId: Uint8Array,
  keys: SessionKeys,
): { sequence: number; message: Buffer } | null {
  const packet = Buffer.from(octets)
  const { macLength } = keys.suite
  if (!isIpmi(packet) || packet.length < 16 + macLength || packet[4] !== rmcpPlus || packet[5] !== sealedMessage) return null
  const [authenticated, code] = [packet.subarray(4, -macLength), packet.subarray(-macLength)]
  if (!isSame(mac(authenticated, keys), code) || !packet.subarray(6, 10).equals(sessionId)) return null
  const length = packet.readUInt16LE(14)
  if (packet.length < 16 + length + 2 + macLength) return null
  const message = decrypted(packet.subarray(16, 16 + length), keys)
  return message && { sequence: packet.readUInt32LE(10), message }
}

const isIpmi = (packet: Buffer): boolean =>
  packet.length >= rmcpHeader.length && packet[0] === rmcpHeader[0] && packet[3] === rmcpHeader[3]

const mac = (octets: Uint8Array, { suite, integrity }: SessionKeys): Buffer =>
  hmac(suite, integrity, octets).subarray(0, suite.macLength)

/** Section 13.29: the initialization vector, followed by the message, the padding 1, 2, 3 …, and its length. */
function encrypted(message: Uint8Array, { encryption }: SessionKeys): Buffer {
  const padding = -(message.length + 1) & (blockLength - 1)
  const trailer = Buffer.from([...Array.from({ length: padding }, (_, at) => at + 1), padding])
  const vector = randomBytes(blockLength)
  const cipher = createCipheriv('aes-128-cbc', encryption, vector).setAutoPadding(false)
  return Buffer.concat([vector, cipher.update(Buffer.concat([message, trailer])), cipher.final()])
}

function decrypted(payload: Buffer, { encryption }: SessionKeys): Buffer | null {
  if (payload.length < 2 * blockLength || payload.length % blockLength !== 0) return null
  const decipher = createDecipheriv('aes-128-cbc', encryption, payload.subarray(0, blockLength)).setAutoPadding(false)
  const plain = Buffer.concat([decipher.update(payload.subarray(blockLength)), decipher.final()])
  const padding = plain.at(-1)!
  return padding < plain.length ? plain.subarray(0, plain.length - 1 - padding) : null
}

function uint16(value: number): Buffer {
  const octets = Buffer.alloc(2)
  octets.writeUInt16LE(value)
  return octets
}

function uint32(value: number): Buffer {
  const octets = Buffer.alloc(4)
  octets.writeUInt32LE(value)
  return octets
}
