import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Line, Shape, Words } from '../core/shapes'
import { limits } from './workspace-shapes'

const title = Line({ minLength: 1, maxLength: 100, description: 'Name for people.' })
const api_access = Words(['none', 'read', 'full'], { description: 'What tokens of its workspaces may do.' })
const some = Type.Partial(Type.Object(limits), { additionalProperties: false, description: 'Limits; null is none.' })
const makesDefault = Type.Boolean({ description: 'Whether new workspaces get it. One plan always is the default.' })

export const PlanInput = Shape(
  {
    id: Type.String({
      pattern: '^[a-z][a-z0-9_-]{0,49}$',
      'x-rule': 'must be lower-case letters, digits, hyphens and underscores, from a letter on, at most 50.',
      description: 'Identifier, which stays.',
    }),
    title,
    api_access: Type.Optional(api_access),
    limits: Type.Optional(some),
    default: Type.Optional(makesDefault),
  },
  {
    $id: 'PlanInput',
    description: 'A plan to make. `api_access` is `full` when absent.',
    examples: [{ id: 'starter', title: 'Starter', api_access: 'full', limits: { tokens: 10, heartbeats: 100 } }],
  },
)
export const PlanPatch = Shape(
  {
    title: Type.Optional(title),
    api_access: Type.Optional(api_access),
    limits: Type.Optional(some),
    default: Type.Optional(makesDefault),
  },
  { $id: 'PlanPatch', description: 'What of a plan is to change.', examples: [{ limits: { tokens: 20 } }] },
)
export type PlanInput = Static<typeof PlanInput>
export type PlanPatch = Static<typeof PlanPatch>
