import type { AuditActionDrafts } from '../../core/audit-actions'

export const actionActions = {
  'account.action.cancel': {
    number: 'AN001',
    description: 'An action was canceled.',
    targets: ['action'],
    changes: 'response',
  },
} satisfies AuditActionDrafts
