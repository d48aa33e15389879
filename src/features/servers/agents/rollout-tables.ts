import { workspaces } from '../../../access/tables'
import { int, text, time } from '../../../core/db/columns'
import { table } from '../../../core/db/dialect'
import { updatePolicies } from './shapes'

/** How the agents of a workspace are updated, and how far the rollout of the version of this hub is. */
export const agentRollouts = table('agent_rollouts', {
  workspaceId: text('workspace_id')
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  // Of agents that have no policy of their own.
  policy: text('policy', { enum: [...updatePolicies] }).notNull(),
  // Null before the first rollout.
  version: text('version'),
  // When it began, or was continued after it had stopped.
  since: time('since'),
  // Number of agents that are updated first.
  firstCount: int('first_count'),
  // When the others are updated; null while the first ones are.
  restAt: time('rest_at'),
  // Until then, the hub that continues the rollout starts updates. Other hubs wait.
  busyUntil: time('busy_until'),
  // Why it stopped: the agent whose update was rolled back, and when. Null unless it did.
  stoppedBy: text('stopped_by'),
  stoppedAt: time('stopped_at'),
  stoppedDetail: text('stopped_detail'),
})
