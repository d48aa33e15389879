import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Instant, Line, ListOf, MaybeInstant, Nullable, Shape, Words } from '../core/shapes'
import { codeMember } from './factor-shapes'
import { CredentialAnswer } from './passkey-shapes'
import { roleWords } from './member-shapes'
import { roles } from './tables'

export const invitationStates = ['pending', 'accepted', 'expired'] as const

const example = {
  id: 'inv_01jd8f3q7eeb9bv0w0r8c7hq2m',
  email: 'grace@example.com',
  role: 'member',
  status: 'pending',
  invited_by: 'usr_01jd8f3q7eeb9bv0w0r8c7hq2m',
  makes_login: true,
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
  id: Type.String({ description: 'Identifier.' }),
  email: Type.String({ description: 'Login of the person who is invited.' }),
  role: roleWords,
  status: Words(invitationStates, { description: '`pending` until it is accepted or its time is over.' }),
  invited_by: Type.String({ description: 'Id of the user or token that made or renewed it.' }),
  makes_login: Type.Boolean({
    description:
      'Whether it makes a login for somebody who has none. False where BAILIWICK_SIGN_UP is `closed` and it was made or last ' +
      'renewed by anybody but the operator.',
  }),
  expires_at: Instant({ description: 'When its code stops working.' }),
  accepted_at: MaybeInstant({ description: 'When it was accepted.' }),
  accepted_by: Nullable(Type.String(), { description: 'Id of the user who accepted it.' }),
  sent_to: Nullable(Type.String(), { description: 'The address that the link is mailed to; null where it is not mailed.' }),
  mailed_at: MaybeInstant({ description: 'When the mail server took the mail; null while it has not.' }),
  mail_error: Nullable(Type.String(), { description: 'Why the mail could not be sent; null where it was, or is still tried.' }),
  ...editable,
}
export const Invitation = Shape(members, {
  $id: 'Invitation',
  description: 'An invitation to the workspace. Its code is told once, when it is made or renewed.',
  examples: [example],
})
export const InvitationList = ListOf(Invitation)
export const NewInvitation = Shape(
  {
    ...members,
    code: Type.Optional(Type.String({ description: 'What accepts it, once. Told once; pass it on to the person alone.' })),
    link: Type.Optional(Type.String({ description: 'The page to accept it at, with the code behind `#`. Told once.' })),
    note: Nullable(Type.String(), { description: 'Who can accept it, where that is only somebody who has a login; else null.' }),
    secret_shown_before: Type.Optional(Type.Boolean({ description: 'True in a replay, which does not tell the code again.' })),
  },
  {
    $id: 'NewInvitation',
    description: 'An invitation that was just made or renewed, with its code.',
    examples: [{ ...example, code, link: `https://hub.example.com/invite#${code}`, note: null }],
  },
)

const expires_in_seconds = Type.Integer({
  minimum: 3600,
  maximum: 30 * 86_400,
  default: 7 * 86_400,
  description: 'How long the code works: an hour to 30 days.',
})
const send = Type.Optional(
  Type.Boolean({ description: 'Whether to mail the link; when absent it is, where the installation has a mail server.' }),
)
export const InvitationInput = Shape(
  {
    email: Type.String({ format: 'email', description: 'Login of the person; they need not have one yet.' }),
    role: Type.Optional(
      Words(roles, { description: '`member` when absent; `owner` where the operator invites to a workspace by its id.' }),
    ),
    expires_in_seconds: Type.Optional(expires_in_seconds),
    send,
  },
  { $id: 'InvitationInput', description: 'An invitation to make.', examples: [{ email: 'grace@example.com', role: 'member' }] },
)
export const InvitationRenewal = Shape(
  { expires_in_seconds: Type.Optional(expires_in_seconds), send },
  { $id: 'InvitationRenewal', description: 'How an invitation is to be renewed.', examples: [{ expires_in_seconds: 86_400 }] },
)

const invitationCode = Type.String({ maxLength: 100, description: 'The code: what stands behind `#` in the link.' })
export const InvitationCode = Shape(
  { code: invitationCode },
  { $id: 'InvitationCode', description: 'An invitation by its code.', examples: [{ code }] },
)
export const InvitationPreview = Shape(
  {
    workspace: Type.String({ description: 'Name of the workspace.' }),
    email: members.email,
    role: members.role,
    expires_at: members.expires_at,
    makes_login: members.makes_login,
  },
  {
    $id: 'InvitationPreview',
    description: 'What an invitation is to.',
    examples: [
      {
        workspace: 'acme',
        email: 'grace@example.com',
        role: 'member',
        expires_at: '2026-11-28T10:00:00.000Z',
        makes_login: true,
      },
    ],
  },
)
export const Acceptance = Shape(
  {
    code: invitationCode,
    name: Type.Optional(Line({ minLength: 1, maxLength: 100, description: 'Name of a new user. Required without a session.' })),
    password: Type.Optional(
      Type.String({
        minLength: 10,
        maxLength: 1000,
        description: 'Password of a new user, or that of the user who has the e-mail already. Required without a session.',
      }),
    ),
    second_factor_code: Type.Optional(
      codeMember('One-time code or recovery code of the user who has the e-mail already, where they have one-time codes.'),
    ),
    second_factor_passkey: Type.Optional(CredentialAnswer),
  },
  {
    $id: 'Acceptance',
    description: 'An invitation to accept: with a session by its code alone.',
    examples: [{ code, name: 'Grace', password: 'correct horse battery' }],
  },
)
export type InvitationView = Static<typeof Invitation>
export type InvitationInput = Static<typeof InvitationInput>
export type InvitationRenewal = Static<typeof InvitationRenewal>
export type InvitationPreview = Static<typeof InvitationPreview>
export type Acceptance = Static<typeof Acceptance>
