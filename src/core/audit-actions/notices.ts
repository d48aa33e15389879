import { Type } from '@sinclair/typebox'
import { auditAction } from './entry'

export const noticeActions = [
  auditAction({
    action: 'account.notice.update',
    number: 'NT001',
    description: 'A notice was marked as read, or as unread again.',
    targets: ['notice'],
    changes: { members: { read: Type.Boolean() } },
    example: { before: { read: false }, after: { read: true } },
  }),
  auditAction({
    action: 'account.notice.read',
    number: 'NT002',
    description: 'Notices were marked as read; the reason says how many.',
    targets: ['workspace'],
  }),
] as const
