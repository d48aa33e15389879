import { Type } from '@sinclair/typebox'
import type { AuditActionDrafts } from '../../core/audit-actions'

export const noticeActions = {
  'account.notice.update': {
    phrase: 'mark a notice as read or unread',
    number: 'NT001',
    description: 'A notice was marked as read or unread.',
    changes: { fields: { read: Type.Boolean() } },
    example: { before: { read: false }, after: { read: true } },
  },
  'account.notice.read': {
    phrase: 'mark notices as read',
    number: 'NT002',
    description: 'Notices were marked as read. The reason contains their number.',
    targets: ['workspace'],
  },
} satisfies AuditActionDrafts
