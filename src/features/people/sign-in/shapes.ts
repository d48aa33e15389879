import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { permissions } from '../../../core/permissions'
import { Instant, ListOf, NullableInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { codeField } from '../second-factors/shapes'
import { PasskeyAssertion } from '../passkeys/shapes'
import { SignUpStatus } from '../sign-up/shapes'
import { roles } from '../../../access/tables'
import { exampleUser, User } from '../profile/shapes'

export const CurrentSession = Shape(
  {
    id: Type.String({ description: 'ID of the session.' }),
    user: User,
    workspace_id: Type.String({ description: 'ID of the workspace used by requests without the Bailiwick-Workspace header.' }),
    workspace: Shape(
      {
        id: Type.String({ description: 'ID of the workspace.' }),
        name: Type.String({ description: 'Name of the workspace.' }),
        role: Words(roles, { description: 'Role of the user in the workspace.' }),
        permissions: Type.Array(Words(permissions), {
          description: 'Permissions of the user in the workspace; implied read permissions are included.',
        }),
        operator: Type.Boolean({ description: 'Whether this is the operator’s workspace.' }),
        plan: Type.String({ description: 'ID of the plan of the workspace.' }),
        suspended_at: NullableInstant({ description: 'When the operator suspended the workspace; null if it is not suspended.' }),
        suspension_reason: Nullable(Type.String(), { description: 'Reason for the suspension; null if none was given.' }),
      },
      { description: 'The workspace of this request: the one in the Bailiwick-Workspace header, otherwise `workspace_id`.' },
    ),
    expires_at: Instant({ description: 'When the session ends if it is not used again.' }),
  },
  {
    $id: 'CurrentSession',
    description: 'A session, identified by the cookie that the response sets.',
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
export type SessionView = Static<typeof CurrentSession>

export const SessionPatch = Shape(
  { workspace_id: Type.String({ maxLength: 50, description: 'ID of the workspace to switch to.' }) },
  {
    $id: 'SessionPatch',
    description: 'Changes to the current session.',
    examples: [{ workspace_id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m' }],
  },
)

export const Session = Shape(
  {
    id: Type.String({ description: 'ID of the session.' }),
    current: Type.Boolean({ description: 'Whether this is the current session.' }),
    client: Nullable(Type.String(), {
      description: 'Browser and operating system, derived from the User-Agent header; null if unknown.',
    }),
    user_agent: Type.String({ description: 'The User-Agent header of the sign-in, truncated to 200 characters.' }),
    ip: Type.String({ description: 'IP address of the sign-in.' }),
    workspace_id: Type.String({ description: 'ID of the workspace that the session last used.' }),
    created_at: Instant({ description: 'When the user signed in.' }),
    last_used_at: Instant({ description: 'When the session was last used, to the minute.' }),
    expires_at: Instant({ description: 'When the session ends if it is not used again.' }),
  },
  {
    $id: 'Session',
    description: 'A signed-in session of a user.',
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
export const OwnSessionList = ListOf(Session)
export type OwnSessionView = Static<typeof Session>

export const SignInInput = Shape(
  {
    email: Type.String({ format: 'email', description: 'Email address.' }),
    password: Type.String({ minLength: 1, maxLength: 1000, description: 'Password.' }),
    code: Type.Optional(codeField('One-time code or recovery code, if the user has enabled one-time codes.')),
    passkey: Type.Optional(PasskeyAssertion),
  },
  {
    $id: 'SignInInput',
    description: 'Credentials to sign in with.',
    examples: [{ email: 'ada@example.com', password: 'correct horse battery staple' }],
  },
)
export type SignInInput = Static<typeof SignInInput>

export const SignInMethods = Shape(
  {
    setup_open: Type.Boolean({ description: 'Whether the first user still has to be created with the setup link.' }),
    passkeys: Shape(
      {
        available: Type.Boolean({ description: 'Whether passkeys work at the base URL of this hub.' }),
        rp_id: Nullable(Type.String(), { description: 'The domain that passkeys are bound to; null if unavailable.' }),
        origin: Nullable(Type.String(), { description: 'The origin at which passkeys can be used; null if unavailable.' }),
        reason: Nullable(Words(['ip_address', 'plain_http']), {
          description:
            'Why passkeys are unavailable: the URL has an IP address, or uses neither https nor localhost. Null if available.',
        }),
      },
      { description: 'Availability of passkeys.' },
    ),
    password_reset_by_mail: Type.Boolean({
      description:
        'Whether password reset links can be emailed. Otherwise the operator creates them with `bailiwick user reset-link`.',
    }),
    sign_up: SignUpStatus,
  },
  {
    $id: 'SignInMethods',
    description: 'Methods that the sign-in page can offer.',
    examples: [
      {
        setup_open: false,
        passkeys: { available: true, rp_id: 'hub.example.com', origin: 'https://hub.example.com', reason: null },
        password_reset_by_mail: true,
        sign_up: { mode: 'closed', open: false },
      },
    ],
  },
)
export type SignInMethods = Static<typeof SignInMethods>
