import { target } from '../../../core/audit'
import type { AuditDraft } from '../../../core/change-result'
import type { NoticeDraft } from '../../../core/notices'
import type { ProviderFailure } from '../providers/provider'
import type { ZoneRow } from '../zones/rows'
import { zoneTarget } from '../zones/zones'
import type { ClaimedTarget } from '../targets/claim-target'
import type { BlockReason } from '../plans/guards'
import { auditBase, zoneNotice } from './sync-notices'
import type { TargetRow } from '../targets/target-rows'

// These need someone to act; other failures may be temporary.
const needsAction = (failure: ProviderFailure): boolean =>
  failure === 'zone_not_found' || failure === 'unauthorized' || failure === 'incomplete'

/** Returns whether a failure affects the whole provider rather than one zone. */
export const isProviderWide = (failure: string): boolean => failure !== 'zone_not_found' && failure !== 'incomplete'

/**
 * Creates a notice for a target that can't be read: once per outage, immediately if someone has to act, otherwise once it is stale.
 * Failures that affect the whole provider are reported for the provider instead.
 * @param current row of the target as of the transaction
 */
export function failingNotices(
  claimed: ClaimedTarget,
  current: TargetRow,
  { failure, detail, isStale }: { failure: ProviderFailure; detail: string; isStale: boolean },
): NoticeDraft[] {
  const { zone, provider } = claimed
  if (current.failureNotified || !(isStale || needsAction(failure))) return []
  if (provider.state === 'failing' && isProviderWide(failure)) return []
  return [
    zoneNotice(zone, claimed, {
      kind: 'dns_zone.target_failing',
      text: `${zone.name} can’t be synced to ${provider.name}: ${detail}`,
      details: { target_id: current.id, code: failure },
    }),
  ]
}

/** Notice and audit event for a blocked plan; null if the same reasons were already reported. */
export function blockReport(
  zone: ZoneRow,
  claimed: ClaimedTarget,
  current: TargetRow,
  planId: string | null,
  reasons: readonly BlockReason[],
): { codes: string[]; audit: AuditDraft; notice: NoticeDraft } | null {
  const { provider } = claimed
  const codes = reasons.map(one => one.code).sort()
  if (planId === null || codes.join() === current.blockedFor?.join()) return null
  const after = { plan_id: planId, provider_id: provider.id, reasons: codes }
  return {
    codes,
    audit: { ...auditBase(zone), action: 'dns.zone.block', targets: [zoneTarget(zone), target('plan', { id: planId })], after },
    notice: zoneNotice(zone, claimed, {
      kind: 'dns_zone.blocked',
      text: `Safety checks blocked changes to ${zone.name} at ${provider.name}. ${reasons.map(one => one.detail).join(' ')}`,
      details: after,
    }),
  }
}

/** Audit event for a target that is no longer blocked; none if it wasn't. */
export const unblockAudits = ({ zone, provider }: ClaimedTarget, current: TargetRow): AuditDraft[] =>
  current.blockedFor === null
    ? []
    : [
        {
          ...auditBase(zone),
          action: 'dns.zone.unblock',
          targets: [zoneTarget(zone), target('dns_provider', provider)],
          before: { provider_id: provider.id, reasons: current.blockedFor },
        },
      ]
