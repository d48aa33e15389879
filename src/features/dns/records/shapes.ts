import { type Static, Type } from '@sinclair/typebox'
import { TTL_MAX } from '../../../dns/ttl'
import {
  editable,
  Expanded,
  Line,
  ListOf,
  SinglePageOf,
  NullableInstant,
  Nullable,
  Shape,
  Tags,
  Words,
} from '../../../core/shapes'
import { RecordSync } from '../targets/shapes'
import { recordSources } from './tables'
import { Zone } from '../zones/shapes'

export const recordType = Type.String({
  minLength: 1,
  maxLength: 20,
  pattern: '^[A-Za-z0-9]+$',
  'x-rule': 'must be a record type such as A or TXT, or TYPE followed by a number.',
  description: 'Record type such as `A`, or `TYPE` followed by a number (RFC 3597).',
})
export const recordName = Type.String({
  maxLength: 1024,
  description:
    'Name relative to the zone; `@` is the apex. A name with a trailing dot is absolute. Unicode is converted to A-labels. The ' +
    'first label may be `*`.',
})
export const ttl = Type.Integer({
  minimum: 0,
  maximum: TTL_MAX,
  description: 'Time to live in seconds. Shared by all records of a record set.',
})
const content = Type.String({
  maxLength: 300_000,
  description:
    'Value in zone file format. Names in the value that have a trailing dot or more than one label are absolute; names with one label are ' +
    'relative to the zone. A TXT value that doesn’t start with a quotation mark is taken as the text itself.',
})
const fields = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'Value as named fields, which depend on the type: `{"preference": 10, "exchange": "mail.example.com."}`.',
  },
)
const comment = Line({
  maxLength: 500,
  description: 'Free-form comment. Shared by all records of the record set. Default: empty.',
})
const locked = Type.Boolean({
  description:
    'Whether the record set is protected from changes. It can then only be changed by a PATCH of one of its records that also includes ' +
    '`locked`, or by a plan that allows `locked`; other changes are rejected with a 422. It is still deleted at `expires_at`.',
})
const expires_at = { description: 'When the record set is deleted automatically; null for never.' }
/** Metadata that can be set along with the records of a record set. */
const members = {
  comment: Type.Optional(comment),
  locked: Type.Optional(locked),
  tags: Type.Optional(Tags),
  expires_at: Type.Optional(
    NullableInstant({ description: `${expires_at.description} A new time must be at least one minute in the future.` }),
  ),
}

const options = Shape(
  {
    proxied: Type.Optional(
      Type.Boolean({ description: 'Whether the provider proxies HTTP traffic and answers with its own addresses (Cloudflare).' }),
    ),
  },
  { description: 'Provider-specific settings for A, AAAA, CNAME, and ALIAS records. Shared by all records of the record set.' },
)
const optionsPatch = Shape(
  { proxied: Type.Optional(Nullable(options.properties.proxied)) },
  { description: options.description! },
)
/** What all records of a record set share, in addition to the TTL. */
export const metadataFields = {
  locked,
  comment,
  options: Nullable(options, { description: `${options.description} Null if the provider decides.` }),
  tags: Tags,
  expires_at: NullableInstant(expires_at),
}
export const metadataExample = { locked: false, comment: '', options: null, tags: [], expires_at: null }

const optionsInput = Type.Optional(
  Nullable(options, {
    description: `${options.description} Null lets the provider decide; if omitted, an existing record set keeps its settings.`,
  }),
)

const example = {
  id: 'rec_01k3z8rt5n0p2q4v6x8z1c3e5g',
  zone_id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn',
  zone: 'example.com',
  type: 'MX',
  name: '@',
  fqdn: 'example.com',
  unicode_fqdn: 'example.com',
  ttl: 3600,
  content: '10 mail.example.com.',
  fields: { preference: 10, exchange: 'mail.example.com.' },
  value: null,
  synced: true,
  sync: { state: 'synced', targets: [] },
  source: 'api',
  dynamic_ip_id: null,
  managed: true,
  ...metadataExample,
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}

export const DnsRecord = Shape(
  {
    id: Type.String({ description: 'ID of the record. It does not change when the value, TTL, or name changes.' }),
    zone_id: Type.String({ description: 'ID of the zone.' }),
    zone: Type.String({ description: 'Name of the zone.' }),
    type: Type.String({ description: 'Record type.' }),
    name: Type.String({ description: 'Name relative to the zone. The apex is `@`.' }),
    fqdn: Type.String({ description: 'Fully qualified name, without a trailing dot.' }),
    unicode_fqdn: Type.String({ description: 'Fully qualified name in Unicode.' }),
    ttl: Type.Integer({ description: 'Time to live in seconds.' }),
    content: Type.String({ description: 'Value in zone file format, normalized, with absolute names.' }),
    fields,
    value: Nullable(Type.String(), {
      description: 'For TXT: the text, with its strings joined. Null for other types, and for text that isn’t UTF-8.',
    }),
    synced: Type.Boolean({
      description: 'Whether the record was the same at every provider when last read.',
    }),
    sync: RecordSync,
    source: Words([...recordSources, 'external'], {
      description:
        'How the record was created: `manual` in the dashboard, `api` by an API request, `template` by a DNS template, `import` by an import or by adopting a change at a provider. `dynamic`: by a dynamic IP source. `external`: it exists only at a provider. `acme` is not used yet.',
    }),
    dynamic_ip_id: Nullable(Type.String(), {
      description:
        'ID of the dynamic IP source that sets the values of the record set. They can’t be changed otherwise. Null if there is none.',
    }),
    managed: Type.Boolean({
      description: 'Whether Bailiwick manages the record. False for records that exist only at a provider.',
    }),
    ...metadataFields,
    ...editable,
    expanded: Expanded({ zone: Zone }),
  },
  { $id: 'DnsRecord', description: 'A DNS record.', examples: [example] },
)
export const DnsRecordList = ListOf(DnsRecord)

const value = { content: Type.Optional(content), fields: Type.Optional(fields) }

export const DnsRecordInput = Shape(
  {
    type: recordType,
    name: recordName,
    ...value,
    ttl: Type.Optional({
      ...ttl,
      description: `${ttl.description} Default: the TTL of the existing records, or the \`default_ttl\` of the zone. For an existing record set, a different TTL is rejected.`,
    }),
    options: optionsInput,
    ...members,
  },
  {
    $id: 'DnsRecordInput',
    description: 'A record to create. Pass its value as either `content` or `fields`.',
    examples: [{ type: 'A', name: 'www', content: '192.0.2.10', ttl: 300 }],
  },
)

export const DnsRecordPatch = Shape(
  {
    name: Type.Optional(recordName),
    ...value,
    ttl: Type.Optional(ttl),
    comment: Type.Optional(Nullable(comment)),
    options: Type.Optional(Nullable(optionsPatch, { description: `${options.description} Null lets the provider decide.` })),
    locked: Type.Optional(Nullable(locked)),
    tags: Type.Optional(Nullable(Tags)),
    expires_at: members.expires_at,
  },
  {
    $id: 'DnsRecordPatch',
    description:
      'Fields of a record to update. Pass a new value as either `content` or `fields`. Null resets a field to its default. TTL, options, comment, lock, tags, and expiry apply to all records of its record set.',
    examples: [{ content: '192.0.2.20' }],
  },
)

export const DnsRecordCheckInput = Shape(
  {
    ...DnsRecordInput.properties,
    record_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'ID of the record in this zone that would be updated. If omitted, a new record is checked.',
      }),
    ),
  },
  {
    $id: 'DnsRecordCheckInput',
    description: 'A record to check.',
    examples: [{ type: 'A', name: 'www', content: '192.0.2.10' }],
  },
)

export const DnsRecordCheckResult = Shape(
  {
    name: DnsRecord.properties.name,
    fqdn: DnsRecord.properties.fqdn,
    type: DnsRecord.properties.type,
    ttl: DnsRecord.properties.ttl,
    content: DnsRecord.properties.content,
    fields,
  },
  {
    $id: 'DnsRecordCheckResult',
    description: 'The record as it would be saved.',
    examples: [
      {
        name: 'www',
        fqdn: 'www.example.com',
        type: 'A',
        ttl: 3600,
        content: '192.0.2.10',
        fields: { address: '192.0.2.10' },
      },
    ],
  },
)

const DnsRecordType = Shape(
  {
    type: Type.String({ description: 'Record type.' }),
    reference: Type.String({ description: 'Document and section that defines the type.' }),
    fields: Type.Array(
      Shape({
        name: Type.String({ description: 'Name of the field, as in `fields` of a record.' }),
        type: Words(['integer', 'text', 'other'], {
          description:
            'JSON type of the field: a number (`integer`), a string (`text`), or another type such as a list (`other`).',
        }),
      }),
      { description: 'Fields of the value, in zone file order.' },
    ),
  },
  {
    $id: 'DnsRecordType',
    description: 'A supported record type.',
    examples: [
      {
        type: 'MX',
        reference: 'RFC 1035 3.3.9',
        fields: [
          { name: 'preference', type: 'integer' },
          { name: 'exchange', type: 'text' },
        ],
      },
    ],
  },
)
export const DnsRecordTypeList = SinglePageOf(DnsRecordType)

const maxRrsets = 1000
const maxValues = 5000

/** Desired records of a name and type. */
export const RrsetInput = Shape({
  name: recordName,
  type: recordType,
  ttl: Type.Optional({
    ...ttl,
    description: `${ttl.description} Default: the current TTL of the record set, or the default TTL of the zone.`,
  }),
  options: optionsInput,
  ...members,
  records: Type.Array(Shape(value), {
    maxItems: maxValues,
    description: 'All values of the record set, each as `content` or as `fields`. An empty list deletes the record set.',
  }),
})

export const RrsetsInput = Shape(
  {
    rrsets: Type.Array(RrsetInput, {
      minItems: 1,
      maxItems: maxRrsets,
      description: 'Record sets to replace, with all their records. Each combination of name and type may appear only once.',
    }),
  },
  {
    $id: 'DnsRrsetsInput',
    description: 'Desired record sets.',
    examples: [
      {
        rrsets: [
          { name: 'www', type: 'A', ttl: 300, records: [{ content: '192.0.2.10' }, { content: '192.0.2.11' }] },
          { name: 'old', type: 'CNAME', records: [] },
        ],
      },
    ],
  },
)

const count = (description: string) => Type.Integer({ minimum: 0, description })
export const changed = {
  zone_id: Type.String({ description: 'ID of the zone.' }),
  serial: Type.Integer({ description: 'Serial of the zone after the change.' }),
  created: count('Number of records created.'),
  updated: count('Number of records whose value, TTL, or options changed.'),
  deleted: count('Number of records deleted.'),
}
export const changedExample = { zone_id: example.zone_id, serial: 8, created: 2, updated: 0, deleted: 1 }

export const RrsetsResult = Shape(
  {
    ...changed,
    records: Type.Array(DnsRecord, { description: 'Current records of the record sets in the request.' }),
  },
  {
    $id: 'DnsRrsetsResult',
    description: 'Result of replacing record sets.',
    examples: [{ ...changedExample, records: [example] }],
  },
)

export type DnsRecordView = Static<typeof DnsRecord>
export type DnsRecordCheckInput = Static<typeof DnsRecordCheckInput>
export type DnsRecordCheckResult = Static<typeof DnsRecordCheckResult>
export type DnsRecordTypeView = Static<typeof DnsRecordType>
export type DnsRecordInput = Static<typeof DnsRecordInput>
export type DnsRecordPatch = Static<typeof DnsRecordPatch>
export type RrsetInput = Static<typeof RrsetInput>
export type RrsetsInput = Static<typeof RrsetsInput>
export type RrsetsResult = Static<typeof RrsetsResult>
