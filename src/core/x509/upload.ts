import { childrenOf, contextTag, DerError, maxDerBytes, readDer, tags, type Der } from './der'

/** An upload is refused. Nothing of it is contained in the message. */
export class UploadError extends Error {
  override name = 'UploadError'
  constructor(
    /** `private_key`: it contains a private key. */
    readonly code: 'private_key' | 'format' | 'too_many',
    message: string,
  ) {
    super(message)
  }
}

/** Maximum number of certificates in an upload. */
const maxUploaded = 100

/**
 * Splits an upload into certificates: PEM (RFC 7468) with one or more, or one as DER. They are not parsed further.
 * @throws UploadError with a sentence
 */
export function splitUpload(bytes: Uint8Array): Uint8Array[] {
  // An identifier octet of DER is never a hyphen or white space, and text before the first block is allowed.
  if (bytes[0] === tags.sequence) return [ofDer(bytes)]
  return ofPem(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'))
}

function ofPem(text: string): Uint8Array[] {
  // Before anything else, so that a problem elsewhere never hides it.
  if (/PRIVATE KEY/i.test(text)) throw privateKey()
  const found: Uint8Array[] = []
  let at = text.indexOf(begin)
  if (at < 0) throw new UploadError('format', 'must be a certificate in PEM or DER form.')
  while (at >= 0) {
    if (found.length >= maxUploaded) throw new UploadError('too_many', `must contain at most ${maxUploaded} certificates.`)
    const place = `The PEM block number ${found.length + 1}`
    const labelEnd = text.indexOf('-----', at + begin.length)
    const label = labelEnd < 0 ? null : text.slice(at + begin.length, labelEnd)
    if (label === null || label.includes('\n')) throw new UploadError('format', `${place} has no valid first line.`)
    if (label !== 'CERTIFICATE')
      throw new UploadError('format', `${place} is of the type ${JSON.stringify(label.slice(0, 50))} instead of CERTIFICATE.`)
    const end = text.indexOf(endLine, labelEnd)
    const next = text.indexOf(begin, labelEnd)
    if (end < 0 || (next >= 0 && next < end)) throw new UploadError('format', `${place} has no last line.`)
    found.push(ofBase64(text.slice(labelEnd + 5, end), place))
    at = next
  }
  return found
}

const begin = '-----BEGIN '
const endLine = '-----END CERTIFICATE-----'

function ofBase64(text: string, place: string): Uint8Array {
  const base64 = text.replaceAll(/\s+/g, '')
  if (base64.length === 0 || base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw new UploadError('format', `${place} is not valid base64.`)
  if (base64.length > Math.ceil(maxDerBytes / 3) * 4)
    throw new UploadError('format', `${place} has more than ${maxDerBytes} bytes.`)
  return ofDer(Buffer.from(base64, 'base64'))
}

function ofDer(bytes: Uint8Array): Uint8Array {
  try {
    if (isPrivateKey(readDer(bytes))) throw privateKey()
  } catch (error) {
    if (error instanceof DerError) throw new UploadError('format', `The certificate ${error.message}`)
    throw error
  }
  return bytes
}

/**
 * Whether it is a private key, or a container that usually has one: PKCS1 (RFC 8017), PKCS8 and encrypted PKCS8 (RFC 5958), SEC 1
 * (RFC 5915), DSA, and PKCS12 (RFC 7292). Certificates begin with a SEQUENCE that begins with a SEQUENCE of another form.
 */
function isPrivateKey(element: Der): boolean {
  const [first, second] = childrenOf(element, 20)
  if (first?.tag === tags.integer) return true
  if (first?.tag !== tags.sequence || second?.tag !== tags.octetString) return false
  const [inner] = childrenOf(first, 20)
  return inner?.tag === tags.oid || inner?.tag === contextTag(0, true)
}

const privateKey = (): UploadError =>
  new UploadError('private_key', 'must not contain a private key. Nothing of the upload was stored. Upload only the certificate.')
