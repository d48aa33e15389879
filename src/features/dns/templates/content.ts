import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { TTL_MAX } from '../../../core/dns/ttl'
import { Line, Shape, Words } from '../../../core/shapes'

export const mostVariables = 50
export const mostTemplateRecords = 100
export const longestValue = 1000
const mostWords = 100

export const variableTypes = ['ip', 'ipv6', 'host', 'string', 'int', 'enum'] as const
export const conflictWays = ['fail', 'skip', 'replace', 'merge'] as const
export type ConflictWay = (typeof conflictWays)[number]

export const VariableValue = Type.Union([Type.String({ maxLength: longestValue }), Type.Integer()], {
  description: 'Text; a whole number for `int`.',
})

export const TemplateVariable = Shape(
  {
    name: Type.String({
      pattern: '^[a-z][a-z0-9_]{0,39}$',
      'x-rule': 'must be lower-case letters, digits and underscores, from a letter on, at most 40.',
      description: 'Name, as records use it: `{{name}}`.',
    }),
    type: Words(variableTypes, {
      description:
        '`ip` an IPv4 address, `ipv6`, `host` the name of a host, `string` one line of text, `int` a whole number, `enum` one of `values`.',
    }),
    required: Type.Optional(
      Type.Boolean({
        description: 'Whether a value must be given. Without it: yes, where there is no default. What is not given is empty.',
      }),
    ),
    default: Type.Optional(VariableValue),
    pattern: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'Of `string`: what the whole value must look like, as a regular expression of RE2: without look-around and back-references.',
      }),
    ),
    values: Type.Optional(
      Type.Array(Line({ minLength: 1, maxLength: 200 }), {
        minItems: 1,
        maxItems: mostWords,
        description: 'Of `enum`: the values that it takes.',
      }),
    ),
    description: Type.Optional(Line({ maxLength: 500, description: 'What it is for, for people.' })),
  },
  {
    $id: 'DnsTemplateVariable',
    description: 'What differs from zone to zone.',
    examples: [{ name: 'address', type: 'ip', description: 'The web server.' }],
  },
)

export const TemplateRecord = Shape(
  {
    type: Type.String({
      minLength: 1,
      maxLength: 20,
      pattern: '^[A-Za-z0-9]+$',
      'x-rule': 'must be a record type such as A or TXT, or TYPE and its number.',
      description: 'Record type.',
    }),
    name: Type.String({
      maxLength: 1024,
      description: 'Name below the one at which the template is applied, which is `@`; with a dot at the end it is absolute.',
    }),
    ttl: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: TTL_MAX,
        description: 'Time to live in seconds; without, that of the records there, or of the zone.',
      }),
    ),
    content: Type.Optional(Type.String({ maxLength: 4096, description: 'The value as in a zone file, with variables.' })),
    fields: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'The value by the names of its parts; texts in it may have variables.' },
      ),
    ),
    when: Type.Optional(
      Type.String({ maxLength: 40, description: 'Name of a variable: the record is left out while that is empty.' }),
    ),
    essential: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether an edit by hand counts as one of the binding. What is not essential stays as it was edited.',
      }),
    ),
    on_conflict: Type.Optional(
      Words(conflictWays, {
        default: 'fail',
        description:
          'What to do where something else is: nothing at all is applied (`fail`), the record is left out (`skip`), what is there goes ' +
          '(`replace`), or both are kept (`merge`, which joins SPF records into one).',
      }),
    ),
    comment: Type.Optional(Line({ maxLength: 500, description: 'A note on the records it makes.' })),
  },
  {
    $id: 'DnsTemplateRecord',
    description: 'A record that the template makes, with variables in name, content and fields.',
    examples: [{ type: 'A', name: '@', content: '{{address}}', on_conflict: 'replace' }],
  },
)

export const templateContent = {
  variables: Type.Array(TemplateVariable, { maxItems: mostVariables, description: 'What differs from zone to zone.' }),
  records: Type.Array(TemplateRecord, { minItems: 1, maxItems: mostTemplateRecords, description: 'What it makes.' }),
}

export type TemplateVariable = Static<typeof TemplateVariable>
export type TemplateRecord = Static<typeof TemplateRecord>
/** What a template puts into zones. */
export interface TemplateContent {
  variables: TemplateVariable[]
  records: TemplateRecord[]
}
export type Values = Readonly<Record<string, string | number>>
