import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, Nullable, Shape, Words } from '../../core/shapes'

/** What a change has to do with an incident, the closest first. */
export const changeRelations = ['name', 'subject', 'zone', 'tag', 'deployment', 'none'] as const
export type ChangeRelation = (typeof changeRelations)[number]

const Data = (description: string) =>
  Nullable(Shape({ ttl: Type.Integer(), content: Type.String() }, { additionalProperties: true }), { description })

const example = {
  id: 'evt_01k3zb5c2e4g6j8m0p2r4t6v8x',
  source: 'event' as const,
  kind: 'dns.records_changed',
  at: '2027-01-31T09:18:04.002Z',
  seconds_before: 146,
  relation: 'name' as const,
  summary: 'A shop.example.com: 192.0.2.10 became 192.0.2.20',
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
    id: Type.String({ description: 'Id of the event or the audit entry that tells of it.' }),
    source: Words(['event', 'audit'], { description: 'Where it is written down.' }),
    kind: Type.String({ description: 'Kind of the event, or action of the audit entry.' }),
    at: Instant({ description: 'When it happened; of what others changed at a provider, when that was found.' }),
    seconds_before: Type.Integer({
      description: 'How long before the incident began; negative for what was found at a provider only after.',
    }),
    relation: Words(changeRelations, {
      description:
        '`name`: records by which the target’s name is found. `subject`: what failed itself. `zone`: the zone that holds the name. ' +
        '`tag`: a monitor or heartbeat with a tag in common. `deployment`: something was deployed.',
    }),
    summary: Type.String({ description: 'What was changed, for people.' }),
    actor: Nullable(Shape({ type: Type.String(), id: Type.String(), name: Nullable(Type.String()) }), {
      description: 'Who did it; null where that is not known.',
    }),
    resource: Nullable(Shape({ type: Type.String(), id: Type.String(), name: Nullable(Type.String()) }), {
      description: 'What was changed.',
    }),
    records: Type.Array(
      Shape({
        action: Words(['created', 'updated', 'deleted']),
        type: Type.String({ description: 'DNS record type.' }),
        fqdn: Type.String({ description: 'Name of the record.' }),
        before: Data('As it was; null when created.'),
        after: Data('As it is; null when deleted.'),
      }),
      { description: 'Of a change of DNS, up to ten records, those that the name is found by first.' },
    ),
    changes: Nullable(
      Shape({ before: Type.Record(Type.String(), Type.Unknown()), after: Type.Record(Type.String(), Type.Unknown()) }),
      { description: 'Of an audit entry, the members that differ.' },
    ),
  },
  { $id: 'IncidentChange', description: 'Something that was changed before an incident began.', examples: [example] },
)

export const IncidentChanges = Shape(
  {
    data: Type.Array(IncidentChange),
    truncated: Type.Boolean({ description: 'Whether there are more than were asked for.' }),
  },
  {
    $id: 'IncidentChanges',
    description: 'What was changed before an incident began.',
    examples: [{ data: [example], truncated: false }],
  },
)

export type IncidentChangeView = Static<typeof IncidentChange>
