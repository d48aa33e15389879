import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { FieldProblem } from '../core/problem'

/** Validates the settings `client_certificate` and `client_key`, both in PEM format; null if they belong together. */
export function clientCertificateProblem(certificate: string, key: string): FieldProblem | null {
  const wrong = (member: string, detail: string): FieldProblem => ({ pointer: `#/settings/${member}`, code: 'format', detail })
  // Certificates are shown to everyone who can view the account.
  if (certificate.includes('PRIVATE KEY')) return wrong('client_certificate', 'must not contain a private key.')
  const parsed = attempt(() => new X509Certificate(certificate))
  if (!parsed) return wrong('client_certificate', 'must be a certificate in PEM format.')
  const privateKey = attempt(() => createPrivateKey(key))
  if (!privateKey) return wrong('client_key', 'must be a private key in PEM format without a passphrase.')
  return parsed.checkPrivateKey(privateKey) ? null : wrong('client_key', 'must be the private key of the client certificate.')
}

function attempt<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch {
    return null
  }
}
