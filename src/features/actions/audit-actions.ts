import { auditAction } from '../../core/audit-actions'

export const actionActions = [
  auditAction({
    action: 'account.action.cancel',
    number: 'AN001',
    description: 'An action was canceled.',
    targets: ['action'],
    changes: 'response',
  }),
] as const
