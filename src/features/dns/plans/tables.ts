import type { AuditActor } from '../../../core/db/tables'
import { int, json, text, time } from '../../../core/db/columns'
import { index, table } from '../../../core/db/dialect'
import type { ChangeOrigin } from '../changes/changed-event'
import { recordSources } from '../records/tables'
import type { ZoneEdit } from '../zones/rows'
import { dnsZones } from '../zones/tables'
import type { BlockCode, BlockReason } from './guards'
import type { PlannedTarget, StoredEdit } from './plan-forms'

/** Plans: changes to a zone, computed at one moment, and applied exactly as computed or not at all. */
export const dnsPlans = table(
  'dns_plans',
  {
    id: text('id').primaryKey(),
    zoneId: text('zone_id')
      .notNull()
      .references(() => dnsZones.id, { onDelete: 'cascade' }),
    workspaceId: text('workspace_id').notNull(),
    // Any other change of the zone makes the plan stale.
    zoneVersion: int('zone_version').notNull(),
    // Over the changes and what they were computed from.
    hash: text('hash').notNull(),
    // Null if the local zone doesn't change.
    edits: json<StoredEdit[] | null>('edits'),
    // Null if only records change.
    zoneEdit: json<ZoneEdit | null>('zone_edit'),
    targets: json<PlannedTarget[]>('targets').notNull(),
    blocked: json<BlockReason[]>('blocked').notNull(),
    origin: text('origin').$type<ChangeOrigin>().notNull(),
    source: text('source', { enum: [...recordSources] }).notNull(),
    note: text('note').notNull(),
    // Block reasons that were allowed when it was applied.
    allowed: json<BlockCode[]>('allowed').notNull(),
    // External changes to revert: keys of rrsets, or all; null to apply only local changes.
    enforce: json<string[] | 'all' | null>('enforce'),
    createdBy: json<AuditActor>('created_by').notNull(),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    appliedAt: time('applied_at'),
  },
  t => [index('dns_plans_zone').on(t.zoneId, t.id), index('dns_plans_expires').on(t.expiresAt)],
)
