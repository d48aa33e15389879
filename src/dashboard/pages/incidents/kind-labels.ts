import type { IncidentView } from '../../../features/incidents/shapes'

export const kindLabels: Record<IncidentView['kind'], string> = {
  'monitor.down': 'Monitor down',
  'monitor.degraded': 'Monitor degraded',
  'heartbeat.missed': 'Heartbeat down',
  'certificate.gap': 'Certificate gap',
  manual: 'Manual',
}

export const resolutionLabels: Record<NonNullable<IncidentView['resolution']>, string> = {
  recovered: 'Recovered',
  paused: 'Resource paused',
  deleted: 'Resource deleted',
  reset: 'Monitor reset',
  closed: 'Resolved manually',
}
