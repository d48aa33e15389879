import { pemBlock } from '../../core/net/pem'
import { invalid, Problem } from '../../core/problem'
import { parseCertificate, type Certificate } from '../../core/x509/chain'
import { DerError } from '../../core/x509/der'
import { splitUpload, UploadError } from '../../core/x509/upload'

export const pemType = 'application/x-pem-file'
export const derType = 'application/pkix-cert'
/** Size of an upload. */
export const maxUploadBytes = 256 * 1024

/** A certificate as PEM. */
export const pemOf = (der: Uint8Array): string => pemBlock('CERTIFICATE', der)

/**
 * Reads an upload: a certificate and, in PEM form, the certificates of its issuers in any order.
 * @returns the certificate, then the others
 * @throws Problem 422, `private_key_refused` if there is a private key
 */
export function readUpload(bytes: Uint8Array): [Certificate, ...Certificate[]] {
  const all = readCertificates(bytes)
  const leafs = all.filter(one => !one.facts.basicConstraints?.isCa)
  const others = new Set(leafs.map(one => one.sha256))
  if (others.size > 1) throw refused('too_many', 'must contain a single certificate and its issuers, not several certificates.')
  const leaf = leafs[0] ?? all[0]!
  return [leaf, ...all.filter(one => one.sha256 !== leaf.sha256)]
}

/** Reads certificates from PEM or DER. @throws Problem 422 */
export function readCertificates(bytes: Uint8Array, pointer = '#'): Certificate[] {
  try {
    return splitUpload(bytes).map(parseCertificate)
  } catch (error) {
    if (error instanceof DerError)
      throw refused('format', `contains a certificate that can’t be read: it ${error.message}`, pointer)
    if (!(error instanceof UploadError)) throw error
    if (error.code !== 'private_key') throw refused(error.code, error.message, pointer)
    throw new Problem('private_key_refused', `The body ${error.message}`, {
      errors: [{ pointer, code: 'private_key', detail: error.message }],
    })
  }
}

const refused = (code: string, detail: string, pointer = '#'): Problem => invalid([{ pointer, code, detail }])
