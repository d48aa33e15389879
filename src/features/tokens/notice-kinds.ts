import type { NoticeKindEntry } from '../../core/notices'

export const tokenNotices = {
  'token.expiring': { title: 'Token expires soon', severity: 'warning' },
  'token.leaked': { title: 'Leaked token revoked', severity: 'critical' },
} as const satisfies Record<string, NoticeKindEntry>
