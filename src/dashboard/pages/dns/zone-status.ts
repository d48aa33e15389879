import type { ZoneView } from '../../../features/dns/zones/shapes'

/** Status of a zone in lists: why it isn’t synced, or its sync state. */
export function zoneStatus({ status, blocked, sync }: ZoneView): string {
  if (status === 'paused') return 'paused'
  return blocked ? 'blocked' : sync.state
}
