import { severities } from '../../../core/notices'
import { capitalized, limitEvidence, oneLine } from './evidence'
import type { IncidentRow, Outage } from './outage'

const maxLocations = 100

/** Columns set from a confirmed outage. */
export const outageColumns = (outage: Outage): Pick<IncidentRow, 'cause' | 'locations' | 'evidence'> => ({
  cause: causeOf(outage) || 'Failed.',
  locations: outage.locations.slice(0, maxLocations),
  evidence: limitEvidence(outage.evidence),
})

/** Descriptions of gaps are sentences that may begin with a hostname. */
const causeOf = ({ kind, cause }: Outage): string => (kind === 'certificate.gap' ? oneLine(cause) : capitalized(oneLine(cause)))

/** Details for the timeline entry. */
export const updateDetails = (outage: Outage) => ({
  kind: outage.kind,
  severity: outage.severity,
  locations: outage.locations.slice(0, maxLocations),
})

/** Title of the incident. */
export const titleOf = ({ kind, subject, predicate = predicates[kind] }: Outage): string =>
  oneLine(`${subject.name} ${predicate}`, 250)

const predicates: Record<Outage['kind'], string> = {
  'monitor.down': 'is down',
  'monitor.degraded': 'is degraded',
  'heartbeat.missed': 'missed a ping',
  'certificate.gap': 'has a certificate problem',
}

/** Higher is worse. */
export const rankOf = ({ kind, severity }: Pick<IncidentRow, 'kind' | 'severity'>): number =>
  kind === 'monitor.degraded' || (kind === 'certificate.gap' && severity !== 'critical') ? 1 : 2

/** The higher of the two severities of an incident and a new outage. */
export const higherSeverity = (incident: IncidentRow, outage: Outage) =>
  severities[Math.max(severities.indexOf(incident.severity), severities.indexOf(outage.severity))]!
