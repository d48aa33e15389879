import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Instant, ListOf, MaybeInstant, Shape, Words } from '../core/shapes'
import { roles } from './tables'

export const roleWords = Words(roles, {
  description:
    '`owner` and `admin`: everything; an admin touches no owner. `member`: everything but what is under `account`. `viewer`: reads.',
})

export const Member = Shape(
  {
    id: Type.String({ description: 'Identifier of the user.' }),
    name: Type.String({ description: 'Name.' }),
    email: Type.String({ description: 'Login.' }),
    role: roleWords,
    disabled: Type.Boolean({ description: 'Whether the operator keeps them from signing in.' }),
    tokens: Type.Integer({
      description: 'API tokens of the workspace that they made and that are not revoked. They stay when the member is removed.',
    }),
    joined_at: Instant({ description: 'When they joined the workspace.' }),
    last_seen_at: MaybeInstant({ description: 'When they were last signed in here, to the minute.' }),
    ...editable,
  },
  {
    $id: 'Member',
    description: 'A person who belongs to the workspace.',
    examples: [
      {
        id: 'usr_01jd8f3q7eeb9bv0w0r8c7hq2m',
        name: 'Ada',
        email: 'ada@example.com',
        role: 'admin',
        disabled: false,
        tokens: 2,
        joined_at: '2026-11-21T10:00:00.000Z',
        last_seen_at: '2026-11-21T12:00:00.000Z',
        version: 1,
        created_at: '2026-11-21T10:00:00.000Z',
        updated_at: '2026-11-21T10:00:00.000Z',
      },
    ],
  },
)
export const MemberList = ListOf(Member)
export const MemberPatch = Shape(
  { role: Type.Optional(roleWords) },
  { $id: 'MemberPatch', description: 'What of a member can be changed.', examples: [{ role: 'admin' }] },
)
export type MemberView = Static<typeof Member>
export type MemberPatch = Static<typeof MemberPatch>
