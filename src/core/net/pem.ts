import { X509Certificate } from 'node:crypto'

/** Splits PEM text (RFC 7468) into its blocks; text between them is skipped. */
export function pemBlocks(text: string): string[] {
  const blocks: string[] = []
  // One search for each end: a single pattern for both would search the rest of the text for each beginning without an end.
  const begin = /-----BEGIN [A-Z0-9 ]+-----/g
  const end = /-----END [A-Z0-9 ]+-----/g
  for (let first = begin.exec(text); first; first = begin.exec(text)) {
    end.lastIndex = begin.lastIndex
    if (!end.test(text)) break
    blocks.push(text.slice(first.index, end.lastIndex))
    begin.lastIndex = end.lastIndex
  }
  return blocks
}

/** Encodes DER as a PEM block. */
export const pemBlock = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(der)
    .toString('base64')
    .replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`

/** Whether a text mentions a private key in PEM form, also if its last line is missing. */
export const hasPrivateKey = (text: string): boolean => /PRIVATE KEY/i.test(text)

/** Whether a PEM block is a certificate that can be read. */
export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.byteLength > 0
  } catch {
    return false
  }
}

/** The certificates in a text without anything else, such as what is between them. */
export const certificatesIn = (text: string): string =>
  pemBlocks(text)
    .map(block => pemBlock('CERTIFICATE', new X509Certificate(block).raw))
    .join('')

/** Whether a text consists of at least one PEM certificate, and of no other block or private key. */
export function areCertificates(text: string): boolean {
  const blocks = pemBlocks(text)
  return !hasPrivateKey(text) && blocks.length > 0 && blocks.every(isCertificate)
}
