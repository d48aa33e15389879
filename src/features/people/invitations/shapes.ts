import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Instant, Line, ListOf, NullableInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { codeField } from '../second-factors/shapes'
import { PasskeyAssertion } from '../passkeys/shapes'
import { roleWords } from '../members/shapes'
import { roles } from '../../../access/tables'

export const invitationStates = ['pending', 'accepted', 'expired'] as const

const example = {
  id: 'inv_01jd8f3q7eeb9bv0w0r8c7hq2m',
  email: 'grace@example.com',
  role: 'member',
  status: 'pending',
  invited_by: 'usr_01jd8f3q7eeb9bv0w0r8c7hq2m',
  allows_sign_up: true,
  expires_at: '2026-11-28T10:00:00.000Z',
  accepted_at: null,
  accepted_by: null,
  sent_to: 'grace@example.com',
  mailed_at: '2026-11-21T10:00:01.000Z',
  mail_error: null,
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}
const code = 'bw_inv_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x'

const members = {
  id: Type.String({ description: 'ID of the invitation.' }),
  email: Type.String({ description: 'Email address of the invited person.' }),
  role: roleWords,
  status: Words(invitationStates, {
    description:
      '`pending`: neither accepted nor expired. `accepted`: the person joined the workspace. `expired`: the code is no longer valid.',
  }),
  invited_by: Type.String({ description: 'ID of the user or token that created or last renewed the invitation.' }),
  allows_sign_up: Type.Boolean({
    description:
      'Whether a person without an account can accept it and sign up. False if BAILIWICK_SIGN_UP is `closed` and the ' +
      'invitation was created or last renewed by anyone but the operator.',
  }),
  expires_at: Instant({ description: 'When the code expires.' }),
  accepted_at: NullableInstant({ description: 'When the invitation was accepted; null if it was not.' }),
  accepted_by: Nullable(Type.String(), {
    description: 'ID of the user who accepted the invitation; null if it was not accepted.',
  }),
  sent_to: Nullable(Type.String(), { description: 'Email address that the link is sent to; null if it is not emailed.' }),
  mailed_at: NullableInstant({ description: 'When the mail server accepted the email; null until then.' }),
  mail_error: Nullable(Type.String(), {
    description: 'Why the email could not be sent; null if it was sent or is still being retried.',
  }),
  ...editable,
}
export const Invitation = Shape(members, {
  $id: 'Invitation',
  description: 'An invitation to the workspace. Its code is shown only once, when the invitation is created or renewed.',
  examples: [example],
})
export const InvitationList = ListOf(Invitation)
export const InvitationWithCode = Shape(
  {
    ...members,
    code: Type.Optional(
      Type.String({
        description:
          'Code to accept the invitation with, valid for one use. Shown only once; share it only with the invited person.',
      }),
    ),
    link: Type.Optional(
      Type.String({ description: 'Link to the page that accepts the invitation, with the code after `#`. Shown only once.' }),
    ),
    note: Nullable(Type.String(), {
      description: 'Who can accept the invitation, if that is limited to people with an account; otherwise null.',
    }),
    secret_shown_before: Type.Optional(
      Type.Boolean({
        description: 'True if the response is replayed for an Idempotency-Key. The code and the link are then omitted.',
      }),
    ),
  },
  {
    $id: 'InvitationWithCode',
    description: 'An invitation that was just created or renewed, with its code.',
    examples: [{ ...example, code, link: `https://hub.example.com/invite#${code}`, note: null }],
  },
)

const expires_in_seconds = Type.Integer({
  minimum: 3600,
  maximum: 30 * 86_400,
  default: 7 * 86_400,
  description: 'How long the code is valid, in seconds: 1 hour to 30 days.',
})
const send = Type.Optional(
  Type.Boolean({ description: 'Whether to email the link. Default: true if the installation has a mail server.' }),
)
export const InvitationInput = Shape(
  {
    email: Type.String({
      format: 'email',
      description:
        'Email address of the person. `allows_sign_up` in the response tells whether a person without an account can accept.',
    }),
    role: Type.Optional(
      Words(roles, {
        description:
          'Role of the person in the workspace. Default: `member`, or `owner` with `POST /v1/workspaces/{id}/invitations`.',
      }),
    ),
    expires_in_seconds: Type.Optional(expires_in_seconds),
    send,
  },
  { $id: 'InvitationInput', description: 'An invitation to create.', examples: [{ email: 'grace@example.com', role: 'member' }] },
)
export const InvitationRenewal = Shape(
  { expires_in_seconds: Type.Optional(expires_in_seconds), send },
  { $id: 'InvitationRenewal', description: 'Options for renewing an invitation.', examples: [{ expires_in_seconds: 86_400 }] },
)

const invitationCode = Type.String({ maxLength: 100, description: 'The code: the part of the link after `#`.' })
export const InvitationCode = Shape(
  { code: invitationCode },
  { $id: 'InvitationCode', description: 'An invitation, identified by its code.', examples: [{ code }] },
)
export const InvitationPreview = Shape(
  {
    workspace: Type.String({ description: 'Name of the workspace.' }),
    email: members.email,
    role: members.role,
    expires_at: members.expires_at,
    allows_sign_up: members.allows_sign_up,
  },
  {
    $id: 'InvitationPreview',
    description: 'Details of a pending invitation.',
    examples: [
      {
        workspace: 'acme',
        email: 'grace@example.com',
        role: 'member',
        expires_at: '2026-11-28T10:00:00.000Z',
        allows_sign_up: true,
      },
    ],
  },
)
export const InvitationAcceptance = Shape(
  {
    code: invitationCode,
    name: Type.Optional(Line({ minLength: 1, maxLength: 100, description: 'Name of the new user. Required if not signed in.' })),
    password: Type.Optional(
      Type.String({
        minLength: 10,
        maxLength: 1000,
        description: 'Password of the existing user with this email address, or for the new user. Required if not signed in.',
      }),
    ),
    second_factor_code: Type.Optional(
      codeField('One-time code or recovery code, if the existing user has enabled one-time codes.'),
    ),
    second_factor_passkey: Type.Optional(PasskeyAssertion),
  },
  {
    $id: 'InvitationAcceptance',
    description: 'Acceptance of an invitation. If you are signed in as the invited user, only the code is required.',
    examples: [{ code, name: 'Grace', password: 'correct horse battery' }],
  },
)
export type InvitationView = Static<typeof Invitation>
export type InvitationInput = Static<typeof InvitationInput>
export type InvitationRenewal = Static<typeof InvitationRenewal>
export type InvitationPreview = Static<typeof InvitationPreview>
export type InvitationAcceptance = Static<typeof InvitationAcceptance>
