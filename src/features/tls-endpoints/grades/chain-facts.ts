import { parseAddress, formatAddress } from '../../../core/net/address'
import { verifyChain, type Certificate, type trustStore } from '../../../core/x509/chain'
import type { ChainFacts } from './server-facts'

type ChainVerdict = Awaited<ReturnType<typeof verifyChain>>
/** Roots that a workspace trusts in addition to the public ones. */
type TrustStore = ReturnType<typeof trustStore>

/** A chain that was sent, as far as it could be read, with the path to a root. */
export interface ReadChain {
  sent: Certificate[]
  verdict: ChainVerdict
  facts: ChainFacts
  versions: readonly string[]
}

/**
 * Looks for a path from a certificate to a root.
 * @param sent the chain as the server sent it; null for what can’t be read
 * @param versions in which it was sent
 * @param host name or IP address that the certificate must cover
 * @param known other certificates that may be issuers
 * @param now ms UTC
 * @returns null if the certificate of the server can’t be read
 */
export async function readChain(
  sent: readonly (Certificate | null)[],
  versions: readonly string[],
  host: string,
  { roots, known, now }: { roots: TrustStore; known: readonly Certificate[]; now: number },
): Promise<ReadChain | null> {
  const [leaf] = sent
  if (!leaf) return null
  const readable = sent.filter(one => one !== null)
  const verdict = await verifyChain(readable as [Certificate, ...Certificate[]], { roots, known, now })
  return { sent: readable, verdict, versions, facts: chainFacts(leaf, verdict, host) }
}

/** The maximum length of a DNS name. */
const maxNameLength = 253

function chainFacts(
  leaf: Certificate,
  { trust, path, isIncomplete, isMisordered, superfluous }: ChainVerdict,
  host: string,
): ChainFacts {
  const { notBefore, notAfter, dnsNames, ipAddresses } = leaf.facts
  const isRooted = trust === 'public' || trust === 'private'
  return {
    subject: nameOf(leaf),
    not_before: notBefore,
    not_after: notAfter,
    // Servers can send names of any length.
    names: [...dnsNames, ...ipAddresses].map(one => one.slice(0, maxNameLength)),
    covers_host: covers(leaf, host),
    key: keyOf(leaf),
    // Clients trust a root for what it is, and not for its signature.
    signatures: (isRooted && path.length > 1 ? path.slice(0, -1) : path).map(one => ({
      subject: nameOf(one),
      hash: hashOf(one.facts.signatureAlgorithm),
    })),
    trust,
    // The chain of a certificate that nobody trusts can’t be completed.
    sent: !isRooted ? 'ok' : isIncomplete ? 'incomplete' : isMisordered ? 'misordered' : superfluous > 0 ? 'superfluous' : 'ok',
    revoked: null,
  }
}

/** The common name, a DNS name, or the serial number. */
const nameOf = ({ facts: { commonName, dnsNames, serial } }: Certificate): string =>
  (commonName || dnsNames[0] || `with serial number ${serial}`).slice(0, 200)

/** Whether a certificate is valid for a host (RFC 6125): common names don’t count, and a wildcard stands for one label. */
function covers({ facts: { dnsNames, ipAddresses } }: Certificate, host: string): boolean {
  const address = parseAddress(host)
  if (address) return ipAddresses.includes(formatAddress(address))
  const name = host.toLowerCase()
  const wildcard = `*${name.slice(name.indexOf('.'))}`
  return dnsNames.some(one => one === name || (name.includes('.') && one === wildcard))
}

function keyOf(certificate: Certificate): ChainFacts['key'] {
  const other = { type: 'other', bits: null, exponent: null } as const
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = certificate.x509.publicKey
    const { modulusLength: bits = null, publicExponent: exponent = null, namedCurve } = details
    if (type === 'rsa' || type === 'rsa-pss') return { type: 'rsa', bits, exponent }
    if (type === 'dsa') return { type: 'dsa', bits, exponent: null }
    return type === 'ec' ? { type: 'ec', bits: curveBits(namedCurve), exponent: null } : other
  } catch {
    // The runtime does not support this type of key.
    return other
  }
}

/** `prime256v1`, `secp384r1`: the first number is the size. */
const curveBits = (curve: string | undefined): number | null => Number(/\d{3}/.exec(curve ?? '')?.[0] ?? 0) || null

/** The hash in the name of a signature algorithm, such as `sha256WithRSAEncryption` or `ecdsa-with-SHA384`. */
const hashOf = (algorithm: string): string | null => /md[245]|sha\d+/i.exec(algorithm)?.[0].toLowerCase() ?? null

/** The type and size of a key: `RSA 2048`. */
export function keyText(one: Certificate): string {
  const { type, bits } = keyOf(one)
  if (type !== 'other') return [type.toUpperCase(), bits].filter(part => part !== null).join(' ')
  try {
    return one.x509.publicKey.asymmetricKeyType ?? 'unknown'
  } catch {
    return 'unknown'
  }
}
