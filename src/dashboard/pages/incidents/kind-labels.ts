import type { IncidentView } from '../../../features/incidents/shapes'

export const kindLabels: Record<IncidentView['kind'], string> = {
  'monitor.down': 'Monitor down',
  'monitor.degraded': 'Monitor degraded',
  'heartbeat.missed': 'Heartbeat missed',
  manual: 'Manual',
}
