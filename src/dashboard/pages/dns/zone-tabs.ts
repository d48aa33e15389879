import type { ZoneView } from '../../../features/dns/zone-shapes'

interface ZoneTab {
  /** Last part of its address; `records` is at the zone's own. */
  name: string
  label: string
  /** Zones that have it; all when absent. */
  for?: (zone: ZoneView) => boolean
}

/** The tabs of a zone, in their order. What each shows stands in zone.tsx. */
export const zoneTabs: readonly ZoneTab[] = [
  { name: 'records', label: 'Records' },
  { name: 'drift', label: 'Drift', for: zone => zone.sync.targets.length > 0 },
  { name: 'plans', label: 'Plans' },
  { name: 'history', label: 'History' },
  { name: 'templates', label: 'Templates' },
  { name: 'secondaries', label: 'Secondaries', for: zone => zone.served },
  { name: 'settings', label: 'Settings' },
]
