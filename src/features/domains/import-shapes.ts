import { Type, type Static } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../../core/shapes'

export const maxImportBytes = 2 * 1024 * 1024
export const maxImportLines = 10_000
export const importColumns = ['name', 'expires_at', 'registrar', 'auto_renew', 'tags', 'notes'] as const
/** Other columns of an export, which an import ignores. */
export const exportColumns = ['status', 'expiry_confidence', 'delegation', 'id'] as const
const outcomes = ['created', 'existing', 'invalid', 'duplicate'] as const

export const importExamples = {
  'text/csv': 'name,expires_at,tags\nexample.com,2027-04-02,shop\nexample.org,,\n',
  'text/plain': 'example.com\nwww.example.org\nhttps://shop.example.net/cart\n',
} as const

export const DomainImportQuery = Shape({
  dry_run: Type.Optional(
    Type.Boolean({ default: false, description: 'Only report what would happen. `created` lines then have no ID.' }),
  ),
  mode: Type.Optional(
    Words(['partial', 'atomic'], {
      default: 'partial',
      description:
        '`partial`: create the valid domains. `atomic`: create nothing if a line is invalid, or over the limit of the plan.',
    }),
  ),
})
export type DomainImportQuery = Static<typeof DomainImportQuery>

export const DomainImportDocument = Shape(
  {
    domains: Type.Array(
      Type.Union([
        Type.String({ maxLength: 2000, description: 'Name, host, or URL.' }),
        Shape({
          name: Type.String({ maxLength: 2000, description: 'Name, host, or URL.' }),
          expires_at: Type.Optional(
            Nullable(Type.String({ maxLength: 100 }), { description: 'End of the registration, as a date.' }),
          ),
          tags: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 20, description: 'Tags.' })),
          notes: Type.Optional(Type.String({ maxLength: 10_000, description: 'Notes.' })),
        }),
      ]),
      { maxItems: maxImportLines, description: 'The domains.' },
    ),
  },
  {
    $id: 'DomainImportDocument',
    description: 'Domains to import.',
    examples: [{ domains: ['example.com', { name: 'example.org' }] }],
  },
)
export type DomainImportDocument = Static<typeof DomainImportDocument>

const count = (description: string) => Type.Integer({ minimum: 0, description })

const ImportedLine = Shape(
  {
    line: Type.Integer({ minimum: 1, description: 'Number of the line; in JSON, of the item, from 1.' }),
    input: Type.String({ description: 'The name as it was sent, at most 255 characters.' }),
    name: Nullable(Type.String(), { description: 'The registrable name; null if it is invalid.' }),
    outcome: Words(outcomes, {
      description: '`existing`: it was tracked before. `duplicate`: an earlier line has the same name.',
    }),
    code: Nullable(Type.String(), { description: 'Code of the problem; null unless the line is invalid.' }),
    detail: Nullable(Type.String(), { description: 'What is wrong; null unless the line is invalid.' }),
    id: Nullable(Type.String(), { description: 'ID of the domain; null if it was not created and did not exist.' }),
  },
  { $id: 'DomainImportLine', description: 'The result for a line of an import.' },
)
export type ImportedLine = Static<typeof ImportedLine>

export const DomainImport = Shape(
  {
    created: count('Number of domains that were created.'),
    existing: count('Number of lines whose domain was tracked before.'),
    invalid: count('Number of lines that are invalid.'),
    lines: Type.Array(ImportedLine, { description: 'All lines, in order.' }),
  },
  {
    $id: 'DomainImport',
    description: 'Result of an import.',
    examples: [
      {
        created: 1,
        existing: 0,
        invalid: 1,
        lines: [
          {
            ...{ line: 1, input: 'www.example.com', name: 'example.com', outcome: 'created', code: null, detail: null },
            id: 'dom_01k3zc1d3e5f7g9h1j3k5m7n9p',
          },
          {
            ...{ line: 2, input: 'co.uk', name: null, outcome: 'invalid', code: 'public_suffix' },
            ...{ detail: 'is a public suffix. Enter a name below it, such as example.co.uk.', id: null },
          },
        ],
      },
    ],
  },
)
export type DomainImport = Static<typeof DomainImport>
