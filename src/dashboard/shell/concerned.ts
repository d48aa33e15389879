/** A change as the stream tells it; the id `*` stands for many of the type. */
export interface Change {
  type: string
  id: string
  action: string
}

/** What answers change with a resource: its own path first, below which it is read by its id. */
const paths: Record<string, readonly string[]> = {
  mon: ['/monitors', '/monitoring', '/overview'],
  mtr: ['/monitors', '/overview'],
  inc: ['/incidents', '/overview'],
  mw: ['/maintenance-windows', '/overview'],
  hb: ['/heartbeats', '/overview'],
  chan: ['/notification-channels', '/notifications', '/overview'],
  ntf: ['/notifications', '/notification-channels'],
  zone: ['/dns/zones', '/dns/records', '/overview'],
  rec: ['/dns/records', '/dns/zones'],
  rrset: ['/dns/zones', '/dns/records'],
  plan: ['/dns/plans', '/dns/zones'],
  ztgt: ['/dns/zones', '/overview'],
  tmpl: ['/dns/templates', '/dns/template-bindings'],
  tbnd: ['/dns/template-bindings', '/dns/templates', '/dns/zones'],
  prov: ['/dns/providers'],
  tsig: ['/dns/providers'],
  whe: ['/webhook-endpoints', '/overview'],
  dlv: ['/webhook-deliveries', '/webhook-endpoints', '/overview'],
  tok: ['/tokens', '/overview'],
  inv: ['/invitations', '/overview'],
  usr: ['/members', '/sessions', '/users'],
  ses: ['/sessions'],
  ws: ['/workspaces', '/plans', '/limits', '/sessions'],
  ntc: ['/notices', '/overview'],
  act: ['/actions'],
  aus: ['/audit-streams'],
}

// Types of which many may be told at once, as the first part of their ids: docs/live.md lists them.
const prefixes: Record<string, string> = {
  webhook_delivery: 'dlv',
  action: 'act',
  zone: 'zone',
  notification: 'ntf',
  notice: 'ntc',
}

const prefixOf = ({ type, id }: Change): string | undefined => (id === '*' ? prefixes[type] : id.slice(0, id.indexOf('_')))

/** The paths whose answers are others by now. The log and the events are so with whatever changes. */
export function pathsOf(changes: readonly Change[]): ReadonlySet<string> {
  return new Set(['/audit-events', '/events', ...changes.flatMap(one => paths[prefixOf(one) ?? ''] ?? [])])
}

/** Where one resource is read; null where the pages know of none. */
export function pathOf(change: Change): string | null {
  const own = paths[prefixOf(change) ?? '']?.[0]
  return own === undefined || change.id === '*' ? null : `${own}/${change.id}`
}

/** Whether a path is this one, or below it. */
export const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`)
