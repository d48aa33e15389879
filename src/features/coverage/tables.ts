import { sql } from 'drizzle-orm'
import { resourceColumns, workspaces } from '../../access/tables'
import type { AuditActor } from '../../core/db/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { covers, type Cause } from './names'
import { ctKinds } from './ct/kinds'
import { gapKindNames, gapSeverities } from './kinds'
import { storedGapStatuses } from './reconcile'
import { certificateSettingMembers } from './shapes'

/** Without a row, the defaults apply. */
export const certificateSettings = table('certificate_settings', {
  workspaceId: text('workspace_id')
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  ...memberColumns(certificateSettingMembers),
  ctKind: text('ct_kind', { enum: [...ctKinds] })
    .notNull()
    .default('off'),
  // Null for the public API.
  ctUrl: text('ct_url'),
  ctTokenSealed: text('ct_token_sealed'),
})

/** How far the search for certificates of a zone in CT logs is. */
export const ctSearches = table(
  'ct_searches',
  {
    // ID of the zone.
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // What the API has returned last. Empty at the beginning.
    cursor: text('cursor').notNull(),
    dueAt: time('due_at').notNull(),
    // When everything up to then had been read. Null until it has been once.
    checkedAt: time('checked_at'),
    failures: int('failures').notNull(),
    // Why the last attempt failed. Null if it succeeded.
    error: text('error'),
  },
  t => [index('ct_searches_workspace').on(t.workspaceId, t.id)],
)
export type CtSearchRow = typeof ctSearches.$inferSelect

/** A change of a gap’s status. */
export interface GapEntry {
  /** Milliseconds UTC. */
  at: number
  kind: 'opened' | 'acknowledged' | 'unacknowledged' | 'resolved'
  text: string
  /** Null for automatic changes. */
  actor: Pick<AuditActor, 'type' | 'id' | 'name'> | null
}

export const certificateGaps = table(
  'certificate_gaps',
  {
    ...resourceColumns(),
    // What it is about, as in gaps.ts: a gap that comes back is the same one.
    key: text('key').notNull(),
    kind: text('kind', { enum: [...gapKindNames] }).notNull(),
    status: text('status', { enum: [...storedGapStatuses] }).notNull(),
    severity: text('severity', { enum: [...gapSeverities] }).notNull(),
    // The place of the severity and status in a list with problems first.
    rank: int('rank').notNull(),
    name: text('name').notNull(),
    zoneId: text('zone_id'),
    endpointId: text('endpoint_id'),
    certificateId: text('certificate_id'),
    serverId: text('server_id'),
    detail: text('detail').notNull(),
    fix: text('fix').notNull(),
    evidence: json<Record<string, unknown>>('evidence').notNull(),
    isIssuable: flag('is_issuable').notNull(),
    // When the first scan found it, while it waits for another one that confirms it.
    observedAt: time('observed_at'),
    openedAt: time('opened_at').notNull(),
    acknowledgedAt: time('acknowledged_at'),
    acknowledgedUntil: time('acknowledged_until'),
    acknowledgedBy: json<Pick<AuditActor, 'type' | 'id' | 'name'> | null>('acknowledged_by'),
    note: text('note').notNull(),
    timeline: json<GapEntry[]>('timeline')
      .notNull()
      .default(sql`'[]'`),
    resolvedAt: time('resolved_at'),
    // The latest incident that it opened.
    incidentId: text('incident_id'),
  },
  t => [
    uniqueIndex('certificate_gaps_key').on(t.workspaceId, t.key),
    index('certificate_gaps_workspace').on(t.workspaceId, t.id),
    index('certificate_gaps_rank').on(t.workspaceId, t.rank, t.id),
    index('certificate_gaps_opened').on(t.workspaceId, t.openedAt, t.id),
    index('certificate_gaps_name').on(t.workspaceId, t.name, t.id),
    index('certificate_gaps_endpoint').on(t.endpointId),
    index('certificate_gaps_certificate').on(t.certificateId),
    index('certificate_gaps_resolved')
      .on(t.resolvedAt)
      .where(sql`resolved_at is not null`),
  ],
)
export type GapRow = typeof certificateGaps.$inferSelect

/** The names that should have a certificate, as of the last evaluation. */
export const certificateCoverage = table(
  'certificate_coverage',
  {
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    zoneId: text('zone_id'),
    because: json<Cause[]>('because').notNull(),
    covered: text('covered', { enum: [...covers] }).notNull(),
    certificateId: text('certificate_id'),
    validUntil: time('valid_until'),
    endpointIds: json<string[]>('endpoint_ids').notNull(),
  },
  t => [
    primaryKey({ columns: [t.workspaceId, t.name] }),
    index('certificate_coverage_zone').on(t.workspaceId, t.zoneId, t.name),
    index('certificate_coverage_covered').on(t.workspaceId, t.covered, t.name),
  ],
)
export type CoverageRow = typeof certificateCoverage.$inferSelect
