import { instant } from '../../../core/clock'
import type { AgentRow } from './rows'
import type { AgentSummaryView, AgentView } from './shapes'

/** An agent, as a part of its server. */
export const agentSummary = ({ id, state, version, lastSeenAt }: AgentRow): AgentSummaryView => ({
  id,
  state,
  version,
  last_seen_at: instant(lastSeenAt),
})

/** Converts an agent to its API form. */
export const agentView = (row: AgentRow): AgentView => ({
  ...agentSummary(row),
  server_id: row.serverId,
  interval_seconds: row.intervalSeconds,
  allow: [...row.allow],
  silent_since_at: instant(row.silentAt),
  stop_reason: row.stopReason,
  created_at: instant(row.createdAt),
})
