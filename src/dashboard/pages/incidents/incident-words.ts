import type { IncidentView } from '../../../features/incidents/shapes'
import type { Mood } from '../../parts/status'

export const severityMood: Record<IncidentView['severity'], Mood> = { info: 'idle', warning: 'warn', critical: 'bad' }

export const kindWords: Record<IncidentView['kind'], string> = {
  'monitor.down': 'Monitor down',
  'monitor.degraded': 'Monitor degraded',
  'heartbeat.missed': 'Heartbeat missed',
  manual: 'Opened by hand',
}
