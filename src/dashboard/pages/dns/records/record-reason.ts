import type { DnsRecordView } from '../../../../features/dns/record-shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'

type Standing = DnsRecordView['sync']['targets'][number]

export const isAsItIsToBe = (state: string): boolean => state === 'synced' || state === 'ignored'

/**
 * Why records of a name and type are not at a provider as they are to be, in a sentence. Null where they are.
 * @param place «there», or «at» and the name of the provider
 */
export function reasonAt(at: Standing, zone: ZoneView, place: string): string | null {
  if (isAsItIsToBe(at.state)) return null
  if (at.detail !== null) return at.detail
  const there = at.observed?.values.join(', ')
  const failed = zone.sync.targets.find(one => one.provider_id === at.provider_id)?.error?.detail
  switch (at.state) {
    case 'pending':
      return pendingBecause(zone, failed)
    case 'drifted':
      return there === undefined ? `Removed ${place} by others.` : `Changed ${place} by others: ${there}`
    case 'conflict':
      return `Changed here, and ${place} by others: ${there ?? 'removed'}`
    case 'unmanaged':
      return `Only ${place}.`
    case 'unknown':
      return failed ?? `Not read ${place} yet.`
    default:
      return failed ?? null
  }
}

/** Why a zone is not as it is to be, in a sentence. Null where nothing more can be said than its state. */
export function reasonOfZone(zone: ZoneView): string | null {
  if (zone.blocked) return `Held back: ${zone.blocked.reasons.map(one => one.detail).join(' ')}`
  return zone.sync.targets.find(one => one.error !== null)?.error?.detail ?? null
}

function pendingBecause(zone: ZoneView, failed: string | undefined): string {
  if (zone.status === 'paused') return 'The zone is paused: nothing is brought anywhere.'
  if (zone.blocked) return reasonOfZone(zone)!
  if (failed !== undefined) return failed
  return zone.apply === 'manual' ? 'Waits for a plan that is applied.' : 'Changed here, and on its way.'
}
