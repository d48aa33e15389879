import { listInvitations } from '../people/invitations/invitations'
import { listMembers } from '../people/members/members'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Permission } from '../../core/permissions'
import type { Page } from '../../core/shapes'
import { listAuditEvents } from '../audit/list'
import type { AuditEventView } from '../audit/shapes'
import { certificatesToReplace } from '../certificates/summary'
import { openGapCounts } from '../coverage/summary'
import { zoneCounts } from '../dns/zones/counts'
import { listRecords } from '../dns/records/listing'
import { listZones } from '../dns/zones/zones'
import { dynamicIpSummary } from '../dynamic-ips/summary'
import { listHeartbeats } from '../heartbeats/heartbeats'
import { heartbeatCounts } from '../heartbeats/counts'
import { listIncidents } from '../incidents/incidents'
import { maintenanceSummary } from '../maintenance/summary'
import { expiringCertificates, monitorCounts, slowestMonitors } from '../monitors/counts'
import { listNotices } from '../notices/notices'
import { channelCounts } from '../notifications/channel-counts'
import { serverSummary, spendSummary } from '../servers/summary'
import { gradeCounts } from '../tls-endpoints/grade-counts'
import { expiringTokens } from '../tokens/expiry'
import { webhookCounts } from '../webhooks/endpoints/counts'
import type { OverviewView } from './shapes'

const soonMs = 30 * 86_400_000
const maxShown = 20
const maxWindows = 5
const maxSlowest = 5
/** Per kind of resource with issues. */
const maxPerKind = 10

/** The overview of a workspace. Sections you don’t have permission to read are null. */
export async function overview(ctx: Ctx): Promise<OverviewView> {
  const now = ctx.hub.clock.now()
  const within = <T>(permission: Permission, part: () => Promise<T>): Promise<T> | null =>
    ctx.permissions.has(permission) ? part() : null
  const first = { limit: maxShown, include: 'total' }
  const parts = {
    incidents: within('monitoring.read', async () =>
      listed(await listIncidents(ctx, { ...first, status: ['open', 'acknowledged'] })),
    ),
    monitors: within('monitoring.read', async () => ({
      ...(await monitorCounts(ctx)),
      slowest: await slowestMonitors(ctx, maxSlowest),
    })),
    heartbeats: within('monitoring.read', async () => ({
      ...(await heartbeatCounts(ctx)),
      overdue: (await listHeartbeats(ctx, { limit: maxPerKind, status: ['grace', 'down'] })).data,
    })),
    channels: within('monitoring.read', () => channelCounts(ctx)),
    dns: within('dns.read', async () => ({
      ...(await zoneCounts(ctx)),
      unsynced_zones: (await listZones(ctx, { limit: maxPerKind, synced: false })).data,
      unsynced_records: (await listRecords(ctx, { limit: maxPerKind, synced: false })).data,
    })),
    dynamic_ips: within('dynamic_ip.read', () => dynamicIpSummary(ctx, maxPerKind)),
    servers: within('cloud.read', () => serverSummary(ctx, maxPerKind)),
    spend: within('cloud.read', () => spendSummary(ctx)),
    webhooks: within('webhooks.read', () => webhookCounts(ctx)),
    certificates: within('monitoring.read', () => expiringCertificates(ctx, now + soonMs, maxShown)),
    posture: within('certificates.read', async () => ({
      expiring: await certificatesToReplace(ctx, maxShown),
      gaps: await openGapCounts(ctx),
      grades: await gradeCounts(ctx),
    })),
    tokens: within('account.read', () => expiringTokens(ctx, now + soonMs, maxShown)),
    members: within('account.read', async () => ({
      total: listed(await listMembers(ctx, { limit: 1, include: 'total' })).total,
    })),
    invitations: within('account.read', async () => {
      const { total } = listed(await listInvitations(ctx, { limit: 1, include: 'total', status: ['pending'] }))
      return { pending: total }
    }),
    notices: within('account.read', async () => listed(await listNotices(ctx, { ...first, read: false }))),
    maintenance: within('monitoring.read', async () => {
      const { active, upcoming } = await maintenanceSummary(ctx, maxWindows)
      return { active, upcoming }
    }),
    changes: within('account.read', () => lastChanges(ctx)),
  }
  const names = Object.keys(parts) as (keyof typeof parts)[]
  const answers = await Promise.all(names.map(name => parts[name] as Promise<unknown> | null))
  return { at: instant(now), ...Object.fromEntries(names.map((name, place) => [name, answers[place]])) } as OverviewView
}

/** Recent changes by users and tokens. Changes by the hub itself, such as status changes of monitors, would drown them out. */
async function lastChanges(ctx: Ctx): Promise<AuditEventView[]> {
  const found: AuditEventView[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < maxPages && found.length < maxShown; pages++) {
    const page: Page<AuditEventView> = await listAuditEvents(ctx, { limit: 100, ...(cursor && { cursor }) })
    found.push(...page.data.filter(({ actor }) => deliberate.has(actor.type)))
    cursor = page.pagination.next_cursor
    if (cursor === null) break
  }
  return found.slice(0, maxShown)
}
const deliberate: ReadonlySet<string> = new Set(['user', 'token', 'operator'])
const maxPages = 5

const listed = <T>({ data, pagination }: { data: T[]; pagination: { total?: number } }): { total: number; data: T[] } => ({
  total: pagination.total!,
  data,
})
