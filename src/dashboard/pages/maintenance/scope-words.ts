import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`

/** What a window is for, in a few words. */
export function scopeWords({ all, monitors, heartbeats, groups, tags }: MaintenanceWindowView['targets']): string {
  if (all) return 'everything'
  return [
    ...(tags.length > 0 ? [`tagged ${tags.join(' or ')}`] : []),
    ...(monitors.length > 0 ? [counted(monitors.length, 'monitor')] : []),
    ...(heartbeats.length > 0 ? [counted(heartbeats.length, 'heartbeat')] : []),
    ...(groups.length > 0 ? [counted(groups.length, 'group')] : []),
  ].join(', ')
}
