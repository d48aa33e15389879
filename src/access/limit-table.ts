/** Values in the plans of a new installation; null for no limit. */
interface InitialValues {
  free: number | null
  pro: number | null
  business: number | null
  unlimited: number | null
}

interface LimitEntry {
  /** Label in the dashboard. */
  label: string
  /** Description in the API and the handbook. */
  description: string
  /** Plural noun, if the limit is a number of resources that a workspace may have. */
  noun?: string
  initial: InitialValues
}

const of = (free: number | null, pro: number | null, business: number | null, unlimited: number | null = null) => ({
  free,
  pro,
  business,
  unlimited,
})

/**
 * The limits of a plan, in the order of the API. Their types, labels, descriptions and initial values are all read from here; the
 * values that apply are stored with each plan.
 */
export const limitTable = {
  requests_per_minute_per_token: {
    label: 'API requests per minute, per token',
    description: 'API requests per minute, counted for each token.',
    initial: of(60, 600, 3_000),
  },
  requests_per_hour_per_workspace: {
    label: 'API requests per hour',
    description: 'API requests per hour, for all tokens of the workspace together.',
    initial: of(1_000, 20_000, 100_000),
  },
  webhook_endpoints: {
    label: 'Webhook endpoints',
    description: 'Number of webhook endpoints.',
    noun: 'webhook endpoints',
    initial: of(2, 10, 50),
  },
  deliveries_per_minute: {
    label: 'Webhook deliveries per minute',
    description: 'Webhook delivery attempts per minute; attempts above the limit are delayed.',
    initial: of(120, 3_000, 30_000),
  },
  tokens: { label: 'API tokens', description: 'Number of active API tokens.', noun: 'tokens', initial: of(5, 50, 500) },
  heartbeats: { label: 'Heartbeats', description: 'Number of heartbeats.', noun: 'heartbeats', initial: of(20, 1_000, 10_000) },
  dns_zones: { label: 'DNS zones', description: 'Number of DNS zones.', noun: 'DNS zones', initial: of(3, 100, 2_000) },
  dns_records: {
    label: 'DNS records per zone',
    description: 'Number of DNS records per zone.',
    initial: of(500, 10_000, 100_000),
  },
  servers: { label: 'Servers', description: 'Number of servers.', noun: 'servers', initial: of(5, 100, 1_000) },
  server_metrics_days: {
    label: 'Retention of server metrics (days)',
    description:
      'Retention of the metrics of servers, in days. After 730 days, they are always deleted. Older metrics have a lower resolution.',
    initial: of(7, 90, 730, 730),
  },
  volumes: { label: 'Volumes', description: 'Number of volumes.', noun: 'volumes', initial: of(10, 500, 5_000) },
  snapshots: { label: 'Snapshots', description: 'Number of snapshots.', noun: 'snapshots', initial: of(20, 1_000, 10_000) },
  firewalls: { label: 'Firewalls', description: 'Number of firewalls.', noun: 'firewalls', initial: of(5, 100, 1_000) },
  managed_certificates: {
    label: 'Managed certificates',
    description: 'Number of managed certificates.',
    noun: 'managed certificates',
    initial: of(3, 200, 5_000),
  },
  dynamic_ips: {
    label: 'Dynamic IP sources',
    description: 'Number of dynamic IP sources.',
    noun: 'dynamic IP sources',
    initial: of(2, 20, 200),
  },
  dynamic_ip_history_days: {
    label: 'Retention of dynamic IP history (days)',
    description: 'Retention of the reports of a dynamic IP source, in days.',
    initial: of(7, 90, 365, 90),
  },
  concurrent_requests_per_token: {
    label: 'Concurrent API requests per token',
    description: 'Number of concurrent API requests per token.',
    initial: of(20, 20, 20),
  },
  delivery_log_days: {
    label: 'Retention of webhook deliveries (days)',
    description: 'Retention of the delivery log, in days.',
    initial: of(7, 30, 90, 90),
  },
  event_feed_days: {
    label: 'Retention of events (days)',
    description: 'Retention of the event feed, in days.',
    initial: of(7, 30, 90, 90),
  },
  audit_days: {
    label: 'Retention of the audit log (days)',
    description: 'Retention of the audit log, in days.',
    initial: of(30, 365, null),
  },
  dns_history_days: {
    label: 'Retention of DNS history (days)',
    description: 'Retention of the change history of a DNS zone, in days; its last 1,000 changes are always kept.',
    initial: of(365, 365, 365, 365),
  },
  monitors: { label: 'Monitors', description: 'Number of monitors.', noun: 'monitors', initial: of(20, 1_000, 10_000) },
  monitor_interval_seconds: {
    label: 'Shortest monitor interval (seconds)',
    description: 'The shortest interval of a monitor, in seconds. Unlike the other limits, this is a minimum.',
    initial: of(60, 10, 5),
  },
  monitor_results_days: {
    label: 'Retention of check results (days)',
    description: 'Retention of individual check results, in days.',
    initial: of(7, 30, 90, 30),
  },
  tls_endpoints: {
    label: 'TLS endpoints',
    description: 'Number of TLS endpoints that you create, and, separately, of those for names that need a certificate.',
    noun: 'TLS endpoints',
    initial: of(10, 500, 10_000),
  },
  domains: { label: 'Domains', description: 'Number of domains.', noun: 'domains', initial: of(10, 500, 10_000) },
  incident_days: {
    label: 'Retention of resolved incidents (days)',
    description: 'Retention of resolved incidents, in days.',
    initial: of(365, 365, null),
  },
} as const satisfies Record<string, LimitEntry>

export type LimitName = keyof typeof limitTable
export const limitNames = Object.keys(limitTable) as LimitName[]

/** Limits on the number of resources of a workspace. */
export type CountedLimit = { [N in LimitName]: (typeof limitTable)[N] extends { noun: string } ? N : never }[LimitName]

/** The limits of a plan or a workspace; null for no limit. */
export type PlanLimits = Record<LimitName, number | null>

/** No limits. */
export const unlimited = Object.fromEntries(limitNames.map(name => [name, null])) as PlanLimits

/** The limits of a plan of a new installation. */
export const initialLimits = (plan: keyof InitialValues): PlanLimits =>
  Object.fromEntries(limitNames.map(name => [name, limitTable[name].initial[plan]])) as PlanLimits
