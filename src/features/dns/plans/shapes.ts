import { type Static, Type } from '@sinclair/typebox'
import { actorFields, Instant, Line, ListOf, NullableInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { RrsetsInput } from '../records/shapes'
import { allowed, note, Op, Reason, rrsetInput } from './op-shapes'

const PlanTarget = Shape({
  target_id: Nullable(Type.String(), { description: 'ID of the sync target; null for the zone in Bailiwick.' }),
  provider_id: Nullable(Type.String(), {
    description:
      'ID of the provider; `builtin` for the built-in name server. Null for changes to a zone in Bailiwick that the built-in name server does ' +
      'not serve.',
  }),
  op_count: Type.Integer({ minimum: 0, description: 'Total number of changes.' }),
  ops: Type.Array(Op, { maxItems: 1000, description: 'The first 1,000 changes.' }),
  truncated: Type.Boolean({ description: 'True if `ops` is not complete.' }),
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
    id: Type.String({ description: 'ID of the plan.' }),
    zone_id: Type.String({ description: 'ID of the zone.' }),
    zone_version: Type.Integer({ minimum: 1, description: 'Version of the zone that the plan is based on.' }),
    hash: Type.String({ description: 'Hash of the plan. Send it back to apply the plan.' }),
    status: Words(['open', 'applied', 'stale', 'expired'], {
      description:
        '`open`: can be applied. `applied`: was applied. `stale`: the zone has changed since the plan was created. `expired`: older than 15 minutes.',
    }),
    blocked: Type.Array(Reason, { description: 'Safety checks that block the plan until each is allowed.' }),
    targets: Type.Array(PlanTarget, {
      description: 'Changes by sync target. The first entry is the zone in Bailiwick, unless the plan only changes sync targets.',
    }),
    origin: Words(['api', 'dashboard', 'template', 'import', 'dynamic', 'external'], {
      description: 'Where the changes of the plan come from, as `origin` of a changeset.',
    }),
    note: Type.String({ description: 'Note given when the plan was created; empty if none was given.' }),
    allowed: Type.Array(Type.String(), {
      description: 'Codes of the safety checks that were overridden when the plan was applied.',
    }),
    created_by: Shape(actorFields, { description: 'Actor that created the plan.' }),
    created_at: Instant({ description: 'When the plan was created.' }),
    expires_at: Instant({ description: 'When the plan expires.' }),
    applied_at: NullableInstant({ description: 'When the plan was applied; null if it was not.' }),
  },
  {
    $id: 'DnsPlan',
    description: 'A plan: a preview of changes to a zone in Bailiwick and at its sync targets.',
    examples: [example],
  },
)
export const PlanList = ListOf(Plan)

const all = Type.Literal('all', { description: 'All external changes.' })

export const PlanInput = Shape(
  {
    rrsets: Type.Optional(RrsetsInput.properties.rrsets),
    targets: Type.Optional(
      Type.Array(Type.String({ maxLength: 40 }), {
        maxItems: 10,
        uniqueItems: true,
        description: 'IDs of the sync targets to include. Default: all sync targets of the zone.',
      }),
    ),
    enforce: Type.Optional(
      Type.Union([all, Type.Array(rrsetInput, { minItems: 1, maxItems: 1000, description: 'Only these record sets.' })], {
        description:
          'Record sets whose changes at the targets the plan reverts, including conflicts. Default: only drift, if the `drift_policy` of the zone is `enforce`.',
      }),
    ),
    note: Type.Optional(note),
  },
  {
    $id: 'DnsPlanInput',
    description: 'Record sets to change. If omitted, the plan contains the changes that are not applied at the sync targets yet.',
    examples: [{ rrsets: [{ name: 'www', type: 'A', ttl: 300, records: [{ content: '192.0.2.20' }] }] }],
  },
)

export const PlanApplyInput = Shape(
  {
    plan_id: Type.String({ maxLength: 40, description: 'ID of the plan.' }),
    hash: Type.String({ maxLength: 64, description: '`hash` of the plan, to confirm that you apply the plan you reviewed.' }),
    allow: Type.Optional(allowed),
    note: Type.Optional(
      Line({
        maxLength: 500,
        description: 'Reason for overriding the checks, stored in the audit log. Required with `allow` if the plan is blocked.',
      }),
    ),
  },
  {
    $id: 'DnsPlanApplyInput',
    description: 'A plan to apply.',
    examples: [{ plan_id: example.id, hash: example.hash }],
  },
)

export type PlanView = Static<typeof Plan>
export type PlanInput = Static<typeof PlanInput>
export type PlanApplyInput = Static<typeof PlanApplyInput>
