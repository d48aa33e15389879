import type { NoticeKind, NoticeKindEntry } from '../core/notices'

/** All notice kinds, with their title and default severity. */
export const noticeKinds = {
  'token.expiring': { title: 'Token expires soon', severity: 'warning' },
  'token.leaked': { title: 'Leaked token revoked', severity: 'critical' },
  'plan.limit_near': { title: 'Plan limit almost reached', severity: 'info' },
  'plan.limit_reached': { title: 'Plan limit reached', severity: 'warning' },
  'plan.over_limit': { title: 'Plan limit exceeded', severity: 'critical' },
  'action.failed': { title: 'Action failed', severity: 'warning' },
  'job.failed': { title: 'Background job failed permanently', severity: 'critical' },
  'cloud_account.failing': { title: 'Cloud account is failing', severity: 'warning' },
  'cloud_account.spend_near': { title: 'Spending cap almost reached', severity: 'warning' },
  'cloud_account.servers_left_out': { title: 'Servers of a cloud account not added', severity: 'warning' },
  'server_controller.failing': { title: 'Controller of a server is failing', severity: 'warning' },
  'certificate.ct_failing': { title: 'Search in Certificate Transparency logs fails', severity: 'warning' },
  'certificate.issue_failed': { title: 'Certificate could not be issued', severity: 'warning' },
  'acme_account.failing': { title: 'ACME account is failing', severity: 'warning' },
  'snapshot_policy.failing': { title: 'Snapshot policy is failing', severity: 'warning' },
  'server.missing': { title: 'Server no longer exists at its cloud', severity: 'warning' },
  'server.not_monitored': { title: 'Server has no monitor', severity: 'info' },
  'agent.approval': { title: 'Agent awaits approval', severity: 'warning' },
  'agent.cloned': { title: 'Two machines use the same agent', severity: 'critical' },
  'agent.silent': { title: 'Agent stopped reporting', severity: 'warning' },
  'agent.update_rolled_back': { title: 'Update of an agent rolled back', severity: 'warning' },
  'agents.disconnected': { title: 'All agents stopped reporting', severity: 'warning' },
  'firewall.reverted': { title: 'Firewall rules restored', severity: 'critical' },
  'firewall.drifted': { title: 'Firewall changed at its cloud', severity: 'warning' },
  'dns_zone.drifted': { title: 'DNS zone changed at its provider', severity: 'warning' },
  'dns_zone.edit_war': { title: 'DNS zone repeatedly changed at its provider', severity: 'critical' },
  'dns_zone.blocked': { title: 'DNS zone changes blocked', severity: 'warning' },
  'dns_zone.target_failing': { title: 'DNS zone sync to a provider is failing', severity: 'critical' },
  'registry.failing': { title: 'Registry server is failing', severity: 'warning' },
  'dns_provider.failing': { title: 'DNS provider is failing', severity: 'warning' },
  'registrar_account.failing': { title: 'Registrar account is failing', severity: 'warning' },
  'registrar_account.shrunk': { title: 'Registrar account lists far fewer domains', severity: 'critical' },
  'registrar_account.low_balance': { title: 'Credit of a registrar account too low for renewals', severity: 'warning' },
  'registrar_account.domains_left_out': { title: 'Domains of a registrar account not added', severity: 'warning' },
  'dynamic_ip.stale': { title: 'Dynamic IP source stopped reporting', severity: 'warning' },
  'dynamic_ip.held': { title: 'Changes of a dynamic IP source refused', severity: 'critical' },
  'dynamic_ip.host_failed': { title: 'DNS records of a dynamic IP source not updated', severity: 'warning' },
  'dynamic_ip.link_paused': { title: 'Firewall rule no longer follows a dynamic IP source', severity: 'warning' },
  'monitor_check.quarantined': { title: 'Monitor is no longer checked', severity: 'critical' },
  'monitoring.impaired': { title: 'Monitoring impaired', severity: 'warning' },
  'monitoring.restored': { title: 'Monitoring restored', severity: 'info' },
  'monitor_results.damaged': { title: 'Check results could not be read', severity: 'warning' },
  'notification_channel.failing': { title: 'Notification channel is failing', severity: 'warning' },
  'notification_channel.disabled': { title: 'Notification channel disabled', severity: 'critical' },
  'webhook_endpoint.failing': { title: 'Webhook endpoint is failing', severity: 'warning' },
  'webhook_endpoint.disabled': { title: 'Webhook endpoint disabled', severity: 'critical' },
  'webhook_endpoint.resumed': { title: 'Webhook endpoint resumed', severity: 'info' },
} as const satisfies Record<string, NoticeKindEntry>

declare module '../core/declared' {
  interface Declared {
    noticeKinds: typeof noticeKinds
  }
}

export const noticeKindNames = Object.keys(noticeKinds) as NoticeKind[]
