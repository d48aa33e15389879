import { createHash } from 'node:crypto'
import type { ParsedKey } from 'ssh2'
import { ssh2 } from './ssh2'

/** Why a private key can't be used: invalid, passphrase missing or wrong, or too slow to decrypt. */
export type SshKeyFault = 'unreadable' | 'locked' | 'slow'

/** Maximum rounds of bcrypt_pbkdf for an encrypted key, some ten milliseconds each. `ssh-keygen` uses 16 or 24. */
export const maxKdfRounds = 32

/** Parsed keys by the hash of their source: decrypting one blocks all checks for a quarter of a second. */
const known = new Map<string, ParsedKey>()
const maxCached = 1000

/** Parses an SSH private key as written by `ssh-keygen`: in OpenSSH format or, for old keys, PEM. */
export function readSshKey(text: string, passphrase?: string): ParsedKey | SshKeyFault {
  const digest = createHash('sha256')
    .update(JSON.stringify([text, passphrase]))
    .digest('base64')
  const read = known.get(digest) ?? parsed(text.trim(), passphrase)
  if (typeof read === 'string') return read
  const [oldest] = known.keys()
  if (known.size >= maxCached && !known.has(digest)) known.delete(oldest!)
  known.set(digest, read)
  return read
}

function parsed(text: string, passphrase: string | undefined): ParsedKey | SshKeyFault {
  // The parser takes quadratic time for text that starts like a key but does not end like one.
  const framed = /^-----BEGIN (OPENSSH|RSA|EC) PRIVATE KEY-----\r?\n/.exec(text)
  if (!framed || !text.endsWith(`\n-----END ${framed[1]} PRIVATE KEY-----`)) return 'unreadable'
  if (framed[1] === 'OPENSSH' && roundsOf(text) > maxKdfRounds) return 'slow'
  const read = ssh2().utils.parseKey(text, passphrase)
  if (!(read instanceof Error)) return read.isPrivateKey() ? read : 'unreadable'
  return /passphrase/.test(read.message) ? 'locked' : 'unreadable'
}

/** KDF rounds of an encrypted key (PROTOCOL.key of OpenSSH): the magic is followed by the cipher, the KDF, and its options. */
function roundsOf(text: string): number {
  const octets = Buffer.from(text.split('\n').slice(1, -1).join('\n'), 'base64')
  let at = 'openssh-key-v1\0'.length
  const field = (): Buffer => {
    const length = at + 4 <= octets.length ? octets.readUInt32BE(at) : 0
    const value = octets.subarray(at + 4, at + 4 + length)
    at += 4 + length
    return value
  }
  field()
  if (field().toString() !== 'bcrypt') return 0
  const options = field()
  // The salt, followed by the rounds.
  const salt = options.length >= 4 ? options.readUInt32BE(0) : 0
  return 4 + salt + 4 <= options.length ? options.readUInt32BE(4 + salt) : 0
}
