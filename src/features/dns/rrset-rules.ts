import type { FieldProblem } from '../../core/problem'
import { labelsOf } from '../../core/dns/name'
import { proxiableTypes, type RrsetOptions } from './providers/provider'
import type { RecordValue } from './record-values'
import type { RrsetMembers, WantedMembers } from './rrset-members'

/** A value that an rrset is to have. */
export interface WantedValue extends RecordValue {
  /** The record that gets this value, though it had another one or was elsewhere; else records are known by their values. */
  keep?: { id: string; version: number; createdAt: number }
  /** Where it stands in the request. */
  pointer: string
}

/** How an rrset is to be; without values it is not to be. */
export interface WantedRrset extends WantedMembers {
  /** Below the zone, `@` for the apex. */
  name: string
  type: string
  /** Seconds. */
  ttl: number
  /** Null leaves it to the provider; absent leaves it as it is. */
  options?: RrsetOptions | null
  values: WantedValue[]
  /** Whether it may be changed though it is locked: for whoever speaks of the lock himself. */
  unlocks?: boolean
  /** Of the rrset that its records come from: what it has unless it is there already. */
  carried?: RrsetMembers
  /** Where it stands in the request. */
  pointer: string
}

/** A rule of DNS that a request breaks: names the document and section that has it. */
export const broken = (pointer: string, detail: string, reference: string): FieldProblem => ({
  pointer,
  code: 'dns_rule',
  detail: `${detail} (${reference}).`,
})

/** What is wrong with an rrset whatever else is in its zone. */
export function rrsetProblems(wanted: WantedRrset): FieldProblem[] {
  const { name, type, values, pointer } = wanted
  if (values.length === 0) return []
  const problems: FieldProblem[] = []
  if (wanted.options && !proxiableTypes.has(type))
    problems.push({
      pointer: `${pointer}/options`,
      code: 'not_allowed',
      detail: `must not be given for ${type}: only A, AAAA, CNAME and ALIAS have any.`,
    })
  const seen = new Set<string>()
  for (const value of values) {
    if (seen.has(value.hash))
      problems.push(
        broken(value.pointer, `must not repeat a value of ${type} at ${name}: ${value.content.slice(0, 100)}`, 'RFC 2181 5'),
      )
    seen.add(value.hash)
  }
  const single = singles[type]
  if (single && values.length > 1) problems.push(broken(values[1]!.pointer, `must be the only ${type} at ${name}`, single))
  const nullMx = type === 'MX' && values.length > 1 && values.find(value => value.target === '.')
  if (nullMx)
    problems.push(broken(nullMx.pointer, `must be the only MX at ${name}, since "." says that it takes no mail`, 'RFC 7505 3'))
  const apexRule = name === '@' ? notAtApex[type] : undefined
  if (apexRule) problems.push(broken(pointer, ...apexRule))
  const nameRule = nameRules[type]
  if (nameRule && !nameRule.fits(name === '@' ? [] : labelsOf(`${name}.`)))
    problems.push(broken(`${pointer}/name`, nameRule.detail, nameRule.reference))
  if (wireSize(values) > largestRrset)
    problems.push(
      broken(
        pointer,
        `must fit a message of 64 KiB with all its ${values.length} records: it would have ${wireSize(values)} octets`,
        'RFC 1035 4.2.2',
      ),
    )
  return problems
}

// Of a message of 65,535 octets, what its header, question and EDNS and a signature may take.
const largestRrset = 65_535 - 1024

/** Octets of the records in a message: each has a pointer to the name, type, class, TTL and length beside its value. */
const wireSize = (values: readonly WantedValue[]): number => values.reduce((sum, value) => sum + 12 + value.rdata.length, 0)

/** Types of which a name has one, and where that is said. */
const singles: Record<string, string> = {
  CNAME: 'RFC 2181 10.1',
  DNAME: 'RFC 6672 2.4',
  ALIAS: 'PowerDNS, ALIAS records',
}

const notAtApex: Record<string, [detail: string, reference: string]> = {
  CNAME: ['must not be a CNAME at the apex, where SOA and NS are; ALIAS does what is meant', 'RFC 1034 3.6.2'],
  DS: ['must not be a DS at the apex: it belongs into the zone above', 'RFC 4034 5'],
}

interface NameRule {
  fits(labels: string[]): boolean
  detail: string
  reference: string
}

const nameRules: Record<string, NameRule> = {
  SRV: {
    fits: ([service = '', protocol = '']) => /^(?:_.+|\*)$/.test(service) && (service === '*' || /^_.+$/.test(protocol)),
    detail: 'must begin with _service._protocol for SRV, such as _imaps._tcp',
    reference: 'RFC 2782',
  },
  TLSA: {
    fits: ([port = '', protocol = '']) =>
      port === '*' || (/^_\d{1,5}$/.test(port) && Number(port.slice(1)) < 65_536 && /^_.+$/.test(protocol)),
    detail: 'must begin with _port._protocol for TLSA, such as _443._tcp',
    reference: 'RFC 6698 3',
  },
  SMIMEA: {
    fits: labels => labels[0] === '*' || labels[1] === '_smimecert',
    detail: 'must begin with <hash>._smimecert for SMIMEA',
    reference: 'RFC 8162 3',
  },
}
