/** Every tag of the API description, in the order it is shown. An area names one of them. */
export const tags: readonly { name: string; description: string }[] = [
  { name: 'DNS', description: 'Zones and their records.' },
  { name: 'Heartbeats', description: 'Scheduled jobs that ping; a missing ping raises an alert.' },
  { name: 'Monitors', description: 'What is checked again and again: web sites, ports, hosts, names, certificates.' },
  { name: 'Ingest', description: 'What customers’ own tools call, each with the credential of one source.' },
  { name: 'Webhooks', description: 'Endpoints that are told of events, and the log of deliveries.' },
  { name: 'Events', description: 'What happened: the feed, and the kinds there are.' },
  { name: 'Actions', description: 'Long work: how far it is, and what came of it.' },
  { name: 'Messages', description: 'What webhook endpoints receive.' },
  { name: 'Tokens', description: 'API tokens and what they may do.' },
  { name: 'Workspaces', description: 'Workspaces and plans.' },
  { name: 'Notices', description: 'What the people of a workspace should know of.' },
  { name: 'Members', description: 'People of a workspace, and invitations to it.' },
  { name: 'Deprecations', description: 'What of the API goes away, and who uses it.' },
  { name: 'Audit', description: 'The log of every action.' },
  { name: 'Sessions', description: 'Signing in and out of the dashboard.' },
  { name: 'Setup', description: 'The first user of a new installation.' },
]
