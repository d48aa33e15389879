import { resourceColumns } from '../../access/tables'
import { time } from '../../core/db/columns'
import { index, table } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { windowMembers } from './shapes'

export const maintenanceWindows = table(
  'maintenance_windows',
  {
    ...resourceColumns(),
    ...memberColumns(windowMembers),
    // The last manual start and its end. Null if it was never started manually.
    startedAt: time('started_at'),
    startedUntil: time('started_until'),
    // The last manual stop. Ended the scheduled occurrences that were active.
    stoppedAt: time('stopped_at'),
  },
  t => [
    index('maintenance_windows_workspace').on(t.workspaceId, t.id),
    index('maintenance_windows_name').on(t.workspaceId, t.name, t.id),
  ],
)
