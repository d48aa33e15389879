import { protocolVersions, type AddressFacts, type EphemeralKey, type ProtocolVersion } from '../../../checks/tls-probe/facts'
import type { PlainHttp } from '../../../checks/tls-probe/plain-http'
import { instant } from '../../../core/clock'
import type { Certificate } from '../../../core/x509/chain'
import { keyText, type ReadChain } from './chain-facts'
import { compareGrades, gradeOf, gradeRules, type Grade, type Reason } from './grade'
import { lacksCertificate } from './server-facts'
import {
  maxShownNames,
  type AddressReport,
  type ChainCertificate,
  type ChainReport,
  type ExplainedReason,
  type TlsGradeView,
} from './shapes'

/** What a scan of all addresses of a host found, as it is stored. */
export type StoredReport = Omit<
  Pick<TlsGradeView, 'grade' | 'score' | 'parts' | 'profile' | 'chain' | 'error' | 'addresses'>,
  never
> & {
  reasons: Reason[]
  /** What answers HTTP at port 80 while the scanned port is closed; null if nothing does, missing if it was not asked. */
  plain_http?: PlainHttp | null
}

/** An address with what its scan found, or why it could not be scanned. */
export type ScannedAddress = { address: string } & ({ facts: AddressFacts; chains: readonly ReadChain[] } | { error: string })

/**
 * Summarizes what was found at the addresses of a host. The worst address that could be scanned has its grade.
 * @param addresses at least one
 */
export function reportOf(addresses: readonly ScannedAddress[]): StoredReport {
  const graded = addresses.map(one => ({ one, ...gradedAddress(one) }))
  const [worst] = graded
    .flatMap(({ grade, one }) => (grade && 'facts' in one ? [{ grade, one }] : []))
    .sort((a, b) => compareGrades(b.grade.grade, a.grade.grade) || a.grade.score - b.grade.score)
  const reports = graded.map(({ one, grade, error }) => addressReport(one, grade, error))
  if (!worst)
    return {
      ...{ grade: null, score: null, parts: null, profile: null, chain: null, reasons: [] },
      error: graded[0]!.error,
      addresses: reports,
    }
  const { grade, score, parts, profile, reasons } = worst.grade
  return { grade, score, parts, profile, chain: stateOf(worst.one.chains), reasons, error: null, addresses: reports }
}

function gradedAddress(one: ScannedAddress): { grade: Grade | null; error: string | null } {
  if ('error' in one) return { grade: null, error: one.error }
  const { facts, chains } = one
  if (facts.speaks_tls && lacksCertificate(facts)) {
    const failure = facts.errors.find(error => error.phase === 'chain') ?? facts.errors[0]
    return { grade: null, error: sentenceOf(`the certificate could not be retrieved${failure ? `: ${failure.message}` : ''}`) }
  }
  if (facts.speaks_tls)
    return {
      grade: gradeOf(
        facts,
        chains.map(chain => chain.facts),
      ),
      error: null,
    }
  const [first] = facts.errors
  return { grade: null, error: first ? sentenceOf(first.message) : 'The server does not speak TLS on this port.' }
}

/** Maximum length of what servers say. */
const maxText = 500

/** Makes a message a sentence. */
export const sentenceOf = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`

/** The state of the worst chain. */
function stateOf(chains: readonly ReadChain[]): TlsGradeView['chain'] {
  const states = new Set(
    chains.map(({ facts: { trust, sent } }) => (trust === 'self_signed' || trust === 'untrusted' ? 'untrusted' : sent)),
  )
  return (['untrusted', 'incomplete', 'misordered', 'superfluous', 'ok'] as const).find(one => states.has(one)) ?? null
}

function addressReport(one: ScannedAddress, grade: Grade | null, error: string | null): AddressReport {
  const facts = 'facts' in one ? one.facts : null
  return {
    address: one.address,
    grade: grade?.grade ?? null,
    score: grade?.score ?? null,
    parts: grade?.parts ?? null,
    error,
    versions: facts ? protocolVersions.map(version => versionReport(version, facts.versions[version])) : [],
    groups: facts?.groups.map(group => group.name) ?? [],
    chains: 'chains' in one ? one.chains.map(chainReport) : [],
    compression: facts?.compression ?? null,
    secure_renegotiation: facts?.secure_renegotiation ?? null,
    ocsp_stapling: facts && facts.staple !== null ? facts.staple !== false : null,
    alpn: facts?.alpn ?? null,
    hsts: facts?.http?.hsts ?? null,
    connections: facts?.connections ?? 0,
    duration_ms: facts ? Math.round(facts.duration_ms) : 0,
    not_tested: facts ? [...facts.not_tested] : [],
    errors: facts
      ? facts.errors.map(({ message, version }) => sentenceOf(version ? `${message} (${version})` : message).slice(0, maxText))
      : [],
  }
}

function versionReport(
  version: ProtocolVersion,
  facts: AddressFacts['versions'][ProtocolVersion],
): AddressReport['versions'][number] {
  if (facts.status !== 'offered') return { version, status: facts.status, suites: [], order: null }
  const suites = facts.suites.map(({ name, bits, mode, forward_secrecy, ephemeral }) => ({
    ...{ name, bits, mode, forward_secrecy },
    key: ephemeral && ephemeralText(ephemeral),
  }))
  return { version, status: 'offered', suites, order: facts.order }
}

const ephemeralText = ({ kind, bits, group }: EphemeralKey): string => group ?? `${kind.toUpperCase()} ${bits}`

const chainReport = ({ sent, verdict, facts, versions }: ReadChain): ChainReport => ({
  sent: sent.map(certificateReport),
  path: verdict.path.map(certificateReport),
  trust: facts.trust,
  state: facts.sent,
  names: facts.names.slice(0, maxShownNames),
  name_count: facts.names.length,
  covers_host: facts.covers_host,
  versions: [...versions],
})

function certificateReport(one: Certificate): ChainCertificate {
  const { subject, issuer } = namesIn(one)
  return {
    sha256: one.sha256,
    subject,
    issuer,
    key: keyText(one),
    signature_algorithm: one.facts.signatureAlgorithm.slice(0, maxText),
    not_before: instant(one.facts.notBefore),
    not_after: instant(one.facts.notAfter),
  }
}

function namesIn(one: Certificate): { subject: string; issuer: string } {
  const line = (name: string | undefined) => (name ?? '').split('\n').join(', ').slice(0, maxText)
  try {
    return { subject: line(one.x509.subject), issuer: line(one.x509.issuer) }
  } catch {
    // The runtime can’t read it.
    return { subject: one.facts.commonName?.slice(0, maxText) ?? '', issuer: '' }
  }
}

/** A reason with the texts of its rule, for lists. */
export const briefReason = ({ rule, effect, detail, evidence }: Reason) => {
  const { title, fix } = gradeRules[rule]
  return { rule, effect, title, detail, fix, evidence: evidence as Record<string, string[]> }
}

/** A reason with everything that is known about its rule. */
export const explainedReason = (reason: Reason): ExplainedReason => {
  const { meaning, configs } = gradeRules[reason.rule]
  return { ...briefReason(reason), meaning, config: { ...configs } }
}
