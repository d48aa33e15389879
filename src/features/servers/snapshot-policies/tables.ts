import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../../access/tables'
import { int, json, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { policyMembers, type LastRun } from './shapes'

/** How far a run is. `after`: id of the last server that it has dealt with. */
export type PolicyRun = { phase: 'start'; after: string } | { phase: 'wait' | 'prune' }

/** When snapshots are created, and which are kept. */
export const snapshotPolicies = table(
  'snapshot_policies',
  {
    ...resourceColumns(),
    ...memberColumns(policyMembers),
    // When it runs next; null while it is paused.
    nextAt: time('next_at'),
    lastRun: json<LastRun | null>('last_run'),
    // How far the current run is; null if none is in progress.
    run: json<PolicyRun | null>('run'),
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
