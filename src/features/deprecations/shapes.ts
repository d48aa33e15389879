import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { deprecatedKinds } from '../../api/deprecations'
import { Instant, SinglePageOf, NullableInstant, Nullable, Shape, Words } from '../../core/shapes'

/** The number of tokens listed for each deprecated part. */
export const maxTokens = 100

const TokenUse = Shape({
  id: Type.String({ description: 'ID of the token.' }),
  name: Type.String({ description: 'Name of the token.' }),
  uses: Type.Integer({ minimum: 1, description: 'Number of requests with this token.' }),
  last_used_at: Instant({ description: 'When this token last used it.' }),
})
const Day = (description: string) => Type.String({ format: 'date', description })

const DeprecatedPart = Shape(
  {
    id: Type.String({ description: 'ID of the deprecated part.' }),
    kind: Words(deprecatedKinds, { description: 'Kind of the deprecated part.' }),
    operation_id: Type.String({ description: 'ID of the operation.' }),
    method: Type.String({ description: 'HTTP method of the operation.' }),
    path: Type.String({ description: 'Path of the operation.' }),
    name: Nullable(Type.String(), {
      description:
        'Name of the parameter or response field, or JSON pointer of the request field; null if the whole operation is ' +
        'deprecated.',
    }),
    since: Day('Date it was deprecated.'),
    sunset: Day('Date from which it may be removed.'),
    link: Type.String({ description: 'Page that describes the replacement.' }),
    note: Type.String({ description: 'What to use instead.' }),
    uses: Type.Integer({ minimum: 0, description: 'Number of requests by tokens of the workspace that used it.' }),
    last_used_at: NullableInstant({ description: 'When the deprecated part was last used; null if never.' }),
    tokens: Type.Array(TokenUse, { description: `Tokens that used it, most recently used first; at most ${maxTokens}.` }),
  },
  {
    $id: 'DeprecatedPart',
    description: 'A deprecated part of the API, and which tokens of the workspace use it.',
    examples: [
      {
        id: 'listTokens?label',
        kind: 'parameter',
        operation_id: 'listTokens',
        method: 'GET',
        path: '/v1/tokens',
        name: 'label',
        since: '2027-01-31',
        sunset: '2028-01-31',
        link: '/docs/changelog',
        note: 'Use the parameter q instead.',
        uses: 12,
        last_used_at: '2027-02-03T10:00:00.000Z',
        tokens: [
          { id: 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'backup script', uses: 12, last_used_at: '2027-02-03T10:00:00.000Z' },
        ],
      },
    ],
  },
)
export const DeprecatedPartList = SinglePageOf(DeprecatedPart)
export type DeprecatedPartView = Static<typeof DeprecatedPart>
