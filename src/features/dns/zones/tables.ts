import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../../access/tables'
import { flag, int, text } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { syncStates } from '../sync/three-way'
import { policyMembers, zoneStatuses } from './shapes'

export const dnsZones = table(
  'dns_zones',
  {
    ...resourceColumns(),
    // A-labels in lower case, without a trailing dot.
    name: text('name').notNull(),
    unicodeName: text('unicode_name').notNull(),
    status: text('status', { enum: [...zoneStatuses] }).notNull(),
    // Seconds; for records created without a TTL.
    defaultTtl: int('default_ttl').notNull(),
    // Names are absolute with a trailing dot, as in rdata.
    soaMname: text('soa_mname').notNull(),
    soaRname: text('soa_rname').notNull(),
    soaTtl: int('soa_ttl').notNull(),
    soaRefresh: int('soa_refresh').notNull(),
    soaRetry: int('soa_retry').notNull(),
    soaExpire: int('soa_expire').notNull(),
    soaMinimum: int('soa_minimum').notNull(),
    // Serial number (RFC 1982). Increases with every change of served data.
    serial: int('serial').notNull(),
    // Maintained with each change: counting a million records for a limit check would be too slow.
    recordCount: int('record_count').notNull(),
    // Percent of the rrsets that one plan may update or delete without approval; null for the default (plans/guards.ts).
    updateLimit: int('update_limit'),
    deleteLimit: int('delete_limit'),
    // Where the zone was created: `builtin` or a provider. Whether the hub serves it is in is_served.
    providerId: text('provider_id').notNull(),
    isServed: flag('is_served').notNull(),
    // Number of rows in dns_zone_targets. Most zones have none, which saves a query.
    targetCount: int('target_count').notNull(),
    // Overall sync state, updated with each reading, for lists (targets/zone-sync-state.ts).
    syncState: text('sync_state', { enum: [...syncStates] }).notNull(),
    isSynced: flag('is_synced').notNull(),
    // Without ignore rules, the default rules apply (drift/ignore-rules.ts).
    ...memberColumns(policyMembers),
    // The blocked plan, which prevents syncing the zone to its targets.
    blockedPlanId: text('blocked_plan_id'),
  },
  t => [
    // The name server can serve only one zone of a name, across all workspaces.
    uniqueIndex('dns_zones_name').on(t.name),
    index('dns_zones_workspace').on(t.workspaceId, t.id),
    index('dns_zones_by_name').on(t.workspaceId, t.name, t.id),
    index('dns_zones_by_state').on(t.workspaceId, t.syncState, t.id),
    index('dns_zones_by_synced').on(t.workspaceId, t.isSynced, t.id),
    index('dns_zones_by_provider').on(t.workspaceId, t.providerId, t.id),
    index('dns_zones_blocked')
      .on(t.workspaceId, t.id)
      .where(sql`blocked_plan_id is not null`),
  ],
)

/**
 * Last serials of deleted zones that were transferred to secondaries. A new zone of the same name continues from there.
 * Otherwise, secondaries would keep the old zone while its serial is ahead, and later mix up changes of both.
 */
export const dnsPastSerials = table('dns_past_serials', {
  name: text('name').primaryKey(),
  serial: int('serial').notNull(),
})
