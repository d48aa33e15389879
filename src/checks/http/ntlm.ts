import { createHash, createHmac } from 'node:crypto'

/** NTLM over HTTP (MS-NTHT) with NTLMv2 and without session security. Messages are defined in MS-NLMP section 2.2.1. */

interface NtlmCredentials {
  username: string
  password: string
  domain: string
}

/** The parts of a CHALLENGE_MESSAGE needed for the reply. */
interface NtlmChallenge {
  serverChallenge: Buffer
  targetInfo: Buffer
}

/** NEGOTIATE_MESSAGE, which announces the client's features. */
export function negotiateMessage(): Buffer {
  const message = Buffer.alloc(32)
  signature.copy(message)
  message.writeUInt32LE(1, 8)
  message.writeUInt32LE(negotiateFlags, 12)
  return message
}

/** Parses a CHALLENGE_MESSAGE; null if the message is something else. */
export function challengeOf(message: Buffer): NtlmChallenge | null {
  if (message.length < 48 || !message.subarray(0, 8).equals(signature) || message.readUInt32LE(8) !== 2) return null
  const length = message.readUInt16LE(40)
  const at = message.readUInt32LE(44)
  if (at + length > message.length) return null
  return { serverChallenge: message.subarray(24, 32), targetInfo: message.subarray(at, at + length) }
}

/**
 * AUTHENTICATE_MESSAGE, the reply to a challenge.
 * @param now ms UTC; the server's time takes precedence if the challenge has one (section 3.1.5.1.2)
 * @param clientChallenge 8 random bytes
 */
export function authenticateMessage(
  challenge: NtlmChallenge,
  credentials: NtlmCredentials,
  { now, clientChallenge }: { now: number; clientChallenge: Buffer },
): Buffer {
  const serverTime = valueOf(challenge.targetInfo, timestampId)
  const time = serverTime ?? fileTime(now)
  const parts = [
    // LMv2 is all zeros if the challenge has a timestamp.
    serverTime ? Buffer.alloc(24) : lmv2(challenge, credentials, clientChallenge),
    ntlmv2(challenge, credentials, time, clientChallenge),
    utf16(credentials.domain),
    utf16(credentials.username),
    Buffer.alloc(0),
    Buffer.alloc(0),
  ]
  const head = Buffer.alloc(64)
  signature.copy(head)
  head.writeUInt32LE(3, 8)
  let at = head.length
  parts.forEach((part, index) => {
    head.writeUInt16LE(part.length, 12 + index * 8)
    head.writeUInt16LE(part.length, 14 + index * 8)
    head.writeUInt32LE(at, 16 + index * 8)
    at += part.length
  })
  head.writeUInt32LE(negotiateFlags, 60)
  return Buffer.concat([head, ...parts])
}

/** NTLMv2_CLIENT_CHALLENGE preceded by its proof (section 3.3.2). */
export function ntlmv2(challenge: NtlmChallenge, credentials: NtlmCredentials, time: Buffer, clientChallenge: Buffer): Buffer {
  const blob = Buffer.concat([
    Buffer.from([1, 1, 0, 0, 0, 0, 0, 0]),
    time,
    clientChallenge,
    Buffer.alloc(4),
    challenge.targetInfo,
    Buffer.alloc(4),
  ])
  return Buffer.concat([hmacMd5(responseKey(credentials), Buffer.concat([challenge.serverChallenge, blob])), blob])
}

const signature = Buffer.from('NTLMSSP\0', 'latin1')

// UNICODE, REQUEST_TARGET, NTLM, ALWAYS_SIGN, EXTENDED_SESSIONSECURITY, TARGET_INFO (section 2.2.2.5).
const negotiateFlags = 0x00000001 | 0x00000004 | 0x00000200 | 0x00008000 | 0x00080000 | 0x00800000

/** MsvAvTimestamp (section 2.2.2.1). */
const timestampId = 7

const lmv2 = (challenge: NtlmChallenge, credentials: NtlmCredentials, clientChallenge: Buffer): Buffer =>
  Buffer.concat([hmacMd5(responseKey(credentials), Buffer.concat([challenge.serverChallenge, clientChallenge])), clientChallenge])

/** NTOWFv2. The username is upper-cased, the domain is not. */
function responseKey({ username, password, domain }: NtlmCredentials): Buffer {
  const hash = createHash('md4').update(utf16(password)).digest()
  return hmacMd5(hash, utf16(username.toUpperCase() + domain))
}

const hmacMd5 = (key: Buffer, octets: Buffer): Buffer => createHmac('md5', key).update(octets).digest()
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')

/** A value in a list of AV_PAIRs; null if it is missing. */
function valueOf(pairs: Buffer, id: number): Buffer | null {
  for (let at = 0; at + 4 <= pairs.length;) {
    const length = pairs.readUInt16LE(at + 2)
    if (pairs.readUInt16LE(at) === id && length === 8) return pairs.subarray(at + 4, at + 4 + length)
    at += 4 + length
  }
  return null
}

/** FILETIME: units of 100 ns since 1601. */
function fileTime(now: number): Buffer {
  const octets = Buffer.alloc(8)
  octets.writeBigUInt64LE(BigInt(Math.floor(now) + 11_644_473_600_000) * 10_000n)
  return octets
}
