import { createHash } from 'node:crypto'
import type { ParsedKey } from 'ssh2'
import { ssh2 } from './ssh2'

/** Why a private key cannot be used: it is none, its passphrase is missing or wrong, or opening it would take too long. */
export type SshKeyFault = 'unreadable' | 'locked' | 'slow'

/** Rounds of bcrypt_pbkdf that an encrypted key may take, of some ten milliseconds each. `ssh-keygen` writes 16 or 24. */
export const roundsMost = 32

/** Keys by what they were read from: opening an encrypted one takes a quarter of a second, in which no other check goes on. */
const known = new Map<string, ParsedKey>()
const knownMost = 1000

/** Reads a private key of SSH as `ssh-keygen` writes it: in the form of OpenSSH or, of old, in PEM. */
export function readSshKey(text: string, passphrase?: string): ParsedKey | SshKeyFault {
  const digest = createHash('sha256')
    .update(JSON.stringify([text, passphrase]))
    .digest('base64')
  const read = known.get(digest) ?? parsed(text.trim(), passphrase)
  if (typeof read === 'string') return read
  const [oldest] = known.keys()
  if (known.size >= knownMost && !known.has(digest)) known.delete(oldest!)
  known.set(digest, read)
  return read
}

function parsed(text: string, passphrase: string | undefined): ParsedKey | SshKeyFault {
  // The reader takes quadratic time for what begins like a key and does not end like one.
  const framed = /^-----BEGIN (OPENSSH|RSA|EC) PRIVATE KEY-----\r?\n/.exec(text)
  if (!framed || !text.endsWith(`\n-----END ${framed[1]} PRIVATE KEY-----`)) return 'unreadable'
  if (framed[1] === 'OPENSSH' && roundsOf(text) > roundsMost) return 'slow'
  const read = ssh2().utils.parseKey(text, passphrase)
  if (!(read instanceof Error)) return read.isPrivateKey() ? read : 'unreadable'
  return /passphrase/.test(read.message) ? 'locked' : 'unreadable'
}

/** Rounds by which a key is encrypted (PROTOCOL.key of OpenSSH): after its magic come the cipher, the function and its options. */
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
  // The salt, and then the rounds.
  const salt = options.length >= 4 ? options.readUInt32BE(0) : 0
  return 4 + salt + 4 <= options.length ? options.readUInt32BE(4 + salt) : 0
}
