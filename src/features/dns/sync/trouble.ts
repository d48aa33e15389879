import { target } from '../../../core/audit'
import { jobContext, systemActor, type AuditDraft } from '../../../core/change'
import type { NoticeDraft } from '../../../core/notices'
import type { ProviderFailure } from '../providers/provider'
import type { ZoneRow } from '../zone-rows'
import { zoneTarget } from '../zones'
import type { Claimed } from './claim-target'
import type { BlockReason } from './guards'
import { syncKind } from './sync-jobs'
import type { TargetRow } from './target-rows'

// These say for themselves that somebody has to do something; others may pass by themselves.
const isPlain = (failure: ProviderFailure): boolean =>
  failure === 'zone_not_found' || failure === 'unauthorized' || failure === 'incomplete'

/** Whether it is the provider as a whole that fails so, and not one zone there. */
export const isOfProvider = (failure: string): boolean => failure !== 'zone_not_found' && failure !== 'incomplete'

/**
 * What people are told of a target that could not be read: once until it can be, at once where it does not pass by itself and else when it
 * is stale. What a provider is known to fail with is told of the provider.
 * @param held as it is in the transaction
 */
export function failingNotices(
  { zone, provider }: Claimed,
  held: TargetRow,
  { failure, detail, isStale }: { failure: ProviderFailure; detail: string; isStale: boolean },
): NoticeDraft[] {
  if (held.failingTold || !(isStale || isPlain(failure))) return []
  if (provider.state === 'failing' && isOfProvider(failure)) return []
  return [
    {
      workspaceId: zone.workspaceId,
      kind: 'dns_zone.target_failing',
      resource: zoneTarget(zone),
      text: `${zone.name} cannot be kept up at ${provider.name}: ${detail}`,
      details: { zone_id: zone.id, provider_id: provider.id, target_id: held.id, code: failure },
      matter: `${zone.id} ${provider.id}`,
    },
  ]
}

/** What there is to tell of a plan that is held back; null where the same reasons were told and still stand. */
export function blockTells(
  zone: ZoneRow,
  { provider }: Claimed,
  held: TargetRow,
  planId: string | null,
  reasons: readonly BlockReason[],
): { codes: string[]; audit: AuditDraft; notice: NoticeDraft } | null {
  const codes = reasons.map(one => one.code).sort()
  if (planId === null || codes.join() === held.blockedFor?.join()) return null
  const after = { plan_id: planId, provider_id: provider.id, reasons: codes }
  return {
    codes,
    audit: { ...ofJob(zone), action: 'dns.zone.block', targets: [zoneTarget(zone), target('plan', { id: planId })], after },
    notice: {
      workspaceId: zone.workspaceId,
      kind: 'dns_zone.blocked',
      resource: zoneTarget(zone),
      text: `What is to change in ${zone.name} is held back from ${provider.name}. ${reasons.map(one => one.detail).join(' ')}`,
      details: { zone_id: zone.id, ...after },
      matter: `${zone.id} ${provider.id}`,
    },
  }
}

/** All that was held back from a target is there, or is asked for no longer; nothing to tell where nothing was. */
export const unblockAudits = ({ zone, provider }: Claimed, held: TargetRow): AuditDraft[] =>
  held.blockedFor === null
    ? []
    : [
        {
          ...ofJob(zone),
          action: 'dns.zone.unblock',
          targets: [zoneTarget(zone), target('provider', provider)],
          before: { provider_id: provider.id, reasons: held.blockedFor },
        },
      ]

const ofJob = ({ workspaceId }: ZoneRow) => ({ workspaceId, actor: systemActor(syncKind), context: jobContext })
