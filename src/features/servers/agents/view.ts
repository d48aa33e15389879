import { instant } from '../../../core/clock'
import { version as hubVersion } from '../../../core/version'
import { profilesIn } from '../../../wire/agent-permissions'
import { isNewerVersion } from '../../../wire/agent-version'
import type { AgentRow, AnyAgentRow } from './rows'
import type { AgentSummaryView, AgentView } from './shapes'

/** An agent, as a part of its server. */
export const agentSummary = (row: AgentRow): AgentSummaryView => ({ ...heard(row), state: row.state })

const heard = ({ id, version, lastSeenAt }: AnyAgentRow) => ({ id, version, last_seen_at: instant(lastSeenAt) })

/** Converts an agent to its API form. */
export const agentView = (row: AnyAgentRow): AgentView => ({
  ...heard(row),
  state: row.state,
  name: row.name,
  server_id: row.serverId ?? row.otherServerId,
  assurance: row.publicKey === null ? 'token' : 'key',
  hint: row.tokenHint,
  enrolment_key_id: row.enrolmentKeyId,
  address: row.address,
  run_id: row.runs[0]?.id ?? null,
  interval_seconds: row.intervalSeconds,
  allow: [...row.allow],
  install_profiles: profilesIn(row.allow),
  config: { watched_processes: [], ...row.config },
  clock_offset_ms: row.clockOffsetMs,
  spooled: row.spooled,
  dropped: row.dropped,
  facts: row.facts,
  update: {
    policy: row.updatePolicy,
    available: isNewerVersion(hubVersion, row.version) ? hubVersion : null,
    state: row.updateState,
    version: row.updateVersion,
    detail: row.updateDetail,
    changed_at: instant(row.updateAt),
  },
  silent_since_at: instant(row.silentAt),
  stop_reason: row.stopReason,
  last_report_at: instant(row.lastReportAt),
  created_at: instant(row.createdAt),
})
