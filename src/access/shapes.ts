import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { permissions } from '../core/permissions'
import { editable, Expanded, Line, ListOf, MaybeInstant, Nullable, Shape, Words } from '../core/shapes'
import { tokenModes } from './tables'

const exampleToken = {
  id: 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m',
  name: 'backup script',
  mode: 'scoped',
  permissions: ['monitoring.write'],
  hint: 'bw_live_…7Kq2',
  expires_at: null,
  last_used_at: null,
  last_used_ip: null,
  allowed_cidrs: [],
  resource_ids: [],
  created_by: 'usr_01jd8f3q7eeb9bv0w0r8c7hq2m',
  rotated_from: null,
  rotated_to: null,
  revoked_at: null,
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}

const tokenMembers = {
  id: Type.String({ description: 'Identifier.' }),
  name: Type.String({ description: 'Label given at creation.' }),
  mode: Words(tokenModes, {
    description: '`scoped`: the permissions listed. `read_only`: read in every area. `full`: everything.',
  }),
  permissions: Type.Array(Words(permissions), {
    description: 'What a scoped token may do; write implies read. Empty for the other modes.',
  }),
  hint: Type.String({ description: 'The token in masked form.' }),
  expires_at: MaybeInstant({ description: 'When it stops working; null is never.' }),
  last_used_at: MaybeInstant({ description: 'When it was last used.' }),
  last_used_ip: Nullable(Type.String(), { description: 'Address it was last used from.' }),
  allowed_cidrs: Type.Array(Type.String(), { description: 'Addresses it may be used from; empty is any.' }),
  resource_ids: Type.Array(Type.String(), { description: 'Resources it is narrowed to; empty is all.' }),
  created_by: Type.String({ description: 'Id of the user or token that made it, or `cli`.' }),
  rotated_from: Nullable(Type.String(), { description: 'Id of the token whose place it took; null for none.' }),
  rotated_to: Nullable(Type.String(), { description: 'Id of the token that took its place; null for none.' }),
  revoked_at: MaybeInstant({ description: 'When it was revoked.' }),
  ...editable,
}
export const TokenMaker = Shape(
  {
    type: Words(['user', 'token'], { description: 'What made it.' }),
    id: Type.String({ description: 'Identifier.' }),
    name: Type.String({ description: 'Name of the person, or label of the token.' }),
    hint: Nullable(Type.String(), { description: 'The token in masked form; null for a person.' }),
  },
  {
    $id: 'TokenMaker',
    description: 'Who made a token.',
    examples: [{ type: 'user', id: 'usr_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'Ada', hint: null }],
  },
)
export type TokenMaker = Static<typeof TokenMaker>
export const Token = Shape(
  { ...tokenMembers, expanded: Expanded({ created_by: TokenMaker }) },
  {
    $id: 'Token',
    description: 'An API token. Its value is told once, when it is made.',
    examples: [exampleToken],
  },
)
export const NewToken = Shape(
  {
    ...tokenMembers,
    token: Type.Optional(Type.String({ description: 'The token itself. Told once; keep it safe.' })),
    secret_shown_before: Type.Optional(Type.Boolean({ description: 'True in a replay, which does not tell the token again.' })),
  },
  {
    $id: 'NewToken',
    description: 'A token that was just made, with its value.',
    examples: [{ ...exampleToken, token: 'bw_live_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2' }],
  },
)
export const TokenList = ListOf(Token)
export const TokenInput = Shape(
  {
    name: Line({ minLength: 1, maxLength: 100, description: 'Label, to tell tokens apart.' }),
    mode: Type.Optional(Words(tokenModes, { description: '`scoped` when absent.' })),
    permissions: Type.Optional(
      Type.Array(Words(permissions), {
        uniqueItems: true,
        maxItems: permissions.length,
        description: 'Required for a scoped token, and only for it.',
      }),
    ),
    expires_at: Type.Optional(MaybeInstant({ description: 'When it stops working.' })),
    allowed_cidrs: Type.Optional(
      Nullable(Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: 20, uniqueItems: true }), {
        description: 'Addresses or CIDR ranges it may be used from; any when absent or null.',
      }),
    ),
    resource_ids: Type.Optional(
      Nullable(Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: 100, uniqueItems: true }), {
        description:
          'Ids of monitors, heartbeats, notification channels, DNS zones and webhook endpoints that it is narrowed to; ' +
          'all that its permissions open when absent or null. ' +
          'An empty list is refused: it would open everything to whoever chose nothing.',
      }),
    ),
  },
  {
    $id: 'TokenInput',
    description: 'A token to make.',
    examples: [{ name: 'backup script', permissions: ['monitoring.write'] }],
  },
)
export const TokenPatch = Shape(
  {
    name: Type.Optional(Line({ minLength: 1, maxLength: 100, description: 'Label.' })),
    expires_at: Type.Optional(MaybeInstant({ description: 'When it stops working; null is never.' })),
    allowed_cidrs: Type.Optional(
      Nullable(Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: 20, uniqueItems: true }), {
        description: 'Addresses or CIDR ranges it may be used from; null is any.',
      }),
    ),
  },
  {
    $id: 'TokenPatch',
    description: 'What of a token can be changed.',
    examples: [{ name: 'nightly backup', expires_at: '2099-01-31T12:00:00.000Z' }],
  },
)
export const TokenReport = Shape(
  { token: Type.String({ minLength: 1, maxLength: 200, description: 'The value of the token, whole.' }) },
  {
    $id: 'TokenReport',
    description: 'A token that was found where others can read it.',
    examples: [{ token: 'bw_live_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2' }],
  },
)
export const TokenRotation = Shape(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        default: 86_400,
        description: 'How long the old value works on once the new one is first used; with 0 it stops at once.',
      }),
    ),
  },
  { $id: 'TokenRotation', description: 'How a token is to be replaced.', examples: [{ grace_seconds: 3600 }] },
)
export type TokenRotation = Static<typeof TokenRotation>
export type TokenView = Static<typeof Token>
export type TokenInput = Static<typeof TokenInput>
export type TokenPatch = Static<typeof TokenPatch>
