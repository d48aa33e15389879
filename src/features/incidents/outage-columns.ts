import { severities } from '../../core/notices'
import { keptEvidence, oneLine } from './evidence'
import type { IncidentRow, Outage } from './outage'

const mostLocations = 100

/** What was found when it was confirmed. */
export const foundBy = (outage: Outage): Pick<IncidentRow, 'cause' | 'locations' | 'evidence'> => ({
  cause: oneLine(outage.cause) || 'Failed.',
  locations: outage.locations.slice(0, mostLocations),
  evidence: keptEvidence(outage.evidence),
})

/** The same for the timeline. */
export const told = (outage: Outage) => ({
  kind: outage.kind,
  severity: outage.severity,
  locations: outage.locations.slice(0, mostLocations),
})

/** An incident in a few words. */
export const titleOf = ({ kind, subject }: Outage): string => oneLine(`${subject.name} ${titles[kind]}`, 250)

const titles: Record<Outage['kind'], string> = {
  'monitor.down': 'is down',
  'monitor.degraded': 'is degraded',
  'heartbeat.missed': 'missed a ping',
}

/** Larger is worse. */
export const rankOf = (kind: IncidentRow['kind']): number => (kind === 'monitor.degraded' ? 1 : 2)

/** How grave an incident is that has got another outage. */
export const graver = (last: IncidentRow, outage: Outage) =>
  severities[Math.max(severities.indexOf(last.severity), severities.indexOf(outage.severity))]!
