import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, Line, ListOf, MaybeInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { changed, RrsetsInput } from '../record-shapes'
import { blockCodes } from './guards'
import { Form, Op, Reason, rrsetName, State, ZoneTarget } from './sync-shapes'
import { driftKinds } from './three-way'

const PlanTarget = Shape({
  target_id: Nullable(Type.String(), { description: 'The target; null where it is the zone as it is kept here.' }),
  provider_id: Nullable(Type.String(), {
    description:
      'The provider; `builtin` is the hub itself. Null where the zone as it is kept here changes, and the hub does not serve it: what is to be at its providers.',
  }),
  op_count: Type.Integer({ minimum: 0, description: 'Steps in all.' }),
  ops: Type.Array(Op, { maxItems: 1000, description: 'The steps, the first ones.' }),
  truncated: Type.Boolean({ description: 'True when there are more than are shown.' }),
})

const example = {
  id: 'plan_01k3z9a4g7e2wv5m9x0c6hbtfn',
  zone_id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn',
  zone_version: 7,
  hash: '5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
  status: 'open',
  blocked: [],
  targets: [
    {
      target_id: null,
      provider_id: 'builtin',
      op_count: 1,
      ops: [
        {
          action: 'update',
          name: 'www',
          type: 'A',
          before: { ttl: 300, values: ['192.0.2.10'] },
          after: { ttl: 300, values: ['192.0.2.20'] },
        },
      ],
      truncated: false,
    },
  ],
  origin: 'api',
  note: '',
  allowed: [],
  created_by: { type: 'token', id: 'tok_01k3z8m2a4f6s8w0y1b3d5g7jk', name: 'deploy' },
  created_at: '2026-11-21T10:00:00.000Z',
  expires_at: '2026-11-21T10:15:00.000Z',
  applied_at: null,
}

export const Plan = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    zone_id: Type.String({ description: 'The zone.' }),
    zone_version: Type.Integer({ minimum: 1, description: 'The version of the zone that it was worked out from.' }),
    hash: Type.String({ description: 'Over all that it would do; sent back to apply it.' }),
    status: Words(['open', 'applied', 'stale', 'expired'], {
      description: '`open`: it can be applied. `stale`: the zone has changed since. `expired`: it is older than 15 minutes.',
    }),
    blocked: Type.Array(Reason, { description: 'Why it is not applied unless each of these is allowed.' }),
    targets: Type.Array(PlanTarget, { description: 'What would be done, by place.' }),
    origin: Words(['api', 'dashboard', 'template', 'import', 'dynamic', 'external'], { description: 'Where it came from.' }),
    note: Type.String({ description: 'What whoever made it had to say.' }),
    allowed: Type.Array(Type.String(), { description: 'Reasons that were overridden when it was applied.' }),
    created_by: Shape(
      {
        type: Type.String({ description: 'What kind of caller it was.' }),
        id: Type.String({ description: 'Id of the user or the token; for `system` the name of the job.' }),
        name: Nullable(Type.String(), { description: 'Name of the user or label of the token.' }),
      },
      { description: 'Who made it.' },
    ),
    created_at: Instant({ description: 'When it was made.' }),
    expires_at: Instant({ description: 'When it can be applied no more.' }),
    applied_at: MaybeInstant({ description: 'When it was applied; null before.' }),
  },
  { $id: 'DnsPlan', description: 'What would be done to a zone.', examples: [example] },
)
export const PlanList = ListOf(Plan)

const note = Line({ maxLength: 500, description: 'Why, for the audit log.' })

const named = Shape({
  name: Type.String({ maxLength: 1024, description: 'Name within the zone; the apex is `@`.' }),
  type: Type.String({
    maxLength: 20,
    pattern: '^[A-Za-z0-9]+$',
    'x-rule': 'must be a record type.',
    description: 'Record type.',
  }),
})
const all = (description: string) => Type.Literal('all', { description })

export const PlanInput = Shape(
  {
    rrsets: Type.Optional(RrsetsInput.properties.rrsets),
    targets: Type.Optional(
      Type.Array(Type.String({ maxLength: 40 }), {
        maxItems: 10,
        uniqueItems: true,
        description: 'Ids of the targets that it is for; all of the zone when absent.',
      }),
    ),
    enforce: Type.Optional(
      Type.Union([all('All of them.'), Type.Array(named, { minItems: 1, maxItems: 1000, description: 'These rrsets.' })], {
        description: 'What others changed at the targets and is put back, also where it was changed here as well.',
      }),
    ),
    note: Type.Optional(note),
  },
  {
    $id: 'DnsPlanInput',
    description:
      'Edits of records by name and type, to see what they would do. Without any, the plan is what waits to be brought to the targets.',
    examples: [{ rrsets: [{ name: 'www', type: 'A', ttl: 300, records: [{ content: '192.0.2.20' }] }] }],
  },
)

export const allowed = Type.Array(Words(blockCodes), {
  maxItems: blockCodes.length,
  uniqueItems: true,
  description: 'Codes of the reasons to override.',
})

export const PlanApplyInput = Shape(
  {
    plan_id: Type.String({ maxLength: 40, description: 'The plan.' }),
    hash: Type.String({ maxLength: 64, description: 'Its hash, as it was shown.' }),
    allow: Type.Optional(allowed),
    note: Type.Optional(Line({ maxLength: 500, description: 'Why, for the audit log; required where a reason is allowed.' })),
  },
  {
    $id: 'DnsPlanApplyInput',
    description: 'A plan to carry out.',
    examples: [{ plan_id: example.id, hash: example.hash }],
  },
)

export const TargetInput = Shape(
  { provider_id: Type.String({ maxLength: 40, description: 'A DNS provider of the workspace.' }) },
  {
    $id: 'ZoneTargetInput',
    description: 'A provider to keep a zone at.',
    examples: [{ provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn' }],
  },
)
export const TargetList = ListOf(ZoneTarget)

export const RefreshInput = Shape(
  {
    believe: Type.Optional(
      Type.Boolean({
        description: 'Takes the reading as it is, even if it is empty or less than half of the one before. Needs `note`.',
      }),
    ),
    note: Type.Optional(note),
  },
  { $id: 'ZoneRefreshInput', description: 'How a zone is to be read.', examples: [{}] },
)

const DriftEntry = Shape({
  target_id: Type.String({ description: 'The target.' }),
  provider_id: Type.String({ description: 'Its provider.' }),
  ...rrsetName,
  state: State,
  kind: Nullable(Words(driftKinds), {
    description: 'What others did: changed it, took it away, or added it; null where they did nothing.',
  }),
  detail: Nullable(Type.String(), { description: 'What the provider said, or why it is so.' }),
  desired: Form('As it is to be; null where it is not to be.'),
  observed: Form('As it was last read; null where it was not there.'),
  since: Instant({ description: 'Since when it stands so.' }),
  checked_at: MaybeInstant({ description: 'When it was last read.' }),
})

export const ZoneDrift = Shape(
  {
    zone_id: Type.String({ description: 'The zone.' }),
    rrsets: Type.Array(DriftEntry, { maxItems: 1000, description: 'By target, name and type.' }),
    truncated: Type.Boolean({ description: 'True when there are more than 1000.' }),
  },
  {
    $id: 'ZoneDrift',
    description: 'What of a zone is not at its providers as it is to be.',
    examples: [
      {
        zone_id: example.zone_id,
        rrsets: [
          {
            target_id: 'ztgt_01k3z8q4g7e2wv5m9x0c6hbtfn',
            provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn',
            name: 'www',
            type: 'A',
            state: 'drifted',
            kind: 'changed',
            detail: null,
            desired: { ttl: 300, values: ['192.0.2.10'] },
            observed: { ttl: 300, values: ['198.51.100.7'] },
            since: '2026-11-21T10:00:00.000Z',
            checked_at: '2026-11-21T10:00:00.000Z',
          },
        ],
        truncated: false,
      },
    ],
  },
)

export const AdoptInput = Shape(
  {
    rrsets: Type.Optional(
      Type.Array(named, { minItems: 1, maxItems: 1000, description: 'Those that become as they are there.' }),
    ),
    all: Type.Optional(Type.Boolean({ description: 'All that others changed, added or took away.' })),
    target_id: Type.Optional(
      Type.String({ maxLength: 40, description: 'The target; required where the zone is kept at several.' }),
    ),
  },
  { $id: 'ZoneAdoptInput', description: 'What to take over from a provider.', examples: [{ all: true }] },
)

export const ZoneAdopted = Shape(
  { ...changed },
  {
    $id: 'ZoneAdopted',
    description: 'What became of the records here.',
    examples: [{ zone_id: example.zone_id, serial: 8, created: 2, updated: 0, deleted: 1 }],
  },
)

export type TargetInput = Static<typeof TargetInput>
export type RefreshInput = Static<typeof RefreshInput>
export type Drift = Static<typeof ZoneDrift>
export type AdoptInput = Static<typeof AdoptInput>
export type Adopted = Static<typeof ZoneAdopted>
export type PlanView = Static<typeof Plan>
export type PlanInput = Static<typeof PlanInput>
export type PlanApplyInput = Static<typeof PlanApplyInput>
