import { sql } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { bytes, flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import type { RrsetOptions } from './providers/provider'
import type { IgnoreRule } from './sync/ignoring'
import { syncStates } from './sync/three-way'

export const zoneStatuses = ['active', 'paused'] as const
export const applyModes = ['auto', 'manual'] as const
export const driftPolicies = ['report', 'enforce', 'adopt'] as const
export const unmanagedPolicies = ['keep', 'delete'] as const
export const recordSources = ['manual', 'api', 'template', 'dynamic', 'import', 'acme'] as const
export type RecordSource = (typeof recordSources)[number]

export const dnsZones = table(
  'dns_zones',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // In A-labels and lower case, without the dot at the end.
    name: text('name').notNull(),
    unicodeName: text('unicode_name').notNull(),
    status: text('status', { enum: [...zoneStatuses] }).notNull(),
    // Seconds, of records that are made without a TTL.
    defaultTtl: int('default_ttl').notNull(),
    // Names as in rdata: absolute, with the dot.
    soaMname: text('soa_mname').notNull(),
    soaRname: text('soa_rname').notNull(),
    soaTtl: int('soa_ttl').notNull(),
    soaRefresh: int('soa_refresh').notNull(),
    soaRetry: int('soa_retry').notNull(),
    soaExpire: int('soa_expire').notNull(),
    soaMinimum: int('soa_minimum').notNull(),
    // A number of RFC 1982: it follows every change of what is served.
    serial: int('serial').notNull(),
    // Kept with each change: counting a million of them for a limit would take as long as reading them.
    recordCount: int('record_count').notNull(),
    // Percent of the rrsets that one plan changes, or removes, unasked; null is the usual (sync/guards.ts).
    updateLimit: int('update_limit'),
    deleteLimit: int('delete_limit'),
    // Where it was made: `builtin`, or a provider. Whether the hub itself answers for it is told apart.
    providerId: text('provider_id').notNull(),
    isServed: flag('is_served').notNull(),
    // Of dns_zone_targets: most zones have none, and need not be asked for them.
    targetCount: int('target_count').notNull(),
    // How it stands at all of them, kept with each reading for lists (sync/zone-standing.ts).
    syncState: text('sync_state', { enum: [...syncStates] }).notNull(),
    isSynced: flag('is_synced').notNull(),
    apply: text('apply', { enum: [...applyModes] }).notNull(),
    driftPolicy: text('drift_policy', { enum: [...driftPolicies] }).notNull(),
    // What becomes of rrsets that are at a target alone.
    unmanaged: text('unmanaged', { enum: [...unmanagedPolicies] }).notNull(),
    // Null: the usual ones (sync/ignoring.ts).
    ignoreRules: json<IgnoreRule[] | null>('ignore_rules'),
    // The plan that is held back, which keeps the zone from being brought to its targets.
    blockedPlanId: text('blocked_plan_id'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    // The name server has one zone of a name, whoever owns it.
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

/** What has one TTL and is replaced as one: the records of a name and type (RFC 2181 section 5). */
export const dnsRrsets = table(
  'dns_rrsets',
  {
    id: text('id').primaryKey(),
    // Those of a zone that is gone are cleared away piece by piece (clear-zone.ts): all at once would hold up everyone.
    zoneId: text('zone_id').notNull(),
    // Below the zone, in lower case; `@` is the apex.
    name: text('name').notNull(),
    type: text('type').notNull(),
    ttl: int('ttl').notNull(),
    source: text('source', { enum: [...recordSources] }).notNull(),
    // Served to nobody: what people keep of it (rrset-members.ts).
    comment: text('comment').notNull(),
    // Never without members; null leaves all of it to the provider.
    options: json<RrsetOptions>('options'),
    locked: flag('locked').notNull(),
    tags: json<string[]>('tags').notNull(),
    expiresAt: time('expires_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    uniqueIndex('dns_rrsets_name').on(t.zoneId, t.name, t.type),
    // Columns in the condition of an index have no table before them (SQLite).
    index('dns_rrsets_expiring')
      .on(t.expiresAt)
      .where(sql`expires_at is not null`),
  ],
)

/** The values of rrsets. Each has what lists filter by, so that a page is one walk along one index, however deep. */
export const dnsRecords = table(
  'dns_records',
  {
    id: text('id').primaryKey(),
    rrsetId: text('rrset_id')
      .notNull()
      .references(() => dnsRrsets.id, { onDelete: 'cascade' }),
    workspaceId: text('workspace_id').notNull(),
    zoneId: text('zone_id').notNull(),
    name: text('name').notNull(),
    // Labels from the right, for filters by the end of a name: `api.dev` is `dev.api`.
    nameReversed: text('name_reversed').notNull(),
    type: text('type').notNull(),
    source: text('source', { enum: [...recordSources] }).notNull(),
    // In the one presentation form; of TXT the text itself, for what is searched: lower case, cut (record-values.ts).
    content: text('content').notNull(),
    contentKey: text('content_key').notNull(),
    // The name that the value leads to, absolute and in lower case; null for types without one.
    target: text('target'),
    rdata: bytes('rdata').notNull(),
    // Of the canonical rdata (RFC 4034 section 6.2): by it values are equal.
    rdataHash: text('rdata_hash').notNull(),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    uniqueIndex('dns_records_rdata').on(t.rrsetId, t.rdataHash),
    index('dns_records_workspace').on(t.workspaceId, t.id),
    index('dns_records_type').on(t.workspaceId, t.type, t.id),
    index('dns_records_name').on(t.workspaceId, t.name, t.id),
    index('dns_records_name_reversed').on(t.workspaceId, t.nameReversed, t.id),
    index('dns_records_content').on(t.workspaceId, t.contentKey, t.id),
    index('dns_records_source').on(t.workspaceId, t.source, t.id),
    index('dns_records_updated').on(t.workspaceId, t.updatedAt, t.id),
    index('dns_records_zone').on(t.zoneId, t.id),
    index('dns_records_zone_type').on(t.zoneId, t.type, t.id),
    index('dns_records_zone_name').on(t.zoneId, t.name, t.id),
    index('dns_records_zone_name_reversed').on(t.zoneId, t.nameReversed, t.id),
    index('dns_records_zone_content').on(t.zoneId, t.contentKey, t.id),
    index('dns_records_zone_updated').on(t.zoneId, t.updatedAt, t.id),
    index('dns_records_zone_target').on(t.zoneId, t.target),
  ],
)

/** What few records have and lists filter by: tags, and the lock of their rrset. So filters walk along those that have it alone. */
export const dnsRecordMarks = table(
  'dns_record_marks',
  {
    workspaceId: text('workspace_id').notNull(),
    zoneId: text('zone_id').notNull(),
    recordId: text('record_id')
      .notNull()
      .references(() => dnsRecords.id, { onDelete: 'cascade' }),
    // `locked`, or a tag after a number sign.
    mark: text('mark').notNull(),
  },
  t => [
    primaryKey({ columns: [t.recordId, t.mark] }),
    index('dns_record_marks_workspace').on(t.workspaceId, t.mark, t.recordId),
    index('dns_record_marks_zone').on(t.zoneId, t.mark, t.recordId),
  ],
)

/**
 * The serials that zones had when they were deleted, where secondaries had taken them. A zone of the same name goes on from there: secondaries that have the old one would
 * keep it while theirs is ahead, and later take changes of the new one for changes of theirs.
 */
export const dnsPastSerials = table('dns_past_serials', {
  name: text('name').primaryKey(),
  serial: int('serial').notNull(),
})

/** The last change of each zone, numbered in the order of commits over all zones: how name servers learn what to read again. */
export const dnsZoneChanges = table(
  'dns_zone_changes',
  {
    zoneId: text('zone_id').primaryKey(),
    number: int('number').notNull(),
    name: text('name').notNull(),
    // The last change that cannot be told rrset by rrset: whoever has seen less reads the whole zone.
    wholeNumber: int('whole_number').notNull(),
  },
  t => [uniqueIndex('dns_zone_changes_number').on(t.number)],
)

/** The last change of each name and type of a zone, under the number of the zone's change; also of what is gone. */
export const dnsRrsetChanges = table(
  'dns_rrset_changes',
  {
    zoneId: text('zone_id').notNull(),
    name: text('name').notNull(),
    type: text('type').notNull(),
    number: int('number').notNull(),
  },
  t => [primaryKey({ columns: [t.zoneId, t.name, t.type] }), index('dns_rrset_changes_number').on(t.zoneId, t.number)],
)
