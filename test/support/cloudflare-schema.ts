import Ajv, { type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

// The published API description for responses about DNS records (github.com/cloudflare/api-schemas, `dns-records`, and the fields
// that the generated clients require).

const text = { type: 'string' }
const flag = { type: 'boolean' }
const time = { type: 'string', format: 'date-time' }
const upTo = (maximum: number) => ({ type: 'number', minimum: 0, maximum })
const [u8, u16] = [upTo(255), upTo(65_535)]
const id = { type: 'string', minLength: 1, maxLength: 32 }
const metres = upTo(90_000_000)
const service = { priority: u16, target: text, value: text }
const association = { usage: u8, selector: u8, matching_type: u8, certificate: text }

/** Types by the fields of their `data`; null without. */
const types: Record<string, Record<string, object> | null> = {
  ...Object.fromEntries(['A', 'AAAA', 'CNAME', 'MX', 'NS', 'OPENPGPKEY', 'PTR', 'TXT'].map(type => [type, null])),
  CAA: { flags: u8, tag: text, value: text },
  CERT: { algorithm: u8, certificate: text, key_tag: u16, type: u16 },
  DNSKEY: { algorithm: u8, flags: u16, protocol: u8, public_key: text },
  DS: { algorithm: u8, digest: text, digest_type: u8, key_tag: u16 },
  HTTPS: service,
  LOC: {
    altitude: { type: 'number', minimum: -100_000, maximum: 42_849_672.95 },
    lat_degrees: upTo(90),
    lat_direction: { enum: ['N', 'S'] },
    lat_minutes: upTo(59),
    lat_seconds: upTo(59.999),
    long_degrees: upTo(180),
    long_direction: { enum: ['E', 'W'] },
    long_minutes: upTo(59),
    long_seconds: upTo(59.999),
    precision_horz: metres,
    precision_vert: metres,
    size: metres,
  },
  NAPTR: { flags: text, order: u16, preference: u16, regex: text, replacement: text, service: text },
  SMIMEA: association,
  SRV: { port: u16, priority: u16, target: text, weight: u16 },
  SSHFP: { algorithm: u8, fingerprint: text, type: u8 },
  SVCB: service,
  TLSA: association,
  URI: { target: text, weight: u16 },
}

const required = {
  id,
  name: { type: 'string', minLength: 1, maxLength: 255 },
  content: text,
  proxiable: flag,
  proxied: flag,
  ttl: { anyOf: [{ const: 1 }, { type: 'number', minimum: 30, maximum: 86_400 }] },
  settings: { type: 'object' },
  meta: { type: 'object' },
  comment: { type: ['string', 'null'] },
  tags: { type: 'array', items: { type: 'string', pattern: '^[\\w-]+(:.*)?$' } },
  created_on: time,
  modified_on: time,
}

const recordOf = ([type, data]: [string, Record<string, object> | null]) => ({
  type: 'object',
  properties: {
    ...required,
    type: { const: type },
    ...(data && { data: { type: 'object', properties: data, required: Object.keys(data) } }),
    priority: u16,
    // Only present if set.
    comment_modified_on: time,
    tags_modified_on: time,
  },
  required: [...Object.keys(required), 'type', ...(data ? ['data'] : []), ...(['MX', 'URI'].includes(type) ? ['priority'] : [])],
  additionalProperties: false,
})

const message = {
  type: 'object',
  properties: { code: { type: 'integer', minimum: 1000 }, message: text },
  required: ['code', 'message'],
}
const messages = { type: 'array', items: message }
const count = { type: 'integer', minimum: 0 }
const record = { oneOf: Object.entries(types).map(recordOf) }
const records = { type: 'array', items: record }
const envelope = (result: object, more: Record<string, object> = {}) => ({
  type: 'object',
  properties: { success: { const: true }, errors: { ...messages, maxItems: 0 }, messages, result, ...more },
  required: ['success', 'errors', 'messages', 'result', ...Object.keys(more)],
})

const ajv = addFormats(new Ajv({ allowUnionTypes: true }))
const answers = {
  failure: ajv.compile({
    type: 'object',
    properties: { success: { const: false }, errors: { ...messages, minItems: 1 }, messages, result: { type: 'null' } },
    required: ['success', 'errors', 'messages', 'result'],
  }),
  record: ajv.compile(envelope(record)),
  records: ajv.compile(
    envelope(records, {
      result_info: {
        type: 'object',
        properties: { page: count, per_page: count, count, total_count: count, total_pages: count },
        required: ['page', 'per_page', 'count', 'total_count'],
      },
    }),
  ),
  batch: ajv.compile(
    envelope({ type: 'object', properties: { deletes: records, patches: records, puts: records, posts: records } }),
  ),
  deleted: ajv.compile(envelope({ type: 'object', properties: { id }, required: ['id'] })),
} satisfies Record<string, ValidateFunction>

/** Validates a response about records against the API description; returns the first error, or null. */
export function offence(envelope: { success: boolean }, { method, path }: { method: string; path: string }): string | null {
  if (!path.includes('/dns_records')) return null
  const isList = method === 'GET' && path.endsWith('/dns_records')
  const kind = path.endsWith('/batch') ? 'batch' : isList ? 'records' : method === 'DELETE' ? 'deleted' : 'record'
  const check = answers[envelope.success ? kind : 'failure']
  return check(JSON.parse(JSON.stringify(envelope))) ? null : `${method} ${path}: ${ajv.errorsText(check.errors)}`
}
