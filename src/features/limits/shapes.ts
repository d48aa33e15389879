import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { limitNames } from '../../access/limit-table'
import { NullableInstant, Nullable, Shape, Words } from '../../core/shapes'

const count = (description: string) => Nullable(Type.Integer({ minimum: 0 }), { description })

const Limit = Shape(
  {
    limit: Words(limitNames, { description: 'Name of the limit.' }),
    max: count(
      'Maximum allowed by the plan and the overrides of the workspace; for `monitor_interval_seconds`, the minimum. Null for no limit.',
    ),
    used: count(
      'Current usage; null if it is not counted: for retention, `monitor_interval_seconds`, limits per resource, rate and concurrency limits without a maximum, and, in a session, limits per token.',
    ),
    remaining: count('Remaining amount; null if there is no limit or usage is not counted.'),
    resets_at: NullableInstant({
      description: 'When the full quota of a rate limit is available again; null for other limits, and if nothing is used.',
    }),
  },
  {
    $id: 'Limit',
    description: 'A limit of the workspace with its usage.',
    examples: [{ limit: 'tokens', max: 50, used: 3, remaining: 47, resets_at: null }],
  },
)
export const LimitList = Shape(
  { data: Type.Array(Limit, { description: 'All limits of the workspace.' }) },
  { $id: 'LimitList', description: 'All limits of the workspace.' },
)
export type LimitView = Static<typeof Limit>
