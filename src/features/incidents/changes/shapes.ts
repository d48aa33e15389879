import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { actorFields, namedResourceFields, Instant, Nullable, Shape, Words } from '../../../core/shapes'

/** How a change is related to an incident, closest first. */
export const changeRelations = ['name', 'subject', 'zone', 'tag', 'deployment', 'none'] as const
export type ChangeRelation = (typeof changeRelations)[number]

const Data = (description: string) =>
  Nullable(
    Shape(
      {
        ttl: Type.Integer({ description: 'Time to live in seconds.' }),
        content: Type.String({ description: 'Value in zone file format.' }),
      },
      { additionalProperties: true },
    ),
    { description },
  )

const example = {
  id: 'evt_01k3zb5c2e4g6j8m0p2r4t6v8x',
  source: 'event' as const,
  kind: 'dns.records_changed',
  at: '2027-01-31T09:18:04.002Z',
  seconds_before: 146,
  relation: 'name' as const,
  summary: 'A shop.example.com: changed from 192.0.2.10 to 192.0.2.20',
  actor: { type: 'user', id: 'usr_01k3zb7m9n1p3q5r7s9t1v3w5x', name: 'Alice' },
  resource: { type: 'zone', id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn', name: 'example.com' },
  records: [
    {
      action: 'updated',
      type: 'A',
      fqdn: 'shop.example.com',
      before: { ttl: 300, content: '192.0.2.10' },
      after: { ttl: 300, content: '192.0.2.20' },
    },
  ],
  changes: null,
}

export const IncidentChange = Shape(
  {
    id: Type.String({ description: 'ID of the event or audit event.' }),
    source: Words(['event', 'audit'], { description: 'Whether this comes from an event or from the audit log.' }),
    kind: Type.String({ description: 'Event kind or audit action.' }),
    at: Instant({ description: 'When the change was made. For changes made outside Bailiwick, when they were detected.' }),
    seconds_before: Type.Integer({
      description:
        'Seconds from the change to the start of the incident. Negative for changes at a provider that were detected afterward.',
    }),
    relation: Words(changeRelations, {
      description:
        '`name`: records that the target’s name resolves through. `subject`: the monitor or heartbeat that failed. `zone`: other records ' +
        'in the zone of that name. `tag`: a monitor or heartbeat with a tag in common. `deployment`: a deployment of your software. `none`: unrelated.',
    }),
    summary: Type.String({ description: 'Short description of the change.' }),
    actor: Nullable(Shape(actorFields), {
      description: 'Who made the change; null if unknown.',
    }),
    resource: Nullable(Shape(namedResourceFields), {
      description: 'The resource that changed; null if unknown.',
    }),
    records: Type.Array(
      Shape({
        action: Words(['created', 'updated', 'deleted'], { description: 'What happened to the record.' }),
        type: Type.String({ description: 'DNS record type.' }),
        fqdn: Type.String({ description: 'Name of the record.' }),
        before: Data('Previous data; null if the record was created.'),
        after: Data('New data; null if the record was deleted.'),
      }),
      { description: 'Changed DNS records, up to 10. Records that the target’s name resolves through come first.' },
    ),
    changes: Nullable(
      Shape({
        before: Type.Record(Type.String(), Type.Unknown(), { description: 'Previous values.' }),
        after: Type.Record(Type.String(), Type.Unknown(), { description: 'New values.' }),
      }),
      { description: 'Changed fields; null for events, and for actions without changed fields.' },
    ),
  },
  { $id: 'IncidentChange', description: 'A change made shortly before an incident started.', examples: [example] },
)

export const IncidentChanges = Shape(
  {
    data: Type.Array(IncidentChange, { description: 'Changes, the most closely related first.' }),
    truncated: Type.Boolean({ description: 'Whether there are more changes than `limit`.' }),
  },
  {
    $id: 'IncidentChanges',
    description: 'Changes made shortly before an incident started.',
    examples: [{ data: [example], truncated: false }],
  },
)

export type IncidentChangeView = Static<typeof IncidentChange>
