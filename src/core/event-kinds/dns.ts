import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../shapes'
import { contractKind } from './entry'
import { Actor, At, DomainName, IdOf, Named } from './members'

const Value = (description: string) =>
  Nullable(
    Shape({
      ttl: Type.Integer({ minimum: 0, description: 'Time to live in seconds.' }),
      content: Type.String({ description: 'The record’s data in presentation form.' }),
      options: Type.Optional(
        Shape(
          { proxied: Type.Optional(Type.Boolean({ description: 'Whether the provider answers with addresses of its own.' })) },
          { description: 'What is set for the provider beyond DNS; absent where nothing is.' },
        ),
      ),
    }),
    { description },
  )

const Change = Shape({
  action: Words(['created', 'updated', 'deleted'], { description: 'What happened to the record.' }),
  record_id: Nullable(IdOf('rec', 'Its id.'), { description: 'Null for a record not managed here.' }),
  type: Type.String({ pattern: '^[A-Z0-9]+$', description: 'DNS record type.' }),
  name: Type.String({ minLength: 1, description: 'Name within the zone; the apex is `@`.' }),
  fqdn: DomainName,
  before: Value('As it was; null when created.'),
  after: Value('As it is; null when deleted.'),
})

/** Where changes of records come from. */
export const originWords = ['api', 'dashboard', 'template', 'import', 'dynamic', 'external'] as const

export const dnsKinds = [
  contractKind({
    kind: 'dns.records_changed',
    area: 'dns',
    title: 'DNS records changed',
    description: 'Records of a zone changed, here or outside (origin `external`). One message for each set of changes.',
    data: Shape({
      zone: Named('zone', 'The zone.'),
      origin: Words(originWords, {
        description: 'Where the change came from; `dynamic` is a dynamic IP source, `external` was found at the provider.',
      }),
      actor: Nullable(Actor('Who changed them.'), { description: 'Who changed them; null when `origin` is `external`.' }),
      changed_at: At('When they changed; for `external`, when that was found.'),
      changes: Type.Array(Change, { description: 'The changed records.' }),
      change_count: Type.Integer({ minimum: 1, description: 'How many records changed in all.' }),
      truncated: Type.Boolean({
        description: 'True when not all fit a message of 64 KiB: then `changes` holds the first ones only.',
      }),
    }),
    example: {
      zone: { id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn', name: 'example.com' },
      origin: 'api',
      actor: { type: 'token', id: 'tok_01k3z8m2a4f6s8w0y1b3d5g7jk', name: 'deploy' },
      changed_at: '2027-01-31T09:26:53.589Z',
      changes: [
        {
          action: 'updated',
          record_id: 'rec_01k3z8rt5n0p2q4v6x8z1c3e5g',
          type: 'A',
          name: '@',
          fqdn: 'example.com',
          before: { ttl: 3600, content: '192.0.2.10' },
          after: { ttl: 300, content: '192.0.2.20' },
        },
        {
          action: 'created',
          record_id: 'rec_01k3z8rt5p1r3s5t7w9y0a2b4d',
          type: 'TXT',
          name: '_dmarc',
          fqdn: '_dmarc.example.com',
          before: null,
          after: { ttl: 3600, content: '"v=DMARC1; p=none"' },
        },
      ],
      change_count: 2,
      truncated: false,
    },
  }),
] as const
