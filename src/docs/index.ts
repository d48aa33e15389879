import { withSettingsTables } from '../adapters/settings-table'
import { providerKinds } from '../features/dns/providers'
import { channelKinds } from '../features/notifications/channels'
import actions from './actions.md' with { type: 'text' }
import api from './api.md' with { type: 'text' }
import architecture from './architecture.md' with { type: 'text' }
import audit from './audit.md' with { type: 'text' }
import backups from './backups.md' with { type: 'text' }
import changelog from './changelog.md' with { type: 'text' }
import checks from './checks.md' with { type: 'text' }
import commands from './commands.md' with { type: 'text' }
import comparison from './comparison.md' with { type: 'text' }
import conditions from './conditions.md' with { type: 'text' }
import dependencies from './dependencies.md' with { type: 'text' }
import dashboard from './dashboard.md' with { type: 'text' }
import dns from './dns.md' with { type: 'text' }
import dnsSync from './dns-sync.md' with { type: 'text' }
import dnsHistory from './dns-history.md' with { type: 'text' }
import dnsTemplates from './dns-templates.md' with { type: 'text' }
import dnsProviders from './dns-providers.md' with { type: 'text' }
import dnsSecondaries from './dns-secondaries.md' with { type: 'text' }
import events from './events.md' with { type: 'text' }
import gettingStarted from './getting-started.md' with { type: 'text' }
import heartbeats from './heartbeats.md' with { type: 'text' }
import howChecksRun from './how-checks-run.md' with { type: 'text' }
import incidents from './incidents.md' with { type: 'text' }
import keys from './keys.md' with { type: 'text' }
import monitors from './monitors.md' with { type: 'text' }
import monitoring from './monitoring.md' with { type: 'text' }
import live from './live.md' with { type: 'text' }
import maintenance from './maintenance.md' with { type: 'text' }
import notices from './notices.md' with { type: 'text' }
import notifications from './notifications.md' with { type: 'text' }
import overview from './overview.md' with { type: 'text' }
import people from './people.md' with { type: 'text' }
import plans from './plans.md' with { type: 'text' }
import performance from './performance.md' with { type: 'text' }
import problems from './problems.md' with { type: 'text' }
import retention from './retention.md' with { type: 'text' }
import settings from './settings.md' with { type: 'text' }
import signIn from './sign-in.md' with { type: 'text' }
import storage from './storage.md' with { type: 'text' }
import tokens from './tokens.md' with { type: 'text' }
import webhooks from './webhooks.md' with { type: 'text' }

/** A handbook page, served at `/docs/<slug>`. */
export interface Page {
  slug: string
  title: string
  markdown: string
}

const page = (slug: string, markdown: string): Page => ({ slug, title: /^# (.+)$/m.exec(markdown)?.[1] ?? slug, markdown })

/** The handbook pages in reading order. */
export const pages: readonly Page[] = [
  page('overview', overview),
  page('getting-started', gettingStarted),
  page('api', api),
  page('tokens', tokens),
  page('dashboard', dashboard),
  page('people', people),
  page('sign-in', signIn),
  page('plans', plans),
  page('dns', dns),
  page('dns-sync', dnsSync),
  page('dns-history', dnsHistory),
  page('dns-templates', dnsTemplates),
  page('dns-providers', withSettingsTables(dnsProviders, providerKinds)),
  page('dns-secondaries', dnsSecondaries),
  page('heartbeats', heartbeats),
  page('monitors', monitors),
  page('how-checks-run', howChecksRun),
  page('checks', checks),
  page('conditions', conditions),
  page('maintenance', maintenance),
  page('incidents', incidents),
  page('monitoring', monitoring),
  page('webhooks', webhooks),
  page('notices', notices),
  page('notifications', withSettingsTables(notifications, channelKinds)),
  page('events', events),
  page('live', live),
  page('actions', actions),
  page('audit', audit),
  page('settings', settings),
  page('commands', commands),
  page('storage', storage),
  page('backups', backups),
  page('retention', retention),
  page('keys', keys),
  page('comparison', comparison),
  page('performance', performance),
  page('problems', problems),
  page('architecture', architecture),
  page('dependencies', dependencies),
  page('changelog', changelog),
]
