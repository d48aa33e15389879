import type { IncidentView } from '../../../features/incidents/shapes'

export const kindWords: Record<IncidentView['kind'], string> = {
  'monitor.down': 'Monitor down',
  'monitor.degraded': 'Monitor degraded',
  'heartbeat.missed': 'Heartbeat missed',
  manual: 'Opened by hand',
}
