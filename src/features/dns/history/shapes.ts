import { type Static, Type } from '@sinclair/typebox'
import { recordOrigins } from '../event-kinds'
import { actorFields, Instant, Line, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { changed, metadataExample, metadataFields, recordName, recordType } from '../records/shapes'
import { rrsetName } from '../plans/op-shapes'
import { soaSchema, zoneExample } from '../zones/shapes'

const { zone_id, created, updated, deleted } = changed
const SoaChange = Nullable(Shape({ before: soaSchema, after: soaSchema }), {
  description: 'The SOA before and after. Null if nothing but the serial changed.',
})

const RrsetState = (description: string) =>
  Nullable(
    Shape({
      ttl: Type.Integer({ description: 'Time to live in seconds.' }),
      ...metadataFields,
      records: Type.Array(
        Shape({
          id: Type.String({ description: 'ID of the record.' }),
          content: Type.String({ description: 'Value in zone file format.' }),
        }),
        { description: 'Records of the record set.' },
      ),
    }),
    { description },
  )

/** Maximum number of rrsets in a response. */
export const maxRrsetsShown = 1000
const RrsetChange = Shape({
  ...rrsetName,
  before: RrsetState('Records before the change. Null if there were none.'),
  after: RrsetState('Records after the change. Null if there are none.'),
})
const RrsetChanges = Type.Array(RrsetChange, {
  maxItems: maxRrsetsShown,
  description: 'Changed record sets, sorted by name and type.',
})
const truncated = Type.Boolean({
  description: `True if the response is incomplete. A response has at most ${maxRrsetsShown.toLocaleString('en-US')} record sets and about 4 MiB.`,
})
const rrsetExample = {
  name: 'www',
  type: 'A',
  before: null,
  after: { ttl: 300, ...metadataExample, records: [{ id: 'rec_01k3z8rt5n0p2q4v6x8z1c3e5g', content: '192.0.2.10' }] },
}

const changeset = {
  id: Type.String({ description: 'ID of the changeset.' }),
  zone_id,
  version: Type.Integer({ description: 'Version of the zone after the change. Versions increase by one.' }),
  serial_before: Type.Integer({ description: 'Serial before the change.' }),
  serial_after: Type.Integer({
    description: 'Serial after the change. Unchanged if only metadata such as comments or tags changed.',
  }),
  soa: SoaChange,
  origin: Words(recordOrigins, {
    description:
      'Where the change came from. `dynamic`: a dynamic IP source. `external`: a change at a provider that the `adopt` drift policy copied into the zone.',
  }),
  actor: Shape(actorFields, { description: 'Who made the change.' }),
  note: Nullable(Type.String(), { description: 'Reason given for the change; null if none was given.' }),
  plan_id: Nullable(Type.String(), { description: 'ID of the plan that made the change; null if it was made without one.' }),
  created,
  updated,
  deleted,
  rrset_count: Type.Integer({
    minimum: 0,
    description: 'Number of record sets that changed, including those where only comments or tags changed.',
  }),
  occurred_at: Instant({ description: 'When the change was made.' }),
  request_id: Nullable(Type.String(), {
    description: 'ID of the request that made the change; null for changes not made by a request.',
  }),
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

const Changeset = Shape(changeset, { $id: 'ZoneChangeset', description: 'One change to a zone.', examples: [example] })
export const ChangesetList = ListOf(Changeset)

export const rrsetQuery = {
  name: Type.String({
    minLength: 1,
    maxLength: 1024,
    description: 'Only changes to this name, relative to the zone. `@` is the apex.',
  }),
  type: Type.String({
    pattern: '^[A-Za-z0-9]{1,20}$',
    'x-rule': 'must be a record type such as A or TXT, or TYPE followed by a number.',
    description: 'Only changes to this record type. With `name`, only changes to that record set.',
  }),
}
export const ChangesetQuery = Shape({ name: Type.Optional(rrsetQuery.name), type: Type.Optional(rrsetQuery.type) })
export const ChangesetDetail = Shape(
  { ...changeset, rrsets: RrsetChanges, truncated },
  {
    $id: 'ZoneChangesetDetail',
    description: 'One change to a zone, with the records it changed.',
    examples: [{ ...example, rrsets: [rrsetExample], truncated: false }],
  },
)

const VersionRef = (description: string) =>
  Shape(
    {
      version: Type.Integer({ description: 'Version of the zone.' }),
      serial: Type.Integer({ description: 'Serial of that version.' }),
    },
    { description },
  )
export const DiffQuery = Shape({
  from: Type.Optional(Type.Integer({ minimum: 1, description: 'Version to compare from. Default: the version before `to`.' })),
  to: Type.Optional(Type.Integer({ minimum: 1, description: 'Version to compare to. Default: the current version.' })),
})
export const ZoneDiff = Shape(
  {
    zone_id,
    from: VersionRef('Version compared from.'),
    to: VersionRef('Version compared to.'),
    soa: SoaChange,
    rrsets: RrsetChanges,
    truncated,
  },
  {
    $id: 'ZoneDiff',
    description: 'Differences between two versions of a zone.',
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
    changeset_id: Type.Optional(
      Type.String({ maxLength: 100, description: 'ID of the changeset to revert. Pass either this or `version`.' }),
    ),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Version of the zone to revert to: all later changes are reverted. It must be in the history.',
      }),
    ),
    rrsets: Type.Optional(
      Type.Array(Shape({ name: recordName, type: recordType }), {
        minItems: 1,
        maxItems: maxRrsetsShown,
        description: 'Revert only these record sets, and not the SOA. Default: all record sets and the SOA.',
      }),
    ),
    note: Type.Optional(Line({ maxLength: 500, description: 'Reason, stored with the change.' })),
    apply: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to apply the plan immediately unless it is blocked.' }),
    ),
  },
  {
    $id: 'ZoneRevertInput',
    description: 'What to revert: one changeset, or all changes since a version.',
    examples: [{ changeset_id: example.id, note: 'The new address is unreachable.', apply: true }],
  },
)
export type ChangesetView = Static<typeof Changeset>
export type ChangesetDetailView = Static<typeof ChangesetDetail>
export type RrsetChangeView = Static<typeof RrsetChange>
export type ZoneDiffView = Static<typeof ZoneDiff>
export type RevertInput = Static<typeof RevertInput>
