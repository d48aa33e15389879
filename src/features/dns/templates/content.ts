import { type Static, Type } from '@sinclair/typebox'
import { TTL_MAX } from '../../../dns/ttl'
import { Line, Shape, Words } from '../../../core/shapes'

const maxVariables = 50
const maxTemplateRecords = 100
export const maxValueLength = 1000
const maxEnumValues = 100

const variableTypes = ['ip', 'ipv6', 'host', 'string', 'int', 'enum'] as const
const conflictModes = ['fail', 'skip', 'replace', 'merge'] as const
export type ConflictMode = (typeof conflictModes)[number]

export const VariableValue = Type.Union([Type.String({ maxLength: maxValueLength }), Type.Integer()], {
  description: 'A string; for the type `int`, an integer.',
})

export const TemplateVariable = Shape(
  {
    name: Type.String({
      pattern: '^[a-z][a-z0-9_]{0,39}$',
      'x-rule': 'must start with a lowercase letter and contain at most 40 lowercase letters, digits, and underscores.',
      description:
        'Name of the variable. Records refer to it as `{{name}}`. `zone`, `host`, and `fqdn` are always available: the name of the zone, the name in the zone ' +
        'that the template is applied to, and the full name of the latter, without a trailing dot.',
    }),
    type: Words(variableTypes, {
      description:
        '`ip`: IPv4 address. `ipv6`: IPv6 address. `host`: hostname. `string`: one line of text. `int`: integer. `enum`: one ' +
        'of `values`.',
    }),
    required: Type.Optional(
      Type.Boolean({
        description:
          'Whether a value is required. Default: true if there is no `default`. Optional variables without a value are empty.',
      }),
    ),
    default: Type.Optional(VariableValue),
    pattern: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'For `string`: regular expression that the whole value must match, in RE2 syntax (no lookaround or backreferences).',
      }),
    ),
    values: Type.Optional(
      Type.Array(Line({ minLength: 1, maxLength: 200 }), {
        minItems: 1,
        maxItems: maxEnumValues,
        description: 'For `enum`: allowed values.',
      }),
    ),
    description: Type.Optional(Line({ maxLength: 500, description: 'Description of the variable.' })),
  },
  {
    $id: 'DnsTemplateVariable',
    description: 'A template variable.',
    examples: [{ name: 'address', type: 'ip', description: 'Address of the web server.' }],
  },
)

export const TemplateRecord = Shape(
  {
    type: Type.String({
      minLength: 1,
      maxLength: 20,
      pattern: '^[A-Za-z0-9]+$',
      'x-rule': 'must be a record type such as A or TXT, or TYPE followed by a number.',
      description: 'Record type.',
    }),
    name: Type.String({
      maxLength: 1024,
      description: 'Name relative to the host the template is applied to, which is `@`. A name with a trailing dot is absolute.',
    }),
    ttl: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: TTL_MAX,
        description: 'Time to live in seconds. Default: the TTL of the existing record set, or the zone default.',
      }),
    ),
    content: Type.Optional(Type.String({ maxLength: 4096, description: 'Value in zone file format. May contain variables.' })),
    fields: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Value as named fields. Strings may contain variables.' }),
    ),
    when: Type.Optional(
      Type.String({ maxLength: 40, description: 'Name of a variable. The record is skipped if the variable is empty.' }),
    ),
    essential: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether manual edits mark the binding as `modified`. Manual edits to records that are not essential are kept.',
      }),
    ),
    on_conflict: Type.Optional(
      Words(conflictModes, {
        default: 'fail',
        description:
          'What to do if the zone has conflicting records. `fail`: apply nothing. `skip`: skip this record. `replace`: delete the ' +
          'existing records. `merge`: keep both, and combine SPF records into one.',
      }),
    ),
    comment: Type.Optional(Line({ maxLength: 500, description: 'Comment for the records it creates.' })),
  },
  {
    $id: 'DnsTemplateRecord',
    description:
      'A record of a template, with its value as either `content` or `fields`. Name, content, and fields may contain variables.',
    examples: [{ type: 'A', name: '@', content: '{{address}}', on_conflict: 'replace' }],
  },
)

export const templateContent = {
  variables: Type.Array(TemplateVariable, { maxItems: maxVariables, description: 'Variables of the template.' }),
  records: Type.Array(TemplateRecord, { minItems: 1, maxItems: maxTemplateRecords, description: 'Records of the template.' }),
}

export type TemplateVariable = Static<typeof TemplateVariable>
export type TemplateRecord = Static<typeof TemplateRecord>
/** Variables and records of a template. */
export interface TemplateContent {
  variables: TemplateVariable[]
  records: TemplateRecord[]
}
export type Values = Readonly<Record<string, string | number>>
