import { auditAction } from './entry'

export const signInActions = [
  auditAction({
    action: 'account.user.update',
    number: 'SI001',
    description: 'Somebody changed their name, their e-mail, or how they want the dashboard; or tried to with a wrong password.',
    targets: ['user'],
    changes: 'answer',
    example: { before: { name: 'Ada' }, after: { name: 'Ada L.' } },
  }),
] as const
