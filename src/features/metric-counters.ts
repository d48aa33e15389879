/** Counters in /metrics, other than those of requests and jobs, with their help text. */
export const metricCounters = {
  agent_reports: 'Reports received from the agents of servers, by whether they were current or of a backlog.',
  agent_measurements: 'Minutes measured by agents, by whether they were stored, repeated within a report, or too old.',
  heartbeat_pings: 'Pings received, by kind.',
  monitor_checks: 'Monitor checks whose result this hub processed, by status.',
  monitor_transitions: 'Monitor status changes recorded by this hub, by new status.',
  webhook_attempts: 'Webhook delivery attempts, by outcome.',
  monitor_results: 'Check results, by whether they were stored or lost.',
  dns_queries: 'Queries received by the built-in name server, by transport.',
  dns_answers: 'Responses sent by the built-in name server, by response code.',
  dns_queries_limited:
    'Queries that the built-in name server truncated or dropped because of the rate limit, or ignored because they were malformed, by kind.',
  dns_transfers: 'Zone transfers served by the built-in name server, by outcome.',
  dns_notifies: 'NOTIFY messages sent to secondaries, by outcome.',
  dns_notifies_received: 'NOTIFY messages received by the built-in name server, by outcome.',
} as const

declare module '../core/declared' {
  interface Declared {
    metricCounters: typeof metricCounters
  }
}
