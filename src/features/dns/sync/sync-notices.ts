import { target } from '../../../core/audit'
import { jobContext, systemActor } from '../../../core/change'
import type { AuditDraft } from '../../../core/change-result'
import type { NoticeDraft } from '../../../core/notices'
import type { Op } from '../providers/provider'
import { rrsetKey } from '../zones/names'
import { type ZoneRow } from '../zones/rows'
import { zoneTarget } from '../zones/zones'
import type { Results } from './apply-ops'
import type { ClaimedTarget } from '../targets/claim-target'
import { syncKind } from './sync-jobs'

/** Rrsets changed at a target. */
export interface SyncCounts {
  created: number
  updated: number
  deleted: number
  /** Steps that failed. */
  failed: number
}

export function countsOf(ops: readonly Op[], results: Results): SyncCounts {
  const counts: SyncCounts = { created: 0, updated: 0, deleted: 0, failed: 0 }
  const words = { create: 'created', update: 'updated', delete: 'deleted' } as const
  for (const op of ops) counts[results.get(rrsetKey(op))?.outcome === 'done' ? words[op.action] : 'failed']++
  return counts
}

const maxDetailLength = 500

/** Shortens a message of a provider for storage. */
export const truncateDetail = (text: string): string => text.slice(0, maxDetailLength).toWellFormed()

/** Audit event for changes made at a provider. */
export const syncAudit = (zone: ZoneRow, { provider }: ClaimedTarget, counts: SyncCounts): AuditDraft => ({
  workspaceId: zone.workspaceId,
  action: 'dns.zone.sync',
  outcome: counts.failed > 0 ? 'failure' : 'success',
  actor: systemActor(syncKind),
  context: jobContext,
  targets: [zoneTarget(zone), target('dns_provider', provider)],
  after: counts,
})

export const driftNotice = (zone: ZoneRow, { provider }: ClaimedTarget, count: number): NoticeDraft => ({
  workspaceId: zone.workspaceId,
  kind: 'dns_zone.drifted',
  resource: zoneTarget(zone),
  text: `${count === 1 ? '1 record set' : `${count} record sets`} of ${zone.name} ${count === 1 ? 'was' : 'were'} changed at ${provider.name} outside Bailiwick.`,
  details: { zone_id: zone.id, provider_id: provider.id, count },
  dedupKey: `${zone.id} ${provider.id}`,
})

export const editWarNotice = (zone: ZoneRow, { provider }: ClaimedTarget): NoticeDraft => ({
  workspaceId: zone.workspaceId,
  kind: 'dns_zone.edit_war',
  resource: zoneTarget(zone),
  text: `Drift of ${zone.name} at ${provider.name} was reverted three times within ten minutes and changed again each time. Enforcement is paused for a while.`,
  details: { zone_id: zone.id, provider_id: provider.id },
  dedupKey: `${zone.id} ${provider.id}`,
})
