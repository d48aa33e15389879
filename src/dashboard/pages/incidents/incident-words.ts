import type { IncidentView } from '../../../features/incidents/shapes'
import type { Mood } from '../../parts/status'

export const severityMood: Record<IncidentView['severity'], Mood> = { info: 'idle', warning: 'warn', critical: 'bad' }
