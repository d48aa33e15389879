import { X509Certificate } from 'node:crypto'

/** Splits PEM text (RFC 7468) into its blocks; text between them is skipped. */
export const pemBlocks = (text: string): string[] =>
  text.match(/-----BEGIN [A-Z0-9 ]+-----[\s\S]*?-----END [A-Z0-9 ]+-----/g) ?? []

/** Whether a PEM block is a certificate that can be read. */
export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.byteLength > 0
  } catch {
    return false
  }
}

/** Whether a text consists of at least one PEM certificate, and of no other block. */
export function areCertificates(text: string): boolean {
  const blocks = pemBlocks(text)
  return blocks.length > 0 && blocks.every(isCertificate)
}
