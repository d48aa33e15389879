import type { FieldProblem } from '../../../core/problem'
import { labelsOf } from '../../../dns/name'
import { proxiableTypes, type RrsetOptions } from '../providers/provider'
import type { RecordValue } from '../records/values'
import type { RrsetMetadata, WantedMetadata } from '../records/rrset-metadata'

/** A wanted value of an rrset. */
export interface WantedValue extends RecordValue {
  /** Existing record that gets this value, even if its value or name was different. By default, records are matched by value. */
  keep?: { id: string; version: number; createdAt: number }
  /** JSON pointer in the request. */
  pointer: string
}

/** A wanted rrset. Without values, the rrset is deleted. */
export interface WantedRrset extends WantedMetadata {
  /** Relative to the zone, `@` for the apex. */
  name: string
  type: string
  /** Seconds. */
  ttl: number
  /** Null lets the provider decide; undefined leaves the options unchanged. */
  options?: RrsetOptions | null
  values: WantedValue[]
  /** Whether the change is permitted even if the rrset is locked. */
  unlocks?: boolean
  /** Metadata of the rrset that records are moved from; used if the rrset doesn’t exist yet. */
  carried?: RrsetMetadata
  /** JSON pointer in the request. */
  pointer: string
}

/** A violated DNS rule, with the document and section that defines it. */
export const ruleViolation = (pointer: string, detail: string, reference: string): FieldProblem => ({
  pointer,
  code: 'dns_rule',
  detail: `${detail} (${reference}).`,
})

/** Validates an rrset on its own, independently of the rest of the zone. */
export function rrsetProblems(wanted: WantedRrset): FieldProblem[] {
  const { name, type, values, pointer } = wanted
  if (values.length === 0) return []
  const problems: FieldProblem[] = []
  if (wanted.options && !proxiableTypes.has(type))
    problems.push({
      pointer: `${pointer}/options`,
      code: 'not_allowed',
      detail: `is not allowed for ${type}. Only A, AAAA, CNAME, and ALIAS records have options.`,
    })
  const seen = new Set<string>()
  for (const value of values) {
    if (seen.has(value.hash))
      problems.push(
        ruleViolation(value.pointer, `Duplicate ${type} value at ${name}: ${value.content.slice(0, 100)}`, 'RFC 2181 5'),
      )
    seen.add(value.hash)
  }
  const singleRule = singleValueTypes[type]
  if (singleRule && values.length > 1)
    problems.push(ruleViolation(values[1]!.pointer, `Only one ${type} record is possible at ${name}`, singleRule))
  const nullMx = type === 'MX' && values.length > 1 && values.find(value => value.target === '.')
  if (nullMx)
    problems.push(
      ruleViolation(nullMx.pointer, `A null MX (".") can’t be combined with other MX records at ${name}`, 'RFC 7505 3'),
    )
  const apexRule = name === '@' ? notAtApex[type] : undefined
  if (apexRule) problems.push(ruleViolation(pointer, ...apexRule))
  const nameRule = nameRules[type]
  if (nameRule && !nameRule.matches(name === '@' ? [] : labelsOf(`${name}.`)))
    problems.push(ruleViolation(`${pointer}/name`, nameRule.detail, nameRule.reference))
  if (wireSize(values) > maxRrsetBytes)
    problems.push(
      ruleViolation(
        pointer,
        `The ${values.length} records don’t fit in a DNS message of 64 KiB; they need ${wireSize(values)} bytes`,
        'RFC 1035 4.2.2',
      ),
    )
  return problems
}

// A message has 65,535 bytes; the header, question, EDNS and signature take up to 1,024 of them.
const maxRrsetBytes = 65_535 - 1024

/** Bytes of the records in a message. Each has a compressed name, type, class, TTL and length, and its value. */
const wireSize = (values: readonly WantedValue[]): number => values.reduce((sum, value) => sum + 12 + value.rdata.length, 0)

/** Types that can have only one value per name, with the reference. */
const singleValueTypes: Record<string, string> = {
  CNAME: 'RFC 2181 10.1',
  DNAME: 'RFC 6672 2.4',
  ALIAS: 'PowerDNS, ALIAS records',
}

const notAtApex: Record<string, [detail: string, reference: string]> = {
  CNAME: ['A CNAME can’t be at the apex, which has SOA and NS records. Use an ALIAS instead', 'RFC 1034 3.6.2'],
  DS: ['A DS record can’t be at the apex. Add it to the parent zone', 'RFC 4034 5'],
}

interface NameRule {
  matches(labels: string[]): boolean
  detail: string
  reference: string
}

const nameRules: Record<string, NameRule> = {
  SRV: {
    matches: ([service = '', protocol = '']) => /^(?:_.+|\*)$/.test(service) && (service === '*' || /^_.+$/.test(protocol)),
    detail: 'must start with _service._protocol for SRV, such as _imaps._tcp',
    reference: 'RFC 2782',
  },
  TLSA: {
    matches: ([port = '', protocol = '']) =>
      port === '*' || (/^_\d{1,5}$/.test(port) && Number(port.slice(1)) < 65_536 && /^_.+$/.test(protocol)),
    detail: 'must start with _port._protocol for TLSA, such as _443._tcp',
    reference: 'RFC 6698 3',
  },
  SMIMEA: {
    matches: labels => labels[0] === '*' || labels[1] === '_smimecert',
    detail: 'must start with <hash>._smimecert for SMIMEA',
    reference: 'RFC 8162 3',
  },
}
