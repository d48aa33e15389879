import { workspaces } from '../../../access/tables'
import { int, json, text } from '../../../core/db/columns'
import { primaryKey, table } from '../../../core/db/dialect'

/** Up to which feed position the events of a resource were dispatched. */
export const webhookDispatches = table(
  'webhook_dispatches',
  {
    workspaceId: text('workspace_id').notNull(),
    resourceId: text('resource_id').notNull(),
    position: int('position').notNull(),
  },
  t => [primaryKey({ columns: [t.workspaceId, t.resourceId] })],
)

/** Attempts of the last minute, for workspaces with a limit. */
export const webhookRateWindows = table('webhook_rate_windows', {
  workspaceId: text('workspace_id')
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  // By the second in which they started: [seconds since 1970, count], ascending.
  attempts: json<[number, number][]>('begun').notNull(),
})
