import { Type, type TUnion, type TInteger, type TNull, type Static } from '@sinclair/typebox'
import { limitNames, limitTable, type LimitName, initialLimits } from '../../access/limit-table'
import { Nullable, Shape, Words, editable, Line } from '../../core/shapes'

const limits = Object.fromEntries(
  limitNames.map(name => [name, Nullable(Type.Integer({ minimum: 0 }), { description: limitTable[name].description })]),
) as Record<LimitName, TUnion<[TInteger, TNull]>>

export const Plan = Shape(
  {
    id: Type.String({ description: 'ID of the plan, such as `free`.' }),
    title: Type.String({ description: 'Display name.' }),
    api_access: Words(['none', 'read', 'full'], { description: 'API access of tokens on this plan.' }),
    limits: Shape(limits, { description: 'Limits; null for no limit.' }),
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

export const PlanList = Shape({ data: Type.Array(Plan) }, { $id: 'PlanList', description: 'All plans.' })

export type PlanView = Static<typeof Plan>

const title = Line({ minLength: 1, maxLength: 100, description: 'Display name.' })
const api_access = Words(['none', 'read', 'full'], { description: 'API access of tokens on this plan.' })
const planLimits = Type.Partial(Type.Object(limits), { additionalProperties: false, description: 'Limits; null for no limit.' })
const isDefault = Type.Boolean({ description: 'Whether new workspaces get this plan. Exactly one plan is the default.' })

export const PlanInput = Shape(
  {
    id: Type.String({
      pattern: '^[a-z][a-z0-9_-]{0,49}$',
      'x-rule':
        'must start with a lowercase letter and contain only lowercase letters, digits, hyphens, and underscores, at most ' +
        '50.',
      description: 'ID of the plan; cannot be changed later.',
    }),
    title,
    api_access: Type.Optional(api_access),
    limits: Type.Optional(planLimits),
    default: Type.Optional(isDefault),
  },
  {
    $id: 'PlanInput',
    description: 'A plan to create. `api_access` defaults to `full`.',
    examples: [{ id: 'starter', title: 'Starter', api_access: 'full', limits: { tokens: 10, heartbeats: 100 } }],
  },
)
export const PlanPatch = Shape(
  {
    title: Type.Optional(title),
    api_access: Type.Optional(api_access),
    limits: Type.Optional(planLimits),
    default: Type.Optional(isDefault),
  },
  { $id: 'PlanPatch', description: 'Changes to a plan.', examples: [{ limits: { tokens: 20 } }] },
)
export type PlanInput = Static<typeof PlanInput>
export type PlanPatch = Static<typeof PlanPatch>
