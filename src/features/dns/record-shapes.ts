import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { TTL_MAX } from '../../core/dns/ttl'
import { editable, Expanded, Line, ListOf, MaybeInstant, Nullable, Shape, Tags, Words } from '../../core/shapes'
import { Op, Reason, RecordSync } from './sync/sync-shapes'
import { recordSources } from './tables'
import { Zone } from './zone-shapes'

export const recordType = Type.String({
  minLength: 1,
  maxLength: 20,
  pattern: '^[A-Za-z0-9]+$',
  'x-rule': 'must be a record type such as A or TXT, or TYPE and its number.',
  description: 'Record type, or `TYPE` and its number (RFC 3597).',
})
export const recordName = Type.String({
  maxLength: 1024,
  description:
    'Name within the zone, `@` for the apex. With a dot at the end it is absolute; Unicode becomes A-labels. `*` may be its first label.',
})
const ttl = Type.Integer({
  minimum: 0,
  maximum: TTL_MAX,
  description: 'Time to live in seconds; one for all records of a name and type.',
})
const content = Type.String({
  maxLength: 300_000,
  description:
    'The value as in a zone file. Names in it: with a dot at the end, or of several labels, absolute; of one label, below the zone. ' +
    'A TXT that does not begin with a quotation mark is the text itself.',
})
const fields = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      'The value by the names of its parts, which depend on the type: `{"preference": 10, "exchange": "mail.example.com."}`.',
  },
)
const comment = Line({ maxLength: 500, description: 'A note for people, on all records of the name and type.' })
const locked = Type.Boolean({
  description:
    'Whether records of the name and type are kept from changes: all are refused but those by a PATCH that names `locked`.',
})
const expires_at = {
  description: 'When all records of the name and type are removed; null is never. A minute from now at least when it is set.',
}
/** What may be given with the records of a name and type. */
const members = {
  comment: Type.Optional(comment),
  locked: Type.Optional(locked),
  tags: Type.Optional(Tags),
  expires_at: Type.Optional(MaybeInstant(expires_at)),
}

const options = Shape(
  {
    proxied: Type.Optional(
      Type.Boolean({ description: 'Whether the provider answers with addresses of its own and passes HTTP on (Cloudflare).' }),
    ),
  },
  { description: 'What providers know of A, AAAA, CNAME and ALIAS beyond DNS, on all records of the name and type.' },
)
const optionsPatch = Shape(
  { proxied: Type.Optional(Nullable(options.properties.proxied)) },
  { description: options.description! },
)
/** What all records of a name and type have alike, beside their TTL. */
export const membersShown = {
  locked,
  comment,
  options: Nullable(options, { description: `${options.description} Null where it is left to the provider.` }),
  tags: Tags,
  expires_at: MaybeInstant(expires_at),
}
export const membersExample = { locked: false, comment: '', options: null, tags: [], expires_at: null }

const givenOptions = Type.Optional(
  Nullable(options, { description: `${options.description} Null leaves it to the provider; absent leaves it as it is.` }),
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
  managed: true,
  ...membersExample,
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}

export const DnsRecord = Shape(
  {
    id: Type.String({ description: 'Identifier; stays when value, TTL or name change.' }),
    zone_id: Type.String({ description: 'The zone it is in.' }),
    zone: Type.String({ description: 'Name of the zone.' }),
    type: Type.String({ description: 'Record type.' }),
    name: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
    fqdn: Type.String({ description: 'Whole name, without the dot at the end.' }),
    unicode_fqdn: Type.String({ description: 'Whole name as people read it.' }),
    ttl: Type.Integer({ description: 'Time to live in seconds.' }),
    content: Type.String({ description: 'The value as in a zone file, in one spelling, names absolute.' }),
    fields,
    value: Nullable(Type.String(), {
      description: 'Of TXT: the text, its strings joined. Null for other types and for what is no UTF-8.',
    }),
    synced: Type.Boolean({ description: 'Whether the last reading of each provider has it as it is kept here.' }),
    sync: RecordSync,
    source: Words([...recordSources, 'external'], { description: 'Where it came from; `external` is at a provider alone.' }),
    managed: Type.Boolean({ description: 'Whether it is kept here; false for what was only found at a provider.' }),
    ...membersShown,
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
    ttl: Type.Optional(ttl),
    options: givenOptions,
    ...members,
  },
  {
    $id: 'DnsRecordInput',
    description: 'A record to make, with its value as `content` or as `fields`.',
    examples: [{ type: 'A', name: 'www', content: '192.0.2.10', ttl: 300 }],
  },
)

export const DnsRecordPatch = Shape(
  {
    name: Type.Optional(recordName),
    ...value,
    ttl: Type.Optional(ttl),
    comment: Type.Optional(Nullable(comment)),
    options: Type.Optional(Nullable(optionsPatch, { description: `${options.description} Null leaves it to the provider.` })),
    locked: Type.Optional(Nullable(locked)),
    tags: Type.Optional(Nullable(Tags)),
    expires_at: members.expires_at,
  },
  {
    $id: 'DnsRecordPatch',
    description:
      'What of a record is to change. TTL, options, comment, lock, tags and expiry are of all records of its name and type.',
    examples: [{ content: '192.0.2.20' }],
  },
)

export const DnsRecordCheck = Shape(
  {
    ...DnsRecordInput.properties,
    record_id: Type.Optional(
      Type.String({ maxLength: 64, description: 'The record that it is to become; a new one when absent.' }),
    ),
  },
  {
    $id: 'DnsRecordCheck',
    description: 'A record to try out.',
    examples: [{ type: 'A', name: 'www', content: '192.0.2.10' }],
  },
)

export const DnsRecordChecked = Shape(
  {
    name: DnsRecord.properties.name,
    fqdn: DnsRecord.properties.fqdn,
    type: DnsRecord.properties.type,
    ttl: DnsRecord.properties.ttl,
    content: DnsRecord.properties.content,
    fields,
  },
  {
    $id: 'DnsRecordChecked',
    description: 'A record as it would be.',
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

export const DnsRecordType = Shape(
  {
    type: Type.String({ description: 'The type.' }),
    reference: Type.String({ description: 'The document and section that defines it.' }),
    fields: Type.Array(
      Shape({
        name: Type.String({ description: 'Name of the part, as in `fields` of a record.' }),
        form: Words(['integer', 'text', 'other'], { description: 'What its JSON is; `other` is made of several values.' }),
      }),
      { description: 'The parts of its value, in the order of zone files.' },
    ),
  },
  {
    $id: 'DnsRecordType',
    description: 'A type that records may have.',
    examples: [
      {
        type: 'MX',
        reference: 'RFC 1035 3.3.9',
        fields: [
          { name: 'preference', form: 'integer' },
          { name: 'exchange', form: 'text' },
        ],
      },
    ],
  },
)
export const DnsRecordTypeList = ListOf(DnsRecordType)

export const mostRrsets = 1000
const mostValues = 5000

/** Records of a name and type as they are to be. */
export const RrsetGiven = Shape({
  name: recordName,
  type: recordType,
  ttl: Type.Optional(ttl),
  options: givenOptions,
  ...members,
  records: Type.Array(Shape(value), {
    maxItems: mostValues,
    description: 'All values it is to have, each as `content` or as `fields`; none removes it.',
  }),
})

export const RrsetsInput = Shape(
  {
    rrsets: Type.Array(RrsetGiven, { minItems: 1, maxItems: mostRrsets, description: 'Each name and type once.' }),
  },
  {
    $id: 'DnsRrsetsInput',
    description: 'How records are to be, by name and type.',
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

const tally = (description: string) => Type.Integer({ minimum: 0, description })
export const changed = {
  zone_id: Type.String({ description: 'The zone.' }),
  serial: Type.Integer({ description: 'Its serial now; what it was when nothing changed.' }),
  created: tally('Records that were made.'),
  updated: tally('Records whose value, TTL or options changed.'),
  deleted: tally('Records that were removed.'),
}
const changedExample = { zone_id: example.zone_id, serial: 8, created: 2, updated: 0, deleted: 1 }

export const RrsetsChanged = Shape(
  {
    ...changed,
    records: Type.Array(DnsRecord, { description: 'The records of the names and types in the request, as they are now.' }),
  },
  {
    $id: 'DnsRrsetsChanged',
    description: 'What became of the records.',
    examples: [{ ...changedExample, records: [example] }],
  },
)

export const importModes = ['replace', 'merge'] as const

export const ZoneImported = Shape(
  {
    ...changed,
    mode: Words(importModes, { description: 'How it was taken.' }),
    skipped: tally('Records of the file that are made by signing, and were left out.'),
    dry_run: Type.Boolean({ description: 'Whether nothing was done.' }),
    preview: Type.Optional(
      Shape(
        {
          changes: Type.Array(Op, {
            maxItems: mostRrsets,
            description: 'What would become of each name and type, the first ones.',
          }),
          change_count: tally('Names and types that would change.'),
          blocked: Type.Array(Reason, { description: 'Why it would be refused unless each of these is allowed.' }),
        },
        { description: 'With `dry_run` alone: what would be done.' },
      ),
    ),
  },
  {
    $id: 'ZoneImported',
    description: 'What became of a zone file.',
    examples: [{ ...changedExample, mode: 'replace', skipped: 0, dry_run: false }],
  },
)

export type ZoneImported = Static<typeof ZoneImported>
export type DnsRecordView = Static<typeof DnsRecord>
export type DnsRecordCheck = Static<typeof DnsRecordCheck>
export type DnsRecordChecked = Static<typeof DnsRecordChecked>
export type DnsRecordTypeView = Static<typeof DnsRecordType>
export type DnsRecordInput = Static<typeof DnsRecordInput>
export type DnsRecordPatch = Static<typeof DnsRecordPatch>
export type RrsetGiven = Static<typeof RrsetGiven>
export type RrsetsInput = Static<typeof RrsetsInput>
export type RrsetsChanged = Static<typeof RrsetsChanged>
