import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { pemBlock } from '../net/pem'
import { bitString, encoded, extension, oid, sequence, set } from './der-writer'

/** Digests, and the algorithms of signatures with them, by type of the key (RFC 5758 section 3.2, RFC 4055 section 5). */
const algorithms = {
  prime256v1: ['sha256', sequence(oid('1.2.840.10045.4.3.2'))],
  secp384r1: ['sha384', sequence(oid('1.2.840.10045.4.3.3'))],
  rsa: ['sha256', sequence(oid('1.2.840.113549.1.1.11'), encoded(0x05))],
} as const
const extensionRequest = '1.2.840.113549.1.9.14'
const subjectAltName = '2.5.29.17'

/**
 * Creates a certificate request (RFC 2986) for DNS names, without a subject. The agent does this too, and its program is too small for a
 * library.
 * @param privateKey PEM of an RSA key, or of an EC key with the curve P-256 or P-384
 * @returns PEM
 */
export function certificateRequest(names: readonly string[], privateKey: string): string {
  const key = createPrivateKey(privateKey)
  const type = (key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType) as keyof typeof algorithms
  const [digest, algorithm] = algorithms[type]
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const dnsNames = sequence(...names.map(name => encoded(0x82, Buffer.from(name, 'latin1'))))
  const extensions = sequence(extension(subjectAltName, dnsNames))
  const attributes = encoded(0xa0, sequence(oid(extensionRequest), set(extensions)))
  const info = sequence(encoded(0x02, Buffer.of(0)), sequence(), publicKey, attributes)
  return pemBlock('CERTIFICATE REQUEST', sequence(info, algorithm, bitString(sign(digest, info, key))))
}
