import type { DnsRecordView } from '../../../../features/dns/records/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'

type TargetState = DnsRecordView['sync']['targets'][number]

export const isInSync = (state: string): boolean => state === 'synced' || state === 'ignored'

/**
 * Explains why records of a name and type are out of sync at a provider. Null if they are in sync.
 * @param place `at the provider`, or `at` and the name of the provider
 */
export function reasonAt(target: TargetState, zone: ZoneView, place: string): string | null {
  if (isInSync(target.state)) return null
  if (target.detail !== null) return target.detail
  const observed = target.observed?.values.join(', ')
  const failed = zone.sync.targets.find(one => one.provider_id === target.provider_id && isOfTarget(one))?.error?.detail
  switch (target.state) {
    case 'pending':
      return pendingReason(zone, failed)
    case 'drifted':
      return observed === undefined ? `Deleted ${place}.` : `Changed ${place}: ${observed}`
    case 'conflict':
      return `Changed both here and ${place}: ${observed ?? 'deleted'}`
    case 'unmanaged':
      return `Exists only ${place}.`
    case 'unknown':
      return failed ?? `Not checked ${place} yet.`
    default:
      return failed ?? null
  }
}

/** Whether a target has an error that isn’t the error of one of its records. */
const isOfTarget = ({ error }: ZoneView['sync']['targets'][number]): boolean => error !== null && error.code !== 'change_rejected'

/** Whether the reason why a zone is out of sync is more than the reasons of its records. */
export const hasOwnReason = (zone: ZoneView): boolean => zone.blocked !== null || zone.sync.targets.some(isOfTarget)

/** Explains why a zone is out of sync. Null if nothing more specific than its state is known. */
export function reasonOfZone(zone: ZoneView): string | null {
  if (zone.blocked) return `Blocked: ${zone.blocked.reasons.map(one => one.detail).join(' ')}`
  return zone.sync.targets.find(one => one.error !== null)?.error?.detail ?? null
}

function pendingReason(zone: ZoneView, failed: string | undefined): string {
  if (zone.status === 'paused') return 'The zone is paused, so changes aren’t synced.'
  if (zone.blocked) return reasonOfZone(zone)!
  if (failed !== undefined) return failed
  return zone.apply === 'manual' ? 'Waiting for a plan to be applied.' : 'Changed in Bailiwick. Syncing.'
}
