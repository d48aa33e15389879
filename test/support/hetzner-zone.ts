import { isIPv4, isIPv6 } from 'node:net'
import { HetznerRefused, invalidInput } from './hetzner-refused'

export interface HetznerRecord {
  value: string
  comment: string
}

/** An rrset as in responses. */
export interface HetznerRow {
  id: string
  name: string
  type: string
  ttl: number | null
  labels: Record<string, string>
  protection: { change: boolean }
  records: HetznerRecord[]
  zone: number
}

/** Refuses fields that the API doesn't know. */
export function onlyFields(body: unknown, known: readonly string[], required: readonly string[]): Record<string, any> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new HetznerRefused(400, 'json_error', 'Invalid JSON input in your request')
  const fields = body as Record<string, unknown>
  for (const field of Object.keys(fields)) if (!known.includes(field)) throw invalidInput(field, 'Unknown field.')
  for (const field of required) if (fields[field] === undefined) throw invalidInput(field, 'Missing data for required field.')
  return fields
}

const secondaryMode = () => new HetznerRefused(422, 'incorrect_zone_mode', 'operation is not supported for the mode of this zone')

/** Rrsets of a zone, with the rules of the API. */
export class HetznerZone {
  rows: HetznerRow[] = []
  ttl = 3600
  serial = 2026010100

  constructor(
    readonly id: number,
    readonly name: string,
    readonly mode: 'primary' | 'secondary' = 'primary',
  ) {
    if (mode === 'secondary') return
    const zoneFields = { labels: {}, protection: { change: false }, zone: id }
    const record = (value: string) => ({ value, comment: '' })
    this.rows = [
      {
        ...{ id: '@/SOA', name: '@', type: 'SOA', ttl: null, ...zoneFields },
        records: [record('hydrogen.ns.hetzner.com. dns.hetzner.com. 2026010100 86400 10800 3600000 3600')],
      },
      {
        ...{ id: '@/NS', name: '@', type: 'NS', ttl: null, ...zoneFields },
        records: ['hydrogen.ns.hetzner.com.', 'oxygen.ns.hetzner.com.', 'helium.ns.hetzner.de.'].map(record),
      },
    ]
  }

  list(name: string | null, types: readonly string[]): HetznerRow[] {
    if (this.mode === 'secondary') throw secondaryMode()
    return this.rows
      .filter(one => (name === null || one.name === name) && (types.length === 0 || types.includes(one.type)))
      .map(shuffled)
  }

  get(name: string, type: string): HetznerRow {
    if (this.mode === 'secondary') throw secondaryMode()
    const row = this.rows.find(one => one.name === name && one.type === type)
    if (!row) throw new HetznerRefused(404, 'not_found', `rrset with ID '${name}/${type}' not found`)
    return row
  }

  create(body: unknown): HetznerRow {
    if (this.mode === 'secondary') throw secondaryMode()
    const {
      name,
      type,
      ttl = null,
      records,
      labels = {},
    } = onlyFields(body, ['name', 'type', 'ttl', 'labels', 'records'], ['name', 'type', 'records'])
    if (typeof type !== 'string' || !(type in values) || type === 'SOA') throw invalidInput('type', 'Must be one of the types.')
    this.#refuseName(name)
    refuseTtl(ttl)
    if (this.rows.some(one => one.name === name && one.type === type))
      throw new HetznerRefused(409, 'uniqueness_error', `rrset with ID '${name}/${type}' already exists`)
    const others = this.rows.filter(one => one.name === name)
    if (type === 'CNAME' ? others.length > 0 : others.some(one => one.type === 'CNAME'))
      throw invalidInput('type', 'CNAME records must not exist next to other records.')
    const row: HetznerRow = {
      ...{ id: `${name}/${type}`, name, type, ttl, labels, protection: { change: false } },
      records: recordsOf(type, records),
      zone: this.id,
    }
    this.#changed(() => this.rows.push(row))
    return row
  }

  setRecords(name: string, type: string, body: unknown): void {
    const row = this.#changeable(name, type)
    const { records } = onlyFields(body, ['records'], ['records'])
    const kept = recordsOf(type, records)
    this.#changed(() => (row.records = kept))
  }

  changeTtl(name: string, type: string, body: unknown): void {
    const row = this.#changeable(name, type)
    const { ttl } = onlyFields(body, ['ttl'], ['ttl'])
    refuseTtl(ttl)
    this.#changed(() => (row.ttl = ttl))
  }

  changeProtection(name: string, type: string, body: unknown): void {
    const { change } = onlyFields(body, ['change'], ['change'])
    if (typeof change !== 'boolean') throw invalidInput('change', 'Must be a boolean.')
    this.get(name, type).protection.change = change
  }

  delete(name: string, type: string): void {
    const row = this.#changeable(name, type)
    this.#changed(() => (this.rows = this.rows.filter(one => one !== row)))
  }

  #changeable(name: string, type: string): HetznerRow {
    const row = this.get(name, type)
    if (type === 'SOA') throw invalidInput('type', 'The SOA can not be changed.')
    if (row.protection.change) throw new HetznerRefused(423, 'protected', 'rrset is protected against changes')
    return row
  }

  #changed(change: () => void): void {
    change()
    this.serial++
    for (const soa of this.rows.filter(one => one.type === 'SOA'))
      soa.records[0]!.value = soa.records[0]!.value.replace(/ \d{10} /, ` ${this.serial} `)
  }

  /** Relative, in lower case, in A-labels. */
  #refuseName(name: unknown): asserts name is string {
    const isName = typeof name === 'string' && /^(?:@|(?:\*|[a-z0-9_-]{1,63})(?:\.[a-z0-9_-]{1,63})*)$/.test(name)
    if (!isName || name === this.name || name.endsWith(`.${this.name}`) || name.length + this.name.length > 253)
      throw invalidInput('name', 'Must be relative to the zone, in lower case, and in Punycode.')
  }
}

/** The order of records is not kept. */
const shuffled = (row: HetznerRow): HetznerRow => ({ ...row, records: row.records.toReversed() })

function refuseTtl(ttl: unknown): void {
  if (ttl !== null && (!Number.isInteger(ttl) || (ttl as number) < 60 || (ttl as number) > 2_147_483_647))
    throw invalidInput('ttl', 'Must be between 60 and 2147483647.')
}

function recordsOf(type: string, given: unknown): HetznerRecord[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > 50)
    throw invalidInput('records', 'Must have 1 to 50 records.')
  const records = given.map((one, place) => {
    const { value, comment = '' } = onlyFields(one, ['value', 'comment'], ['value'])
    const problem = typeof value === 'string' ? values[type]!(value) : 'Must be a string.'
    if (problem !== null) throw invalidInput(`records.${place}.value`, problem)
    if (typeof comment !== 'string') throw invalidInput(`records.${place}.comment`, 'Must be a string.')
    return { value, comment }
  })
  if (new Set(records.map(one => one.value)).size < records.length)
    throw invalidInput('records', 'Record values must be distinct.')
  if (type === 'CNAME' && records.length > 1) throw invalidInput('records', 'Only one CNAME record is allowed.')
  return records
}

const matching =
  (form: RegExp, what: string) =>
  (value: string): string | null =>
    form.test(value) ? null : `Must be ${what}.`
// Without a trailing dot, a name is relative to the zone.
const host = String.raw`(?:\.|@|(?:[\w*-]{1,63}\.)*[\w-]{1,63}\.?)`
const u16 = String.raw`\d{1,5}`
const u8 = String.raw`\d{1,3}`
const hex = String.raw`[0-9a-fA-F]+`
const string = String.raw`"(?:[^"\\]|\\[^])*"`
const hostname = matching(RegExp(`^${host}$`), 'a hostname')
const service = matching(RegExp(`^${u16} ${host}(?: \\S+)*$`), 'a priority, a target, and parameters')

/** Checks of values by type; null if valid. */
const values: Record<string, (value: string) => string | null> = {
  A: value => (isIPv4(value) ? null : 'Must be an IPv4 address.'),
  AAAA: value => (isIPv6(value) ? null : 'Must be an IPv6 address.'),
  CAA: matching(RegExp(`^${u8} [a-z0-9]+ ${string}$`), 'flags, a tag, and a quoted value'),
  CNAME: hostname,
  DS: matching(RegExp(`^${u16} ${u8} ${u8} ${hex}$`), 'a key tag, an algorithm, a digest type, and a digest'),
  HINFO: matching(RegExp(`^${string} ${string}$`), 'two quoted strings'),
  HTTPS: service,
  MX: matching(RegExp(`^${u16} ${host}$`), 'a priority and a hostname'),
  NS: hostname,
  PTR: hostname,
  RP: matching(RegExp(`^${host} ${host}$`), 'two names'),
  SOA: () => null,
  SRV: matching(RegExp(`^${u16} ${u16} ${u16} ${host}$`), 'a priority, a weight, a port, and a target'),
  SVCB: service,
  TLSA: matching(RegExp(`^${u8} ${u8} ${u8} ${hex}$`), 'a usage, a selector, a matching type, and data'),
  TXT(value) {
    if (!RegExp(`^${string}(?: ${string})*$`).test(value)) return 'TXT records must be fully escaped with double quotes'
    const strings = [...value.matchAll(/"((?:[^"\\]|\\[^])*)"/g)].map(([, text]) => text!.replaceAll(/\\(?:\d{3}|[^])/g, 'x'))
    return strings.every(one => Buffer.byteLength(one) <= 255) ? null : 'a TXT string exceeds 255 characters'
  },
}
