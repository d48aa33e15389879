import type Cloudflare from 'cloudflare'
import { randomBytes } from 'node:crypto'

export type CloudflareRow = Cloudflare.DNS.RecordResponse & {
  id: string
  name: string
  content: string
  data?: any
  priority?: number
}
export type CloudflarePlan = 'free' | 'pro' | 'enterprise'

/** An error response: status and errors. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly errors: { code: number; message: string; error_chain?: { code: number; message: string }[] }[],
  ) {
    super(errors[0]!.message)
  }
}

export const refused = (code: number, message: string, status = 400) => new Refused(status, [{ code, message }])

const invalid = (code: number, message: string) =>
  new Refused(400, [{ code: 1004, message: 'DNS Validation Error', error_chain: [{ code, message }] }])

export const newRowId = () => randomBytes(16).toString('hex')

const docs =
  'For more details, refer to <https://developers.cloudflare.com/dns/manage-dns-records/troubleshooting/records-with-same-name/>.'

/** Records of a zone, with the validation rules of Cloudflare. */
export class CloudflareZone {
  readonly id = newRowId()
  rows: CloudflareRow[] = []

  constructor(
    readonly name: string,
    readonly plan: CloudflarePlan = 'free',
  ) {}

  get batchLimit(): number {
    return this.plan === 'free' ? 200 : 3500
  }

  post(given: any): CloudflareRow {
    if (this.plan === 'free' && this.rows.length >= 200) throw refused(81045, 'Record quota exceeded.')
    const now = new Date().toISOString()
    const row = this.#checked({ ...given, id: newRowId(), created_on: now, modified_on: now })
    this.rows = [...this.rows, row]
    return row
  }

  /** Fills in defaults. */
  put(id: string, given: any): CloudflareRow {
    const { created_on } = this.get(id) as any
    return this.#replace(this.#checked({ ...given, id, created_on, modified_on: new Date().toISOString() }))
  }

  /** Omitted fields are kept. */
  patch(id: string, given: any): CloudflareRow {
    const old = this.get(id) as any
    const merged = { ...old, ...given, id, modified_on: new Date().toISOString() }
    // `content` is generated from `data`.
    if (given.data) delete merged.content
    return this.#replace(this.#checked(merged))
  }

  delete(id: string): CloudflareRow {
    const row = this.get(id)
    this.rows = this.rows.filter(one => one !== row)
    return row
  }

  get(id: string): CloudflareRow {
    const row = this.rows.find(one => one.id === id)
    if (!row) throw refused(81044, 'Record does not exist.', 404)
    return row
  }

  /** Atomic, in the documented order: deletes, patches, puts, posts. */
  batch({ deletes = [], patches = [], puts = [], posts = [] }: any): object {
    const size = deletes.length + patches.length + puts.length + posts.length
    if (size > this.batchLimit) throw refused(1004, `A batch must have at most ${this.batchLimit} operations.`)
    const before = this.rows
    try {
      return {
        deletes: deletes.map((one: any) => this.delete(one.id)),
        patches: patches.map(({ id, ...rest }: any) => this.patch(id, rest)),
        puts: puts.map(({ id, ...rest }: any) => this.put(id, rest)),
        posts: posts.map((one: any) => this.post(one)),
      }
    } catch (error) {
      this.rows = before
      throw error
    }
  }

  #replace(row: CloudflareRow): CloudflareRow {
    this.rows = this.rows.map(one => (one.id === row.id ? row : one))
    return row
  }

  #checked(given: any): CloudflareRow {
    const { type, proxied = false, ttl = 1, comment = null, tags = [], settings = {} } = given
    if (!(type in values)) throw invalid(9003, `Invalid DNS record type ${type}.`)
    const name = this.#nameOf(given.name)
    const proxiable = ['A', 'AAAA', 'CNAME'].includes(type)
    if (proxied && !proxiable) throw refused(9004, 'This record type cannot be proxied.')
    const least = this.plan === 'enterprise' ? 30 : 60
    if (!Number.isInteger(ttl) || (ttl !== 1 && (ttl < least || ttl > 86_400)))
      throw refused(9021, `TTL must be between ${least} and 86400 seconds, or 1 for Automatic.`)
    if (typeof comment === 'string' && /[\r\n]/.test(comment)) throw invalid(9024, 'Comments must not have line breaks.')
    const value = values[type]!(given)
    const row = {
      id: given.id,
      name,
      type,
      ...value,
      proxiable,
      proxied,
      // Whatever was requested: Cloudflare, TTL.
      ttl: proxied ? 1 : ttl,
      settings,
      meta: {},
      comment,
      tags,
      created_on: given.created_on,
      modified_on: given.modified_on,
      // Only present if set.
      ...(comment !== null && { comment_modified_on: given.modified_on }),
      ...(tags.length > 0 && { tags_modified_on: given.modified_on }),
    } as unknown as CloudflareRow
    this.#refuseClash(row)
    return row
  }

  /** Names that don't end with the zone name are relative. */
  #nameOf(given: unknown): string {
    if (typeof given !== 'string' || given === '') throw refused(9000, 'DNS name is invalid.')
    const text = given.toLowerCase().replace(/\.$/, '')
    const name = text === '@' ? this.name : text === this.name || text.endsWith(`.${this.name}`) ? text : `${text}.${this.name}`
    if (
      name.length > 253 ||
      !name.split('.').every((label, at) => /^[a-z0-9_/-]{1,63}$/.test(label) || (at === 0 && label === '*'))
    )
      throw refused(9000, 'DNS name is invalid.')
    return name
  }

  #refuseClash(row: CloudflareRow): void {
    const others = this.rows.filter(one => one.name === row.name && one.id !== row.id)
    const has = (...types: string[]) => others.some(one => types.includes(one.type))
    const key = (one: CloudflareRow) => JSON.stringify([one.type, one.content, one.priority ?? null])
    if (others.some(one => key(one) === key(row))) throw refused(81058, 'An identical record already exists.')
    if (row.type === 'CNAME' && has('A', 'AAAA', 'CNAME'))
      throw refused(81053, `An A, AAAA, or CNAME record with that host already exists. ${docs}`)
    if (['A', 'AAAA'].includes(row.type) && has('CNAME'))
      throw refused(81054, `A CNAME record with that host already exists. ${docs}`)
    const delegates = row.type === 'NS' ? others.some(one => !['NS', 'DS'].includes(one.type)) : row.type !== 'DS' && has('NS')
    if (row.name !== this.name && delegates) throw refused(81056, `NS records with that host already exist. ${docs}`)
  }
}

type Value = { content: string; data?: object; priority?: number }

const host = (text: unknown): string => {
  if (typeof text !== 'string' || !(text === '.' || /^(?:[\w*/-]{1,63}\.)*[\w*/-]{1,63}\.?$/.test(text)))
    throw invalid(9007, 'Content for the record must be a valid hostname.')
  return text === '.' ? text : text.replace(/\.$/, '')
}

const number = (value: unknown, most: number): number => {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > most)
    throw invalid(9100, `A number from 0 to ${most} is required.`)
  return value as number
}
const words = (value: unknown): string => {
  if (typeof value !== 'string') throw invalid(9101, 'A text is required.')
  return value
}

/** Types with `data`, from which the content is generated. */
const structured =
  (parts: Record<string, (value: unknown) => unknown>, content: (data: any) => string) =>
  ({ data, priority }: any): Value => {
    if (typeof data !== 'object' || data === null) throw invalid(9102, 'data is a required field.')
    const kept = Object.fromEntries(Object.entries(parts).map(([part, check]) => [part, check(data[part])]))
    return { content: content(kept), data: kept, ...(priority !== undefined && { priority }) }
  }

const u8 = (value: unknown) => number(value, 255)
const u16 = (value: unknown) => number(value, 65_535)
const hex = (value: unknown) => words(value).toUpperCase()
const float = (value: unknown) => {
  if (typeof value !== 'number') throw invalid(9100, 'A number is required.')
  return value
}
const key = structured({ flags: u16, protocol: u8, algorithm: u8, public_key: words }, d =>
  [d.flags, d.protocol, d.algorithm, d.public_key].join(' '),
)
const digest = structured({ key_tag: u16, algorithm: u8, digest_type: u8, digest: hex }, d =>
  [d.key_tag, d.algorithm, d.digest_type, d.digest].join(' '),
)
const association = structured({ usage: u8, selector: u8, matching_type: u8, certificate: words }, d =>
  [d.usage, d.selector, d.matching_type, d.certificate].join(' '),
)
/** Parameter values are returned in quotes, whether or not they were sent that way. */
const params = (value: unknown) => words(value ?? '').replaceAll(/=([^"\s]+)/g, '="$1"')
const service = structured({ priority: u16, target: host, value: params }, d =>
  [d.priority, d.target === '.' ? '.' : `${d.target}.`, d.value].join(' ').trim(),
)
const named = ({ content }: any): Value => ({ content: host(content) })

const values: Record<string, (input: any) => Value> = {
  A({ content }) {
    if (!/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.|$)){4}$/.test(String(content)) || String(content).endsWith('.'))
      throw refused(9005, 'Content for A record must be a valid IPv4 address.')
    return { content }
  },
  AAAA({ content }) {
    const url = URL.parse(`http://[${String(content)}]/`)
    if (!url) throw refused(9006, 'Content for AAAA record must be a valid IPv6 address.')
    return { content: url.hostname.slice(1, -1) }
  },
  CNAME: named,
  NS: named,
  PTR: named,
  MX({ content, priority }) {
    return { content: host(content), priority: u16(priority) }
  },
  OPENPGPKEY: ({ content }) => ({ content: words(content) }),
  TXT: ({ content }) => ({ content: textKept(words(content)) }),
  CAA: structured({ flags: u8, tag: words, value: words }, d => `${d.flags} ${d.tag} "${d.value}"`),
  CERT: structured({ type: u16, key_tag: u16, algorithm: u8, certificate: words }, d =>
    [d.type, d.key_tag, d.algorithm, d.certificate].join(' '),
  ),
  DNSKEY: key,
  DS: digest,
  HTTPS: service,
  SVCB: service,
  LOC: structured(
    {
      ...{ lat_degrees: u8, lat_minutes: u8, lat_seconds: float, lat_direction: words },
      ...{ long_degrees: u8, long_minutes: u8, long_seconds: float, long_direction: words },
      ...{ altitude: float, size: float, precision_horz: float, precision_vert: float },
    },
    d =>
      `IN LOC ${d.lat_degrees} ${d.lat_minutes} ${d.lat_seconds} ${d.lat_direction} ${d.long_degrees} ${d.long_minutes} ` +
      `${d.long_seconds} ${d.long_direction} ${d.altitude}m ${d.size}m ${d.precision_horz}m ${d.precision_vert}m`,
  ),
  NAPTR: structured(
    { order: u16, preference: u16, flags: words, service: words, regex: words, replacement: host },
    d => `${d.order} ${d.preference} "${d.flags}" "${d.service}" "${d.regex}" ${d.replacement}`,
  ),
  SMIMEA: association,
  TLSA: association,
  SRV(input) {
    const value = structured({ priority: u16, weight: u16, port: u16, target: host }, d =>
      [d.priority, d.weight, d.port, d.target].join(' '),
    )(input)
    return { ...value, priority: (value.data as any).priority }
  },
  SSHFP: structured({ algorithm: u8, type: u8, fingerprint: words }, d => [d.algorithm, d.type, d.fingerprint].join(' ')),
  URI: input => ({
    ...structured({ weight: u16, target: words }, d => `${d.weight} "${d.target}"`)(input),
    priority: u16(input.priority),
  }),
}

/** Splits quoted strings at 255 octets; unquoted content is kept as it is. */
function textKept(content: string): string {
  if (content === '' || content === '""') throw invalid(9208, 'Content for TXT record must not be empty.')
  if (content.length > 2048 * 4) throw invalid(9209, 'Content for TXT record is too long.')
  if (!content.startsWith('"')) return content
  if (!/^"(?:[^"\\]|\\[^])*"(?:\s+"(?:[^"\\]|\\[^])*")*$/.test(content))
    throw invalid(9207, 'Content for TXT record has unbalanced quotation marks.')
  const strings = [...content.matchAll(/"((?:[^"\\]|\\[^])*)"/g)].flatMap(([, inner]) => {
    const octets = [...inner!.matchAll(/\\\d{3}|\\[^]|[^]/g)].map(([one]) => one)
    const parts: string[] = []
    for (let at = 0; at === 0 || at < octets.length; at += 255) parts.push(`"${octets.slice(at, at + 255).join('')}"`)
    return parts
  })
  return strings.join(' ')
}
