import { withSettingsTables } from '../adapters/settings-table'
import { providerKinds } from '../features/dns/providers'
import { registrarKinds } from '../features/registrars/kinds'
import { cloudKinds } from '../features/servers/clouds'
import { withGradeRules } from '../features/tls-endpoints/grades/rules-section'
import { channelKinds } from '../features/notifications/channels'
import { controllerKinds } from '../features/servers/controllers'
import acme from './acme.md' with { type: 'text' }
import agents from './agents.md' with { type: 'text' }
import agentCommands from './agent-commands.md' with { type: 'text' }
import agentUpdates from './agent-updates.md' with { type: 'text' }
import agentData from './agent-data.md' with { type: 'text' }
import agentManyServers from './agent-many-servers.md' with { type: 'text' }
import agentProgram from './agent-program.md' with { type: 'text' }
import agentShell from './agent-shell.md' with { type: 'text' }
import actions from './actions.md' with { type: 'text' }
import api from './api.md' with { type: 'text' }
import architecture from './architecture.md' with { type: 'text' }
import audit from './audit.md' with { type: 'text' }
import backupMonitoring from './backup-monitoring.md' with { type: 'text' }
import backups from './backups.md' with { type: 'text' }
import calendarFeeds from './calendar-feeds.md' with { type: 'text' }
import certificateTransparency from './certificate-transparency.md' with { type: 'text' }
import certificates from './certificates.md' with { type: 'text' }
import changelog from './changelog.md' with { type: 'text' }
import checks from './checks.md' with { type: 'text' }
import issuing from './issuing.md' with { type: 'text' }
import cloudAccounts from './cloud-accounts.md' with { type: 'text' }
import cloudHetzner from './cloud-hetzner.md' with { type: 'text' }
import cloudIncus from './cloud-incus.md' with { type: 'text' }
import cloudProxmox from './cloud-proxmox.md' with { type: 'text' }
import commands from './commands.md' with { type: 'text' }
import comparison from './comparison.md' with { type: 'text' }
import conditions from './conditions.md' with { type: 'text' }
import contacts from './contacts.md' with { type: 'text' }
import controllers from './controllers.md' with { type: 'text' }
import coverage from './coverage.md' with { type: 'text' }
import dependencies from './dependencies.md' with { type: 'text' }
import dashboard from './dashboard.md' with { type: 'text' }
import dns from './dns.md' with { type: 'text' }
import dnsSync from './dns-sync.md' with { type: 'text' }
import dnsHistory from './dns-history.md' with { type: 'text' }
import dnsTemplates from './dns-templates.md' with { type: 'text' }
import dnsProviders from './dns-providers.md' with { type: 'text' }
import dnsSecondaries from './dns-secondaries.md' with { type: 'text' }
import docker from './docker.md' with { type: 'text' }
import events from './events.md' with { type: 'text' }
import firewalls from './firewalls.md' with { type: 'text' }
import gettingStarted from './getting-started.md' with { type: 'text' }
import domains from './domains.md' with { type: 'text' }
import dynamicIp from './dynamic-ip.md' with { type: 'text' }
import heartbeats from './heartbeats.md' with { type: 'text' }
import howChecksRun from './how-checks-run.md' with { type: 'text' }
import incidents from './incidents.md' with { type: 'text' }
import keys from './keys.md' with { type: 'text' }
import lanDns from './lan-dns.md' with { type: 'text' }
import monitors from './monitors.md' with { type: 'text' }
import monitoring from './monitoring.md' with { type: 'text' }
import live from './live.md' with { type: 'text' }
import maintenance from './maintenance.md' with { type: 'text' }
import notices from './notices.md' with { type: 'text' }
import notifications from './notifications.md' with { type: 'text' }
import overview from './overview.md' with { type: 'text' }
import people from './people.md' with { type: 'text' }
import pingExamples from './ping-examples.md' with { type: 'text' }
import plans from './plans.md' with { type: 'text' }
import performance from './performance.md' with { type: 'text' }
import problems from './problems.md' with { type: 'text' }
import registrars from './registrars.md' with { type: 'text' }
import registries from './registries.md' with { type: 'text' }
import retention from './retention.md' with { type: 'text' }
import reverseProxy from './reverse-proxy.md' with { type: 'text' }
import serverActions from './server-actions.md' with { type: 'text' }
import serverMetrics from './server-metrics.md' with { type: 'text' }
import servers from './servers.md' with { type: 'text' }
import settings from './settings.md' with { type: 'text' }
import signIn from './sign-in.md' with { type: 'text' }
import snapshots from './snapshots.md' with { type: 'text' }
import sshKeys from './ssh-keys.md' with { type: 'text' }
import storage from './storage.md' with { type: 'text' }
import systemd from './systemd.md' with { type: 'text' }
import tlsEndpoints from './tls-endpoints.md' with { type: 'text' }
import tlsGrades from './tls-grades.md' with { type: 'text' }
import tokens from './tokens.md' with { type: 'text' }
import uptimeKuma from './uptime-kuma.md' with { type: 'text' }
import volumes from './volumes.md' with { type: 'text' }
import webhookReceivers from './webhook-receivers.md' with { type: 'text' }
import webhooks from './webhooks.md' with { type: 'text' }

/** A handbook page, served at `/docs/<slug>`. */
export interface Page {
  slug: string
  title: string
  markdown: string
}

/** Pages with a common heading in the navigation. */
interface Group {
  title: string
  pages: readonly Page[]
}

const page = (slug: string, markdown: string): Page => ({ slug, title: /^# (.+)$/m.exec(markdown)?.[1] ?? slug, markdown })

/** The handbook pages in reading order. */
export const groups: readonly Group[] = [
  {
    title: 'Getting started',
    pages: [page('overview', overview), page('getting-started', gettingStarted), page('dashboard', dashboard)],
  },
  {
    title: 'Guides',
    pages: [
      page('systemd', systemd),
      page('docker', docker),
      page('reverse-proxy', reverseProxy),
      page('uptime-kuma', uptimeKuma),
      page('backup-monitoring', backupMonitoring),
      page('lan-dns', lanDns),
      page('acme', acme),
    ],
  },
  {
    title: 'Monitoring',
    pages: [
      page('monitors', monitors),
      page('checks', checks),
      page('conditions', conditions),
      page('monitoring', monitoring),
      page('how-checks-run', howChecksRun),
      page('heartbeats', heartbeats),
      page('ping-examples', pingExamples),
      page('incidents', incidents),
      page('maintenance', maintenance),
      page('notifications', withSettingsTables(notifications, channelKinds)),
      page('notices', notices),
    ],
  },
  {
    title: 'DNS',
    pages: [
      page('dns', dns),
      page('dns-providers', withSettingsTables(dnsProviders, providerKinds)),
      page('dns-sync', dnsSync),
      page('dynamic-ip', dynamicIp),
      page('dns-history', dnsHistory),
      page('dns-templates', dnsTemplates),
      page('dns-secondaries', dnsSecondaries),
    ],
  },
  {
    title: 'Domains',
    pages: [
      page('domains', domains),
      page('registrars', withSettingsTables(registrars, registrarKinds)),
      page('contacts', contacts),
      page('registries', registries),
      page('calendar-feeds', calendarFeeds),
    ],
  },
  {
    title: 'Servers and cloud',
    pages: [
      page('servers', servers),
      page('server-actions', serverActions),
      page('cloud-accounts', cloudAccounts),
      page('cloud-hetzner', withSettingsTables(cloudHetzner, cloudKinds)),
      page('cloud-proxmox', withSettingsTables(cloudProxmox, cloudKinds)),
      page('cloud-incus', withSettingsTables(cloudIncus, cloudKinds)),
      page('volumes', volumes),
      page('snapshots', snapshots),
      page('firewalls', firewalls),
      page('ssh-keys', sshKeys),
      page('server-metrics', serverMetrics),
      page('agents', agents),
      page('agent-many-servers', agentManyServers),
      page('agent-program', agentProgram),
      page('agent-shell', agentShell),
      page('agent-data', agentData),
      page('agent-commands', agentCommands),
      page('agent-updates', agentUpdates),
      page('controllers', withSettingsTables(controllers, controllerKinds)),
    ],
  },
  {
    title: 'Certificates',
    pages: [
      page('certificates', certificates),
      page('tls-endpoints', tlsEndpoints),
      page('tls-grades', withGradeRules(tlsGrades)),
      page('coverage', coverage),
      page('certificate-transparency', certificateTransparency),
      page('issuing', issuing),
    ],
  },
  {
    title: 'Webhooks and events',
    pages: [page('webhooks', webhooks), page('webhook-receivers', webhookReceivers), page('events', events), page('live', live)],
  },
  {
    title: 'API',
    pages: [page('api', api), page('tokens', tokens), page('actions', actions), page('problems', problems)],
  },
  {
    title: 'Users and workspaces',
    pages: [page('people', people), page('sign-in', signIn), page('plans', plans), page('audit', audit)],
  },
  {
    title: 'Operating a hub',
    pages: [
      page('settings', settings),
      page('commands', commands),
      page('storage', storage),
      page('backups', backups),
      page('retention', retention),
      page('keys', keys),
      page('performance', performance),
    ],
  },
  {
    title: 'About',
    pages: [
      page('comparison', comparison),
      page('architecture', architecture),
      page('dependencies', dependencies),
      page('changelog', changelog),
    ],
  },
]

export const pages: readonly Page[] = groups.flatMap(group => group.pages)
