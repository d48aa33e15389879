import { X509Certificate } from 'node:crypto'
import { AdapterError } from '../../../adapters/failure'
import { pemBlock } from '../../../core/net/pem'
import { DerError } from '../../../core/x509/der'
import { x509Facts } from '../../../core/x509/facts'
import { splitUpload, UploadError } from '../../../core/x509/upload'

/** A certificate that an authority issued. */
export interface IssuedCertificate {
  /** PEM of the certificate and its issuers. */
  chain: string
  /** The same in DER form. */
  certificates: readonly Uint8Array[]
  /** ms UTC. */
  notBefore: number
  notAfter: number
  /** Identifies it in requests for renewal information (RFC 9773 section 4.1); null if it doesn’t name its issuer’s key. */
  ariId: string | null
}

const maxChainBytes = 262_144
const maxIssuers = 10

/**
 * Checks that an authority issued what was ordered.
 * @param spki DER of the public key in the certificate request
 * @throws AdapterError `invalid_response`; not ambiguous if the certificate is not what was ordered
 */
export function checkIssued(pem: string, names: readonly string[], spki: Uint8Array, now: number): IssuedCertificate {
  const wrong = (detail: string) =>
    new AdapterError('invalid_response', `The certificate authority issued a certificate that ${detail}`, null, false)
  if (typeof pem !== 'string' || pem.length > maxChainBytes) throw wrong('is too large.')
  try {
    const certificates = splitUpload(Buffer.from(pem))
    const [leaf] = certificates
    if (certificates.length > 1 + maxIssuers) throw wrong(`has more than ${maxIssuers} issuers.`)
    const facts = x509Facts(leaf!)
    const key = new X509Certificate(leaf!).publicKey.export({ type: 'spki', format: 'der' })
    if (facts.dnsNames.toSorted().join() !== names.toSorted().join() || facts.ipAddresses.length > 0)
      throw wrong('is for other names.')
    if (Buffer.compare(key, spki) !== 0) throw wrong('has another key.')
    if (facts.notAfter <= now) throw wrong('has expired.')
    return {
      chain: certificates.map(der => pemBlock('CERTIFICATE', der)).join(''),
      certificates,
      notBefore: facts.notBefore,
      notAfter: facts.notAfter,
      ariId: facts.authorityKeyId === null ? null : `${base64Url(facts.authorityKeyId)}.${base64Url(signedHex(facts.serial))}`,
    }
  } catch (error) {
    if (error instanceof DerError || error instanceof UploadError)
      throw new AdapterError('invalid_response', `The certificate authority sent no valid certificate. It ${error.message}`)
    throw error
  }
}

/** The bytes of an INTEGER: a zero byte keeps a serial number with its first bit set positive. */
const signedHex = (hex: string): string => (Number.parseInt(hex.slice(0, 2), 16) >= 0x80 ? `00${hex}` : hex)

const base64Url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url')
