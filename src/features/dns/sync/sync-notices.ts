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

/** What audit events of syncs have in common. */
export const auditBase = ({ workspaceId }: ZoneRow) => ({ workspaceId, actor: systemActor(syncKind), context: jobContext })

/** Audit event for changes made at a provider. */
export const syncAudit = (zone: ZoneRow, { provider }: ClaimedTarget, counts: SyncCounts): AuditDraft => ({
  ...auditBase(zone),
  action: 'dns.zone.sync',
  outcome: counts.failed > 0 ? 'failure' : 'success',
  targets: [zoneTarget(zone), target('dns_provider', provider)],
  after: counts,
})

/** A notice about a zone at a provider. */
export const zoneNotice = (
  zone: ZoneRow,
  { provider }: ClaimedTarget,
  of: Pick<NoticeDraft, 'kind' | 'text'> & { details?: object },
): NoticeDraft => ({
  workspaceId: zone.workspaceId,
  resource: zoneTarget(zone),
  dedupKey: `${zone.id} ${provider.id}`,
  ...of,
  details: { zone_id: zone.id, provider_id: provider.id, ...of.details },
})

export const driftNotice = (zone: ZoneRow, claimed: ClaimedTarget, count: number): NoticeDraft =>
  zoneNotice(zone, claimed, {
    kind: 'dns_zone.drifted',
    text: `${count === 1 ? '1 record set' : `${count} record sets`} of ${zone.name} ${count === 1 ? 'was' : 'were'} changed at ${claimed.provider.name} outside Bailiwick.`,
    details: { count },
  })

export const editWarNotice = (zone: ZoneRow, claimed: ClaimedTarget): NoticeDraft =>
  zoneNotice(zone, claimed, {
    kind: 'dns_zone.edit_war',
    text: `Drift of ${zone.name} at ${claimed.provider.name} was reverted three times within ten minutes and changed again each time. Enforcement is paused for up to ten minutes.`,
  })
