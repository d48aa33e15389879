import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { permissions } from '../core/permissions'
import { Instant, ListOf, MaybeInstant, Nullable, Shape, Words } from '../core/shapes'
import { codeMember } from './factor-shapes'
import { CredentialAnswer } from './passkey-shapes'
import { SignUpState } from './sign-up-shapes'
import { roles } from './tables'
import { exampleUser, User } from './user-shapes'

export const Session = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    user: User,
    workspace_id: Type.String({ description: 'The workspace that requests without Bailiwick-Workspace mean.' }),
    workspace: Shape(
      {
        id: Type.String({ description: 'Identifier.' }),
        name: Type.String({ description: 'Name.' }),
        role: Words(roles, { description: 'What the user is there.' }),
        permissions: Type.Array(Words(permissions), {
          description: 'What the user may do there; each implied read is written out.',
        }),
        operator: Type.Boolean({ description: 'Whether it is the operator’s own.' }),
        plan: Type.String({ description: 'Id of its plan.' }),
        suspended_at: MaybeInstant({ description: 'Since when the operator keeps everybody out; null is not.' }),
        suspension_reason: Nullable(Type.String(), { description: 'Why.' }),
      },
      { description: 'The workspace that this request means: that of Bailiwick-Workspace, or else of `workspace_id`.' },
    ),
    expires_at: Instant({ description: 'When it ends without a further request.' }),
  },
  {
    $id: 'Session',
    description: 'A sign-in; the cookie of the answer carries it.',
    examples: [
      {
        id: 'ses_01jd8f3q7eeb9bv0w0r8c7hq2m',
        user: exampleUser,
        workspace_id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m',
        workspace: {
          id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m',
          name: 'default',
          role: 'viewer',
          permissions: permissions.filter(one => one.endsWith('.read') && one !== 'account.read'),
          operator: true,
          plan: 'unlimited',
          suspended_at: null,
          suspension_reason: null,
        },
        expires_at: '2026-12-21T10:00:00.000Z',
      },
    ],
  },
)
export type SessionView = Static<typeof Session>

export const SessionPatch = Shape(
  { workspace_id: Type.String({ maxLength: 50, description: 'A workspace that the user belongs to.' }) },
  {
    $id: 'SessionPatch',
    description: 'Where a session goes on.',
    examples: [{ workspace_id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m' }],
  },
)

export const OwnSession = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    current: Type.Boolean({ description: 'Whether it is the session that asks.' }),
    client: Nullable(Type.String(), {
      description: 'What it is used with, in words, as the client called itself; null where it said nothing that is known.',
    }),
    user_agent: Type.String({ description: 'The User-Agent header of the sign-in, cut after 200 characters.' }),
    ip: Type.String({ description: 'Address of the sign-in.' }),
    workspace_id: Type.String({ description: 'The workspace it was last in.' }),
    created_at: Instant({ description: 'When it began.' }),
    last_used_at: Instant({ description: 'When it was last used, to the minute.' }),
    expires_at: Instant({ description: 'When it ends without a further request.' }),
  },
  {
    $id: 'OwnSession',
    description: 'One of the sessions of a person: a browser in which they are signed in.',
    examples: [
      {
        id: 'ses_01jd8f3q7eeb9bv0w0r8c7hq2m',
        current: true,
        client: 'Firefox on Linux',
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
        ip: '192.0.2.7',
        workspace_id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m',
        created_at: '2026-11-21T10:00:00.000Z',
        last_used_at: '2026-11-21T12:00:00.000Z',
        expires_at: '2026-12-21T12:00:00.000Z',
      },
    ],
  },
)
export const OwnSessionList = ListOf(OwnSession)
export type OwnSessionView = Static<typeof OwnSession>

export const SignIn = Shape(
  {
    email: Type.String({ format: 'email', description: 'Login.' }),
    password: Type.String({ minLength: 1, maxLength: 1000, description: 'Password.' }),
    code: Type.Optional(codeMember('One-time code or recovery code, where the user has one-time codes.')),
    passkey: Type.Optional(CredentialAnswer),
  },
  { $id: 'SignIn', description: 'A login.', examples: [{ email: 'ada@example.com', password: 'correct horse battery' }] },
)
export type SignIn = Static<typeof SignIn>

export const SignInMethods = Shape(
  {
    setup_open: Type.Boolean({ description: 'Whether the first user is still to be made, by the setup link.' }),
    passkeys: Shape(
      {
        possible: Type.Boolean({ description: 'Whether passkeys work at the address of this hub.' }),
        rp_id: Nullable(Type.String(), { description: 'The name that they are bound to; null where they do not work.' }),
        origin: Nullable(Type.String(), { description: 'Where pages must be opened to use them; null where they do not work.' }),
        reason: Nullable(Words(['ip_address', 'plain_http']), {
          description: 'Why not: the address has no name, or is neither https nor localhost. Null where they work.',
        }),
      },
      { description: 'Whether passkeys can be used.' },
    ),
    password_reset_by_mail: Type.Boolean({
      description: 'Whether a link to a new password can be mailed; else the operator makes one by `bailiwick user reset-link`.',
    }),
    sign_up: SignUpState,
  },
  {
    $id: 'SignInMethods',
    description: 'What the page of sign-in can offer.',
    examples: [
      {
        setup_open: false,
        passkeys: { possible: true, rp_id: 'hub.example.com', origin: 'https://hub.example.com', reason: null },
        password_reset_by_mail: true,
        sign_up: { mode: 'closed', open: false },
      },
    ],
  },
)
export type SignInMethods = Static<typeof SignInMethods>
