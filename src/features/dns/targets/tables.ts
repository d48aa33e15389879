import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'
import { dnsProviders } from '../accounts/tables'
import { dnsZones } from '../zones/tables'
import { driftKinds, syncStates } from '../sync/three-way'

/** Sync targets of zones. */
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
    // Id of the zone at the provider; null before it was found, or if the provider identifies zones by name.
    remoteRef: text('remote_ref'),
    enabled: flag('enabled').notNull(),
    // Worst state of its rrsets; also `error` if the last response didn't contain the zone.
    state: text('state', { enum: [...syncStates] }).notNull(),
    // Null before the first accepted read.
    lastReadAt: time('last_read_at'),
    lastGoodCount: int('last_good_count'),
    // When everything was last applied. Null if never: everything there belongs to someone else.
    lastSyncAt: time('last_sync_at'),
    // Over everything that was read.
    observedHash: text('observed_hash'),
    remoteSerial: int('remote_serial'),
    // Lowest TTL there, if zones of the provider differ.
    minTtl: int('min_ttl'),
    error: json<{ code: string; detail: string } | null>('error'),
    // Not read for twice the polling interval.
    isStale: flag('is_stale').notNull(),
    consecutiveFailures: int('consecutive_failures').notNull(),
    // A notice about the failure was sent.
    failureNotified: flag('failure_notified').notNull(),
    // Codes of the reasons that block changes, as last reported; null if nothing is blocked.
    blockedFor: json<string[] | null>('blocked_for'),
    nextPollAt: time('next_poll_at').notNull(),
    // The provider asked to wait until then.
    throttledUntil: time('throttled_until').notNull(),
    // Claim of the hub that works on it.
    claim: text('claim'),
    claimedUntil: time('claimed_until').notNull(),
    // Runs that reverted drift, and when they began.
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

/** State of each rrset at a target. Rrsets that are neither desired nor observed have no row. */
export const dnsTargetRrsets = table(
  'dns_target_rrsets',
  {
    targetId: text('target_id')
      .notNull()
      .references(() => dnsZoneTargets.id, { onDelete: 'cascade' }),
    zoneId: text('zone_id').notNull(),
    name: text('name').notNull(),
    type: text('type').notNull(),
    // Fingerprint that both sides last agreed on (fingerprint.ts); null if they never did.
    agreed: text('agreed'),
    // Fingerprint of the last read; null if it was not there.
    observed: text('observed'),
    observedTtl: int('observed_ttl'),
    // Text with absolute names.
    observedValues: json<string[] | null>('observed_values'),
    state: text('state', { enum: [...syncStates] }).notNull(),
    kind: text('kind', { enum: [...driftKinds] }),
    // Fingerprint of a step that was sent and not verified yet (fingerprint.ts); empty for a deletion.
    sent: text('sent'),
    // Message of the provider, or an explanation.
    detail: text('detail'),
    since: time('since').notNull(),
  },
  t => [
    primaryKey({ columns: [t.targetId, t.name, t.type] }),
    index('dns_target_rrsets_zone').on(t.zoneId, t.name, t.type),
    index('dns_target_rrsets_state').on(t.targetId, t.state, t.name, t.type),
  ],
)

/** Unmanaged records at a target, one row per value, for lists. Adopted records keep their ids. */
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
