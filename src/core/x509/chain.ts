import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { sha256Hex } from '../crypto'
import { runInSlices } from '../time-slices'
import { DerError } from './der'
import { subjectOf, x509Facts, type X509Facts } from './facts'

/** A certificate, parsed. */
export interface Certificate {
  readonly der: Uint8Array
  /** SHA-256 of the DER form, in lowercase hexadecimal. */
  readonly sha256: string
  readonly facts: X509Facts
  /** @throws Error if the runtime does not support it, for example its type of key */
  readonly x509: X509Certificate
}

/**
 * Parses a certificate in DER form.
 * @throws DerError with the rest of a sentence about the certificate
 */
export function parseCertificate(der: Uint8Array): Certificate {
  let x509: X509Certificate | undefined
  return {
    der,
    sha256: sha256Hex(der),
    facts: x509Facts(der),
    // Parsed when it is needed for a signature: most roots never are.
    get x509() {
      return (x509 ??= new X509Certificate(der))
    },
  }
}

/** Parses a certificate that anyone may have sent; null if it is none. */
export function parsedOrNull(der: Uint8Array): Certificate | null {
  try {
    return parseCertificate(der)
  } catch (error) {
    if (error instanceof DerError) return null
    throw error
  }
}

/** Whether a certificate is trusted, and by which path. */
interface ChainVerdict {
  /**
   * `public`: by a root of Mozilla’s list, as built into the runtime. `private`: by one of the additional roots. `self_signed`: signed with
   * its own key, and not trusted. `untrusted`: anything else. Only the validity of the path is checked, at a time when the certificate
   * itself is valid.
   */
  trust: 'public' | 'private' | 'self_signed' | 'untrusted'
  /** The certificate and its issuers; the root last if it is trusted, else as far as the issuers are known. */
  path: Certificate[]
  /** Whether the path needs certificates that were not sent, other than the root; also if an issuer was not found at all. */
  isIncomplete: boolean
  /** Whether certificates of the path were sent in another order (RFC 5246 section 7.4.2). */
  isMisordered: boolean
  /** How many certificates were sent that the path doesn’t need, such as its root or another certificate of an issuer. */
  superfluous: number
}

/** Trusted certificates by subject. */
type TrustStore = Pick<ReadonlyMap<string, readonly Certificate[]>, 'get'>

/** How many signatures may still be verified. */
export interface VerificationBudget {
  left: number
}

const maxDepth = 10
/** At most this many signatures are verified for a path: crafted chains have many candidates for each issuer. */
const maxVerified = 20
/** At most this many issuers are tried for a path, including those whose verdict is remembered. */
const maxTried = 100
/** At most this many certificates of a chain are read. */
const maxSent = 50

/** Indexes certificates that are trusted. */
export const trustStore = (certificates: Iterable<Certificate>): TrustStore =>
  Map.groupBy(certificates, one => keyOf(one.facts.subject))

/**
 * Looks for a path from a certificate to a trusted root (RFC 5280 section 6, RFC 4158). Issuers are compared by name, key identifier, key
 * usage, basic constraints, validity, and signature. Name constraints, policies, and revocation are not checked.
 * @param sent the chain as a server sent it, its own certificate first
 * @param options.roots trusted in addition to the built-in ones
 * @param options.known other certificates that may be issuers, so that a path is found although the server doesn’t send them
 * @param options.budget shared by several searches. If it is used up, a path is only found by signatures that were verified before.
 * @param options.now the time (ms UTC)
 */
export const verifyChain = (sent: readonly [Certificate, ...Certificate[]], options: Options): Promise<ChainVerdict> =>
  runInSlices(verifyInSteps(sent, options))

interface Options {
  roots?: TrustStore
  known?: readonly Certificate[]
  budget?: VerificationBudget
  now: number
}

function* verifyInSteps(
  sent: readonly [Certificate, ...Certificate[]],
  { roots = emptyStore, known = [], budget = { left: maxVerified }, now }: Options,
): Generator<void, ChainVerdict> {
  const [leaf] = sent
  const chain = sent.slice(0, maxSent)
  const candidates = Map.groupBy([...chain, ...known], one => keyOf(one.facts.subject))
  // Issuers of an expired certificate have often expired too.
  const at = Math.min(Math.max(now, leaf.facts.notBefore), leaf.facts.notAfter)
  const stores = [builtInStore(), roots]
  const search: Search = { candidates, stores, at, budget, verified: 0, tried: 0, longest: [leaf] }
  const path = yield* pathFrom(search, [leaf])
  const best = path ?? search.longest
  const end = best.at(-1)!
  const trust = !path ? (isSelfSigned(leaf) ? 'self_signed' : 'untrusted') : isIn(builtInStore(), end) ? 'public' : 'private'
  // The root needn’t be sent. If nothing is trusted, a self-signed end is the root.
  const needed = best.length > 1 && (path || isSelfSigned(end)) ? best.slice(0, -1) : best
  const places = needed.map(one => chain.findIndex(other => other.sha256 === one.sha256))
  const found = places.filter(place => place >= 0)
  return {
    trust,
    path: best,
    isIncomplete: found.length < places.length || (!path && !isSelfSigned(end)),
    isMisordered: found.some((place, position) => position > 0 && place < found[position - 1]!),
    superfluous: sent.length - new Set(found).size,
  }
}

const emptyStore: TrustStore = new Map()

/** The roots that are built into the runtime. Each is parsed when it is needed: all of them at once would take some time. */
let builtIn: TrustStore | undefined
const builtInStore = (): TrustStore => (builtIn ??= lazyStore(rootCertificates.map(decodePem)))

function lazyStore(certificates: readonly Uint8Array[]): TrustStore {
  const unparsed = Map.groupBy(certificates, der => keyOf(subjectOf(der)))
  const parsed = new Map<string, Certificate[]>()
  return {
    get(subject) {
      const found = parsed.get(subject) ?? unparsed.get(subject)?.map(parseCertificate)
      if (found) parsed.set(subject, found)
      return found
    },
  }
}

/** The DER form of one certificate as PEM. */
const decodePem = (pem: string): Uint8Array => Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s+/g, ''), 'base64')

interface Search {
  candidates: ReadonlyMap<string, readonly Certificate[]>
  stores: readonly TrustStore[]
  at: number
  budget: VerificationBudget
  verified: number
  tried: number
  longest: Certificate[]
}

/** Yields after each signature: those of crafted keys take milliseconds. */
function* pathFrom(search: Search, path: Certificate[]): Generator<void, Certificate[] | null> {
  const last = path.at(-1)!
  if (search.stores.some(store => isIn(store, last))) return path
  if (path.length > search.longest.length) search.longest = path
  if (path.length >= maxDepth) return null
  const issuer = keyOf(last.facts.issuer)
  // Trusted issuers first: a sent certificate of the same CA may lead to a root that is not trusted or has expired.
  const issuers = [...search.stores.flatMap(store => store.get(issuer) ?? []), ...(search.candidates.get(issuer) ?? [])]
  const tried = new Set(path.map(one => one.sha256))
  for (const one of issuers) {
    if (tried.has(one.sha256)) continue
    tried.add(one.sha256)
    if (!canIssue(one, path, search) || !(yield* isSignedWithin(search, last, one))) continue
    const found = yield* pathFrom(search, [...path, one])
    if (found) return found
  }
  return null
}

function canIssue(issuer: Certificate, path: readonly Certificate[], search: Search): boolean {
  const { notBefore, notAfter, basicConstraints, keyUsage } = issuer.facts
  const below = path.slice(1).filter(one => !isSelfIssued(one)).length
  if (search.at < notBefore || search.at > notAfter) return false
  // Certificates of version 1 have no constraints. They are roots at best.
  if (basicConstraints ? !basicConstraints.isCa : !search.stores.some(store => isIn(store, issuer))) return false
  if (below > (basicConstraints?.pathLength ?? maxDepth) || keyUsage?.includes('keyCertSign') === false) return false
  const subject = path.at(-1)!
  const keyIds = [subject.facts.authorityKeyId, issuer.facts.subjectKeyId]
  if (keyIds[0] !== null && keyIds[1] !== null && keyIds[0] !== keyIds[1]) return false
  return true
}

function* isSignedWithin(search: Search, subject: Certificate, issuer: Certificate): Generator<void, boolean> {
  if (search.tried++ >= maxTried) return false
  const known = verdicts.get(verdictKey(subject, issuer))
  if (known !== undefined) return known
  if (search.verified >= maxVerified || search.budget.left <= 0) return false
  search.verified++
  search.budget.left--
  const verdict = isSignedBy(subject, issuer)
  yield
  return verdict
}

/** Whether one certificate signed another, by their fingerprints. Neither changes, so this never does. The oldest are dropped first. */
const verdicts = new Map<string, boolean>()
const maxVerdicts = 5000
const verdictKey = (subject: Certificate, issuer: Certificate): string => subject.sha256 + issuer.sha256

function isSignedBy(subject: Certificate, issuer: Certificate): boolean {
  const key = verdictKey(subject, issuer)
  const known = verdicts.get(key)
  if (known !== undefined) return known
  const verdict = verifySignature(subject, issuer)
  if (verdicts.size >= maxVerdicts) verdicts.delete(verdicts.keys().next().value!)
  verdicts.set(key, verdict)
  return verdict
}

function verifySignature(subject: Certificate, issuer: Certificate): boolean {
  try {
    return subject.x509.checkIssued(issuer.x509) && subject.x509.verify(issuer.x509.publicKey)
  } catch {
    // The runtime does not support the key or the signature algorithm.
    return false
  }
}

const isSelfIssued = ({ facts }: Certificate): boolean => Buffer.compare(facts.issuer, facts.subject) === 0

/** Whether a certificate is signed with its own key. */
export const isSelfSigned = (one: Certificate): boolean => isSelfIssued(one) && isSignedBy(one, one)

const isIn = (store: TrustStore, one: Certificate): boolean =>
  store.get(keyOf(one.facts.subject))?.some(other => other.sha256 === one.sha256) === true

/** Names with equal bytes are equal. Few CAs encode their own name in two ways. */
const keyOf = (name: Uint8Array): string => sha256Hex(name)
