import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const person = { email: Type.String(), name: Type.String(), role: Type.String() }

export const peopleActions = {
  'account.member.update': {
    phrase: 'change the role of {user}',
    number: 'PE001',
    description: 'The role of a member was changed.',
    targets: ['user'],
    changes: 'response',
    example: { before: { role: 'viewer' }, after: { role: 'member' } },
  },
  'account.member.remove': {
    phrase: 'remove {user} from the workspace',
    number: 'PE002',
    description: 'A member was removed. The reason states what happened to their tokens.',
    targets: ['user'],
    changes: { of: 'account.member.update' },
  },
  'account.invitation.renew': {
    number: 'PE004',
    description: 'An invitation was renewed with a new code and expiry.',
    changes: 'response',
  },
  'account.invitation.accept': {
    phrase: 'accept {invitation}',
    number: 'PE006',
    description: 'An invitation was accepted, or accepting it failed.',
    targets: ['user', 'invitation'],
    changes: { fields: person },
    example: { before: {}, after: { email: 'ada@example.com', name: 'Ada', role: 'member' } },
  },
  'account.session.switch': {
    phrase: 'switch to {workspace}',
    number: 'PE007',
    description: 'A user switched to another workspace.',
    targets: ['workspace'],
  },
  'account.sign_up.create': {
    phrase: 'sign up',
    number: 'PE008',
    description: 'A user signed up, or signing up failed because the email address is in use.',
    targets: ['workspace', 'user'],
    changes: { fields: { ...person, workspace: Type.String(), plan: Type.String() } },
    example: {
      before: {},
      after: { email: 'ada@example.com', name: 'Ada', role: 'owner', workspace: 'Ada’s servers', plan: 'free' },
    },
  },
  'account.workspace.suspend': { number: 'PE009', description: 'A workspace was suspended.', changes: 'response' },
  'account.workspace.resume': { number: 'PE010', description: 'A workspace was resumed.', changes: 'response' },
  'account.user.update': {
    phrase: 'update their profile',
    number: 'SI001',
    description:
      'A user changed their name, email address, or dashboard preferences, or the change failed because of a wrong password.',
    changes: 'response',
    example: { before: { name: 'Ada' }, after: { name: 'Ada L.' } },
  },
  'account.one_time_codes.set_up': {
    phrase: 'start to set up one-time codes',
    number: 'SI002',
    description: 'A user started setting up one-time codes, or this failed because of a wrong password.',
    targets: ['user'],
  },
  'account.one_time_codes.enable': {
    phrase: 'enable one-time codes',
    number: 'SI003',
    description: 'A user enabled one-time codes.',
    targets: ['user'],
  },
  'account.one_time_codes.disable': {
    phrase: 'disable one-time codes',
    number: 'SI004',
    description: 'A user disabled one-time codes, or this failed because of a wrong password or code.',
    targets: ['user'],
  },
  'account.recovery_codes.regenerate': {
    phrase: 'generate new recovery codes',
    number: 'SI005',
    description: 'A user generated new recovery codes, or this failed because of a wrong password or code.',
    targets: ['user'],
  },
  'account.recovery_code.use': {
    phrase: 'use a recovery code',
    number: 'SI006',
    description: 'A user used a recovery code. The reason contains the number of remaining codes.',
    targets: ['user'],
  },
  'account.user.reset_second_factor': {
    phrase: 'reset the second factor of {user}',
    number: 'SI007',
    description: 'The one-time codes and passkeys of a user were removed and their sessions ended.',
    channels: ['cli'],
  },
  'account.passkey.create': {
    phrase: 'add {passkey}',
    description: 'A user added a passkey, or this failed because of a wrong password or code.',
    targets: ['passkey', 'user'],
  },
  'account.passkey.update': {
    phrase: 'rename {passkey}',
    description: 'A user renamed a passkey.',
    example: { before: { name: 'Laptop' }, after: { name: 'Old laptop' } },
  },
  'account.passkey.delete': { description: 'A user deleted a passkey.' },
  'account.password_reset.create': {
    phrase: 'create a password reset link for {user}',
    number: 'SI011',
    description:
      'A password reset link was created, and emailed if the user requested it. If the request failed, the reason states why.',
    channels: [...requestChannels, 'cli'],
    targets: ['user'],
  },
} satisfies AuditActionDrafts
