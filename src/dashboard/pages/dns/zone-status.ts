import type { ZoneView } from '../../../features/dns/zones/shapes'

/** Status of a zone in lists: why it isn’t synced, or its sync state. */
export function zoneStatus(zone: ZoneView): string {
  if (zone.status === 'paused') return 'paused'
  return zone.blocked ? 'blocked' : shownSyncState(zone)
}

/** The sync state of a zone, unless it has nothing to sync with. */
export const shownSyncState = ({ served, sync }: ZoneView): string =>
  served && sync.targets.length === 0 && sync.state === 'synced' ? 'served' : sync.state
