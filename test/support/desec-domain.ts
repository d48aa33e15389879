import { randomBytes } from 'node:crypto'
import { catchFormatError, DnsFormatError } from '../../src/dns/format-error'
import { unescaped } from '../../src/dns/octets'
import { rdataOfText, textOf } from '../../src/dns/rdata'
import { canonicalRdata } from '../../src/dns/rdata-names'
import { linesOf } from '../../src/dns/words'

/** An rrset as the API of deSEC shows it. */
export interface DesecRrset {
  created: string
  domain: string
  subname: string
  name: string
  records: string[]
  ttl: number
  type: string
  touched: string
}

/** An error response: its status and body. */
export class DesecFailure extends Error {
  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: Record<string, string> = {},
  ) {
    super(JSON.stringify(body))
  }
}

export const detailed = (status: number, detail: string, headers?: Record<string, string>) =>
  new DesecFailure(status, { detail }, headers)

type Errors = Record<string, unknown>
interface Valid {
  subname: string
  type: string
  ttl?: number
  records?: string[]
}

/** Timestamps with microseconds, each later than the one before. */
export const stamps = (() => {
  let last = 0
  return (now = Date.now() * 1000): string => {
    last = Math.max(last + 1000, now)
    return `${new Date(Math.floor(last / 1000)).toISOString().slice(0, -1)}${String(last % 1000).padStart(3, '0')}Z`
  }
})()

/** A domain at deSEC with its rrsets, and the validation rules of desec-stack (serializers/records.py, models/records.py). */
export class DesecDomain {
  readonly created = stamps()
  published: string | null = null
  rrsets: DesecRrset[] = []
  readonly key = randomBytes(64).toString('base64')

  constructor(
    readonly name: string,
    public minimumTtl = 3600,
  ) {
    this.patch([{ subname: '', type: 'NS', ttl: Math.max(3600, minimumTtl), records: ['ns1.desec.io.', 'ns2.desec.org.'] }])
  }

  get touched(): string | null {
    return [this.published, ...this.rrsets.map(one => one.touched)].reduce((a, b) => ((b ?? '') > (a ?? '') ? b : a), null)
  }

  /** As in the API. Keys are only in responses about one domain. */
  shown(withKeys: boolean): object {
    const digest = (length: number) => randomBytes(length).toString('hex')
    const key = {
      dnskey: `257 3 13 ${this.key}`,
      ds: [`6006 13 2 ${digest(32)}`, `6006 13 4 ${digest(48)}`],
      flags: 257,
      keytype: null,
      managed: true,
    }
    const { created, published, name, minimumTtl, touched } = this
    return { created, published, name, ...(withKeys && { keys: [key] }), minimum_ttl: minimumTtl, touched }
  }

  find(subname: string, type: string): DesecRrset | undefined {
    return this.rrsets.find(one => one.subname === subname && one.type === type)
  }

  /** A bulk PATCH: all or nothing. @returns the rrsets that were created or updated */
  patch(given: unknown): DesecRrset[] {
    if (!Array.isArray(given))
      throw new DesecFailure(400, { non_field_errors: [`Expected a list of items but got ${pythonType(given)}.`] })
    const errors: Errors[] = given.map(one =>
      isDict(one) ? {} : { non_field_errors: `Expected a dictionary, but got ${pythonType(one)}.` },
    )
    const valid = given.map((one, place) => {
      if (Object.keys(errors[place]!).length > 0) return null
      const found = this.#listErrors(given, one, place) ?? this.#itemErrors(one, true)
      if ('errors' in found) errors[place] = found.errors
      return 'errors' in found ? null : found.value
    })
    if (errors.some(one => Object.keys(one).length > 0)) throw new DesecFailure(400, errors)
    return this.#save(valid as Valid[])
  }

  /** A bulk or single POST, which only creates. */
  post(given: unknown): DesecRrset[] {
    const many = Array.isArray(given)
    const list = many ? given : [given]
    const errors: Errors[] = list.map(() => ({}))
    const valid = list.map((one, place) => {
      if (!isDict(one)) throw new DesecFailure(400, { non_field_errors: ['Invalid data.'] })
      const item = many ? one : { subname: '', ...one }
      const found =
        this.#listErrors(list, item, place) ??
        (this.find(item.subname, item.type)
          ? failed({
              non_field_errors: ['Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)'],
            })
          : Array.isArray(item.records) && item.records.length === 0
            ? failed({ records: ['This field must not be empty when using POST.'] })
            : this.#itemErrors(item, false))
      if ('errors' in found) errors[place] = found.errors
      return 'errors' in found ? null : found.value
    })
    if (errors.some(one => Object.keys(one).length > 0)) throw new DesecFailure(400, many ? errors : errors[0]!)
    return this.#save(valid as Valid[])
  }

  /** Creates an rrset without checking it. */
  put(subname: string, type: string, ttl: number, records: string[]): void {
    const touched = stamps()
    const name = this.#nameOf(subname)
    this.rrsets.push({ created: touched, domain: this.name, subname, name, records, ttl, type, touched })
    this.published = stamps()
  }

  delete(subname: string, type: string): void {
    const gone = this.find(subname, type)
    if (!gone) return
    this.rrsets = this.rrsets.filter(one => one !== gone)
    this.published = stamps()
  }

  /** Rules about several rrsets. A deletion conflicts with nothing. */
  #listErrors(all: readonly any[], item: any, place: number): { errors: Errors } | null {
    const isSame = (one: any) => isDict(one) && one.subname === item.subname && one.type === item.type
    const others = all.flatMap((one, at) => (at !== place && isSame(one) ? [at] : []))
    if (others.length > 0)
      return failed({
        non_field_errors: [`Same subname and type as in position(s) ${others.join(', ')}, but must be unique.`],
      })
    const isEmpty = (one: any) => Array.isArray(one?.records) && one.records.length === 0
    if (isEmpty(item)) return null
    const there = this.rrsets
      .filter(
        one =>
          one.subname === item.subname &&
          !all.some(sent => isEmpty(sent) && sent.subname === one.subname && sent.type === one.type),
      )
      .map(one => ({ type: one.type, at: 'database' }))
    const sent = all.flatMap((one, at) =>
      isDict(one) && one.subname === item.subname && !isEmpty(one) ? [{ type: one.type as string, at: String(at) }] : [],
    )
    const conflicts = [...sent, ...there].filter(one => (one.type === 'CNAME') !== (item.type === 'CNAME'))
    if (conflicts.length === 0) return null
    const shown = [...Map.groupBy(conflicts, one => one.at)].map(
      ([at, some]) =>
        `${at} (${some
          .map(one => one.type)
          .sort()
          .join(', ')})`,
    )
    return failed({
      non_field_errors: [
        `RRset with conflicting type present at same subname: ${shown.join(', ')}. (No other RRsets are allowed alongside CNAME.)`,
      ],
    })
  }

  /** Rules about one rrset: first each field, then all together. */
  #itemErrors(item: any, mayBePartial: boolean): { errors: Errors } | { value: Valid } {
    const known = this.find(item.subname, item.type)
    const isDeletion = Array.isArray(item.records) && item.records.length === 0
    const isPartial = mayBePartial && (known !== undefined || isDeletion)
    const errors: Errors = {}
    const field = (name: string, isRequired: boolean, rule: (value: any) => unknown) => {
      const value = item[name]
      const problem =
        value === undefined
          ? isRequired && ['This field is required.']
          : value === null
            ? ['This field may not be null.']
            : rule(value)
      if (problem) errors[name] = problem
    }
    field('subname', true, value => subnameProblem(value))
    field('type', true, value => typeProblem(value))
    field('ttl', !isPartial, value => this.#ttlProblem(value))
    field('records', !isPartial, value => recordsProblem(value))
    if (Object.keys(errors).length > 0) return failed(errors)
    const { subname, type } = item
    const value: Valid = { subname, type, ...(item.ttl !== undefined && { ttl: Number(item.ttl) }) }
    if (item.records === undefined) return { value }
    const records: string[] = []
    for (const record of item.records) {
      const read = canonicalRecord(type, record.trim())
      if ('problem' in read) return failed({ non_field_errors: [read.problem] })
      records.push(read.text)
    }
    const meanings = records.map(record => meaningOf(type, record))
    if (new Set(meanings).size < meanings.length)
      return failed({ non_field_errors: ['Duplicate: records must be semantically unique'] })
    const length = 32 + this.#nameOf(subname).length + records.reduce((sum, one) => sum + 12 + one.length, 0) + 256
    if (length > 65_535) return failed({ non_field_errors: [`Total length of RRset exceeds limit by ${length - 65_535} bytes.`] })
    return { value: { ...value, records } }
  }

  #ttlProblem(value: unknown): string[] | null {
    if (!/^-?\d+(\.0*)?$/.test(String(value)) || typeof value === 'boolean') return ['A valid integer is required.']
    if (Number(value) > 86_400) return ['Ensure this value is less than or equal to 86400.']
    if (Number(value) < this.minimumTtl) return [`Ensure this value is greater than or equal to ${this.minimumTtl}.`]
    return null
  }

  #save(valid: readonly Valid[]): DesecRrset[] {
    // What the models refuse is a plain list of messages, which is not parallel to the request.
    const refused = valid.flatMap(({ subname, type, records = [] }) => [
      ...(['CNAME', 'DNAME'].includes(type) && records.length > 1 ? [`${type} RRset cannot have multiple records.`] : []),
      ...(['CNAME', 'DS'].includes(type) && subname === '' && records.length > 0
        ? [`${type} RRset cannot have empty subname.`]
        : []),
      ...(type === 'DNSKEY' && subname !== '' && records.length > 0 ? ['DNSKEY RRset must have empty subname.'] : []),
    ])
    if (refused.length > 0) throw new DesecFailure(400, refused)
    const saved: DesecRrset[] = []
    let isPublished = false
    for (const { subname, type, ttl, records } of valid) {
      const known = this.find(subname, type)
      if (records?.length === 0) {
        if (known) isPublished = true
        this.rrsets = this.rrsets.filter(one => one !== known)
        continue
      }
      const touched = stamps()
      if (!known) {
        const name = this.#nameOf(subname)
        const created = { created: touched, domain: this.name, subname, name, records: records!, ttl: ttl!, type, touched }
        this.rrsets = [...this.rrsets, created]
        saved.push(created)
        isPublished = true
        continue
      }
      const changed = { ...known, touched, ...(ttl !== undefined && { ttl }), ...(records && { records }) }
      isPublished ||= changed.ttl !== known.ttl || changed.records.toSorted().join('\n') !== known.records.toSorted().join('\n')
      this.rrsets = this.rrsets.map(one => (one === known ? changed : one))
      saved.push(changed)
    }
    if (isPublished) this.published = stamps()
    return saved
  }

  #nameOf(subname: string): string {
    return `${subname === '' ? '' : `${subname}.`}${this.name}.`
  }
}

const failed = (errors: Errors) => ({ errors })
const isDict = (value: unknown): value is Record<string, any> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const pythonType = (value: unknown): string =>
  value === null
    ? 'NoneType'
    : Array.isArray(value)
      ? 'list'
      : ({ object: 'dict', string: 'str', number: 'int', boolean: 'bool' }[typeof value as string] ?? 'dict')

// models/records.py
const types = new Set([
  ...['A', 'AAAA', 'AFSDB', 'APL', 'CAA', 'CDNSKEY', 'CDS', 'CERT', 'CNAME', 'CSYNC', 'DHCID', 'DLV', 'DNAME', 'DNSKEY', 'DS'],
  ...['EUI48', 'EUI64', 'HINFO', 'HTTPS', 'KX', 'L32', 'L64', 'LOC', 'LP', 'MX', 'NAPTR', 'NID', 'NS', 'OPENPGPKEY', 'PTR', 'RP'],
  ...['SMIMEA', 'SPF', 'SRV', 'SSHFP', 'SVCB', 'TLSA', 'TXT', 'URI'],
])
const automaticTypes = new Set(['KEY', 'NSEC', 'NSEC3', 'OPT', 'RRSIG', 'NSEC3PARAM', 'SOA'])

function subnameProblem(value: unknown): string[] | null {
  if (typeof value !== 'string') return ['Not a valid string.']
  if (value.length > 178) return ['Ensure this field has no more than 178 characters.']
  if (value !== value.toLowerCase()) return [`Invalid value (not lowercase): ${value}`]
  if (value !== '' && !/^([*]|(([*][.])?([a-z0-9_-]{1,63}[.])*[a-z0-9_-]{1,63}))$/.test(value))
    return [
      "Subname can only use (lowercase) a-z, 0-9, ., -, and _, may start with a '*.', or just be '*'. Components may not exceed 63 characters.",
    ]
  return null
}

function typeProblem(value: unknown): string[] | null {
  if (typeof value !== 'string') return ['Not a valid string.']
  if (value !== value.toUpperCase()) return [`Invalid value (not uppercase): ${value}`]
  if (automaticTypes.has(value)) return [`You cannot tinker with the ${value} RR set. It is managed automatically.`]
  if (value.startsWith('TYPE')) return ['Generic type format is not supported.']
  return types.has(value) ? null : [`The ${value} RR set type is currently unsupported.`]
}

function recordsProblem(value: unknown): unknown {
  if (!Array.isArray(value)) return { non_field_errors: [`Expected a list of items but got type "${pythonType(value)}".`] }
  const problems = value.map(one => {
    if (typeof one !== 'string') return ['Must be a string.']
    if (one.trim() === '') return { content: ['This field may not be blank.'] }
    return one.includes('\0') ? { content: ['Null characters are not allowed.'] } : {}
  })
  return problems.some(one => Object.keys(one).length > 0) ? problems : null
}

const hostname = /^(([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)\.)+$/
/** Types whose last word is checked as PowerDNS does (dns.py). */
const nameRules: Record<string, { field: string; pattern: RegExp; allowsRoot: boolean }> = {
  CNAME: { field: 'target', pattern: /^(([A-Za-z0-9_*-]+)\.)+$/, allowsRoot: true },
  MX: { field: 'exchange', pattern: hostname, allowsRoot: true },
  NS: { field: 'target', pattern: hostname, allowsRoot: false },
  SRV: { field: 'target', pattern: hostname, allowsRoot: true },
}

/** Types that the hub has no form for: stored as sent. */
const isForeign = (type: string) => ['APL', 'DLV', 'EUI48', 'EUI64', 'KX', 'L32', 'L64', 'LP', 'NID'].includes(type)

/** The same for equal values. */
const meaningOf = (type: string, record: string): string =>
  isForeign(type) ? record : Buffer.from(canonicalRdata(type, rdataOfText(type, record, null))).toString('hex')

/** Converts a record to the canonical presentation format, as dnspython writes it. */
function canonicalRecord(type: string, text: string): { text: string } | { problem: string } {
  if (isForeign(type)) return { text }
  return catchFormatError(
    () => {
      const value = type === 'TXT' || type === 'SPF' ? longStrings(type, text) : rdataOfText(type, text, null)
      const canonical = presented(type, textOf(type, value))
      const rule = nameRules[type]
      const name = canonical.split(' ').at(-1)!
      if (rule && !(rule.allowsRoot && name === '.') && !rule.pattern.test(name))
        return { problem: `Cannot parse record contents: invalid ${rule.field}: ${name}` }
      return { text: canonical }
    },
    error => ({ problem: problemOf(type, error) }),
  )
}

const problemOf = (type: string, { message }: DnsFormatError): string =>
  /quot/.test(message)
    ? `Data for ${type} records must be given using quotation marks.`
    : /absolute|trailing dot|relative/.test(message)
      ? 'Hostname must be fully qualified (i.e., end in a dot: "example.com.")'
      : `Record content for type ${type} malformed: ${message}`

/** All strings must be quoted. Longer ones than 255 octets are split. */
function longStrings(type: string, text: string): Uint8Array {
  const [line, ...more] = [...linesOf(text)]
  if (!line || more.length > 0 || line.words.some(word => !word.quoted)) throw new DnsFormatError('Content must be quoted.')
  const parts = line.words.flatMap(word => {
    const octets = unescaped(word.text)
    return Array.from({ length: Math.max(1, Math.ceil(octets.length / 255)) }, (_, n) => octets.subarray(n * 255, (n + 1) * 255))
  })
  const rdata = Buffer.concat(parts.flatMap(part => [Buffer.from([part.length]), part]))
  // Checks the length.
  return rdataOfText(type, textOf(type, rdata), null)
}

/** dnspython omits sizes and precisions of LOC that are the defaults. deSEC writes all IPv6 addresses in hexadecimal (dns.py). */
function presented(type: string, text: string): string {
  if (type === 'LOC') return text.replace(/ 1\.00m 10000\.00m 10\.00m$/, '')
  if (type !== 'AAAA') return text
  const pair = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16)
  return text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => `${pair(a, b)}:${pair(c, d)}`)
}
