import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { limitNames } from '../../access/workspace-shapes'
import { MaybeInstant, Nullable, Shape, Words } from '../../core/shapes'

const count = (description: string) => Nullable(Type.Integer({ minimum: 0 }), { description })

export const Limit = Shape(
  {
    limit: Words(limitNames, { description: 'What is limited.' }),
    max: count('What the plan allows, with the overrides of the workspace; null is no limit.'),
    used: count('How much is in use; null where nothing is counted.'),
    remaining: count('What is left; null without a limit or a count.'),
    resets_at: MaybeInstant({
      description: 'When the whole quota of a rate is back; null for what is no rate, and for a whole quota.',
    }),
  },
  {
    $id: 'Limit',
    description: 'A limit of the workspace and what is left of it.',
    examples: [{ limit: 'tokens', max: 50, used: 3, remaining: 47, resets_at: null }],
  },
)
export const LimitList = Shape({ data: Type.Array(Limit) }, { $id: 'LimitList', description: 'Every limit of the workspace.' })
export type LimitView = Static<typeof Limit>
