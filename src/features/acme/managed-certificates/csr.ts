import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { childrenOf, contextTag, DerError, expectTag, latin1, oidText, readDer, tags, type Der } from '../../../core/x509/der'
import { pemBlock, pemBlocks } from '../../../core/net/pem'

/** What a certificate request contains (RFC 2986). */
interface CertificateRequest {
  /** The request without anything else that the text contained. */
  pem: string
  /** DNS names in lower case, without duplicates. */
  names: string[]
  /** Such as `ec-256`. */
  keyType: string
  /** DER of the public key (SubjectPublicKeyInfo). */
  spki: Uint8Array
}

/** The request is not usable. The message is the rest of a sentence about it. */
export class CsrError extends Error {
  override name = 'CsrError'
}

const oids = { commonName: '2.5.4.3', extensionRequest: '1.2.840.113549.1.9.14', subjectAltName: '2.5.29.17' }
/** Names of digests by signature algorithm; undefined for Ed25519, which has none. */
const digests: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
}
const minRsaBits = 2048
const maxRsaBits = 8192
const curves: Readonly<Record<string, string>> = { prime256v1: 'ec-256', secp384r1: 'ec-384' }

/** Parses a PEM certificate request, and checks its key and signature. @throws CsrError */
export function parseCsr(pem: string): CertificateRequest {
  const [block, ...more] = pemBlocks(pem)
  if (!block || more.length > 0 || !/^-----BEGIN (NEW )?CERTIFICATE REQUEST-----/.test(block))
    throw new CsrError('must be one PEM block of the type CERTIFICATE REQUEST.')
  try {
    return readRequest(Buffer.from(block.replaceAll(/-----[^-]+-----/g, ''), 'base64'))
  } catch (error) {
    if (error instanceof DerError) throw new CsrError(`is not a valid certificate request: it ${error.message}`)
    throw error
  }
}

/** @throws CsrError, DerError */
function readRequest(der: Uint8Array): CertificateRequest {
  const request = expectTag(readDer(der), tags.sequence, 'content')
  const [info, algorithm, signature] = childrenOf(request, 3)
  const [, subject, key, attributes] = childrenOf(expectTag(info, tags.sequence, 'content'), 4)
  const spki = expectTag(key, tags.sequence, 'public key').bytes
  const publicKey = keyOf(spki)
  const keyType = keyTypeOf(publicKey)
  const digest = digests[oidText(childrenOf(expectTag(algorithm, tags.sequence, 'signature algorithm'))[0], 'algorithm')]
  // The first byte counts unused bits.
  const signed = expectTag(signature, tags.bitString, 'signature').content.subarray(1)
  if (digest === undefined) throw new CsrError('must be signed with SHA-256 or stronger.')
  if (!verify(digest, info!.bytes, publicKey, signed))
    throw new CsrError('has a wrong signature: it was not created with the private key of its public key.')
  const names = [...commonNames(expectTag(subject, tags.sequence, 'subject')), ...alternativeNames(attributes)]
  return {
    ...{ pem: pemBlock('CERTIFICATE REQUEST', request.bytes), names: [...new Set(names.map(name => name.toLowerCase()))] },
    ...{ keyType, spki },
  }
}

function keyOf(spki: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
  } catch {
    throw new CsrError('has a public key that can’t be read.')
  }
}

/** @throws CsrError for a weak key */
function keyTypeOf({ asymmetricKeyType, asymmetricKeyDetails: details }: KeyObject): string {
  if (asymmetricKeyType === 'ec') {
    const type = curves[details?.namedCurve ?? '']
    if (type === undefined) throw new CsrError('must have an RSA key, or an EC key with the curve P-256 or P-384.')
    return type
  }
  if (asymmetricKeyType !== 'rsa') throw new CsrError('must have an RSA key, or an EC key with the curve P-256 or P-384.')
  const bits = details?.modulusLength ?? 0
  if (bits < minRsaBits) throw new CsrError(`has a weak key: RSA keys must have at least ${minRsaBits} bits.`)
  if (bits > maxRsaBits) throw new CsrError(`has an RSA key with more than ${maxRsaBits} bits.`)
  // Factoring keys with a tiny exponent is easier if messages aren’t padded, and authorities reject them.
  if ((details?.publicExponent ?? 0n) < 65_537n) throw new CsrError('has a weak key: the RSA exponent must be at least 65537.')
  return `rsa-${bits}`
}

function commonNames(subject: Der): string[] {
  return childrenOf(subject, 50).flatMap(set =>
    childrenOf(set, 10).flatMap(one => {
      const [oid, value] = childrenOf(one, 2)
      return oidText(oid, 'subject') === oids.commonName && value ? [latin1(value.content)] : []
    }),
  )
}

/** DNS names among the requested extensions. @throws CsrError for other kinds of names */
function alternativeNames(attributes: Der | undefined): string[] {
  if (attributes?.tag !== contextTag(0, true)) return []
  const names: string[] = []
  for (const attribute of childrenOf(attributes, 20)) {
    const [oid, values] = childrenOf(attribute, 2)
    if (oidText(oid, 'attributes') !== oids.extensionRequest) continue
    const [extensions] = childrenOf(expectTag(values, tags.set, 'attributes'), 1)
    for (const extension of childrenOf(expectTag(extensions, tags.sequence, 'extensions'), 50)) {
      const parts = childrenOf(extension, 3)
      if (oidText(parts[0], 'extensions') !== oids.subjectAltName) continue
      const value = readDer(expectTag(parts.at(-1), tags.octetString, 'extensions').content)
      for (const name of childrenOf(expectTag(value, tags.sequence, 'names'), 200)) {
        if (name.tag !== contextTag(2, false)) throw new CsrError('must contain only DNS names.')
        names.push(latin1(name.content))
      }
    }
  }
  return names
}
