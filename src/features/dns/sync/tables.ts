import type { AuditActor } from '../../../core/db/tables'
import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'
import type { ChangeOrigin } from '../changed-event'
import type { BlockCode, BlockReason } from './guards'
import type { KeptEdit, PlannedTarget } from './plan-forms'
import { dnsProviders } from '../accounts/tables'
import { dnsZones, recordSources } from '../tables'
import type { ZoneEdit } from '../zone-changes'
import { driftKinds, syncStates } from './three-way'

/** What would be done to a zone, as it was worked out at one moment; carried out as it is or not at all. */
export const dnsPlans = table(
  'dns_plans',
  {
    id: text('id').primaryKey(),
    zoneId: text('zone_id')
      .notNull()
      .references(() => dnsZones.id, { onDelete: 'cascade' }),
    workspaceId: text('workspace_id').notNull(),
    // Of the zone: after any other change of it the plan is stale.
    zoneVersion: int('zone_version').notNull(),
    // Over all that it would do, and what it was worked out from.
    hash: text('hash').notNull(),
    // Null where the plan changes nothing of what is kept here.
    edits: json<KeptEdit[] | null>('edits'),
    // Null where nothing but records changes.
    zoneEdit: json<ZoneEdit | null>('zone_edit'),
    targets: json<PlannedTarget[]>('targets').notNull(),
    blocked: json<BlockReason[]>('blocked').notNull(),
    origin: text('origin').$type<ChangeOrigin>().notNull(),
    source: text('source', { enum: [...recordSources] }).notNull(),
    note: text('note').notNull(),
    // Reasons that were overridden when it was applied.
    allowed: json<BlockCode[]>('allowed').notNull(),
    // What of others is put back: keys of rrsets, or all; null where only what was changed here is brought there.
    enforce: json<string[] | 'all' | null>('enforce'),
    createdBy: json<AuditActor>('created_by').notNull(),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    appliedAt: time('applied_at'),
  },
  t => [index('dns_plans_zone').on(t.zoneId, t.id), index('dns_plans_expires').on(t.expiresAt)],
)

/** Where a zone is kept beside the hub. */
export const dnsZoneTargets = table(
  'dns_zone_targets',
  {
    id: text('id').primaryKey(),
    zoneId: text('zone_id')
      .notNull()
      .references(() => dnsZones.id, { onDelete: 'cascade' }),
    workspaceId: text('workspace_id').notNull(),
    providerId: text('provider_id')
      .notNull()
      .references(() => dnsProviders.id),
    // The provider's own id of the zone; null where it knows zones by name, and before the zone was found.
    remoteRef: text('remote_ref'),
    enabled: flag('enabled').notNull(),
    // The worst of its rrsets; `error` also when the last answer was none that tells how they are.
    state: text('state', { enum: [...syncStates] }).notNull(),
    // Null before the first reading that was believed.
    lastReadAt: time('last_read_at'),
    lastGoodCount: int('last_good_count'),
    // When all that was to be done was done. Null before the first time: all that is there is of others.
    lastSyncAt: time('last_sync_at'),
    // Over all that was read.
    observedHash: text('observed_hash'),
    remoteSerial: int('remote_serial'),
    error: json<{ code: string; detail: string } | null>('error'),
    // It could not be read for twice the time between readings.
    isStale: flag('is_stale').notNull(),
    failuresInARow: int('failures_in_a_row').notNull(),
    // That it fails was told.
    failingTold: flag('failing_told').notNull(),
    // Codes of the reasons that hold something back from it, as they were told; null when nothing is held back.
    blockedFor: json<string[] | null>('blocked_for'),
    nextPollAt: time('next_poll_at').notNull(),
    // The provider has asked to be left alone until then.
    restsUntil: time('rests_until').notNull(),
    // Who works on it, and until when.
    claim: text('claim'),
    claimedUntil: time('claimed_until').notNull(),
    // Runs that put back what somebody else had changed, since a time.
    enforcedSince: time('enforced_since').notNull(),
    enforcedRuns: int('enforced_runs').notNull(),
    createdAt: time('created_at').notNull(),
  },
  t => [
    uniqueIndex('dns_zone_targets_provider').on(t.zoneId, t.providerId),
    index('dns_zone_targets_poll').on(t.nextPollAt),
    index('dns_zone_targets_of_provider').on(t.providerId),
  ],
)

/** How each rrset stands at a target; what is neither here nor there has no row. */
export const dnsTargetRrsets = table(
  'dns_target_rrsets',
  {
    targetId: text('target_id')
      .notNull()
      .references(() => dnsZoneTargets.id, { onDelete: 'cascade' }),
    zoneId: text('zone_id').notNull(),
    name: text('name').notNull(),
    type: text('type').notNull(),
    // As both last agreed on it (normalise.ts); null when they never did.
    agreed: text('agreed'),
    // As it was last read; null when it was not there.
    observed: text('observed'),
    observedTtl: int('observed_ttl'),
    // Values as text with absolute names.
    observedValues: json<string[] | null>('observed_values'),
    state: text('state', { enum: [...syncStates] }).notNull(),
    kind: text('kind', { enum: [...driftKinds] }),
    // As it is to be by a step that was sent and not yet seen to be done (normalise.ts); empty for a removal.
    sent: text('sent'),
    // For people: what the provider said, or why it is so.
    detail: text('detail'),
    since: time('since').notNull(),
  },
  t => [
    primaryKey({ columns: [t.targetId, t.name, t.type] }),
    index('dns_target_rrsets_zone').on(t.zoneId, t.name, t.type),
    index('dns_target_rrsets_state').on(t.targetId, t.state, t.name, t.type),
  ],
)

/** Records that are at a target alone, value by value, for lists. One that is taken over keeps its id. */
export const dnsFoundRecords = table(
  'dns_found_records',
  {
    id: text('id').primaryKey(),
    targetId: text('target_id')
      .notNull()
      .references(() => dnsZoneTargets.id, { onDelete: 'cascade' }),
    zoneId: text('zone_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    name: text('name').notNull(),
    nameReversed: text('name_reversed').notNull(),
    type: text('type').notNull(),
    ttl: int('ttl').notNull(),
    content: text('content').notNull(),
    foundAt: time('found_at').notNull(),
  },
  t => [
    index('dns_found_records_workspace').on(t.workspaceId, t.id),
    index('dns_found_records_zone').on(t.zoneId, t.id),
    index('dns_found_records_rrset').on(t.targetId, t.name, t.type),
  ],
)
