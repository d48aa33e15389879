import { listInvitations } from '../../access/invitations'
import { endingTokens } from '../../access/outline'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Permission } from '../../core/permissions'
import { listAuditEvents } from '../audit/list'
import { zonesOutline } from '../dns/outline'
import { heartbeatsOutline } from '../heartbeats/outline'
import { listIncidents } from '../incidents/incidents'
import { maintenanceOutline } from '../maintenance/outline'
import { endingCertificates, monitorsOutline } from '../monitors/outline'
import { listNotices } from '../notices/notices'
import { webhooksOutline } from '../webhooks/outline'
import type { OverviewView } from './shapes'

const soonMs = 30 * 86_400_000
const mostShown = 20
const mostWindows = 5

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
    monitors: within('monitoring.read', () => monitorsOutline(ctx)),
    heartbeats: within('monitoring.read', () => heartbeatsOutline(ctx)),
    dns: within('dns.read', () => zonesOutline(ctx)),
    webhooks: within('webhooks.read', () => webhooksOutline(ctx)),
    certificates: within('monitoring.read', () => endingCertificates(ctx, now + soonMs, mostShown)),
    tokens: within('account.read', () => endingTokens(ctx, now + soonMs, mostShown)),
    invitations: within('account.read', async () => {
      const { total } = listed(await listInvitations(ctx, { limit: 1, include: 'total', status: ['pending'] }))
      return { pending: total }
    }),
    notices: within('account.read', async () => listed(await listNotices(ctx, { ...first, read: false }))),
    maintenance: within('monitoring.read', () => maintenanceOutline(ctx, mostWindows)),
    changes: within('account.read', async () => (await listAuditEvents(ctx, { limit: mostShown })).data),
  }
  const names = Object.keys(parts) as (keyof typeof parts)[]
  const answers = await Promise.all(names.map(name => parts[name] as Promise<unknown> | null))
  return { at: instant(now), ...Object.fromEntries(names.map((name, place) => [name, answers[place]])) } as OverviewView
}

const listed = <T>({ data, pagination }: { data: T[]; pagination: { total?: number } }): { total: number; data: T[] } => ({
  total: pagination.total!,
  data,
})
