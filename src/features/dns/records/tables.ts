import { sql } from 'drizzle-orm'
import { bytes, editableColumns, flag, int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'
import type { RrsetOptions } from '../providers/provider'

export const recordSources = ['manual', 'api', 'template', 'dynamic', 'import', 'acme'] as const
export type RecordSource = (typeof recordSources)[number]

/** Record sets: the records of a name and type, which share one TTL and are replaced together (RFC 2181 section 5). */
export const dnsRrsets = table(
  'dns_rrsets',
  {
    id: text('id').primaryKey(),
    // No reference: rows of a deleted zone are deleted in batches (clear-zone.ts), to keep transactions short.
    zoneId: text('zone_id').notNull(),
    // Relative to the zone, in lower case; `@` is the apex.
    name: text('name').notNull(),
    type: text('type').notNull(),
    ttl: int('ttl').notNull(),
    source: text('source', { enum: [...recordSources] }).notNull(),
    // The dynamic IP source that sets the values; null if none does.
    drivenBy: text('driven_by'),
    // Metadata, not served (rrset-metadata.ts).
    comment: text('comment').notNull(),
    // Never an empty object; null lets the provider decide.
    options: json<RrsetOptions>('options'),
    locked: flag('locked').notNull(),
    tags: json<string[]>('tags').notNull(),
    expiresAt: time('expires_at'),
    ...editableColumns(),
  },
  t => [
    uniqueIndex('dns_rrsets_name').on(t.zoneId, t.name, t.type),
    // SQLite doesn’t allow table-qualified columns in index conditions.
    index('dns_rrsets_expiring')
      .on(t.expiresAt)
      .where(sql`expires_at is not null`),
    index('dns_rrsets_driven')
      .on(t.zoneId)
      .where(sql`driven_by is not null`),
  ],
)

/** The values of rrsets. Rows repeat the columns that lists filter by, so that a page is one index scan at any depth. */
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
    // Labels in reverse order, for suffix filters: `api.dev` is stored as `dev.api`.
    nameReversed: text('name_reversed').notNull(),
    type: text('type').notNull(),
    source: text('source', { enum: [...recordSources] }).notNull(),
    // Normalized presentation form. content_key is for searching: lower case, truncated, for TXT the plain text
    // (values.ts).
    content: text('content').notNull(),
    contentKey: text('content_key').notNull(),
    // Name that the value refers to, absolute and in lower case; null for types without one.
    target: text('target'),
    rdata: bytes('rdata').notNull(),
    // Hash of the canonical rdata (RFC 4034 section 6.2). Values with equal hashes are equal.
    rdataHash: text('rdata_hash').notNull(),
    ...editableColumns(),
  },
  t => [
    uniqueIndex('dns_records_rdata').on(t.rrsetId, t.rdataHash),
    index('dns_records_workspace').on(t.workspaceId, t.id),
    index('dns_records_name').on(t.workspaceId, t.name, t.id),
    index('dns_records_name_reversed').on(t.workspaceId, t.nameReversed, t.id),
    index('dns_records_content').on(t.workspaceId, t.contentKey, t.id),
    index('dns_records_type').on(t.workspaceId, t.type, t.id),
    index('dns_records_source').on(t.workspaceId, t.source, t.id),
    index('dns_records_updated').on(t.workspaceId, t.updatedAt, t.id),
    index('dns_records_zone').on(t.zoneId, t.id),
    index('dns_records_zone_name').on(t.zoneId, t.name, t.id),
    index('dns_records_zone_name_reversed').on(t.zoneId, t.nameReversed, t.id),
    index('dns_records_zone_content').on(t.zoneId, t.contentKey, t.id),
    index('dns_records_zone_type').on(t.zoneId, t.type, t.id),
    index('dns_records_zone_updated').on(t.zoneId, t.updatedAt, t.id),
    index('dns_records_zone_target').on(t.zoneId, t.target),
  ],
)

/** Tags, locks and sync states of records, which few records have. Lists filter by scanning only the marked records. */
export const dnsRecordMarks = table(
  'dns_record_marks',
  {
    workspaceId: text('workspace_id').notNull(),
    zoneId: text('zone_id').notNull(),
    recordId: text('record_id')
      .notNull()
      .references(() => dnsRecords.id, { onDelete: 'cascade' }),
    // `locked`, a tag with a `#` prefix, or a sync state.
    mark: text('mark').notNull(),
  },
  t => [
    primaryKey({ columns: [t.recordId, t.mark] }),
    index('dns_record_marks_workspace').on(t.workspaceId, t.mark, t.recordId),
    index('dns_record_marks_zone').on(t.zoneId, t.mark, t.recordId),
  ],
)
