import { Type, type TUnion, type TInteger, type TNull, type Static } from '@sinclair/typebox'
import { limitNames, limitTable, type LimitName, initialLimits } from '../../access/limit-table'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { Nullable, Shape, Words, editable, Line, SinglePageOf } from '../../core/shapes'

const limits = Object.fromEntries(
  limitNames.map(name => [name, Nullable(Type.Integer({ minimum: 0 }), { description: limitTable[name].description })]),
) as Record<LimitName, TUnion<[TInteger, TNull]>>

export const planMembers = members({
  title: {
    schema: Type.String({ description: 'Display name.' }),
    input: Line({ minLength: 1, maxLength: 100, description: 'Display name.' }),
    required: true,
  },
  api_access: {
    schema: Words(['none', 'read', 'full'], {
      description:
        'What tokens of workspaces on the plan can do. `none`: nothing. `read`: read only. `full`: everything their permissions allow.',
    }),
    default: 'full',
  },
})

export const Plan = Shape(
  {
    id: Type.String({ description: 'ID of the plan, such as `free`.' }),
    ...viewMembers(planMembers),
    limits: Shape(limits, { description: 'Limits of each workspace on the plan; null for no limit.' }),
    default: Type.Boolean({ description: 'Whether new workspaces get this plan.' }),
    ...editable,
  },
  {
    $id: 'Plan',
    description: 'A plan, which sets the limits of its workspaces.',
    examples: [
      {
        id: 'free',
        title: 'Free',
        api_access: 'read',
        default: true,
        limits: initialLimits('free'),
        version: 1,
        created_at: '2026-11-21T10:00:00.000Z',
        updated_at: '2026-11-21T10:00:00.000Z',
      },
    ],
  },
)

export const PlanList = SinglePageOf(Plan)
export type PlanView = Static<typeof Plan>

const optionalFields = (leftOut: string) => ({
  limits: Type.Optional(
    Type.Partial(Type.Object(limits), {
      additionalProperties: false,
      description: `Limits of each workspace on the plan; null for no limit. Omitted limits ${leftOut}.`,
    }),
  ),
  default: Type.Optional(Type.Boolean({ description: 'Whether new workspaces get this plan. Exactly one plan is the default.' })),
})

export const PlanInput = Shape(
  {
    id: Type.String({
      pattern: '^[a-z][a-z0-9_-]{0,49}$',
      'x-rule':
        'must start with a lowercase letter and contain only lowercase letters, digits, hyphens, and underscores, at most 50.',
      description: 'ID of the plan; can’t be changed later.',
    }),
    ...inputMembers(planMembers),
    ...optionalFields('are unlimited'),
  },
  {
    $id: 'PlanInput',
    description: 'A plan to create.',
    examples: [{ id: 'starter', title: 'Starter', api_access: 'full', limits: { tokens: 10, heartbeats: 100 } }],
  },
)
export const PlanPatch = Shape(
  { ...patchMembers(planMembers), ...optionalFields('don’t change') },
  { $id: 'PlanPatch', description: 'Changes to a plan.', examples: [{ limits: { tokens: 20 } }] },
)
export type PlanInput = Static<typeof PlanInput>
export type PlanPatch = Static<typeof PlanPatch>
