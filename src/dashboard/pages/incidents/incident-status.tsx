import type { IncidentView } from '../../../features/incidents/shapes'
import { severityTone } from '../../parts/severity'
import { Status, toneOf } from '../../parts/status'

/** The status of an incident. An open one has the color of its severity. */
export const IncidentStatus = ({ incident: { status, severity } }: { incident: IncidentView }) => (
  <Status status={status} tone={status === 'open' ? severityTone[severity] : toneOf(status)} />
)
