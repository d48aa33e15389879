import { childrenOf, contextTag, DerError, expectTag, oidText, smallInteger, tags, type Der } from './der'

/** How a message was signed with RSASSA-PSS (RFC 8017 section 8.1). */
export interface PssParameters {
  hash: 'sha256' | 'sha384' | 'sha512'
  /** Length of the salt (bytes). */
  saltLength: number
}

const hashes: Readonly<Record<string, PssParameters['hash']>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
}
const mgf1 = '1.2.840.113549.1.1.8'
const what = 'RSA-PSS parameters'
const maxSaltLength = 64

/**
 * Reads the parameters of an AlgorithmIdentifier for RSASSA-PSS (RFC 4055 section 3.1). Weak hashes are refused, including the default
 * SHA-1, and so are masks with a different hash from the message.
 * @throws DerError
 */
export function pssParametersOf(algorithm: Der): PssParameters {
  const [, parameters] = childrenOf(expectTag(algorithm, tags.sequence, what), 2)
  const fields = childrenOf(expectTag(parameters, tags.sequence, what), 4)
  const field = (number: number): Der | undefined => {
    const one = fields.find(each => each.tag === contextTag(number, true))
    return one && childrenOf(one, 1)[0]
  }
  const hash = hashOf(field(0))
  const mask = childrenOf(expectTag(field(1), tags.sequence, what), 2)
  if (!hash || oidText(mask[0], what) !== mgf1 || hashOf(mask[1]) !== hash)
    throw new DerError('is signed with RSA-PSS and a hash that is not supported.')
  const saltLength = smallInteger(field(2), what)
  if (saltLength > maxSaltLength) throw new DerError(`has no valid ${what}.`)
  return { hash, saltLength }
}

const hashOf = (algorithm: Der | undefined): PssParameters['hash'] | undefined =>
  hashes[oidText(childrenOf(expectTag(algorithm, tags.sequence, what), 2)[0], what)]
