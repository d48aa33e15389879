/** The tags of the API description, in display order. Every area names one of them. */
export const tags: readonly { name: string; description: string }[] = [
  {
    name: 'DNS',
    description:
      'Zones, records, templates, DNS providers, and zone history. A record set is all records of a zone with the same name and type. A sync target is a ' +
      'provider that a zone is synced to. Drift is a change made there outside Bailiwick. A DNS plan is a preview of changes to a zone.',
  },
  {
    name: 'Domains',
    description: 'Domains, when they expire, the contacts they are registered to, registries, and calendar feeds.',
  },
  {
    name: 'Dynamic IP',
    description: 'Dynamic IP sources are routers and clients that report their address. DNS records follow it.',
  },
  {
    name: 'Servers and cloud',
    description: 'Servers, the cloud accounts that they belong to, and the SSH keys that give access to them.',
  },
  {
    name: 'Certificates',
    description:
      'Certificates: where they are served and stored, when they have to be replaced, and which authorities are trusted. TLS endpoints, which are scanned on schedule, and grades: how well a server speaks TLS, why, and what to change.',
  },
  { name: 'Heartbeats', description: 'Heartbeats monitor scheduled jobs: a missing ping raises an alert.' },
  { name: 'Monitors', description: 'Monitors regularly check websites, ports, hosts, DNS names, and certificates.' },
  { name: 'Incidents', description: 'Outages and degradations, their acknowledgements, timelines, and postmortems.' },
  { name: 'Maintenance', description: 'Maintenance windows, which suppress alerts during planned work.' },
  { name: 'Ingest', description: 'Ping URLs for your jobs. The URL itself is the credential, so no token is required.' },
  { name: 'Webhooks', description: 'Webhook endpoints, their delivery log, and the available event kinds.' },
  {
    name: 'Events',
    description: 'Events in the workspace, which are also sent to webhook endpoints, as a list and as a feed to follow.',
  },
  { name: 'Overview', description: 'The state of a workspace in one response.' },
  { name: 'Live', description: 'Live updates: a stream of changes as server-sent events.' },
  { name: 'Actions', description: 'Long-running operations: progress, results, and cancellation.' },
  { name: 'Messages', description: 'The messages that webhook endpoints receive.' },
  { name: 'Tokens', description: 'API tokens and their permissions.' },
  { name: 'Workspaces', description: 'Workspaces, their plans, and their limits.' },
  {
    name: 'Notices',
    description: 'Notices in the dashboard, which tell the members of a workspace that something needs attention.',
  },
  {
    name: 'Notifications',
    description: 'Notification channels, and the log of notifications: sent, failed, waiting, and canceled ones.',
  },
  { name: 'Members', description: 'Members of a workspace, and invitations.' },
  { name: 'Installation', description: 'The state of the whole installation, for its operator.' },
  { name: 'Deprecations', description: 'Deprecated parts of the API, and the tokens that still use them.' },
  { name: 'Audit', description: 'The audit log and its streams to other systems.' },
  {
    name: 'Sessions',
    description: 'Sign-in, sign-up, and your own account: sessions, profile, password, two-factor authentication, and passkeys.',
  },
  { name: 'Setup', description: 'First-time setup: creating the first user.' },
]
