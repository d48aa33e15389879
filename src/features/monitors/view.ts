import type { CheckResult } from '../../checks/check'
import { target } from '../../core/audit'
import { editableView, memberView } from '../../core/members'
import { instant } from '../../core/clock'
import type { Hub } from '../../core/hub'
import { latestOf } from './live/latest'
import { rowsOf } from '../../registry'
import { monitorMembers, type MonitorView } from './shapes'
import { monitors } from './tables'

export type MonitorRow = typeof monitors.$inferSelect

export const monitorRows = rowsOf('monitor', monitors)

/** A monitor as the API returns it, with the names of its secrets but not their values. */
export function monitorView(hub: Hub, row: MonitorRow): MonitorView {
  const latest = latestOf(hub).get(row.id)
  return {
    id: row.id,
    type: row.type,
    ...memberView(monitorMembers, row),
    secrets_set: row.secretNames,
    status: row.status,
    status_since_at: instant(row.statusSince),
    flapping: row.state.flapping,
    last_check_at: instant(Math.max(latest?.result.at ?? 0, row.lastCheckAt ?? 0) || null),
    next_check_at: row.paused ? null : instant(latest?.nextCheckAt ?? null),
    last_result: latest ? lastResult(latest.result) : null,
    ...editableView(row),
  }
}

type FactColumns = Pick<MonitorRow, 'id' | 'name' | 'type' | 'target' | 'tags' | 'lastCheckAt'>

/** The monitor as it appears in events. */
export const monitorFact = (row: FactColumns, lastCheckAt: number | null = row.lastCheckAt) => ({
  id: row.id,
  name: row.name,
  type: row.type,
  // A group has no target.
  target: row.target || row.name,
  tags: row.tags,
  last_check_at: instant(lastCheckAt),
})

/** A monitor as a target in the audit log. */
export const monitorTarget = (row: Pick<MonitorRow, 'id' | 'name'>) => target('monitor', row)

/** The result of a check as the API returns it. */
export const lastResult = (result: CheckResult): NonNullable<MonitorView['last_result']> => ({
  at: instant(result.at),
  status: result.status,
  error: result.error,
  code: result.code,
  address: result.address,
  latency_ms: tenth(result.phases.total),
  phases: {
    dns_ms: tenth(result.phases.dns),
    connect_ms: tenth(result.phases.connect),
    tls_ms: tenth(result.phases.tls),
    first_byte_ms: tenth(result.phases.first_byte),
  },
  certificate_expires_at: instant(result.certificate?.chain_not_after ?? null),
})

const tenth = (ms: number | null): number | null => (ms === null ? null : Math.round(ms * 10) / 10)
