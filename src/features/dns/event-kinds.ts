import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../../core/shapes'
import { coreKind } from '../../core/event-kinds'
import { Actor, At, DomainName, IdOf, Named } from '../../core/event-fields'

const Value = (description: string) =>
  Nullable(
    Shape({
      ttl: Type.Integer({ minimum: 0, description: 'Time to live in seconds.' }),
      content: Type.String({ description: 'Record data in presentation format.' }),
      options: Type.Optional(
        Shape(
          {
            proxied: Type.Optional(
              Type.Boolean({ description: 'Whether the provider proxies traffic and answers with its own addresses.' }),
            ),
          },
          { description: 'Provider-specific options; omitted if there are none.' },
        ),
      ),
    }),
    { description },
  )

const Change = Shape({
  action: Words(['created', 'updated', 'deleted'], { description: 'What happened to the record.' }),
  record_id: Nullable(IdOf('rec', 'Record ID.'), { description: 'ID of the record; null for an unmanaged record.' }),
  type: Type.String({ pattern: '^[A-Z0-9]+$', description: 'DNS record type.' }),
  name: Type.String({ minLength: 1, description: 'Name relative to the zone. The apex is `@`.' }),
  fqdn: DomainName,
  before: Value('Previous value; null if the record was created.'),
  after: Value('New value; null if the record was deleted.'),
})

/** Origins of record changes. */
export const recordOrigins = ['api', 'dashboard', 'template', 'import', 'dynamic', 'external'] as const

export const dnsKinds = [
  coreKind({
    kind: 'dns.records_changed',
    area: 'dns',
    title: 'DNS records changed',
    description:
      'Records of a zone changed in Bailiwick. Changes made at a provider are included once they are adopted; `origin` is `external` if the drift policy adopted them. ' +
      'One message per set of changes.',
    data: Shape({
      zone: Named('zone', 'The zone.'),
      origin: Words(recordOrigins, {
        description:
          'Origin of the change. `dynamic`: a dynamic IP source. `external`: a change at a provider that the `adopt` drift policy copied into the zone.',
      }),
      actor: Nullable(Actor('Who made the changes.'), { description: 'Who made the changes; null if `origin` is `external`.' }),
      changed_at: At('When the records changed in Bailiwick.'),
      changes: Type.Array(Change, { description: 'The changed records.' }),
      change_count: Type.Integer({ minimum: 1, description: 'Total number of changed records.' }),
      truncated: Type.Boolean({
        description: 'True if the changes exceed the message limit of 64 KiB; `changes` then contains only the first ones.',
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
