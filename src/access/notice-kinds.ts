import type { NoticeKindEntry } from '../core/notices'

export const accessNotices = {
  'plan.limit_near': { title: 'Plan limit almost reached', severity: 'info' },
  'plan.limit_reached': { title: 'Plan limit reached', severity: 'warning' },
  'plan.over_limit': { title: 'Plan limit exceeded', severity: 'critical' },
} as const satisfies Record<string, NoticeKindEntry>
