import { workspaces } from '../../access/tables'
import { int, json, text, time } from '../../core/db/columns'
import { index, table } from '../../core/db/dialect'
import type { Targets } from './targets'

export const windowKinds = ['once', 'rrule', 'cron'] as const

export const maintenanceWindows = table(
  'maintenance_windows',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    description: text('description').notNull(),
    kind: text('kind', { enum: [...windowKinds] }).notNull(),
    // `YYYY-MM-DDTHH:MM:SS` as the clocks of the time zone show it; null of a cron expression that has no beginning.
    startsAtLocal: text('starts_at_local'),
    timezone: text('timezone').notNull(),
    durationSeconds: int('duration_seconds').notNull(),
    rrule: text('rrule'),
    cron: text('cron'),
    exdates: json<string[]>('exdates').notNull(),
    targets: json<Targets>('targets').notNull(),
    // Begun by hand, and until when; null when it never was.
    startedAt: time('started_at'),
    startedUntil: time('started_until'),
    // What was in force then by its schedule ended then.
    stoppedAt: time('stopped_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    index('maintenance_windows_workspace').on(t.workspaceId, t.id),
    index('maintenance_windows_name').on(t.workspaceId, t.name, t.id),
  ],
)
