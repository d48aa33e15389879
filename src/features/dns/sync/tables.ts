import type { AuditActor } from '../../../core/db/tables'
import { index, table } from '../../../core/db/dialect'
import { int, json, text, time } from '../../../core/db/columns'
import type { ChangeOrigin } from '../changed-event'
import type { BlockReason } from './guards'
import type { KeptEdit, PlannedTarget } from './plan-forms'
import { dnsZones, recordSources } from '../tables'
import type { ZoneEdit } from '../zone-changes'

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
    allowed: json<string[]>('allowed').notNull(),
    createdBy: json<AuditActor>('created_by').notNull(),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    appliedAt: time('applied_at'),
  },
  t => [index('dns_plans_zone').on(t.zoneId, t.id), index('dns_plans_expires').on(t.expiresAt)],
)
