import { target } from '../../../core/audit'
import { jobContext, systemActor, type AuditDraft } from '../../../core/change'
import type { NoticeDraft } from '../../../core/notices'
import type { Op } from '../providers/provider'
import { rrsetKey, type ZoneRow } from '../zone-rows'
import { zoneTarget } from '../zones'
import type { Results } from './apply-ops'
import type { Claimed } from './claim-target'
import { syncKind } from './sync-jobs'

/** What was brought to a target, in rrsets. */
export interface SyncCounts {
  created: number
  updated: number
  deleted: number
  /** Steps that were not carried out. */
  failed: number
}

export function countsOf(ops: readonly Op[], results: Results): SyncCounts {
  const counts: SyncCounts = { created: 0, updated: 0, deleted: 0, failed: 0 }
  const words = { create: 'created', update: 'updated', delete: 'deleted' } as const
  for (const op of ops) counts[results.get(rrsetKey(op))?.outcome === 'done' ? words[op.action] : 'failed']++
  return counts
}

const longestDetail = 500

/** What a provider said, as far as it is kept. */
export const toldDetail = (text: string): string => text.slice(0, longestDetail).toWellFormed()

/** What the hub did at a provider. */
export const syncAudit = (zone: ZoneRow, { provider }: Claimed, counts: SyncCounts): AuditDraft => ({
  workspaceId: zone.workspaceId,
  action: 'dns.zone.sync',
  outcome: counts.failed > 0 ? 'failure' : 'success',
  actor: systemActor(syncKind),
  context: jobContext,
  targets: [zoneTarget(zone), target('provider', provider)],
  after: counts,
})

export const driftNotice = (zone: ZoneRow, { provider }: Claimed, count: number): NoticeDraft => ({
  workspaceId: zone.workspaceId,
  kind: 'dns_zone.drifted',
  resource: zoneTarget(zone),
  text: `${count} rrsets of ${zone.name} were changed at ${provider.name} by somebody else.`,
  details: { zone_id: zone.id, provider_id: provider.id, count },
  matter: `${zone.id} ${provider.id}`,
})

export const editWarNotice = (zone: ZoneRow, { provider }: Claimed): NoticeDraft => ({
  workspaceId: zone.workspaceId,
  kind: 'dns_zone.edit_war',
  resource: zoneTarget(zone),
  text: `What was put back at ${provider.name} in the zone ${zone.name} was changed again three times in ten minutes. It is left alone for a while.`,
  details: { zone_id: zone.id, provider_id: provider.id },
  matter: `${zone.id} ${provider.id}`,
})
