import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'

const countText = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Describes the targets of a window briefly. */
export function scopeText({ all, monitors, heartbeats, groups, tags }: MaintenanceWindowView['targets']): string {
  if (all) return 'everything'
  return [
    ...(tags.length > 0 ? [`tagged ${tags.join(' or ')}`] : []),
    ...(monitors.length > 0 ? [countText(monitors.length, 'monitor')] : []),
    ...(heartbeats.length > 0 ? [countText(heartbeats.length, 'heartbeat')] : []),
    ...(groups.length > 0 ? [countText(groups.length, 'group')] : []),
  ].join(', ')
}
