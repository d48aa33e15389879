import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, Line, ListOf, MaybeInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { RrsetsInput } from '../record-shapes'
import { blockCodes } from './guards'

const Member = Shape({
  name: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
  type: Type.String({ description: 'Record type.' }),
})

export const Reason = Shape(
  {
    code: Words(blockCodes, { description: 'The reason; it is overridden by this word. Further ones may be added.' }),
    detail: Type.String({ description: 'For people, with the figures.' }),
    members: Type.Array(Member, { maxItems: 20, description: 'What it is about, the first ones.' }),
  },
  {
    $id: 'DnsPlanReason',
    description: 'Why a plan is not carried out unasked.',
    examples: [
      {
        code: 'deletes_over_limit',
        detail: 'It would remove 4 of 10 rrsets; up to 30 % go unasked.',
        members: [{ name: 'www', type: 'A' }],
      },
    ],
  },
)

const Form = Nullable(
  Shape({
    ttl: Type.Integer({ minimum: 0, description: 'Time to live in seconds.' }),
    values: Type.Array(Type.String(), { description: 'Its values as in a zone file.' }),
    options: Type.Optional(
      Shape({ proxied: Type.Optional(Type.Boolean({ description: 'Whether the provider stands before it.' })) }),
    ),
  }),
)

export const Op = Shape({
  action: Words(['create', 'update', 'delete'], { description: 'What is done to the rrset.' }),
  name: Member.properties.name,
  type: Member.properties.type,
  before: { ...Form, description: 'As it is; null where there is none.' },
  after: { ...Form, description: 'As it is to be; null where it goes.' },
})

const PlanTarget = Shape({
  target_id: Nullable(Type.String(), { description: 'The target; null where it is the zone as it is kept here.' }),
  provider_id: Type.String({ description: 'The provider; `builtin` is the hub itself.' }),
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

export const PlanInput = Shape(
  {
    rrsets: RrsetsInput.properties.rrsets,
    note: Type.Optional(note),
  },
  {
    $id: 'DnsPlanInput',
    description: 'Edits of records by name and type, to see what they would do.',
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

export type PlanView = Static<typeof Plan>
export type PlanInput = Static<typeof PlanInput>
export type PlanApplyInput = Static<typeof PlanApplyInput>
