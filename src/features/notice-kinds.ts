import { accessNotices } from '../access/notice-kinds'
import type { NoticeKind } from '../core/notices'
import { actionNotices } from './actions/notice-kinds'
import { dnsNotices } from './dns/notice-kinds'
import { monitorNotices } from './monitors/notice-kinds'
import { notificationNotices } from './notifications/notice-kinds'
import { tokenNotices } from './tokens/notice-kinds'
import { webhookNotices } from './webhooks/notice-kinds'

/** All notice kinds, with their title and default severity. */
export const noticeKinds = {
  ...tokenNotices,
  ...accessNotices,
  ...actionNotices,
  'job.failed': { title: 'Background job failed permanently', severity: 'critical' },
  ...dnsNotices,
  ...monitorNotices,
  ...notificationNotices,
  ...webhookNotices,
} as const

declare module '../core/declared' {
  interface Declared {
    noticeKinds: typeof noticeKinds
  }
}

export const noticeKindNames = Object.keys(noticeKinds) as NoticeKind[]
