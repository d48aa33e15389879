import type { NoticeKindEntry } from '../../core/notices'

export const actionNotices = {
  'action.failed': { title: 'Action failed', severity: 'warning' },
} as const satisfies Record<string, NoticeKindEntry>
