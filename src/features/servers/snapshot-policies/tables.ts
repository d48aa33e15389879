import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../../access/tables'
import { int, json, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { policyMembers, type LastRun } from './shapes'

/** When snapshots are created, and which are kept. */
export const snapshotPolicies = table(
  'snapshot_policies',
  {
    ...resourceColumns(),
    ...memberColumns(policyMembers),
    // When it runs next; null while it is paused.
    nextAt: time('next_at'),
    lastRun: json<LastRun | null>('last_run'),
    // Number of runs with failures in a row.
    failures: int('failures').notNull(),
  },
  t => [
    uniqueIndex('snapshot_policies_name').on(t.workspaceId, t.name),
    index('snapshot_policies_due')
      .on(t.nextAt)
      .where(sql`next_at is not null`),
  ],
)
