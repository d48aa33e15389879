import { X509Certificate } from 'node:crypto'
import { ownFacts } from './certificate'
import type { CertificateFacts } from './check'

/** What is known of a certificate by itself (X.509, RFC 5280). Times are ms UTC. */
export interface CertificateDetails extends Pick<CertificateFacts, 'sha256' | 'subject' | 'issuer' | 'names'> {
  /** Serial number in hexadecimal. */
  serial: string
  not_before: number
  not_after: number
  key: {
    /** `rsa`, `ec`, `ed25519`, … Null if the runtime doesn’t support it. */
    type: string | null
    /** Null if the type has only one size. */
    bits: number | null
    /** Lowercase hexadecimal SHA-256 of the public key as SubjectPublicKeyInfo in DER. Null if the type is not supported. */
    spki_sha256: string | null
  }
  /** Organization in the name of the issuer, which stays the same if a CA uses another intermediate certificate; else the name. */
  issued_by: string
}

/** At most this many names of a certificate are kept. Let’s Encrypt allows 100. */
export const maxNames = 200

/**
 * Parses a certificate. Null if it isn’t one. It may be one of many that a hostile server made up, so nothing is cached.
 * @param input in DER or PEM form
 */
export function certificateDetails(input: Uint8Array | string): (CertificateDetails & { raw: Uint8Array }) | null {
  try {
    const x509 = new X509Certificate(input)
    const { sha256, subject, issuer, serial, names, not_before, not_after } = ownFacts(x509)
    if (!Number.isSafeInteger(not_before) || !Number.isSafeInteger(not_after)) return null
    const issued_by = line(/^O=(.*)$/m.exec(x509.issuer ?? '')?.[1] ?? issuer)
    const common = { sha256, serial, not_before, not_after, issued_by, key: keyOf(x509), raw: x509.raw }
    return { ...common, subject: line(subject), issuer: line(issuer), names: names.slice(0, maxNames).map(line) }
  } catch {
    return null
  }
}

function keyOf(x509: X509Certificate): CertificateDetails['key'] {
  try {
    const { publicKey } = x509
    const { modulusLength, namedCurve } = publicKey.asymmetricKeyDetails ?? {}
    return {
      type: publicKey.asymmetricKeyType ?? null,
      bits: modulusLength ?? curveBits[namedCurve ?? ''] ?? null,
      spki_sha256: new Bun.CryptoHasher('sha256').update(publicKey.export({ type: 'spki', format: 'der' })).digest('hex'),
    }
  } catch {
    return { type: null, bits: null, spki_sha256: null }
  }
}

const curveBits: Readonly<Record<string, number>> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 }

/** Names can contain anything. Texts that are stored and shown contain no control characters. */
const line = (text: string): string => text.replaceAll(/\p{C}+/gu, ' ')
