import { asc, inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { editableView, memberView } from '../../core/members'
import { rowsOf } from '../../registry'
import { drivenRecords, type DrivenRecord } from '../dns/records/driven'
import { dynamicIpMembers, type DynamicIpClient, type DynamicIpHostView, type DynamicIpView } from './shapes'
import { linkMembers, type FirewallLinkView } from './link-shapes'
import { dynamicIpHosts, dynamicIpLinks, dynamicIps, type StoredClient } from './tables'

export const dynamicIpRows = rowsOf('dynamic_ip', dynamicIps)

export type SourceRow = typeof dynamicIps.$inferSelect
export type LinkRow = typeof dynamicIpLinks.$inferSelect
export type HostRow = typeof dynamicIpHosts.$inferSelect

/** The hosts of sources, in their order. */
export const hostsOfSources = (read: Reader, sourceIds: readonly string[]): Promise<HostRow[]> =>
  read
    .select()
    .from(dynamicIpHosts)
    .where(inArray(dynamicIpHosts.sourceId, [...sourceIds]))
    .orderBy(asc(dynamicIpHosts.sourceId), asc(dynamicIpHosts.position))

/** Sources as the API returns them, with their hosts and the records of these. */
export async function sourceViews(read: Reader, hub: Hub, rows: readonly SourceRow[]): Promise<DynamicIpView[]> {
  if (rows.length === 0) return []
  const ids = rows.map(row => row.id)
  const hosts = await hostsOfSources(read, ids)
  const records = await drivenRecords(read, [...new Set(hosts.map(one => one.zoneId))], ids)
  const links = Map.groupBy(await linksOf(read, ids), one => one.sourceId)
  const hostsOf = Map.groupBy(hosts, one => one.sourceId)
  const recordsAt = Map.groupBy(records, one => `${one.driver} ${one.zoneId} ${one.name}`)
  return rows.map(row => ({
    id: row.id,
    ...memberView(dynamicIpMembers, row),
    status: row.status,
    status_reason: row.hold && { code: row.hold.code, detail: row.hold.detail, since_at: instant(row.hold.since) },
    ipv4: row.ipv4,
    ipv6: row.ipv6,
    prefix6: row.prefix6,
    hosts: (hostsOf.get(row.id) ?? []).map(host =>
      hostView(host, recordsAt.get(`${row.id} ${host.zoneId} ${relativeName(host)}`) ?? []),
    ),
    firewall_links: (links.get(row.id) ?? []).map(linkView),
    token: {
      hint: row.tokenHint,
      created_at: instant(row.tokenCreatedAt),
      last_used_at: instant(row.lastSeenAt),
      previous_valid_until: instant(
        row.previousValidUntil !== null && row.previousValidUntil > hub.clock.now() ? row.previousValidUntil : null,
      ),
    },
    last_seen_at: instant(row.lastSeenAt),
    last_changed_at: instant(row.lastChangedAt),
    last_client: row.lastClient && clientView(row.lastClient),
    ...editableView(row),
  }))
}

export const clientView = ({ dialect, presented_by, ...client }: StoredClient): DynamicIpClient => ({
  ...client,
  protocol: dialect,
  auth_method: presented_by,
})

export const sourceView = async (read: Reader, hub: Hub, row: SourceRow): Promise<DynamicIpView> =>
  (await sourceViews(read, hub, [row]))[0]!

/** The name of a host relative to its zone. */
export const relativeName = ({ name, zoneName }: Pick<HostRow, 'name' | 'zoneName'>): string =>
  name === zoneName ? '@' : name.slice(0, -zoneName.length - 1)

const hostView = (host: HostRow, records: readonly DrivenRecord[]): DynamicIpHostView => ({
  name: host.name,
  zone_id: host.zoneId,
  families: host.families,
  mode: host.mode,
  suffix6: host.suffix6,
  ttl: host.ttl,
  adopt: host.adopt,
  ipv4: host.ipv4,
  ipv6: host.ipv6,
  records: records.map(({ type, recordId, content, ttl, synced }) => ({ type, record_id: recordId, content, ttl, synced })),
  problem: host.problem && { code: host.problem.code, detail: host.problem.detail, since_at: instant(host.problem.since) },
})

/** The links of sources, oldest first. */
export const linksOf = (read: Reader, sourceIds: readonly string[]): Promise<LinkRow[]> =>
  read
    .select()
    .from(dynamicIpLinks)
    .where(inArray(dynamicIpLinks.sourceId, [...sourceIds]))
    .orderBy(asc(dynamicIpLinks.id))

export const linkView = (link: LinkRow): FirewallLinkView => ({
  id: link.id,
  ...memberView(linkMembers, link),
  status: link.status,
  reason: link.reason,
  applied: link.applied,
  pending_removal: link.pendingRemoval.map(one => ({ cidr: one.cidr, at: instant(one.at) })),
})
