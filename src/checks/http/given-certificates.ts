import { createPrivateKey, X509Certificate } from 'node:crypto'

/**
 * What is wrong with certificates that a monitor was given: the member and the rule; null when nothing is.
 * @param ca PEM, one certificate or several
 */
export function certificateRefusal(
  ca: string | undefined,
  client: { cert: string; key: string } | undefined,
): [member: string, rule: string] | null {
  if (ca !== undefined && !pemBlocks(ca).some(isCertificate)) return ['ca', 'must hold PEM certificates.']
  if (ca !== undefined && !pemBlocks(ca).every(isCertificate)) return ['ca', 'must hold PEM certificates and nothing else.']
  if (!client) return null
  const [leaf] = pemBlocks(client.cert)
  if (!leaf || !isCertificate(leaf)) return ['client_certificate/cert', 'must be a PEM certificate.']
  try {
    if (new X509Certificate(leaf).checkPrivateKey(createPrivateKey(client.key))) return null
    return ['client_certificate/key', 'must be the private key of the certificate.']
  } catch {
    return ['client_certificate/key', 'must be a PEM private key without a passphrase.']
  }
}

const pemBlocks = (text: string): string[] => text.match(/-----BEGIN [A-Z0-9 ]+-----[\s\S]*?-----END [A-Z0-9 ]+-----/g) ?? []

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.byteLength > 0
  } catch {
    return false
  }
}
