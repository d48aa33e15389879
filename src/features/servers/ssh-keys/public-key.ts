import { createPublicKey } from 'node:crypto'
import { sha256 } from '../../../core/crypto'

/** Supported types of keys, as OpenSSH names them. */
export const keyAlgorithms = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
] as const
type KeyAlgorithm = (typeof keyAlgorithms)[number]

/** A parsed public key. */
export interface PublicKey {
  algorithm: KeyAlgorithm
  /** One line: algorithm, Base64, and the comment, if there is one. */
  text: string
  comment: string
  /** As printed by `ssh-keygen -l`: `SHA256:` and 43 Base64 characters. */
  fingerprint: string
}

/** A text that is not an accepted public key. The message completes a sentence that starts with the name of the field. It never contains a part of the text. */
export class InvalidPublicKey extends Error {
  override name = 'InvalidPublicKey'
  constructor(
    readonly code: 'private_key' | 'weak_key' | 'not_supported' | 'format',
    message: string,
  ) {
    super(message)
  }
}

const minRsaBits = 2048
const maxRsaBits = 16_384
const control = /[\p{Cc}\u2028\u2029]/u

/** Parses an OpenSSH public key (RFC 4253 section 6.6), as in `id_ed25519.pub` or a line of `authorized_keys`. @throws InvalidPublicKey */
export function parsePublicKey(input: string): PublicKey {
  if (isPrivateKey(input))
    throw new InvalidPublicKey(
      'private_key',
      'is a private key. Send the public key, such as the contents of `id_ed25519.pub`. The private key was not stored.',
    )
  if (/BEGIN [A-Z0-9 ]{0,30}PUBLIC KEY/.test(input))
    throw new InvalidPublicKey(
      'format',
      'is not in OpenSSH format. Convert it with `ssh-keygen -i`, and send the line that it prints.',
    )
  const line = input.trim().replaceAll('\t', ' ')
  if (/[\r\n]/.test(line)) throw new InvalidPublicKey('format', 'must be a single key on one line.')
  if (control.test(line)) throw new InvalidPublicKey('format', 'must not contain control characters.')
  const [algorithm = '', base64 = '', comment = ''] = (/^(\S+) +(\S+)(?: +(.+))?$/.exec(line) ?? []).slice(1)
  requireSupported(algorithm, line)
  const blob = Buffer.from(base64, 'base64')
  const encoded = blob.toString('base64')
  if (encoded.replace(/={1,2}$/, '') !== base64.replace(/={1,2}$/, ''))
    throw new InvalidPublicKey('format', 'must have valid Base64 after the algorithm. Copy the whole line.')
  requireValid(algorithm, blob)
  const fingerprint = `SHA256:${Buffer.from(sha256(blob))
    .toString('base64')
    .replace(/={1,2}$/, '')}`
  return { algorithm, text: [algorithm, encoded, ...(comment ? [comment] : [])].join(' '), comment, fingerprint }
}

/** Whether a text contains a private key: in PEM, of OpenSSH also without its frame, of SSH2, or of PuTTY. */
const isPrivateKey = (text: string): boolean =>
  /BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY|PuTTY-User-Key-File|Private-Lines:|b3BlbnNzaC1rZXktdjE/.test(text)

function requireSupported(algorithm: string, line: string): asserts algorithm is KeyAlgorithm {
  if (isSupported(algorithm)) return
  if (algorithm === 'ssh-dss')
    throw new InvalidPublicKey(
      'weak_key',
      `is a DSA key, which is not secure. Use Ed25519, or RSA with at least ${minRsaBits} bits.`,
    )
  if (/-cert-v0\d@openssh\.com$/.test(algorithm))
    throw new InvalidPublicKey('not_supported', 'is a certificate. Send the public key that it was issued for.')
  const [, ...others] = line.split(' ')
  if (others.some(word => isSupported(word) || word === 'ssh-dss'))
    throw new InvalidPublicKey(
      'not_supported',
      'must start with the algorithm. Remove options such as `command="…"`, or the host name, in front of it.',
    )
  throw new InvalidPublicKey(
    'format',
    `must be a public key in OpenSSH format. Supported algorithms: ${keyAlgorithms.join(', ')}.`,
  )
}

const isSupported = (word: string): word is KeyAlgorithm => (keyAlgorithms as readonly string[]).includes(word)

/** Checks the contents of a key. @throws InvalidPublicKey */
function requireValid(algorithm: KeyAlgorithm, blob: Buffer): void {
  const fields = fieldsOf(blob)
  const [name, first, second, third] = fields ?? []
  const count = fields?.length
  const isValid =
    name?.toString('latin1') === algorithm &&
    {
      'ssh-ed25519': () => count === 2 && first!.length === 32,
      'ssh-rsa': () => count === 3 && isRsa(first!, second!),
      'ecdsa-sha2-nistp256': () => count === 3 && isPoint(first!, second!, algorithm),
      'ecdsa-sha2-nistp384': () => count === 3 && isPoint(first!, second!, algorithm),
      'ecdsa-sha2-nistp521': () => count === 3 && isPoint(first!, second!, algorithm),
      // The last field is the application, such as `ssh:`.
      'sk-ssh-ed25519@openssh.com': () => count === 3 && first!.length === 32 && second!.length > 0,
      'sk-ecdsa-sha2-nistp256@openssh.com': () => count === 4 && isPoint(first!, second!, algorithm) && third!.length > 0,
    }[algorithm]()
  if (!isValid)
    throw new InvalidPublicKey('format', `is damaged: its contents are not a valid ${algorithm} key. Copy the whole line.`)
}

/** The fields of a key, each with its length in front (RFC 4251 section 5). Null if they don’t fill the blob. */
function fieldsOf(blob: Buffer): Buffer[] | null {
  const fields: Buffer[] = []
  let at = 0
  while (at < blob.length) {
    if (at + 4 > blob.length) return null
    const end = at + 4 + blob.readUInt32BE(at)
    if (end > blob.length) return null
    fields.push(blob.subarray(at + 4, end))
    at = end
  }
  return fields
}

/** @throws InvalidPublicKey if the modulus has the wrong size */
function isRsa(exponent: Buffer, modulus: Buffer): boolean {
  if (!isOddPositive(exponent) || !isOddPositive(modulus) || exponent.equals(Buffer.of(1))) return false
  const bits = modulus.length * 8 - Math.clz32(modulus[0]!) + 24
  if (bits < minRsaBits)
    throw new InvalidPublicKey('weak_key', `is an RSA key with ${bits} bits. Use at least ${minRsaBits} bits, or Ed25519.`)
  if (bits > maxRsaBits)
    throw new InvalidPublicKey('not_supported', `is an RSA key with ${bits} bits. OpenSSH supports at most ${maxRsaBits} bits.`)
  return true
}

/** Whether an integer is odd, positive, and encoded without redundant zeros. */
const isOddPositive = (integer: Buffer): boolean =>
  integer.length > 0 && integer[0]! < 0x80 && !(integer[0] === 0 && !(integer[1]! >= 0x80)) && integer.at(-1)! % 2 === 1

const curves: Record<string, { jwk: string; size: number }> = {
  nistp256: { jwk: 'P-256', size: 32 },
  nistp384: { jwk: 'P-384', size: 48 },
  nistp521: { jwk: 'P-521', size: 66 },
}

/** Whether a point is uncompressed and on the curve that belongs to the algorithm (RFC 5656 section 3.1). */
function isPoint(curve: Buffer, point: Buffer, algorithm: KeyAlgorithm): boolean {
  const name = curve.toString('latin1')
  const { jwk, size } = algorithm.replace('@openssh.com', '').endsWith(`-${name}`) ? curves[name]! : { jwk: '', size: 0 }
  if (!size || point.length !== 1 + 2 * size || point[0] !== 4) return false
  const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)].map(part => part.toString('base64url'))
  try {
    createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: jwk, x, y } })
    return true
  } catch {
    return false
  }
}
