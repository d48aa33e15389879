import { listInvitations } from '../../access/invitations'
import { listMembers } from '../../access/members'
import { endingTokens } from '../../access/outline'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Permission } from '../../core/permissions'
import type { Page } from '../../core/shapes'
import { listAuditEvents } from '../audit/list'
import type { AuditEventView } from '../audit/shapes'
import { zonesOutline } from '../dns/outline'
import { listRecords } from '../dns/record-listing'
import { listZones } from '../dns/zones'
import { listHeartbeats } from '../heartbeats/heartbeats'
import { heartbeatsOutline } from '../heartbeats/outline'
import { listIncidents } from '../incidents/incidents'
import { maintenanceOutline } from '../maintenance/outline'
import { endingCertificates, monitorsOutline, slowestMonitors } from '../monitors/outline'
import { listNotices } from '../notices/notices'
import { listChannels } from '../notifications/notification-channels'
import { webhooksOutline } from '../webhooks/outline'
import type { OverviewView } from './shapes'

const soonMs = 30 * 86_400_000
const mostShown = 20
const mostWindows = 5
const mostSlow = 5
/** Of each kind of thing that is listed because something is wrong with it. */
const mostOfAKind = 10

/** How the workspace stands, in one answer. What the caller may not read is null. */
export async function overview(ctx: Ctx): Promise<OverviewView> {
  const now = ctx.hub.clock.now()
  const within = <T>(permission: Permission, part: () => Promise<T>): Promise<T> | null =>
    ctx.permissions.has(permission) ? part() : null
  const first = { limit: mostShown, include: 'total' }
  const parts = {
    incidents: within('monitoring.read', async () =>
      listed(await listIncidents(ctx, { ...first, status: ['open', 'acknowledged'] })),
    ),
    monitors: within('monitoring.read', async () => ({
      ...(await monitorsOutline(ctx)),
      slowest: await slowestMonitors(ctx, mostSlow),
    })),
    heartbeats: within('monitoring.read', async () => ({
      ...(await heartbeatsOutline(ctx)),
      overdue: (await listHeartbeats(ctx, { limit: mostOfAKind, status: ['grace', 'down'] })).data,
    })),
    channels: within('monitoring.read', async () => ({
      total: listed(await listChannels(ctx, { limit: 1, include: 'total' })).total,
    })),
    dns: within('dns.read', async () => ({
      ...(await zonesOutline(ctx)),
      unsynced_zones: (await listZones(ctx, { limit: mostOfAKind, synced: false })).data,
      unsynced_records: (await listRecords(ctx, { limit: mostOfAKind, synced: false })).data,
    })),
    webhooks: within('webhooks.read', () => webhooksOutline(ctx)),
    certificates: within('monitoring.read', () => endingCertificates(ctx, now + soonMs, mostShown)),
    tokens: within('account.read', () => endingTokens(ctx, now + soonMs, mostShown)),
    members: within('account.read', async () => ({
      total: listed(await listMembers(ctx, { limit: 1, include: 'total' })).total,
    })),
    invitations: within('account.read', async () => {
      const { total } = listed(await listInvitations(ctx, { limit: 1, include: 'total', status: ['pending'] }))
      return { pending: total }
    }),
    notices: within('account.read', async () => listed(await listNotices(ctx, { ...first, read: false }))),
    maintenance: within('monitoring.read', () => maintenanceOutline(ctx, mostWindows)),
    changes: within('account.read', () => lastChanges(ctx)),
  }
  const names = Object.keys(parts) as (keyof typeof parts)[]
  const answers = await Promise.all(names.map(name => parts[name] as Promise<unknown> | null))
  return { at: instant(now), ...Object.fromEntries(names.map((name, place) => [name, answers[place]])) } as OverviewView
}

/** What people and tokens did last. What the hub does by itself, such as verdicts over monitors, would drown it. */
async function lastChanges(ctx: Ctx): Promise<AuditEventView[]> {
  const found: AuditEventView[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < mostPages && found.length < mostShown; pages++) {
    const page: Page<AuditEventView> = await listAuditEvents(ctx, { limit: 100, ...(cursor && { cursor }) })
    found.push(...page.data.filter(({ actor }) => deliberate.has(actor.type)))
    cursor = page.pagination.next_cursor
    if (cursor === null) break
  }
  return found.slice(0, mostShown)
}
const deliberate: ReadonlySet<string> = new Set(['user', 'token', 'operator'])
const mostPages = 5

const listed = <T>({ data, pagination }: { data: T[]; pagination: { total?: number } }): { total: number; data: T[] } => ({
  total: pagination.total!,
  data,
})
