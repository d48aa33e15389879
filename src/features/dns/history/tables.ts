import { int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'
import type { AuditActor } from '../../../core/db/tables'
import type { EventData } from '../../../core/events'
import type { SoaMembers } from '../soa-members'
import type { RrsetRow } from '../zone-rows'

/**
 * The changes of each zone, without gaps: one moves the zone from the version before to its own. Written once, with the change. Rows
 * outlive their zone until they are cleared away, which for a long history takes longer than a change may.
 */
export const dnsChangesets = table(
  'dns_changesets',
  {
    id: text('id').primaryKey(),
    zoneId: text('zone_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    // That of the zone after it.
    version: int('version').notNull(),
    // Equal where nothing changed that is served.
    serialBefore: int('serial_before').notNull(),
    serialAfter: int('serial_after').notNull(),
    // Null where of the SOA at most the serial changed.
    soaBefore: json<SoaMembers | null>('soa_before'),
    soaAfter: json<SoaMembers | null>('soa_after'),
    actor: json<AuditActor>('actor').notNull(),
    actorId: text('actor_id').notNull(),
    origin: text('origin').$type<EventData<'dns.records_changed'>['origin']>().notNull(),
    note: text('note'),
    planId: text('plan_id'),
    // Records.
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

/** What a change did to each name and type. */
export const dnsChangesetRrsets = table(
  'dns_changeset_rrsets',
  {
    zoneId: text('zone_id').notNull(),
    version: int('version').notNull(),
    // From 0, by name and type.
    place: int('place').notNull(),
    name: text('name').notNull(),
    type: text('type').notNull(),
    before: json<KeptRrset | null>('before'),
    after: json<KeptRrset | null>('after'),
  },
  t => [
    primaryKey({ columns: [t.zoneId, t.version, t.place] }),
    index('dns_changeset_rrsets_name').on(t.zoneId, t.name, t.type, t.version),
  ],
)

/** An rrset with all that is needed to make it again as it was. */
export interface KeptRrset extends Omit<RrsetRow, 'id' | 'zoneId' | 'name' | 'type' | 'version' | 'createdAt' | 'updatedAt'> {
  /** In the order of their ids. */
  records: KeptRecord[]
}

/** Short, since each change of a large zone has many of them: the value is in Base64, the time in ms UTC. */
export type KeptRecord = [id: string, rdata: string, version: number, createdAt: number]
