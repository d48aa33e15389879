import type { CertificateFile, KnownCertificate, ServedCertificate } from '../certificates/known'
import { criticalAt, overdueAt } from '../certificates/life'
import { isPermitted, type CaaProperty } from '../../dns/caa'
import { caaOf, identitiesOf } from './caa'
import { gapKindOf, type GapKind, type GapSeverity } from './kinds'
import { coverOf, maxName, zoneIdOf, type ExpectedName } from './names'

interface ScannedAddress {
  address: string
  /** Null: it presents no certificate that is known. */
  certificateId: string | null
  isOpen: boolean
  /** When that was seen (ms UTC); null if nothing was. */
  seenAt: number | null
}

/** A host and port that is scanned. */
export interface ScannedEndpoint {
  id: string
  host: string
  port: number
  /** What it was asked for, if that isn’t the host. */
  servername: string | null
  /** When the last scan was that succeeded, or one up to an hour before it (ms UTC); null if there was none. */
  scannedAt: number | null
  isChainIncomplete: boolean
  addresses: readonly ScannedAddress[]
  /** What answered HTTP at port 80 while the port was closed at all addresses, and when that was last seen (ms UTC). */
  plainHttp: { address: string; status: number; seenAt: number } | null
}

export interface GapSources {
  expected: ReadonlyMap<string, ExpectedName>
  endpoints: readonly ScannedEndpoint[]
  certificates: ReadonlyMap<string, KnownCertificate>
  files: readonly CertificateFile[]
  served: readonly ServedCertificate[]
  /** The active zones by name. A certificate can be issued for names in zones that are writable. */
  zones: ReadonlyMap<string, { id: string; isWritable: boolean }>
  /** Names that have address records in the zones, also proxied and wildcard ones. */
  recorded: ReadonlySet<string>
  /** Names that are an alias, with the name whose CAA records apply instead (RFC 8659 section 3) and that answers challenges. */
  aliases: ReadonlyMap<string, string>
  /** CAA records by name. */
  caa: ReadonlyMap<string, readonly CaaProperty[]>
}

/** A gap that exists now. */
export interface FoundGap {
  /** Identifies it within the workspace. */
  key: string
  kind: GapKind
  severity: GapSeverity
  name: string
  zoneId: string | null
  endpointId: string | null
  certificateId: string | null
  serverId: string | null
  detail: string
  fix: string
  evidence: Readonly<Record<string, unknown>>
  isIssuable: boolean
  /** When the scan that found it was (ms UTC). It opens when a later one finds it too. Null: it opens at once. */
  observedAt: number | null
}

/** How long a newer certificate may be on disk before it has to be loaded (ms). */
const loadWithinMs = 15 * 60_000

/** When the gaps may change without anything being reported, at most an hour from now; null if they don’t. @param now ms UTC */
export function* nextChange({ certificates, files }: GapSources, now: number): Generator<void, number | null> {
  let next = now + 3_600_000
  let found = false
  const consider = (at: number) => {
    if (at <= now || at > next) return
    next = at
    found = true
  }
  let steps = 0
  for (const file of files) {
    consider(file.firstSeenAt + loadWithinMs)
    if (++steps % 200 === 0) yield
  }
  for (const one of certificates.values()) {
    consider(one.notAfter)
    if (one.autoRenewing) for (const at of [overdueAt(one, one.renewalDueAt), criticalAt(one)]) consider(Math.ceil(at))
    if (++steps % 200 === 0) yield
  }
  return found ? next : null
}

type Draft = { kind: GapKind; of: string; name: string; detail: string } & Partial<
  Pick<FoundGap, 'severity' | 'endpointId' | 'certificateId' | 'serverId' | 'evidence' | 'observedAt' | 'fix'>
>

/**
 * Compares what should be with what is known, and returns all gaps that exist now. Works in steps.
 * @param now ms UTC
 */
export function* gapsOf(sources: GapSources, now: number): Generator<void, FoundGap[]> {
  const found: FoundGap[] = []
  let steps = 0
  for (const draft of draftsOf(sources, now)) {
    if (draft) found.push(gapOf(draft, sources))
    if (++steps % 100 === 0) yield
  }
  return found
}

function gapOf({ kind, of, name, ...more }: Draft, sources: GapSources): FoundGap {
  const { severity, fix, isIssuable = false } = gapKindOf(kind)
  const zoneId = zoneIdOf(name, sources.zones)
  return {
    ...{ key: `${kind} ${of}`, kind, severity, name, zoneId, fix, evidence: {}, observedAt: null },
    ...{ endpointId: null, certificateId: null, serverId: null, isIssuable: isIssuable && isAnswerable(name, sources) },
    ...more,
  }
}

const maxAliases = 8

/** Whether a zone can answer the challenge of a name. */
function isAnswerable(name: string, { zones, aliases }: Pick<GapSources, 'zones' | 'aliases'>): boolean {
  let at = `_acme-challenge.${name.replace(/^\*\./, '')}`
  for (let hops = 0; hops < maxAliases && aliases.has(at); hops++) at = aliases.get(at)!
  const closest = [...namesUp(at)].find(one => zones.has(one))
  return closest !== undefined && zones.get(closest)!.isWritable
}

function* namesUp(name: string): Generator<string> {
  for (let rest = name; rest !== ''; rest = rest.includes('.') ? rest.slice(rest.indexOf('.') + 1) : '') yield rest
}

type Drafts = Generator<Draft | null, void>

function* draftsOf(sources: GapSources, now: number): Drafts {
  yield* servedDrafts(sources, now)
  yield* diskDrafts(sources, now)
  yield* certificateDrafts(sources, now)
  yield* caaDrafts(sources, now)
}

/** What scans have found. Yields null after each endpoint without gaps. */
function* servedDrafts({ endpoints, certificates, expected }: GapSources, now: number): Drafts {
  const valid = yield* validNames(certificates, now)
  for (const endpoint of endpoints) {
    yield null
    const { scannedAt, id, host, port, servername, addresses } = endpoint
    const name = servername ?? host
    const where = `${name}:${port}`
    const seen = { name, endpointId: id, observedAt: scannedAt ?? 0 }
    const byCertificate = Map.groupBy(
      addresses.filter(one => one.certificateId !== null && certificates.has(one.certificateId)),
      one => one.certificateId!,
    )
    for (const [certificateId, at] of byCertificate) {
      const one = certificates.get(certificateId)!
      const evidence = { addresses: at.map(({ address }) => address), not_after: iso(one.notAfter) }
      const own = { ...seen, of: `${id} ${certificateId}`, certificateId, evidence, observedAt: latestOf(at) }
      if (one.notAfter <= now)
        yield {
          kind: 'expired_served',
          ...own,
          detail: `${where} serves a certificate that expired on ${day(one.notAfter)}.`,
        }
      if (one.revokedAt !== null)
        yield {
          kind: 'revoked_served',
          ...own,
          detail: `${where} serves a certificate that was revoked on ${day(one.revokedAt)}.`,
          evidence: { ...evidence, revoked_at: iso(one.revokedAt) },
        }
      else if (one.revokedIssuer)
        yield {
          kind: 'revoked_served',
          ...own,
          detail: `${where} serves a certificate whose issuer, ${one.revokedIssuer.name}, was revoked on ${day(one.revokedIssuer.revokedAt)}.`,
          fix: 'Get a certificate that was issued by another intermediate certificate, install both, and reload the service.',
          evidence: { ...evidence, issuer_certificate_id: one.revokedIssuer.id, revoked_at: iso(one.revokedIssuer.revokedAt) },
        }
      const mismatch = mismatchOf(name, one.names)
      if (mismatch)
        yield {
          kind: 'mismatch_served',
          ...own,
          detail: `${where} serves a certificate that isn’t valid for the name: ${mismatch.detail}`,
          evidence: { ...evidence, reason: mismatch.reason, names: listed(one.names) },
        }
      if (one.trust === 'self_signed' || one.trust === 'untrusted')
        yield {
          kind: 'untrusted_served',
          ...own,
          detail:
            one.trust === 'self_signed'
              ? `${where} serves a self-signed certificate.`
              : `${where} serves a certificate of an authority that isn’t trusted.`,
          evidence: { ...evidence, issuer: one.issuer },
        }
    }
    const open = addresses.filter(one => one.isOpen)
    if (byCertificate.size === 0 && open.length > 0 && expected.has(name) && coverOf(name, valid) === 'none')
      yield {
        kind: 'uncovered',
        ...seen,
        observedAt: latestOf(open),
        of: id,
        detail: `${where} is open, but presents no certificate, and none is known for the name.`,
        evidence: { addresses: open.map(({ address }) => address) },
      }
    if (endpoint.plainHttp && expected.has(name)) {
      const { address, status, seenAt } = endpoint.plainHttp
      yield {
        kind: 'plain_http',
        ...{ ...seen, observedAt: seenAt, of: id },
        detail: `${name} answers HTTP at port 80, but port ${port} is closed.`,
        evidence: { address, status },
      }
    }
    if (endpoint.isChainIncomplete && byCertificate.size > 0)
      yield {
        kind: 'chain_incomplete',
        ...seen,
        of: id,
        certificateId: [...byCertificate.keys()][0] ?? null,
        detail: `${where} doesn’t send all intermediate certificates.`,
      }
    // Servers with an RSA and an EC certificate present either.
    const perKey = Map.groupBy(byCertificate.keys(), key => certificates.get(key)!.keyType)
    const split = [...perKey.values()].find(ids => ids.length > 1)
    if (split)
      yield {
        kind: 'split_brain',
        ...seen,
        of: id,
        detail: `The addresses of ${where} serve ${split.length} different certificates.`,
        evidence: { certificates: Object.fromEntries(split.map(key => [key, byCertificate.get(key)!.map(one => one.address)])) },
      }
  }
}

const latestOf = (addresses: readonly ScannedAddress[]): number => Math.max(...addresses.map(one => one.seenAt ?? 0))

/** What agents have found. */
function* diskDrafts({ certificates, files, served }: GapSources, now: number): Drafts {
  const filesOf = Map.groupBy(files, one => `${one.serverId} ${certificates.get(one.certificateId)?.lineageId}`)
  const onDisk = new Set(files.map(one => `${one.serverId} ${one.certificateId}`))
  const serversWithFiles = new Set(files.map(one => one.serverId))
  for (const one of served) {
    yield null
    const certificate = certificates.get(one.certificateId)
    if (!certificate) continue
    const { serverId, serverName, port, process, servername } = one
    const name = servername ?? firstOf(certificate.names) ?? serverName
    const own = { of: `${serverId} ${port} ${one.certificateId}`, name, certificateId: certificate.id, serverId }
    const [newer] = (filesOf.get(`${serverId} ${certificate.lineageId}`) ?? [])
      .flatMap(file => ({ file, newer: certificates.get(file.certificateId)! }))
      .filter(({ file, newer }) => isNewer(newer, certificate, now) && file.firstSeenAt <= now - loadWithinMs)
      .sort((a, b) => b.newer.notBefore - a.newer.notBefore)
    if (newer)
      yield {
        kind: 'stale_on_disk',
        ...own,
        detail: `${process ?? `Port ${port}`} on ${serverName} serves the certificate that ends on ${day(certificate.notAfter)}, although ${newer.file.path} contains a newer one.`,
        fix: process ? `Reload ${process}.` : gapKindOf('stale_on_disk').fix,
        evidence: {
          port,
          path: newer.file.path,
          newer_certificate_id: newer.newer.id,
          on_disk_since: iso(newer.file.firstSeenAt),
        },
      }
    if (serversWithFiles.has(serverId) && !onDisk.has(`${serverId} ${one.certificateId}`))
      yield {
        kind: 'served_not_on_disk',
        ...own,
        detail: `${process ?? `Port ${port}`} on ${serverName} serves a certificate that the agent found in no file.`,
        evidence: { port },
      }
  }
  for (const file of files) {
    yield null
    const certificate = certificates.get(file.certificateId)
    if (!certificate || file.isUsed || certificate.inUse || certificate.notAfter <= now || certificate.supersededBy) continue
    yield {
      kind: 'disk_unused',
      of: `${file.serverId} ${file.path} ${certificate.id}`,
      name: firstOf(certificate.names) ?? (certificate.commonName || file.serverName),
      certificateId: certificate.id,
      serverId: file.serverId,
      detail: `${file.path} on ${file.serverName} contains a certificate that nothing uses.`,
      evidence: { path: file.path },
    }
  }
}

const isNewer = (one: KnownCertificate, other: KnownCertificate, now: number): boolean =>
  one.notBefore > other.notBefore && one.notBefore <= now && one.notAfter > now

/** What certificates themselves show. */
function* certificateDrafts({ certificates, recorded, zones }: GapSources, now: number): Drafts {
  // A wildcard is for all names with one more label.
  const parents = yield* parentsOf(recorded)
  for (const one of certificates.values()) {
    yield null
    const name = firstOf(one.names) ?? one.commonName
    const own = { of: one.id, name, certificateId: one.id }
    if (one.notAfter <= now) continue
    if (one.sources.length === 1 && one.sources[0] === 'ct' && one.revokedAt === null)
      yield {
        kind: 'ct_unknown',
        ...own,
        detail: `A certificate for ${name} by ${one.issuer} is in a CT log, but was seen nowhere else.`,
        evidence: { issuer: one.issuer, not_before: iso(one.notBefore), names: listed(one.names) },
      }
    for (const { code, detail } of one.findings)
      if (code === 'key_readable' || code === 'lifetime_over_limit') yield { kind: code, ...own, detail }
    if (!one.inUse) continue
    const overdue = overdueAt(one, one.renewalDueAt)
    if (one.autoRenewing && !one.supersededBy && now >= overdue)
      yield {
        kind: 'renewal_overdue',
        ...own,
        ...(now >= criticalAt(one) && { severity: 'high' as const }),
        detail: `The certificate for ${name} should have been renewed by ${day(overdue)}. It expires on ${day(one.notAfter)}.`,
        evidence: { renewal_due_at: iso(one.renewalDueAt), not_after: iso(one.notAfter) },
      }
    const isOrphan =
      one.names.size > 0 &&
      [...one.names].every(
        each =>
          zoneIdOf(each, zones) !== null &&
          coverOf(each, recorded) === 'none' &&
          !(each.startsWith('*.') && parents.has(each.slice(2))),
      )
    if (isOrphan) yield { kind: 'orphan', ...own, detail: `The names in the certificate for ${name} no longer have DNS records.` }
  }
}

/** The names without their first label. Yields null in between. */
function* parentsOf(names: ReadonlySet<string>): Generator<null, Set<string>> {
  const parents = new Set<string>()
  let steps = 0
  for (const name of names) {
    if (++steps % 200 === 0) yield null
    parents.add(name.slice(name.indexOf('.') + 1))
  }
  return parents
}

/** What CAA records of the zones forbid or leave open. */
function* caaDrafts({ certificates, expected, zones, aliases, caa }: GapSources, now: number): Drafts {
  for (const one of certificates.values()) {
    yield null
    const identities = one.inUse && one.notAfter > now && one.trust === 'public' ? identitiesOf(one.issuer) : null
    if (!identities) continue
    for (const full of listed(one.names)) {
      const isWildcard = full.startsWith('*.')
      const name = isWildcard ? full.slice(2) : full
      const properties = zoneIdOf(name, zones) === null || aliases.has(name) ? null : caaOf(name, caa)
      if (!properties || isPermitted(properties, isWildcard, { identities, accountUrl: null })) continue
      yield {
        kind: 'caa_conflict',
        of: `${one.lineageId} ${full}`,
        name,
        certificateId: one.id,
        detail: `The CAA records of ${name} don’t allow ${identities[0]}, which issued the certificate for ${full}.`,
        evidence: { authority: identities[0], caa: properties.slice(0, maxListed).map(({ tag, value }) => `${tag} ${value}`) },
      }
    }
  }
  const needed = new Set([...expected.values()].map(one => one.zoneId))
  for (const [name, { id }] of zones) {
    yield null
    if (needed.has(id) && !caaOf(name, caa))
      yield {
        kind: 'caa_missing',
        of: id,
        name,
        detail: `${name} has no CAA record, so any certificate authority can issue certificates for it.`,
      }
  }
}

/** Why a certificate with these names isn’t valid for a name; null if it is. */
export function mismatchOf(
  name: string,
  names: ReadonlySet<string>,
): { reason: 'wildcard_depth' | 'apex_missing' | 'other_name'; detail: string } | null {
  if (coverOf(name, names) !== 'none') return null
  if (names.has(`*.${name}`)) return { reason: 'apex_missing', detail: `*.${name} doesn’t include ${name} itself.` }
  const near = [...namesUp(name)].slice(2).find(one => names.has(`*.${one}`))
  if (near) return { reason: 'wildcard_depth', detail: `*.${near} includes only names with one more label.` }
  const shown = listed(names).slice(0, 3).join(', ')
  const rest = names.size > 3 ? ` and ${names.size - 3} more` : ''
  return { reason: 'other_name', detail: names.size > 0 ? `it is for ${shown}${rest}.` : 'it contains no names.' }
}

/** The names of all valid certificates. Yields null in between. */
function* validNames(certificates: GapSources['certificates'], now: number): Generator<null, Set<string>> {
  const names = new Set<string>()
  let steps = 0
  for (const one of certificates.values()) {
    if (++steps % 10 === 0) yield null
    if (one.notAfter > now && one.revokedAt === null && (one.trust === 'public' || one.trust === 'private'))
      for (const name of one.names) names.add(name)
  }
  return names
}

const maxListed = 100
/** At most 100 names. Names in certificates may be longer than those of DNS. */
function listed(names: ReadonlySet<string>): string[] {
  const first: string[] = []
  for (const name of names) if (first.push(name.slice(0, maxName)) === maxListed) break
  return first
}
const firstOf = (names: ReadonlySet<string>): string | undefined => names.values().next().value?.slice(0, maxName)
const iso = (ms: number): string => new Date(ms).toISOString()
const day = (ms: number): string => iso(ms).slice(0, 10)
