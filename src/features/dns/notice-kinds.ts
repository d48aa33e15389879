import type { NoticeKindEntry } from '../../core/notices'

export const dnsNotices = {
  'dns_zone.drifted': { title: 'DNS zone changed at its provider', severity: 'warning' },
  'dns_zone.edit_war': { title: 'DNS zone repeatedly changed at its provider', severity: 'critical' },
  'dns_zone.blocked': { title: 'DNS zone changes blocked', severity: 'warning' },
  'dns_zone.target_failing': { title: 'DNS zone sync to a provider is failing', severity: 'critical' },
  'dns_provider.failing': { title: 'DNS provider is failing', severity: 'warning' },
} as const satisfies Record<string, NoticeKindEntry>
