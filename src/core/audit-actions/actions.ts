import { auditAction } from './entry'

export const actionActions = [
  auditAction({
    action: 'account.action.cancel',
    number: 'AN001',
    description: 'An action was told to stop.',
    targets: ['action'],
    changes: 'answer',
  }),
] as const
