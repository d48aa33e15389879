import { type Static, Type } from '@sinclair/typebox'
import { tokenModes } from '../../access/tables'
import { permissions } from '../../core/permissions'
import { editable, Expanded, Line, ListOf, NullableInstant, Nullable, Shape, Words } from '../../core/shapes'

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
  id: Type.String({ description: 'ID of the token.' }),
  name: Type.String({ description: 'Name of the token.' }),
  mode: Words(tokenModes, {
    description:
      '`scoped`: the permissions in `permissions`. `read_only`: read access to all areas. `full`: read and write access to all areas.',
  }),
  permissions: Type.Array(Words(permissions), {
    description:
      'Permissions of a scoped token; write implies read. Empty for other modes. The areas `domains`, `cloud`, and `certificates` have no operations yet.',
  }),
  hint: Type.String({ description: 'Masked form of the token.' }),
  expires_at: NullableInstant({ description: 'When the token expires; null if it never does.' }),
  last_used_at: NullableInstant({ description: 'When the token was last used; null if never.' }),
  last_used_ip: Nullable(Type.String(), { description: 'IP address the token was last used from; null if never used.' }),
  allowed_cidrs: Type.Array(Type.String(), {
    description: 'IP addresses or CIDR ranges the token may be used from; an empty list for any.',
  }),
  resource_ids: Type.Array(Type.String(), {
    description: 'IDs of the resources the token is restricted to; an empty list if it is not restricted.',
  }),
  created_by: Type.String({
    description: 'ID of the user or token that created the token; `cli` if it was created on the command line.',
  }),
  rotated_from: Nullable(Type.String(), { description: 'ID of the token that this one replaced; null if none.' }),
  rotated_to: Nullable(Type.String(), { description: 'ID of the token that replaced this one; null if none.' }),
  revoked_at: NullableInstant({ description: 'When the token was revoked; null if it was not.' }),
  ...editable,
}
export const TokenCreator = Shape(
  {
    type: Words(['user', 'token'], { description: 'Type of the creator.' }),
    id: Type.String({ description: 'ID of the user or token.' }),
    name: Type.String({ description: 'Name of the user or token.' }),
    hint: Nullable(Type.String(), { description: 'Masked form of the token; null for a user.' }),
  },
  {
    $id: 'TokenCreator',
    description: 'The creator of a token.',
    examples: [{ type: 'user', id: 'usr_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'Ada', hint: null }],
  },
)
export type TokenCreator = Static<typeof TokenCreator>
export const Token = Shape(
  { ...tokenMembers, expanded: Expanded({ created_by: TokenCreator }) },
  {
    $id: 'Token',
    description: 'An API token. Its value is shown only once, when it is created.',
    examples: [exampleToken],
  },
)
export const TokenWithSecret = Shape(
  {
    ...tokenMembers,
    token: Type.Optional(Type.String({ description: 'Value of the token. Shown only once; store it safely.' })),
    secret_shown_before: Type.Optional(
      Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. The token is then omitted.' }),
    ),
  },
  {
    $id: 'TokenWithSecret',
    description: 'A token that was just created, with its value.',
    examples: [{ ...exampleToken, token: 'bw_live_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2' }],
  },
)
export const TokenList = ListOf(Token)

const name = Line({ minLength: 1, maxLength: 100, description: 'Name of the token.' })
/** What a token is restricted to, in a request; null for no restriction. An empty list is rejected, as it may be a mistake of a script. */
const restriction = (maxItems: number, description: string) =>
  Type.Optional(
    Nullable(Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems, uniqueItems: true }), { description }),
  )

export const TokenInput = Shape(
  {
    name,
    mode: Type.Optional(Words(tokenModes, { description: 'Mode of the token. Default: `scoped`.' })),
    permissions: Type.Optional(
      Type.Array(Words(permissions), {
        uniqueItems: true,
        maxItems: permissions.length,
        description:
          'Permissions of the token, such as `dns.read`; write permissions include read. Required for scoped tokens, not allowed for other modes.',
      }),
    ),
    expires_at: Type.Optional(
      NullableInstant({
        description: 'When the token expires; null for never. Default: never, or when the token that sends the request expires.',
      }),
    ),
    allowed_cidrs: restriction(
      20,
      'IP addresses or CIDR ranges the token may be used from; null for any. Default: any, or those of the token that sends the ' +
        'request.',
    ),
    resource_ids: restriction(
      100,
      'IDs of the monitors, heartbeats, notification channels, DNS zones, and webhook endpoints the token is restricted to; if omitted ' +
        'or null, it can access all resources that its permissions cover. An empty list is rejected, so that a script can’t ' +
        'grant access to everything by mistake.',
    ),
  },
  {
    $id: 'TokenInput',
    description: 'A token to create.',
    examples: [{ name: 'backup script', permissions: ['monitoring.write'] }],
  },
)
export const TokenPatch = Shape(
  {
    name: Type.Optional(name),
    expires_at: Type.Optional(NullableInstant({ description: 'When the token expires; null if it never does.' })),
    allowed_cidrs: restriction(20, 'IP addresses or CIDR ranges the token may be used from; null for any.'),
  },
  {
    $id: 'TokenPatch',
    description: 'Changes to a token.',
    examples: [{ name: 'nightly backup', expires_at: '2099-01-31T12:00:00.000Z' }],
  },
)
export const TokenReport = Shape(
  { token: Type.String({ minLength: 1, maxLength: 200, description: 'The complete value of the token.' }) },
  {
    $id: 'TokenReport',
    description: 'A leaked token.',
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
        description:
          'How many seconds the old token keeps working after the new one is first used. With 0, it is revoked immediately.',
      }),
    ),
  },
  { $id: 'TokenRotation', description: 'Options for rotating a token.', examples: [{ grace_seconds: 3600 }] },
)
export type TokenRotation = Static<typeof TokenRotation>
export type TokenView = Static<typeof Token>
export type TokenInput = Static<typeof TokenInput>
export type TokenPatch = Static<typeof TokenPatch>
