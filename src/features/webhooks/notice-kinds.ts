import type { NoticeKindEntry } from '../../core/notices'

export const webhookNotices = {
  'webhook_endpoint.failing': { title: 'Webhook endpoint is failing', severity: 'warning' },
  'webhook_endpoint.disabled': { title: 'Webhook endpoint disabled', severity: 'critical' },
  'webhook_endpoint.resumed': { title: 'Webhook endpoint resumed', severity: 'info' },
} as const satisfies Record<string, NoticeKindEntry>
