import { Type } from '@sinclair/typebox'
import { auditAction } from '../../core/audit-actions'

export const noticeActions = [
  auditAction({
    action: 'account.notice.update',
    number: 'NT001',
    description: 'A notice was marked as read or unread.',
    targets: ['notice'],
    changes: { fields: { read: Type.Boolean() } },
    example: { before: { read: false }, after: { read: true } },
  }),
  auditAction({
    action: 'account.notice.read',
    number: 'NT002',
    description: 'Notices were marked as read. The reason contains their number.',
    targets: ['workspace'],
  }),
] as const
