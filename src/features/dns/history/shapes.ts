import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { originWords } from '../../../core/event-kinds/dns'
import { Instant, Line, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { membersExample, membersShown, recordName, recordType } from '../record-shapes'
import { soaShown, zoneExample } from '../zone-shapes'

const tally = (description: string) => Type.Integer({ minimum: 0, description })
const zone_id = Type.String({ description: 'The zone.' })
const SoaChange = Nullable(Shape({ before: soaShown, after: soaShown }), {
  description: 'The SOA before and after; null where at most its serial differs.',
})

const Form = (description: string) =>
  Nullable(
    Shape({
      ttl: Type.Integer({ description: 'Time to live in seconds.' }),
      ...membersShown,
      records: Type.Array(
        Shape({
          id: Type.String({ description: 'Id of the record.' }),
          content: Type.String({ description: 'Its value as in a zone file.' }),
        }),
        { description: 'Its records.' },
      ),
    }),
    { description },
  )

/** Rrsets that one answer tells of. */
export const mostShown = 1000
const RrsetChange = Shape({
  name: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
  type: Type.String({ description: 'Record type.' }),
  before: Form('As they were; null where there were none.'),
  after: Form('As they are then; null where there are none.'),
})
const RrsetChanges = Type.Array(RrsetChange, { maxItems: mostShown, description: 'By name and type.' })
const truncated = Type.Boolean({
  description: `True when there are more than fit an answer, which has ${mostShown} names and types and some 4 MiB at most.`,
})
const rrsetExample = {
  name: 'www',
  type: 'A',
  before: null,
  after: { ttl: 300, ...membersExample, records: [{ id: 'rec_01k3z8rt5n0p2q4v6x8z1c3e5g', content: '192.0.2.10' }] },
}

const changeset = {
  id: Type.String({ description: 'Identifier.' }),
  zone_id,
  version: Type.Integer({ description: 'Version of the zone from then on; the one before it was one less.' }),
  serial_before: Type.Integer({ description: 'Serial until then.' }),
  serial_after: Type.Integer({ description: 'Serial from then on; the same where nothing changed that is served.' }),
  soa: SoaChange,
  origin: Words(originWords, { description: 'Where it came from, as in `dns.records_changed`.' }),
  actor: Shape(
    {
      type: Type.String({ description: 'What it is, such as `token` or `user`.' }),
      id: Type.String({ description: 'Its id.' }),
      name: Nullable(Type.String(), { description: 'Its name.' }),
    },
    { description: 'Who made the change.' },
  ),
  note: Nullable(Type.String(), { description: 'Why, if that was said.' }),
  plan_id: Nullable(Type.String(), { description: 'The plan that it was made by.' }),
  created: tally('Records that were made.'),
  updated: tally('Records whose value, TTL or options changed.'),
  deleted: tally('Records that were removed.'),
  rrset_count: tally('Names and types that changed, also where it was a comment alone.'),
  occurred_at: Instant({ description: 'When it was made.' }),
  request_id: Nullable(Type.String(), { description: 'The request that made it.' }),
}
const example = {
  id: 'zchg_01k3z8rt5n0p2q4v6x8z1c3e5h',
  zone_id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn',
  version: 8,
  serial_before: 7,
  serial_after: 8,
  soa: null,
  origin: 'api',
  actor: { type: 'token', id: 'tok_01k3z8m2a4f6s8w0y1b3d5g7jk', name: 'deploy' },
  note: null,
  plan_id: null,
  created: 1,
  updated: 0,
  deleted: 0,
  rrset_count: 1,
  occurred_at: '2026-11-21T10:00:00.000Z',
  request_id: 'req_01k3z8rt5n0p2q4v6x8z1c3e5j',
}

export const Changeset = Shape(changeset, { $id: 'ZoneChangeset', description: 'One change of a zone.', examples: [example] })
export const ChangesetList = ListOf(Changeset)

export const rrsetQuery = {
  name: Type.String({
    minLength: 1,
    maxLength: 1024,
    description: 'Only what was done to this name of the zone; `@` is the apex.',
  }),
  type: Type.String({
    pattern: '^[A-Za-z0-9]{1,20}$',
    'x-rule': 'must be a record type.',
    description: 'Only what was done to this type; with `name` to both in one.',
  }),
}
export const ChangesetQuery = Shape({ name: Type.Optional(rrsetQuery.name), type: Type.Optional(rrsetQuery.type) })
export const ChangesetWhole = Shape(
  { ...changeset, rrsets: RrsetChanges, truncated },
  {
    $id: 'ZoneChangesetWhole',
    description: 'One change of a zone with all that it changed.',
    examples: [{ ...example, rrsets: [rrsetExample], truncated: false }],
  },
)

const At = (description: string) =>
  Shape(
    { version: Type.Integer({ description: 'Version of the zone.' }), serial: Type.Integer({ description: 'Serial then.' }) },
    { description },
  )
export const DiffQuery = Shape({
  from: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Version of the zone to begin with; the one before `to` when absent.' }),
  ),
  to: Type.Optional(Type.Integer({ minimum: 1, description: 'Version of the zone to end with; as it is now when absent.' })),
})
export const ZoneDiff = Shape(
  { zone_id, from: At('Before.'), to: At('After.'), soa: SoaChange, rrsets: RrsetChanges, truncated },
  {
    $id: 'ZoneDiff',
    description: 'What is different between two versions of a zone.',
    examples: [
      {
        zone_id: example.zone_id,
        from: { version: 7, serial: 7 },
        to: { version: 8, serial: 8 },
        soa: { before: zoneExample.soa, after: { ...zoneExample.soa, minimum: 60 } },
        rrsets: [rrsetExample],
        truncated: false,
      },
    ],
  },
)

export const RevertInput = Shape(
  {
    changeset_id: Type.Optional(Type.String({ maxLength: 100, description: 'The change to undo.' })),
    version: Type.Optional(Type.Integer({ minimum: 1, description: 'The version to go back to.' })),
    rrsets: Type.Optional(
      Type.Array(Shape({ name: recordName, type: recordType }), {
        minItems: 1,
        maxItems: mostShown,
        description: 'Only these names and types, and not the SOA; all when absent.',
      }),
    ),
    note: Type.Optional(Line({ maxLength: 500, description: 'Why; it is kept with the change.' })),
    apply: Type.Optional(Type.Boolean({ default: false, description: 'Whether to do it, if nothing holds the plan back.' })),
  },
  {
    $id: 'ZoneRevertInput',
    description: 'What to undo: one change, or all since a version.',
    examples: [{ changeset_id: example.id, note: 'The new address does not answer.', apply: true }],
  },
)
export type ChangesetView = Static<typeof Changeset>
export type ChangesetWholeView = Static<typeof ChangesetWhole>
export type RrsetChangeView = Static<typeof RrsetChange>
export type ZoneDiffView = Static<typeof ZoneDiff>
export type RevertInput = Static<typeof RevertInput>
