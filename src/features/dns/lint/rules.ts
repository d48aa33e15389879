import { isWithin, parentName } from '../../../dns/name'
import { textOf } from '../../../dns/rdata'
import { classOf, parseAddress } from '../../../core/net/address'
import { sortInSteps } from '../../../core/time-slices'
import type { PublishedRrset, PublishedZone } from '../publish/published-zones'
import { joinedText, targetOf } from '../records/values'
import { isSpf, maxSpfLookups, spfLookups } from '../records/spf'
import { withinZone } from '../zones/names'

/** Something in a zone that is valid but usually a mistake. */
interface LintFinding {
  rule: LintRule
  /** Relative to the zone, `@` for the apex. */
  name: string
  type: string
  detail: string
  /** Document and section that the rule is based on. */
  reference: string
}

/** All rules, with their references. */
export const lintRules = {
  ttl_too_low: 'RFC 1912 2.2',
  ttl_too_high: 'RFC 1912 2.2',
  single_name_server: 'RFC 2182 5',
  missing_address: 'RFC 1912 2.4',
  missing_glue: 'RFC 1034 4.2.1',
  occluded: 'RFC 2136 7.18',
  dangling_target: 'RFC 1912 2.4',
  private_address: 'RFC 1918 5',
  multiple_spf_records: 'RFC 7208 4.5',
  spf_too_many_lookups: 'RFC 7208 4.6.4',
  spf_allows_all: 'RFC 7208 5.1',
  multiple_dmarc_records: 'RFC 7489 6.6.3',
  missing_dmarc: 'RFC 7489 6.1',
} as const
export type LintRule = keyof typeof lintRules

/** What a zone is allowed to contain. */
interface LintExceptions {
  /** The rrsets that the hub itself adds to a new zone. Names are relative to the zone. */
  initial: readonly { name: string; type: string; values: readonly { rdata: Uint8Array }[] }[]
  /** Names of zones with private addresses, in addition to the reserved ones. Absolute, in lower case. */
  privateZones: readonly string[]
}

/** Lints a zone in steps, since zones can be long. Findings are sorted by name. Checks only the zone itself; sends no queries. */
export function* lintSteps(zone: PublishedZone, { initial, privateZones }: LintExceptions): Generator<void, LintFinding[]> {
  const isPrivate = [...reservedZones, ...privateZones].some(one => isWithin(zone.name, one))
  const names = new Names(zone)
  for (const rrset of zone.rrsets) {
    names.add(rrset)
    yield
  }
  const findings: LintFinding[] = []
  for (const rrset of zone.rrsets) {
    const name = withinZone(rrset.name, zone.name.slice(0, -1))!
    for (const { rule, detail } of findingsOf(rrset, names)) {
      if (rule === 'private_address' && isPrivate) continue
      if (rulesOfDefaults.has(rule) && initial.some(one => one.name === name && isSame(one, rrset))) continue
      findings.push({ rule, name, type: rrset.type, detail, reference: lintRules[rule] })
    }
    yield
  }
  return yield* sortInSteps(findings, (a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1))
}

// Names that never exist on the internet: RFC 6761, RFC 6762 section 3 and appendix G, RFC 8375, and ICANN’s .internal.
const reservedZones = [
  ...['home.arpa.', 'internal.', 'lan.', 'local.', 'home.', 'corp.', 'intranet.', 'private.'],
  ...['test.', 'localhost.', 'example.', 'invalid.'],
]

// The hub can’t choose better name servers or addresses for a new zone, so these aren’t mistakes of the user.
const rulesOfDefaults: ReadonlySet<LintRule> = new Set(['single_name_server', 'private_address'])

const isSame = (initial: LintExceptions['initial'][number], { type, rdata }: PublishedRrset): boolean =>
  initial.type === type &&
  initial.values.length === rdata.length &&
  initial.values.every(one => rdata.some(other => Buffer.compare(one.rdata, other) === 0))

const findingsOf = (rrset: PublishedRrset, names: Names): Found[] => [
  ...ttlFindings(rrset),
  ...referenceFindings(rrset, names),
  ...addressFindings(rrset),
  ...mailFindings(rrset, names),
]

interface Found {
  rrset: PublishedRrset
  rule: LintRule
  detail: string
}

/** Index of the rrsets by name. */
class Names {
  private readonly types = new Map<string, Map<string, PublishedRrset>>()
  /** Names that have records at or below them. */
  private readonly existing = new Set<string>()
  private readonly targets = new Set<string>()

  constructor(readonly zone: { name: string }) {}

  add(rrset: PublishedRrset): void {
    const there = this.types.get(rrset.name) ?? new Map<string, PublishedRrset>()
    this.types.set(rrset.name, there.set(rrset.type, rrset))
    if (rrset.type === 'NS') for (const target of targetsOf(rrset)) this.targets.add(target)
    for (
      let name: string | null = rrset.name;
      name && !this.existing.has(name) && isWithin(name, this.zone.name);
      name = parentName(name)
    )
      this.existing.add(name)
  }

  at(name: string, ...types: string[]): PublishedRrset | undefined {
    const there = this.types.get(name)
    return there && types.map(type => there.get(type)).find(rrset => rrset !== undefined)
  }

  has(name: string): boolean {
    return this.types.has(name)
  }

  isNameServer(name: string): boolean {
    return this.targets.has(name)
  }

  /** The delegation point at or above a name; null if it isn’t delegated. */
  delegationOf(name: string): string | null {
    for (let at: string | null = name; at && at !== this.zone.name; at = parentName(at)) if (this.at(at, 'NS')) return at
    return null
  }

  /** Whether a name resolves to anything in the zone, including through a wildcard or a DNAME. */
  resolves(name: string): boolean {
    if (this.types.has(name) || this.delegationOf(name) !== null) return true
    for (let at = parentName(name); at && isWithin(at, this.zone.name); at = parentName(at)) {
      if (this.at(at, 'DNAME') || this.types.has(`*.${at}`)) return true
      if (this.existing.has(at)) return false
    }
    return false
  }
}

const minTtl = 30
const maxTtl = 604_800

function ttlFindings(rrset: PublishedRrset): Found[] {
  if (rrset.ttl < minTtl)
    return [
      {
        rrset,
        rule: 'ttl_too_low',
        detail: `The TTL of ${rrset.ttl} s is very low, so resolvers hardly cache the record. Use at least ${minTtl} s.`,
      },
    ]
  if (rrset.ttl > maxTtl)
    return [
      {
        rrset,
        rule: 'ttl_too_high',
        detail: `The TTL of ${rrset.ttl} s is more than a week, so changes take that long to reach all resolvers.`,
      },
    ]
  return []
}

function referenceFindings(rrset: PublishedRrset, names: Names): Found[] {
  const { zone } = names
  const found: Found[] = []
  const delegation = names.delegationOf(rrset.name)
  const isGlue = (rrset.type === 'A' || rrset.type === 'AAAA') && names.isNameServer(rrset.name)
  if (delegation !== null && !isGlue && (delegation !== rrset.name || !['NS', 'DS'].includes(rrset.type)))
    found.push({
      rrset,
      rule: 'occluded',
      detail: `The record is never served because ${delegation} is delegated to other name servers.`,
    })
  if (rrset.type === 'NS' && rrset.name === zone.name && rrset.rdata.length < 2)
    found.push({
      rrset,
      rule: 'single_name_server',
      detail: 'The zone has a single name server; if it is down, nothing in the zone resolves.',
    })
  for (const target of targetsOf(rrset)) {
    if (target === '.' || !isWithin(target, zone.name)) continue
    if (rrset.type === 'NS' && !names.at(target, 'A', 'AAAA')) {
      const below = isWithin(target, rrset.name)
      if (below)
        found.push({
          rrset,
          rule: 'missing_glue',
          detail: `The name server ${target} is inside the delegated zone, but has no glue (A or AAAA record) here.`,
        })
      else if (!names.resolves(target))
        found.push({ rrset, rule: 'missing_address', detail: `The target ${target} has no A or AAAA record.` })
    } else if ((rrset.type === 'MX' || rrset.type === 'SRV') && names.resolves(target) && names.delegationOf(target) === null) {
      if (names.has(target) && !names.at(target, 'A', 'AAAA', 'ALIAS'))
        found.push({ rrset, rule: 'missing_address', detail: `The target ${target} has no A or AAAA record.` })
    } else if (!names.resolves(target))
      found.push({ rrset, rule: 'dangling_target', detail: `The target ${target} doesn’t exist.` })
  }
  return found
}

/** The names that must exist; the target of a DNAME doesn’t have to. */
const targetsOf = ({ type, rdata }: PublishedRrset): string[] =>
  type === 'DNAME' ? [] : rdata.flatMap(one => targetOf(type, one) ?? [])

function addressFindings(rrset: PublishedRrset): Found[] {
  if (rrset.type !== 'A' && rrset.type !== 'AAAA') return []
  return rrset.rdata.flatMap(rdata => {
    const text = textOf(rrset.type, rdata)
    const address = parseAddress(text)
    const kind = address && classOf(address)
    if (!kind || !['private', 'loopback', 'link_local', 'metadata'].includes(kind)) return []
    return [
      {
        rrset,
        rule: 'private_address' as const,
        detail: `${text} is a private address, which can’t be reached from the internet.`,
      },
    ]
  })
}

function mailFindings(rrset: PublishedRrset, names: Names): Found[] {
  const found: Found[] = []
  if (rrset.type === 'TXT') {
    const texts = rrset.rdata.flatMap(rdata => joinedText('TXT', rdata) ?? [])
    const spf = texts.filter(isSpf)
    if (spf.length > 1)
      found.push({
        rrset,
        rule: 'multiple_spf_records',
        detail: `The name has ${spf.length} SPF records; receivers treat this as a permanent error.`,
      })
    for (const text of spf) {
      const lookups = spfLookups(text)
      if (lookups > maxSpfLookups)
        found.push({
          rrset,
          rule: 'spf_too_many_lookups',
          detail: `The SPF record needs ${lookups} DNS lookups; receivers allow at most ${maxSpfLookups}.`,
        })
      if (/ \+?all( |$)/i.test(text))
        found.push({
          rrset,
          rule: 'spf_allows_all',
          detail: 'The SPF record ends in +all, which allows anyone to send mail for this name.',
        })
    }
    const dmarc = texts.filter(text => /^v=DMARC1\s*(;|$)/.test(text))
    if (dmarc.length > 1)
      found.push({
        rrset,
        rule: 'multiple_dmarc_records',
        detail: `The name has ${dmarc.length} DMARC records; receivers ignore all of them.`,
      })
  }
  if (rrset.type === 'MX' && rrset.name === names.zone.name && !targetsOf(rrset).includes('.')) {
    if (!names.resolves(`_dmarc.${names.zone.name}`))
      found.push({
        rrset,
        rule: 'missing_dmarc',
        detail: 'The zone receives mail but has no DMARC policy (_dmarc record).',
      })
  }
  return found
}
