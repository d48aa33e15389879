import { int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'
import type { AuditActor } from '../../../core/db/tables'
import type { EventData } from '../../../core/event-kinds'
import type { SoaFields } from '../zones/soa-fields'
import type { RrsetRow } from '../records/rows'

/**
 * The changes of each zone, without gaps: each takes the zone from the previous version to its own. Never updated. Rows of a
 * deleted zone are deleted in batches, since a long history would take too long for one transaction.
 */
export const dnsChangesets = table(
  'dns_changesets',
  {
    id: text('id').primaryKey(),
    zoneId: text('zone_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    // Version of the zone after the change.
    version: int('version').notNull(),
    // Equal if DNS answers weren’t affected.
    serialBefore: int('serial_before').notNull(),
    serialAfter: int('serial_after').notNull(),
    // Null if nothing but the serial changed.
    soaBefore: json<SoaFields | null>('soa_before'),
    soaAfter: json<SoaFields | null>('soa_after'),
    actor: json<AuditActor>('actor').notNull(),
    actorId: text('actor_id').notNull(),
    origin: text('origin').$type<EventData<'dns.records_changed'>['origin']>().notNull(),
    note: text('note'),
    planId: text('plan_id'),
    // Numbers of records.
    created: int('created').notNull(),
    updated: int('updated').notNull(),
    deleted: int('deleted').notNull(),
    rrsetCount: int('rrset_count').notNull(),
    occurredAt: time('occurred_at').notNull(),
    requestId: text('request_id'),
  },
  t => [
    uniqueIndex('dns_changesets_version').on(t.zoneId, t.version),
    index('dns_changesets_time').on(t.workspaceId, t.occurredAt),
  ],
)

/** The rrsets that each change touched. */
export const dnsChangesetRrsets = table(
  'dns_changeset_rrsets',
  {
    zoneId: text('zone_id').notNull(),
    version: int('version').notNull(),
    // Position, from 0, sorted by name and type.
    place: int('place').notNull(),
    name: text('name').notNull(),
    type: text('type').notNull(),
    before: json<StoredRrset | null>('before'),
    after: json<StoredRrset | null>('after'),
  },
  t => [
    primaryKey({ columns: [t.zoneId, t.version, t.place] }),
    index('dns_changeset_rrsets_name').on(t.zoneId, t.name, t.type, t.version),
  ],
)

/** An rrset with everything needed to restore it. */
export interface StoredRrset extends Omit<RrsetRow, 'id' | 'zoneId' | 'name' | 'type' | 'version' | 'createdAt' | 'updatedAt'> {
  /** Ordered by id. */
  records: StoredRecord[]
}

/** A compact tuple, since large zones have many of them. `rdata` is Base64, `createdAt` is ms UTC. */
type StoredRecord = [id: string, rdata: string, version: number, createdAt: number]
