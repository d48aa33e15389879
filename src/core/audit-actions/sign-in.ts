import { asked, auditAction } from './entry'

export const signInActions = [
  auditAction({
    action: 'account.user.update',
    number: 'SI001',
    description: 'Somebody changed their name, their e-mail, or how they want the dashboard; or tried to with a wrong password.',
    targets: ['user'],
    changes: 'answer',
    example: { before: { name: 'Ada' }, after: { name: 'Ada L.' } },
  }),
  auditAction({
    action: 'account.one_time_codes.begin',
    number: 'SI002',
    description: 'Somebody made a secret for one-time codes, which waits for its first code; or tried to with a wrong password.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.one_time_codes.enable',
    number: 'SI003',
    description: 'Somebody turned one-time codes on.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.one_time_codes.remove',
    number: 'SI004',
    description: 'Somebody turned one-time codes off; or tried to with a wrong password or code.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.recovery_codes.renew',
    number: 'SI005',
    description: 'Somebody got new recovery codes; or tried to with a wrong password or code.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.recovery_code.use',
    number: 'SI006',
    description: 'Somebody used up a recovery code; the reason tells how many are left.',
    targets: ['user'],
  }),
  auditAction({
    action: 'account.user.reset_second_factor',
    number: 'SI007',
    description: 'A user’s one-time codes and passkeys were taken away, and their sessions ended.',
    channels: ['cli'],
    targets: ['user'],
  }),
  auditAction({
    action: 'account.passkey.create',
    number: 'SI008',
    description: 'Somebody made a passkey; or tried to with a wrong password or code.',
    targets: ['passkey', 'user'],
    changes: 'answer',
  }),
  auditAction({
    action: 'account.passkey.update',
    number: 'SI009',
    description: 'Somebody renamed a passkey.',
    targets: ['passkey'],
    changes: 'answer',
    example: { before: { name: 'Laptop' }, after: { name: 'Old laptop' } },
  }),
  auditAction({
    action: 'account.passkey.delete',
    number: 'SI010',
    description: 'Somebody deleted a passkey.',
    targets: ['passkey'],
    changes: { of: 'account.passkey.update' },
  }),
  auditAction({
    action: 'account.password_reset.create',
    number: 'SI011',
    description:
      'A link to a new password was made, and mailed where somebody asked for it; the reason tells why it was not taken.',
    channels: [...asked, 'cli'],
    targets: ['user'],
  }),
] as const
