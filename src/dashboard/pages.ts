import { entryOfId } from '../registry'
import type { Person } from './session'
import type { IconName } from './shell/icons'

/** What the dashboard knows about a page before its code is loaded. */
export interface DeclaredPage {
  /** Title of the page and the browser tab, label of its links, and name in the palette. Pages of a resource show its name instead. */
  title?: string
  /** Label in the row of tabs that the page shares with others, if it isn't the title. */
  tab?: string
  /** Group in the sidebar, for pages with an icon. The empty one has no heading. */
  group?: '' | 'Monitoring' | 'Domains' | 'Cloud' | 'Certificates' | 'Integrations' | 'Workspace'
  icon?: IconName
  /** The page opens by pressing `g` and this letter. */
  letter?: string
  /** Who sees links to it. Everyone does if absent. */
  visibleTo?: 'canReadAccount' | 'canWrite' | 'canAdminister' | 'operator'
  /** Label of the quick action that opens it. */
  quickAction?: string
  /** On phones, shown in the bottom bar instead of behind “More”. */
  inBottomBar?: true
  /** For signed-out users. */
  isPublic?: true
}

/** Every page, in the order of the sidebar. `$id` stands for one segment. Its code is in the file of this name in `pages`. */
export const pages = {
  '/': { title: 'Overview', group: '', icon: 'CircleGauge', letter: 'o', inBottomBar: true },
  '/monitors': { title: 'Monitors', group: 'Monitoring', icon: 'Activity', letter: 'm', inBottomBar: true },
  '/monitors/new': { title: 'Create monitor', icon: 'Activity', quickAction: 'Create monitor', visibleTo: 'canWrite' },
  '/monitors/import': { title: 'Import monitors', visibleTo: 'canWrite' },
  '/monitors/$id': {},
  '/monitors/$id/edit': {},
  '/heartbeats': { title: 'Heartbeats', group: 'Monitoring', icon: 'HeartPulse', letter: 'h' },
  '/heartbeats/new': { title: 'Create heartbeat', icon: 'HeartPulse', quickAction: 'Create heartbeat', visibleTo: 'canWrite' },
  '/heartbeats/ping-key': { title: 'Ping key' },
  '/heartbeats/$id': {},
  '/heartbeats/$id/edit': {},
  '/incidents': { title: 'Incidents', group: 'Monitoring', icon: 'Siren', letter: 'i', inBottomBar: true },
  '/incidents/$id': {},
  '/maintenance': { title: 'Maintenance', group: 'Monitoring', icon: 'CalendarClock', letter: 'c' },
  '/maintenance/new': {
    title: 'Schedule maintenance',
    icon: 'CalendarClock',
    quickAction: 'Schedule maintenance',
    visibleTo: 'canWrite',
  },
  '/maintenance/$id': {},
  '/maintenance/$id/edit': {},
  '/channels': { title: 'Channels', group: 'Monitoring', icon: 'Megaphone', letter: 'n' },
  '/channels/new': { title: 'Create channel', icon: 'Megaphone', quickAction: 'Create channel', visibleTo: 'canWrite' },
  '/channels/$id': {},
  '/channels/$id/edit': {},
  '/dns': { title: 'DNS', tab: 'Zones', group: '', icon: 'Globe', letter: 'd', inBottomBar: true },
  '/dns/zones/$id': {},
  '/dns/zones/$id/$tab': {},
  '/dns/records': { title: 'DNS', tab: 'Records' },
  '/dns/templates': { title: 'DNS', tab: 'Templates' },
  '/dns/templates/new': { title: 'Create template', visibleTo: 'canWrite' },
  '/dns/templates/$id': {},
  '/dns/providers': { title: 'DNS', tab: 'Providers' },
  '/dns/providers/new': { title: 'Add provider', visibleTo: 'canWrite' },
  '/dns/providers/builtin': { title: 'Built-in name server' },
  '/dns/providers/$id': {},
  '/dynamic-ips': { title: 'Dynamic IP', group: '', icon: 'Router', letter: 'r' },
  '/dynamic-ips/new': {
    title: 'Create source',
    icon: 'Router',
    quickAction: 'Create dynamic IP source',
    visibleTo: 'canWrite',
  },
  '/dynamic-ips/$id': {},
  '/dynamic-ips/$id/edit': {},
  '/domains': { title: 'Domains', group: 'Domains', icon: 'Earth' },
  '/domains/$id': {},
  '/registrar-accounts': { title: 'Registrars', group: 'Domains', icon: 'Store' },
  '/registrar-accounts/new': {
    title: 'Connect a registrar',
    icon: 'Store',
    quickAction: 'Connect a registrar',
    visibleTo: 'canWrite',
  },
  '/registrar-accounts/$id': {},
  '/registrar-accounts/$id/edit': {},
  '/contacts': { title: 'Contacts', group: 'Domains', icon: 'ContactRound' },
  '/contacts/new': { title: 'Create contact', icon: 'ContactRound', quickAction: 'Create contact', visibleTo: 'canWrite' },
  '/contacts/$id': {},
  '/contacts/$id/edit': {},
  '/registries': { title: 'Registries', group: 'Domains', icon: 'Landmark' },
  '/servers': { title: 'Servers', group: 'Cloud', icon: 'Server', letter: 'v' },
  '/servers/new': { title: 'Create server', icon: 'Server', quickAction: 'Create server', visibleTo: 'canWrite' },
  '/servers/$id': {},
  '/servers/$id/edit': {},
  '/agents': { title: 'Agents', tab: 'Agents', group: 'Cloud', icon: 'Cpu' },
  '/agents/enrolment-keys': { title: 'Agents', tab: 'Enrolment keys' },
  '/cloud-accounts': { title: 'Cloud accounts', group: 'Cloud', icon: 'Cloud' },
  '/cloud-accounts/new': { title: 'Connect a cloud', icon: 'Cloud', quickAction: 'Connect a cloud', visibleTo: 'canWrite' },
  '/cloud-accounts/$id': {},
  '/cloud-accounts/$id/edit': {},
  '/volumes': { title: 'Volumes', group: 'Cloud', icon: 'HardDrive' },
  '/snapshots': { title: 'Snapshots', group: 'Cloud', icon: 'Camera' },
  '/snapshot-policies': { title: 'Snapshot policies', group: 'Cloud', icon: 'CalendarSync' },
  '/firewalls': { title: 'Firewalls', group: 'Cloud', icon: 'BrickWall' },
  '/firewalls/$id': {},
  '/ssh-keys': { title: 'SSH keys', group: 'Cloud', icon: 'FileKey' },
  '/certificates': { title: 'Certificates', tab: 'Inventory', group: 'Certificates', icon: 'BadgeCheck' },
  '/certificates/coverage': { title: 'Certificates', tab: 'Coverage' },
  '/certificates/gaps': { title: 'Certificates', tab: 'Gaps' },
  '/certificates/authorities': { title: 'Certificates', tab: 'Authorities' },
  '/certificates/$id': {},
  '/tls-endpoints': { title: 'TLS endpoints', group: 'Certificates', icon: 'ShieldCheck' },
  '/tls-endpoints/new': {
    title: 'Grade a server',
    icon: 'ShieldCheck',
    quickAction: 'Grade a TLS server',
    visibleTo: 'canWrite',
  },
  '/tls-endpoints/$id': {},
  '/managed-certificates': { title: 'Issuing', tab: 'Managed certificates', group: 'Certificates', icon: 'FileBadge' },
  '/acme-accounts': { title: 'Issuing', tab: 'ACME accounts' },
  '/webhooks': { title: 'Webhooks', tab: 'Endpoints', group: 'Integrations', icon: 'Webhook', letter: 'w' },
  '/webhooks/new': {
    title: 'Create endpoint',
    icon: 'Webhook',
    quickAction: 'Create webhook endpoint',
    visibleTo: 'canWrite',
  },
  '/webhooks/deliveries': { title: 'Webhooks', tab: 'Deliveries' },
  '/webhooks/deliveries/$id': {},
  '/webhooks/$id': {},
  '/webhooks/$id/$tab': {},
  '/events': { title: 'Events', tab: 'Events', group: 'Integrations', icon: 'Radio', letter: 'e' },
  '/events/kinds': { title: 'Events', tab: 'Event kinds' },
  '/calendar-feeds': { title: 'Calendar feeds', group: 'Integrations', icon: 'CalendarDays' },
  '/tokens': { title: 'Tokens', group: 'Integrations', icon: 'KeyRound', letter: 't', visibleTo: 'canReadAccount' },
  '/tokens/new': { title: 'Create token', icon: 'KeyRound', quickAction: 'Create token', visibleTo: 'canAdminister' },
  '/tokens/$id': {},
  '/actions': { title: 'Actions', group: 'Integrations', icon: 'ListChecks' },
  '/actions/$id': {},
  '/audit': { title: 'Audit log', group: 'Workspace', icon: 'FileClock', letter: 'a', visibleTo: 'canReadAccount' },
  '/audit/$id': {},
  '/audit-streams': { title: 'Audit streams', visibleTo: 'canReadAccount' },
  '/notices': { title: 'Notices', group: 'Workspace', icon: 'Bell', visibleTo: 'canReadAccount' },
  '/members': { title: 'Members', group: 'Workspace', icon: 'Users', visibleTo: 'canReadAccount' },
  '/plan': { title: 'Plan and limits', group: 'Workspace', icon: 'CreditCard', visibleTo: 'canReadAccount' },
  '/settings': { title: 'Settings', group: 'Workspace', icon: 'Settings', letter: 's', visibleTo: 'canReadAccount' },
  '/operator': { title: 'Installation', tab: 'Status', group: 'Workspace', icon: 'ServerCog', visibleTo: 'operator' },
  '/operator/$tab': { title: 'Installation' },
  '/profile': { title: 'Your profile' },
  '/setup': { isPublic: true },
  '/login': { isPublic: true },
  '/sign-up': { isPublic: true },
  '/invite': { isPublic: true },
  '/reset': { isPublic: true },
} as const satisfies Record<string, DeclaredPage & ({ group?: never } | { icon: IconName })>

export type PagePath = keyof typeof pages

/** The pages with their paths. */
export const pageList = Object.entries(pages).map(([path, info]: [string, DeclaredPage]) => ({ ...info, path: path as PagePath }))
export type PageEntry = (typeof pageList)[number]

/** Whether a user sees links to a page. */
export const isVisibleTo = (person: Person, { visibleTo }: DeclaredPage): boolean => visibleTo === undefined || person[visibleTo]

/** Label of a page among others, such as in a row of tabs. */
export const labelOf = (path: PagePath): string => pageAt(path).tab ?? titleOf(path)
/** The label of a page in a breadcrumb: the same as in the sidebar, if it is there. */
export const breadcrumbLabelOf = (path: PagePath): string => (pageAt(path).group !== undefined ? titleOf(path) : labelOf(path))
export const titleOf = (path: PagePath): string => pageAt(path).title ?? ''
const pageAt = (path: PagePath): DeclaredPage => pages[path]

/** Returns the path of a resource's page. Null if it has none. */
export const resourcePath = (id: string): string | null => entryOfId(id)?.page?.replace('$id', id) ?? null
