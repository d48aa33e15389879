import type { DnsRecordView } from '../../../features/dns/records/shapes'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import type { DynamicIpView } from '../../../features/dynamic-ips/shapes'
import type { ServerView } from '../../../features/servers/shapes'
import type { OverviewView } from '../../../features/overview/shapes'
import { formatDuration } from '../../parts/time'
import { pluralize } from '../../parts/plural'
import { toneOf, humanize, type Tone } from '../../parts/status'
import { statusText, toneOfSource } from '../dynamic-ips/source-text'
import { hasOwnReason, reasonAt, reasonOfZone } from '../dns/records/record-reason'
import { zoneStatus } from '../dns/zone-status'
import type { FailingChannel } from './failing-channels'

type ServerSummary = NonNullable<OverviewView['servers']>

/** A problem, with a link to where it can be fixed. */
export interface Issue {
  id: string
  state: string
  /** Hides the status because the title already says it. */
  hidesStatus?: boolean
  tone: Tone
  title: string
  /** The cause, if known. */
  reason: string
  to: string
  search?: Record<string, string>
  /** Start of the problem, if known. */
  since?: string | null
}

/** All issues other than incidents, worst first. */
export function issuesOf(
  { incidents, heartbeats, dns, dynamic_ips: sources, servers, webhooks, channels }: OverviewView,
  failing: readonly FailingChannel[],
): Issue[] {
  const inIncidents = new Set(incidents?.data.flatMap(one => one.heartbeats.map(heartbeat => heartbeat.id)))
  const overdue = (heartbeats?.overdue ?? [])
    .filter(one => !inIncidents.has(one.id))
    .map((one): Issue => {
      const isLate = one.status === 'grace'
      return {
        id: one.id,
        state: one.status,
        tone: isLate ? 'warn' : 'bad',
        title: one.name,
        reason: isLate
          ? 'The ping is late. You’ll get an alert if it doesn’t arrive before the grace period ends.'
          : 'A ping is missing, or the job reported a failure.',
        to: `/heartbeats/${one.id}`,
        since: isLate ? one.expected_at : one.status_since_at,
      }
    })
  const all = [
    ...overdue,
    ...(dns ? dnsIssues(dns) : []),
    ...(sources?.failing ?? []).map(ofSource),
    ...(servers?.failing ?? []).map(ofServer),
    ...(servers?.filling ?? []).map(ofFileSystem),
    ...(servers ? agentIssues(servers.agents) : []),
    ...(webhooks ? webhookIssues(webhooks) : []),
    ...(channels ? channelIssues(channels, failing) : []),
  ]
  return all.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
}

const order: readonly Tone[] = ['bad', 'warn', 'busy', 'idle', 'ok']

function dnsIssues({ unsynced_zones: zones, unsynced_records: records }: NonNullable<OverviewView['dns']>): Issue[] {
  const zonesOfRecords = new Set(records.map(one => one.zone_id))
  return [
    ...records.map(one => ofRecord(one, zones.find(zone => zone.id === one.zone_id) ?? null)),
    // Skip zones whose records are already listed, unless the zone has a reason of its own.
    ...zones.filter(one => hasOwnReason(one) || !zonesOfRecords.has(one.id)).map(ofZone),
  ]
}

function ofRecord(record: DnsRecordView, zone: ZoneView | null): Issue {
  const { state, targets } = record.sync
  const at = targets.find(one => one.state === state)
  return {
    id: record.id,
    state,
    tone: toneOf(state),
    title: `${record.unicode_fqdn} ${record.type}`,
    reason: (at && zone ? reasonAt(at, zone, 'at the provider') : at?.detail) ?? `Sync status: ${humanize(state)}.`,
    to: `/dns/zones/${record.zone_id}`,
    search: { state: 'out_of_sync', ...(record.name !== '@' && { q: record.name }) },
  }
}

function ofZone(zone: ZoneView): Issue {
  const state = zoneStatus(zone)
  return {
    id: zone.id,
    state,
    tone: toneOf(state),
    title: zone.unicode_name,
    reason: reasonOfZone(zone) ?? `Sync status: ${humanize(state)}.`,
    to: zone.blocked ? `/dns/zones/${zone.id}/plans` : `/dns/zones/${zone.id}/drift`,
  }
}

/** A source that is stale or held, or else the first of its hosts with a problem. */
function ofSource(source: DynamicIpView): Issue {
  const { id, name, status, status_reason: hold, last_seen_at, hosts } = source
  const issue = { id, title: name, to: `/dynamic-ips/${id}` }
  const failed = hosts.filter(one => one.problem !== null)
  if (failed.length === 0 || status === 'stale' || status === 'held')
    return {
      ...issue,
      state: status,
      tone: toneOfSource(status),
      reason: statusText(source),
      since: hold?.since_at ?? last_seen_at,
    }
  const [{ name: host, problem }] = failed as [DynamicIpView['hosts'][number]]
  const more = failed.length > 1 ? ` ${pluralize(failed.length - 1, 'more host has', 'more hosts have')} a problem.` : ''
  return { ...issue, state: 'failed', tone: 'bad', reason: `${host}: ${problem!.detail}${more}`, since: problem!.since_at }
}

/** A server that is down, is missing at its cloud, or whose last action failed. */
function ofServer({ id, name, status, status_since_at, health, health_reason, health_since_at }: ServerView): Issue {
  const isMissing = status === 'missing'
  if (health === 'down')
    return { id, state: 'down', tone: 'bad', title: name, reason: health_reason, to: `/servers/${id}`, since: health_since_at }
  return {
    id,
    state: status,
    tone: 'warn',
    title: name,
    reason: isMissing ? 'The server no longer exists at its cloud.' : 'The last action failed.',
    to: `/servers/${id}`,
    since: status_since_at,
  }
}

/** A file system that is nearly full, or will be soon. */
const ofFileSystem = ({
  server_id: id,
  name,
  path,
  used_percent: used,
  hours_left: left,
}: ServerSummary['filling'][number]): Issue => ({
  id: `${id} ${path}`,
  state: 'filling',
  tone: used >= almostFullPercent || (left !== null && left < 1) ? 'bad' : 'warn',
  title: `${name}: ${path}`,
  reason: `${Math.floor(used)}% full${left === null ? '' : `, and full in ${formatDuration(left * hourMs)} at the rate of the last 24 hours`}.`,
  to: `/servers/${id}`,
})
const almostFullPercent = 98
const hourMs = 3_600_000

const agentIssues = ({ silent, by_state: count }: ServerSummary['agents']): Issue[] => [
  ...silent.map(({ server_id: id, name, silent_since_at: since }): Issue => ({
    ...{ id: `${id} agent`, state: 'silent', tone: 'warn', title: name, since },
    reason: 'The agent stopped reporting.',
    to: `/servers/${id}`,
  })),
  ...found(count.awaiting_approval, 'agent awaits approval', 'agents await approval', {
    state: 'pending',
    reason: 'Nothing is accepted from an agent until someone approves it.',
    to: '/agents',
    search: { state: 'awaiting_approval' },
  }),
]

/** An issue that counts resources. None if there are none. */
const found = (count: number, one: string, many: string, issue: Omit<Issue, 'id' | 'tone' | 'title' | 'hidesStatus'>): Issue[] =>
  count <= 0 ? [] : [{ ...issue, id: many, tone: toneOf(issue.state), title: pluralize(count, one, many), hidesStatus: true }]

const areEnabled = (count: number): string => (count === 1 ? 'it is enabled' : 'they are enabled')

function channelIssues({ disabled, failing }: NonNullable<OverviewView['channels']>, named: readonly FailingChannel[]): Issue[] {
  const of = (isDisabled: boolean) => named.filter(one => (one.status === 'disabled') === isDisabled)
  return [
    ...of(true).map(ofChannel),
    ...of(false).map(ofChannel),
    // Those that are not in the list.
    ...found(disabled - of(true).length, 'notification channel is disabled', 'notification channels are disabled', {
      state: 'disabled',
      reason: `Disabled automatically. No notifications are sent until ${areEnabled(disabled - of(true).length)}.`,
      to: '/channels',
    }),
    ...found(failing - of(false).length, 'notification channel is failing', 'notification channels are failing', {
      state: 'failing',
      reason: 'The last attempt to send a message failed.',
      to: '/channels',
    }),
  ]
}

function ofChannel({ id, name, status, disabled_reason, last_error, failing_since_at: since }: FailingChannel): Issue {
  const state = status === 'disabled' ? 'disabled' : 'failing'
  const reason = disabled_reason ?? last_error?.detail ?? 'The last attempt to send a message failed.'
  return { id, state, tone: toneOf(state), title: `Channel ${name}`, reason, to: `/channels/${id}`, since }
}

function webhookIssues({ endpoints, deliveries }: NonNullable<OverviewView['webhooks']>): Issue[] {
  return [
    ...found(endpoints.disabled, 'webhook endpoint is disabled', 'webhook endpoints are disabled', {
      state: 'disabled',
      reason: `Disabled automatically. Deliveries are held until ${areEnabled(endpoints.disabled)}.`,
      to: '/webhooks',
      search: { status: 'disabled' },
    }),
    ...found(endpoints.failing, 'webhook endpoint is failing', 'webhook endpoints are failing', {
      state: 'failing',
      reason: 'The most recent deliveries all failed.',
      to: '/webhooks',
      search: { status: 'failing' },
    }),
    ...found(deliveries.failed, 'delivery failed permanently', 'deliveries failed permanently', {
      state: 'exhausted',
      reason: 'In the last 24 hours. Failed deliveries can be resent.',
      to: '/webhooks/deliveries',
      search: { status: 'exhausted,expired' },
    }),
    ...found(deliveries.retrying, 'delivery is waiting for a retry', 'deliveries are waiting for a retry', {
      state: 'retrying',
      reason: 'The last attempt failed.',
      to: '/webhooks/deliveries',
      search: { status: 'retrying' },
    }),
  ]
}
