import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { CountedLimit } from './access/limit-table'
import type { IdPrefix } from './core/ids'
import type { Area } from './core/permissions'

/** What can be done to a resource. A bulk action is a denied request to its bulk endpoint. */
export const plainVerbs = ['create', 'update', 'delete', 'bulk'] as const
export type PlainVerb = (typeof plainVerbs)[number]

/** What everything that lists resources knows of a kind of resource. */
interface Resource {
  /** Prefix of its ids. */
  prefix: string
  /** Noun in messages. */
  name: string
  /** Plural noun in messages; the name with an s by default. */
  plural?: string
  /** Permission area. */
  area: Area
  /** Path of its list in the API, below `/v1`. */
  path?: string
  /** Other paths whose responses contain it, which the dashboard reloads after a change. */
  alsoIn?: readonly string[]
  /** Page in the dashboard. */
  page?: string
  /** Fields with its name in the dashboard: the first that isn’t empty. The list can be searched by it. */
  namedBy?: readonly string[]
  /** Maximum number in a workspace: a plan limit, or a number that is the same on every plan. */
  limit?: CountedLimit | number
  /** The table with its rows. */
  table?: string
  /** Columns that are set when it no longer counts against the limit. */
  endedBy?: readonly string[]
  /**
   * Its actions in the audit log: the prefix of their names, and the numbers of those that every resource has. Their entries in the
   * catalog follow (features/audit-actions.ts). `parents` are the types of resources that are affected too.
   */
  audit?: Readonly<{ prefix: string; parents?: readonly string[] } & Partial<Record<PlainVerb, string>>>
  /** Whether events can be about it. */
  hasEvents?: true
  /** Whether tokens can be restricted to single ones. */
  isRestrictable?: true
}

/**
 * All resources, by their type in the audit log and in events. Id prefixes, limits, token restrictions, audit actions, links and live
 * updates of the dashboard, and who sees an event or a change are derived from it. Only routes (hub/areas.ts) and pages
 * (dashboard/pages.ts) are listed elsewhere, because their code can’t be imported here. Tests fail if those are missing.
 */
export const registry = {
  workspace: {
    prefix: 'ws',
    name: 'workspace',
    area: 'account',
    path: '/workspaces',
    alsoIn: ['/plans', '/limits', '/sessions'],
    page: '/settings',
    audit: { prefix: 'account.workspace', create: 'AC014', update: 'AC015' },
  },
  user: {
    prefix: 'usr',
    name: 'user',
    area: 'account',
    path: '/members',
    alsoIn: ['/sessions', '/users'],
    page: '/members',
    audit: { prefix: 'account.user' },
  },
  session: { prefix: 'ses', name: 'session', area: 'account', path: '/sessions', audit: { prefix: 'account.session' } },
  passkey: {
    prefix: 'pkey',
    name: 'passkey',
    area: 'account',
    path: '/passkeys',
    audit: { prefix: 'account.passkey', create: 'SI008', update: 'SI009', delete: 'SI010' },
  },
  invitation: {
    prefix: 'inv',
    name: 'invitation',
    area: 'account',
    path: '/invitations',
    alsoIn: ['/overview'],
    page: '/members',
    audit: { prefix: 'account.invitation', create: 'PE003', delete: 'PE005' },
  },
  token: {
    prefix: 'tok',
    name: 'token',
    table: 'tokens',
    area: 'account',
    path: '/tokens',
    alsoIn: ['/overview'],
    page: '/tokens/$id',
    namedBy: ['name'],
    limit: 'tokens',
    endedBy: ['revoked_at', 'rotated_to'],
    audit: { prefix: 'account.token', create: 'AC001', update: 'AC002', bulk: 'AC025' },
  },
  notice: {
    prefix: 'ntc',
    name: 'notice',
    area: 'account',
    path: '/notices',
    alsoIn: ['/overview'],
    audit: { prefix: 'account.notice' },
  },
  action: { prefix: 'act', name: 'action', area: 'account', path: '/actions', page: '/actions/$id' },
  audit_event: { prefix: 'aud', name: 'audit event', area: 'account', path: '/audit-events', page: '/audit/$id' },
  audit_stream: {
    prefix: 'aus',
    name: 'audit stream',
    table: 'audit_streams',
    area: 'account',
    path: '/audit-streams',
    page: '/audit-streams',
    limit: 10,
    audit: { prefix: 'account.audit_stream', create: 'AS001', update: 'AS002', delete: 'AS003' },
  },

  zone: {
    prefix: 'zone',
    name: 'zone',
    table: 'dns_zones',
    area: 'dns',
    path: '/dns/zones',
    alsoIn: ['/dns/records', '/dynamic-ips', '/overview'],
    page: '/dns/zones/$id',
    namedBy: ['name'],
    limit: 'dns_zones',
    hasEvents: true,
    isRestrictable: true,
    audit: { prefix: 'dns.zone', create: 'DN001', update: 'DN002', delete: 'DN003' },
  },
  record: {
    prefix: 'rec',
    name: 'DNS record',
    area: 'dns',
    path: '/dns/records',
    alsoIn: ['/dns/zones'],
    audit: { prefix: 'dns.record', create: 'DN004', update: 'DN005', delete: 'DN006', bulk: 'DN008', parents: ['zone'] },
  },
  zone_target: {
    prefix: 'ztgt',
    name: 'sync target',
    area: 'dns',
    path: '/dns/zones',
    alsoIn: ['/overview'],
    audit: { prefix: 'dns.target', create: 'DN043', delete: 'DN044', parents: ['zone'] },
  },
  plan: { prefix: 'plan', name: 'plan', area: 'dns', path: '/dns/plans', alsoIn: ['/dns/zones'] },
  dns_template: {
    prefix: 'tmpl',
    name: 'DNS template',
    table: 'dns_templates',
    area: 'dns',
    path: '/dns/templates',
    alsoIn: ['/dns/template-bindings'],
    page: '/dns/templates/$id',
    namedBy: ['name'],
    limit: 200,
    audit: { prefix: 'dns.template', create: 'DN080', update: 'DN081', delete: 'DN082' },
  },
  template_binding: {
    prefix: 'tbnd',
    name: 'template binding',
    area: 'dns',
    path: '/dns/template-bindings',
    alsoIn: ['/dns/templates', '/dns/zones'],
    audit: { prefix: 'dns.template_binding', update: 'DN086', delete: 'DN088', parents: ['dns_template', 'zone'] },
  },
  dns_provider: {
    prefix: 'prov',
    name: 'DNS provider',
    table: 'dns_providers',
    area: 'dns',
    path: '/dns/providers',
    page: '/dns/providers/$id',
    limit: 50,
    audit: { prefix: 'dns.provider', create: 'DN020', update: 'DN021', delete: 'DN022' },
  },
  tsig_key: {
    prefix: 'tsig',
    name: 'TSIG key',
    table: 'dns_tsig_keys',
    area: 'dns',
    path: '/dns/providers/builtin/tsig-keys',
    alsoIn: ['/dns/providers'],
    limit: 100,
    audit: { prefix: 'dns.tsig_key', create: 'DN070', delete: 'DN071' },
  },

  heartbeat: {
    prefix: 'hb',
    name: 'heartbeat',
    table: 'heartbeats',
    area: 'monitoring',
    path: '/heartbeats',
    alsoIn: ['/overview'],
    page: '/heartbeats/$id',
    namedBy: ['name'],
    limit: 'heartbeats',
    hasEvents: true,
    isRestrictable: true,
    audit: { prefix: 'heartbeat', create: 'HB001', update: 'HB002', delete: 'HB003', bulk: 'HB014' },
  },
  monitor: {
    prefix: 'mon',
    name: 'monitor',
    table: 'monitors',
    area: 'monitoring',
    path: '/monitors',
    alsoIn: ['/monitoring', '/overview'],
    page: '/monitors/$id',
    namedBy: ['name'],
    limit: 'monitors',
    hasEvents: true,
    isRestrictable: true,
    audit: { prefix: 'monitor', create: 'MO001', update: 'MO002', delete: 'MO003', bulk: 'MO008' },
  },
  incident: {
    prefix: 'inc',
    name: 'incident',
    area: 'monitoring',
    path: '/incidents',
    alsoIn: ['/overview'],
    page: '/incidents/$id',
    namedBy: ['title'],
    audit: { prefix: 'incident', create: 'IN005', update: 'IN006', bulk: 'IN013' },
  },
  maintenance_window: {
    prefix: 'mw',
    name: 'maintenance window',
    table: 'maintenance_windows',
    area: 'monitoring',
    path: '/maintenance-windows',
    alsoIn: ['/overview'],
    page: '/maintenance/$id',
    namedBy: ['name'],
    limit: 200,
    audit: { prefix: 'maintenance.window', create: 'MW001', update: 'MW002', delete: 'MW003', bulk: 'MW006' },
  },
  notification_channel: {
    prefix: 'chan',
    name: 'notification channel',
    table: 'notification_channels',
    area: 'monitoring',
    path: '/notification-channels',
    alsoIn: ['/notifications', '/overview'],
    page: '/channels/$id',
    namedBy: ['name'],
    limit: 50,
    isRestrictable: true,
    audit: { prefix: 'notification.channel', create: 'NC001', update: 'NC002', delete: 'NC003' },
  },
  notification: {
    prefix: 'ntf',
    name: 'notification',
    area: 'monitoring',
    path: '/notifications',
    alsoIn: ['/notification-channels'],
  },

  webhook_endpoint: {
    prefix: 'whe',
    name: 'webhook endpoint',
    table: 'webhook_endpoints',
    area: 'webhooks',
    path: '/webhook-endpoints',
    alsoIn: ['/overview'],
    page: '/webhooks/$id',
    namedBy: ['description', 'url'],
    limit: 'webhook_endpoints',
    hasEvents: true,
    isRestrictable: true,
    audit: { prefix: 'webhooks.endpoint', create: 'WH001', update: 'WH002', delete: 'WH003', bulk: 'WH011' },
  },
  webhook_delivery: {
    prefix: 'dlv',
    name: 'delivery',
    plural: 'deliveries',
    area: 'webhooks',
    path: '/webhook-deliveries',
    alsoIn: ['/webhook-endpoints', '/overview'],
    page: '/webhooks/deliveries/$id',
    audit: { prefix: 'webhooks.delivery' },
  },

  dynamic_ip: {
    prefix: 'dip',
    name: 'dynamic IP source',
    table: 'dynamic_ips',
    area: 'dynamic_ip',
    path: '/dynamic-ips',
    alsoIn: ['/overview'],
    page: '/dynamic-ips/$id',
    namedBy: ['name'],
    limit: 'dynamic_ips',
    hasEvents: true,
    audit: { prefix: 'dynamic_ip', create: 'DI001', update: 'DI002', delete: 'DI003' },
  },

  cloud_account: {
    prefix: 'cloud',
    name: 'cloud account',
    table: 'cloud_accounts',
    area: 'cloud',
    path: '/cloud-accounts',
    alsoIn: ['/servers'],
    page: '/cloud-accounts/$id',
    limit: 20,
    audit: { prefix: 'cloud.account', create: 'CA001', update: 'CA002', delete: 'CA003' },
  },
  server: {
    prefix: 'srv',
    name: 'server',
    table: 'servers',
    area: 'cloud',
    path: '/servers',
    alsoIn: ['/cloud-accounts', '/overview'],
    page: '/servers/$id',
    namedBy: ['name'],
    limit: 'servers',
    endedBy: ['deleted_at'],
    hasEvents: true,
    isRestrictable: true,
    audit: { prefix: 'cloud.server', create: 'CS001', update: 'CS002', delete: 'CS003' },
  },
  server_controller: {
    prefix: 'ctl',
    name: 'controller',
    area: 'cloud',
    path: '/servers',
    audit: { prefix: 'cloud.controller', create: 'CO001', update: 'CO002', delete: 'CO003' },
  },
  volume: {
    prefix: 'vol',
    name: 'volume',
    table: 'volumes',
    area: 'cloud',
    path: '/volumes',
    alsoIn: ['/servers', '/cloud-accounts'],
    page: '/volumes',
    namedBy: ['name'],
    limit: 'volumes',
    audit: { prefix: 'cloud.volume', create: 'CV001', update: 'CV002', delete: 'CV003' },
  },
  snapshot: {
    prefix: 'snap',
    name: 'snapshot',
    table: 'snapshots',
    area: 'cloud',
    path: '/snapshots',
    alsoIn: ['/servers', '/cloud-accounts'],
    page: '/snapshots',
    namedBy: ['name'],
    limit: 'snapshots',
    audit: { prefix: 'cloud.snapshot', create: 'CN001', update: 'CN002', delete: 'CN003' },
  },
  snapshot_policy: {
    prefix: 'spol',
    name: 'snapshot policy',
    plural: 'snapshot policies',
    table: 'snapshot_policies',
    area: 'cloud',
    path: '/snapshot-policies',
    page: '/snapshot-policies',
    namedBy: ['name'],
    limit: 100,
    audit: { prefix: 'cloud.snapshot_policy', create: 'SP001', update: 'SP002', delete: 'SP003' },
  },
  firewall: {
    prefix: 'fw',
    name: 'firewall',
    table: 'firewalls',
    area: 'cloud',
    path: '/firewalls',
    alsoIn: ['/dynamic-ips'],
    page: '/firewalls/$id',
    namedBy: ['name'],
    limit: 'firewalls',
    hasEvents: true,
    isRestrictable: true,
    audit: { prefix: 'cloud.firewall', create: 'FW001', update: 'FW002', delete: 'FW003' },
  },
  ssh_key: {
    prefix: 'sshk',
    name: 'SSH key',
    table: 'ssh_keys',
    area: 'cloud',
    path: '/ssh-keys',
    page: '/ssh-keys',
    namedBy: ['name'],
    limit: 100,
    audit: { prefix: 'cloud.ssh_key', create: 'SK001', update: 'SK002', delete: 'SK003' },
  },
  agent: {
    prefix: 'agent',
    name: 'agent',
    table: 'agents',
    area: 'cloud',
    path: '/agents',
    alsoIn: ['/servers', '/agent-updates'],
    page: '/agents',
    namedBy: ['name'],
    hasEvents: true,
    audit: { prefix: 'cloud.agent', update: 'AG002', delete: 'AG003' },
  },
  enrolment_key: {
    prefix: 'enk',
    name: 'enrolment key',
    table: 'enrolment_keys',
    area: 'cloud',
    path: '/enrolment-keys',
    page: '/agents/enrolment-keys',
    namedBy: ['name'],
    limit: 100,
    endedBy: ['used_up_at'],
    audit: { prefix: 'cloud.enrolment_key', create: 'EK001', delete: 'EK003' },
  },

  acme_account: {
    prefix: 'acme',
    name: 'ACME account',
    table: 'acme_accounts',
    area: 'certificates',
    path: '/acme-accounts',
    page: '/acme-accounts',
    limit: 20,
    audit: { prefix: 'certificates.acme_account', create: 'CE101', update: 'CE102', delete: 'CE103' },
  },
  tls_endpoint: {
    prefix: 'tls',
    name: 'TLS endpoint',
    table: 'tls_endpoints',
    area: 'certificates',
    path: '/tls-endpoints',
    page: '/tls-endpoints/$id',
    namedBy: ['host'],
    limit: 'tls_endpoints',
    endedBy: ['uncounted_at'],
    hasEvents: true,
    isRestrictable: true,
    audit: { prefix: 'certificates.tls_endpoint', create: 'TE001', update: 'TE002', delete: 'TE003', bulk: 'TE004' },
  },

  managed_certificate: {
    prefix: 'mcert',
    name: 'managed certificate',
    table: 'managed_certificates',
    area: 'certificates',
    path: '/managed-certificates',
    page: '/managed-certificates',
    limit: 'managed_certificates',
    audit: { prefix: 'certificates.managed_certificate', create: 'CE201', update: 'CE202', delete: 'CE203' },
  },
  certificate_gap: {
    prefix: 'cgap',
    name: 'certificate gap',
    table: 'certificate_gaps',
    area: 'certificates',
    path: '/certificate-gaps',
    page: '/certificates/gaps',
    namedBy: ['name'],
    hasEvents: true,
    audit: { prefix: 'certificates.gap' },
  },

  contact: {
    prefix: 'con',
    name: 'contact',
    table: 'contacts',
    area: 'domains',
    path: '/contacts',
    page: '/contacts/$id',
    namedBy: ['label'],
    limit: 1000,
    audit: { prefix: 'domains.contact', create: 'DO201', update: 'DO202', delete: 'DO203', bulk: 'DO204' },
  },

  calendar_feed: {
    prefix: 'cal',
    name: 'calendar feed',
    table: 'calendar_feeds',
    area: 'domains',
    path: '/calendar-feeds',
    page: '/calendar-feeds',
    namedBy: ['name'],
    limit: 50,
    audit: { prefix: 'domains.calendar', create: 'DO301', update: 'DO302', delete: 'DO303' },
  },

  // Not part of the API yet, but of events that endpoints can subscribe to.
  domain: {
    prefix: 'dom',
    name: 'domain',
    table: 'domains',
    area: 'domains',
    path: '/domains',
    page: '/domains/$id',
    limit: 'domains',
    hasEvents: true,
    isRestrictable: true,
    audit: { prefix: 'domains.domain', create: 'DO001', update: 'DO002', delete: 'DO003', bulk: 'DO004' },
  },
  registrar_account: {
    prefix: 'reg',
    name: 'registrar account',
    table: 'registrar_accounts',
    area: 'domains',
    path: '/registrar-accounts',
    alsoIn: ['/domains'],
    page: '/registrar-accounts/$id',
    limit: 50,
    audit: { prefix: 'domains.registrar', create: 'DO020', update: 'DO021', delete: 'DO022' },
  },
  watched_domain: { prefix: 'wdom', name: 'watched domain', area: 'domains', hasEvents: true },
  deployment: { prefix: 'dep', name: 'deployment', area: 'cloud', hasEvents: true },
  certificate: {
    prefix: 'cert',
    name: 'certificate',
    table: 'certificates',
    area: 'certificates',
    path: '/certificates',
    alsoIn: ['/overview'],
    page: '/certificates/$id',
    namedBy: ['common_name', 'subject'],
    limit: 50_000,
    hasEvents: true,
    audit: { prefix: 'certificates.certificate', create: 'CE001', update: 'CE002', delete: 'CE003' },
  },
  certificate_authority: {
    prefix: 'ca',
    name: 'certificate authority',
    plural: 'certificate authorities',
    table: 'certificate_authorities',
    area: 'certificates',
    path: '/certificate-authorities',
    page: '/certificates/authorities',
    limit: 50,
    audit: { prefix: 'certificates.authority', create: 'CE004', delete: 'CE005' },
  },
  probe: { prefix: 'probe', name: 'probe', area: 'monitoring', hasEvents: true },
} as const satisfies Record<string, Resource>

/** Prefixes of other ids, of rows that are not resources. */
type OtherPrefix =
  | 'att'
  | 'chal'
  | 'cmd'
  | 'dfl'
  | 'dih'
  | 'dmv'
  | 'diu'
  | 'evt'
  | 'flip'
  | 'fwv'
  | 'gap'
  | 'hub'
  | 'ichg'
  | 'iup'
  | 'job'
  | 'jrn'
  | 'msg'
  | 'mtr'
  | 'req'
  | 'rrset'
  | 'sec'
  | 'strn'
  | 'tsc'
  | 'use'
  | 'zchg'

declare module './core/declared' {
  interface Declared {
    idPrefix: (typeof registry)[ResourceType]['prefix'] | OtherPrefix
  }
}

/** The type of a resource in the audit log and in events. */
export type ResourceType = keyof typeof registry

type Entry = Readonly<Resource & { plural: string }>

export const resourceTypes = Object.keys(registry) as ResourceType[]

/** The noun with its article: “a URL”, “an address”, “an SSH key”. */
export const withArticle = (name: string): string =>
  `${/^(?!ur|us|uni|one)[aeiou]/i.test(name) || /^[FHLMNRSX]\p{Lu}/u.test(name) ? 'an' : 'a'} ${name}`

/** Returns what is registered of a resource. */
export const entryOf = (type: ResourceType): Entry => entries[type]

const entries = Object.fromEntries(
  Object.entries<Resource>(registry).map(([type, entry]) => [type, { plural: `${entry.name}s`, ...entry }]),
) as Record<ResourceType, Entry>

export const resourceEntries: readonly Entry[] = Object.values(entries)

/** Returns what is registered of the resource with this id; undefined for other ids. */
export const entryOfId = (id: string): Entry | undefined => byPrefix.get(id.slice(0, id.indexOf('_')))

const byPrefix = new Map(resourceEntries.map(entry => [entry.prefix, entry]))

/** The areas with resources in the API. Only events are declared for the others so far. */
const servedAreas: ReadonlySet<Area> = new Set(resourceEntries.flatMap(entry => (entry.path ? [entry.area] : [])))

/** Whether an event can be sent: its resource, or if the name of its kind starts with no resource, its area is part of the API. */
export function isSent({ kind, area }: { kind: string; area: Area }): boolean {
  const entry: Entry | undefined = entries[kind.slice(0, kind.indexOf('.')) as ResourceType]
  return entry ? entry.path !== undefined : servedAreas.has(area)
}

/** The id prefixes of the resources that match. */
export const prefixesWhere = (is: (entry: Entry) => boolean | undefined): IdPrefix[] =>
  resourceEntries.flatMap(entry => (is(entry) ? [entry.prefix as IdPrefix] : []))

/** What `rowsOf` can't derive from the registry. `label` is the property that names a row in the audit log: a text, or a list of them. */
type RowOptions<T extends RowTable> = {
  name?: string
  label?: string
  accessTo?(row: T['$inferSelect']): string | null
} & (T extends { workspaceId: SQLiteColumn } ? { owner?: SQLiteColumn } : { owner: SQLiteColumn | null })
type RowTable = { $inferSelect: unknown; workspaceId?: SQLiteColumn }

/** The rows of a resource, for the functions of `core/rows`. Their owner is the workspace, if they have one. */
export const rowsOf = <T extends RowTable>(
  type: ResourceType,
  table: T,
  ...[options]: {} extends RowOptions<T> ? [options?: RowOptions<T>] : [options: RowOptions<T>]
) => {
  const { prefix, name, plural } = entries[type]
  const owner = table.workspaceId as SQLiteColumn | null
  return { type, table, prefix: prefix as IdPrefix, name, one: withArticle(name), plural, label: 'name', owner, ...options }
}
