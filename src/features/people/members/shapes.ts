import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Instant, ListOf, NullableInstant, Shape, Words } from '../../../core/shapes'
import { roles } from '../../../access/tables'

export const roleWords = Words(roles, {
  description:
    '`owner` and `admin`: full access, but an admin can’t manage owners. `member`: full access, but can’t change anything in ' +
    'the `account` area (members, tokens, plan). `viewer`: read access to everything except the `account` area.',
})

export const Member = Shape(
  {
    id: Type.String({ description: 'ID of the user.' }),
    name: Type.String({ description: 'Name of the user.' }),
    email: Type.String({ description: 'Email address, used to sign in.' }),
    role: roleWords,
    disabled: Type.Boolean({ description: 'Whether the operator disabled the user.' }),
    tokens: Type.Integer({
      description:
        'Number of API tokens of the workspace that the member created and that are not revoked. They keep working if the member is removed.',
    }),
    joined_at: Instant({ description: 'When the member joined the workspace.' }),
    last_seen_at: NullableInstant({ description: 'When the member last used the workspace, to the minute; null if never.' }),
    ...editable,
  },
  {
    $id: 'Member',
    description: 'A member of the workspace.',
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
  { $id: 'MemberPatch', description: 'Changes to a member.', examples: [{ role: 'admin' }] },
)
export type MemberView = Static<typeof Member>
export type MemberPatch = Static<typeof MemberPatch>
