import type { NoticeKindEntry } from '../../core/notices'

export const monitorNotices = {
  'monitoring.impaired': { title: 'Monitoring impaired', severity: 'warning' },
  'monitoring.restored': { title: 'Monitoring restored', severity: 'info' },
  'monitor_results.damaged': { title: 'Check results could not be read', severity: 'warning' },
} as const satisfies Record<string, NoticeKindEntry>
