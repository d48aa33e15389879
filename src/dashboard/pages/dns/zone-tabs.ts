import type { ZoneView } from '../../../features/dns/zones/shapes'

interface ZoneTab {
  /** Last segment of the URL; `records` is the default tab. */
  name: string
  label: string
  /** Zones that have the tab. Default: all. */
  for?: (zone: ZoneView) => boolean
}

/** The tabs of a zone, in order. Their components are in zone.tsx. */
export const zoneTabs: readonly ZoneTab[] = [
  { name: 'records', label: 'Records' },
  { name: 'drift', label: 'Drift', for: zone => zone.sync.targets.length > 0 },
  { name: 'plans', label: 'Plans' },
  { name: 'history', label: 'History' },
  { name: 'templates', label: 'Templates' },
  { name: 'secondaries', label: 'Secondaries', for: zone => zone.served },
  { name: 'settings', label: 'Settings' },
]
