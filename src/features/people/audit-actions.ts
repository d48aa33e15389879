import { Type } from '@sinclair/typebox'
import { auditAction, requestChannels } from '../../core/audit-actions'

const person = { email: Type.String(), name: Type.String(), role: Type.String() }

export const peopleActions = [
  auditAction({
    action: 'account.member.update',
    number: 'PE001',
    description: 'The role of a member was changed.',
    targets: ['user'],
    changes: 'response',
    example: { before: { role: 'viewer' }, after: { role: 'member' } },
  }),
  auditAction({
    action: 'account.member.remove',
    number: 'PE002',
    description: 'A member was removed. The reason states what happened to their tokens.',
    targets: ['user'],
    changes: { of: 'account.member.update' },
  }),
  auditAction({
    action: 'account.invitation.create',
    number: 'PE003',
    description: 'An invitation was created.',
    targets: ['invitation'],
    changes: 'response',
  }),
  auditAction({
    action: 'account.invitation.renew',
    number: 'PE004',
    description: 'An invitation was renewed with a new code and expiration.',
    targets: ['invitation'],
    changes: 'response',
  }),
  auditAction({
    action: 'account.invitation.delete',
    number: 'PE005',
    description: 'An invitation was deleted.',
    targets: ['invitation'],
    changes: { of: 'account.invitation.renew' },
  }),
  auditAction({
    action: 'account.invitation.accept',
    number: 'PE006',
    description: 'An invitation was accepted, or accepting it failed.',
    targets: ['user', 'invitation'],
    changes: { fields: person },
    example: { before: {}, after: { email: 'ada@example.com', name: 'Ada', role: 'member' } },
  }),
  auditAction({
    action: 'account.session.switch',
    number: 'PE007',
    description: 'A user switched to another workspace.',
    targets: ['workspace'],
  }),
  auditAction({
    action: 'account.sign_up.create',
    number: 'PE008',
    description: 'A user signed up, or signing up failed because the email address is in use.',
    targets: ['workspace', 'user'],
    changes: { fields: { ...person, workspace: Type.String(), plan: Type.String() } },
    example: {
      before: {},
      after: { email: 'ada@example.com', name: 'Ada', role: 'owner', workspace: 'Ada’s servers', plan: 'free' },
    },
  }),
  auditAction({
    action: 'account.workspace.suspend',
    number: 'PE009',
    description: 'A workspace was suspended.',
    targets: ['workspace'],
    changes: 'response',
  }),
  auditAction({
    action: 'account.workspace.resume',
    number: 'PE010',
    description: 'A workspace was resumed.',
    targets: ['workspace'],
    changes: 'response',
  }),
  auditAction({
    action: 'account.user.update',
    number: 'SI001',
    description:
      'A user changed their name, email address, or dashboard preferences, or the change failed because of a wrong password.',
    targets: ['user'],
    changes: 'response',
    example: { before: { name: 'Ada' }, after: { name: 'Ada L.' } },
  }),
  auditAction({
    action: 'account.one_time_codes.set_up',
    number: 'SI002',
    description: 'A user started setting up one-time codes, or this failed because of a wrong password.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.one_time_codes.enable',
    number: 'SI003',
    description: 'A user enabled one-time codes.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.one_time_codes.disable',
    number: 'SI004',
    description: 'A user disabled one-time codes, or this failed because of a wrong password or code.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.recovery_codes.regenerate',
    number: 'SI005',
    description: 'A user generated new recovery codes, or this failed because of a wrong password or code.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.recovery_code.use',
    number: 'SI006',
    description: 'A user used a recovery code. The reason contains the number of remaining codes.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.user.reset_second_factor',
    number: 'SI007',
    description: 'The one-time codes and passkeys of a user were removed and their sessions ended.',
    channels: ['cli'],
    targets: ['user'],
  }),
  auditAction({
    action: 'account.passkey.create',
    number: 'SI008',
    description: 'A user added a passkey, or this failed because of a wrong password or code.',
    targets: ['passkey', 'user'],
    changes: 'response',
  }),
  auditAction({
    action: 'account.passkey.update',
    number: 'SI009',
    description: 'A user renamed a passkey.',
    targets: ['passkey'],
    changes: 'response',
    example: { before: { name: 'Laptop' }, after: { name: 'Old laptop' } },
  }),
  auditAction({
    action: 'account.passkey.delete',
    number: 'SI010',
    description: 'A user deleted a passkey.',
    targets: ['passkey'],
    changes: { of: 'account.passkey.update' },
  }),
  auditAction({
    action: 'account.password_reset.create',
    number: 'SI011',
    description:
      'A password reset link was created, and emailed if the user requested it. If the request failed, the reason states why.',
    channels: [...requestChannels, 'cli'],
    targets: ['user'],
  }),
] as const
