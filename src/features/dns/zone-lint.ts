import { DnsFormatError } from '../../core/dns/format-error'
import { isWithin, lowerName, parentName } from '../../core/dns/name'
import { fieldsOf, textOf } from '../../core/dns/rdata'
import { classOf, parseAddress } from '../../core/net/address'
import { sorting } from '../../core/turns'
import type { PublishedRrset, PublishedZone } from './publish'
import { joinedText } from './record-values'
import { isSpf, mostSpfLookups, spfLookups } from './spf'
import { withinZone } from './zone-names'

/** Something in a zone that is allowed and most often a mistake. */
export interface LintFinding {
  rule: LintRule
  /** Below the zone, `@` for the apex. */
  name: string
  type: string
  detail: string
  /** The document and section that advises against it. */
  reference: string
}

/** Every rule, with what it is about. */
export const lintRules = {
  ttl_low: 'RFC 1912 2.2',
  ttl_high: 'RFC 1912 2.2',
  one_name_server: 'RFC 2182 5',
  no_address: 'RFC 1912 2.4',
  no_glue: 'RFC 1034 4.2.1',
  occluded: 'RFC 2136 7.18',
  dangling: 'RFC 1912 2.4',
  private_address: 'RFC 1918 5',
  spf_twice: 'RFC 7208 4.5',
  spf_lookups: 'RFC 7208 4.6.4',
  spf_all: 'RFC 7208 5.1',
  dmarc_twice: 'RFC 7489 6.6.3',
  dmarc_missing: 'RFC 7489 6.1',
} as const
export type LintRule = keyof typeof lintRules

/** What of a zone is most often a mistake, by name: found step by step, since zones are long. Nothing outside of the zone is asked. */
export function* lintSteps(zone: PublishedZone): Generator<void, LintFinding[]> {
  const names = new Names(zone)
  for (const rrset of zone.rrsets) {
    names.add(rrset)
    yield
  }
  const found: LintFinding[] = []
  for (const rrset of zone.rrsets) {
    for (const { rule, detail } of findingsOf(rrset, names)) {
      const name = withinZone(rrset.name, zone.name.slice(0, -1))!
      found.push({ rule, name, type: rrset.type, detail, reference: lintRules[rule] })
    }
    yield
  }
  return yield* sorting(found, (a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1))
}

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

/** What is at which name. */
class Names {
  private readonly types = new Map<string, Map<string, PublishedRrset>>()
  /** Names with something at or below them. */
  private readonly present = new Set<string>()
  private readonly targets = new Set<string>()

  constructor(readonly zone: { name: string }) {}

  add(rrset: PublishedRrset): void {
    const there = this.types.get(rrset.name) ?? new Map<string, PublishedRrset>()
    this.types.set(rrset.name, there.set(rrset.type, rrset))
    if (rrset.type === 'NS') for (const target of targetsOf(rrset)) this.targets.add(target)
    for (
      let name: string | null = rrset.name;
      name && !this.present.has(name) && isWithin(name, this.zone.name);
      name = parentName(name)
    )
      this.present.add(name)
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

  /** The name at which the zone hands on what is at or below a name; null where it does not. */
  delegationOf(name: string): string | null {
    for (let at: string | null = name; at && at !== this.zone.name; at = parentName(at)) if (this.at(at, 'NS')) return at
    return null
  }

  /** Whether a question for a name of the zone can find something, be it by a wildcard or a DNAME. */
  answers(name: string): boolean {
    if (this.types.has(name) || this.delegationOf(name) !== null) return true
    for (let at = parentName(name); at && isWithin(at, this.zone.name); at = parentName(at)) {
      if (this.at(at, 'DNAME') || this.types.has(`*.${at}`)) return true
      if (this.present.has(at)) return false
    }
    return false
  }
}

const lowestTtl = 30
const highestTtl = 604_800

function ttlFindings(rrset: PublishedRrset): Found[] {
  if (rrset.ttl < lowestTtl)
    return [
      {
        rrset,
        rule: 'ttl_low',
        detail: `The TTL of ${rrset.ttl} s has resolvers ask again at once; ${lowestTtl} s or more spares them.`,
      },
    ]
  if (rrset.ttl > highestTtl)
    return [
      {
        rrset,
        rule: 'ttl_high',
        detail: `With a TTL of ${rrset.ttl} s a change takes longer than a week to be seen everywhere.`,
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
    found.push({ rrset, rule: 'occluded', detail: `Nobody is told of it: ${delegation} is handed on to other name servers.` })
  if (rrset.type === 'NS' && rrset.name === zone.name && rrset.rdata.length < 2)
    found.push({ rrset, rule: 'one_name_server', detail: 'While the one name server is away, nothing in the zone is found.' })
  for (const target of targetsOf(rrset)) {
    if (target === '.' || !isWithin(target, zone.name)) continue
    if (rrset.type === 'NS' && !names.at(target, 'A', 'AAAA')) {
      const below = isWithin(target, rrset.name)
      if (below)
        found.push({
          rrset,
          rule: 'no_glue',
          detail: `${target} is within what it serves and has no A or AAAA here: nobody can reach it.`,
        })
      else if (!names.answers(target)) found.push({ rrset, rule: 'no_address', detail: `${target} has no A or AAAA.` })
    } else if ((rrset.type === 'MX' || rrset.type === 'SRV') && names.answers(target) && names.delegationOf(target) === null) {
      if (names.has(target) && !names.at(target, 'A', 'AAAA', 'ALIAS'))
        found.push({ rrset, rule: 'no_address', detail: `${target} has no A or AAAA.` })
    } else if (!names.answers(target)) found.push({ rrset, rule: 'dangling', detail: `There is nothing at ${target}.` })
  }
  return found
}

const targetFields: Record<string, string> = { CNAME: 'target', ALIAS: 'target', NS: 'target', MX: 'exchange', SRV: 'target' }

function targetsOf(rrset: PublishedRrset): string[] {
  const field = targetFields[rrset.type]
  if (field === undefined) return []
  return rrset.rdata.flatMap(rdata => {
    try {
      return [lowerName(fieldsOf(rrset.type, rdata)[field] as string)]
    } catch (error) {
      if (error instanceof DnsFormatError) return []
      throw error
    }
  })
}

function addressFindings(rrset: PublishedRrset): Found[] {
  if (rrset.type !== 'A' && rrset.type !== 'AAAA') return []
  return rrset.rdata.flatMap(rdata => {
    const text = textOf(rrset.type, rdata)
    const address = parseAddress(text)
    const kind = address && classOf(address)
    if (!kind || !['private', 'loopback', 'link_local', 'metadata'].includes(kind)) return []
    return [{ rrset, rule: 'private_address' as const, detail: `${text} means another machine in every network, or none.` }]
  })
}

function mailFindings(rrset: PublishedRrset, names: Names): Found[] {
  const found: Found[] = []
  if (rrset.type === 'TXT') {
    const texts = rrset.rdata.flatMap(rdata => joinedText('TXT', rdata) ?? [])
    const spf = texts.filter(isSpf)
    if (spf.length > 1)
      found.push({ rrset, rule: 'spf_twice', detail: `${spf.length} SPF records at one name are an error to receivers.` })
    for (const text of spf) {
      const lookups = spfLookups(text)
      if (lookups > mostSpfLookups)
        found.push({
          rrset,
          rule: 'spf_lookups',
          detail: `SPF with ${lookups} terms that are looked up is an error beyond ${mostSpfLookups}.`,
        })
      if (/ \+?all( |$)/i.test(text)) found.push({ rrset, rule: 'spf_all', detail: 'SPF that ends in +all lets everybody send.' })
    }
    const dmarc = texts.filter(text => /^v=DMARC1\s*(;|$)/.test(text))
    if (dmarc.length > 1) found.push({ rrset, rule: 'dmarc_twice', detail: `${dmarc.length} DMARC records are taken for none.` })
  }
  if (rrset.type === 'MX' && rrset.name === names.zone.name && !targetsOf(rrset).includes('.')) {
    if (!names.answers(`_dmarc.${names.zone.name}`))
      found.push({
        rrset,
        rule: 'dmarc_missing',
        detail: 'The zone takes mail and has no _dmarc record that says what to do with forged mail.',
      })
  }
  return found
}
