import { Words } from '../shapes'
import { severities } from '../notices'
import { auditAction } from './entry'

const targets = ['incident']
const standing = {
  status: Words(['open', 'acknowledged', 'resolved']),
  severity: Words(severities),
}
const byWatching = { channels: ['job'], targets, changes: { members: standing } } as const

export const incidentActions = [
  auditAction({
    action: 'incident.open',
    number: 'IN001',
    description: 'A monitor or a heartbeat failed: an incident was opened.',
    ...byWatching,
    example: { before: {}, after: { status: 'open', severity: 'critical' } },
  }),
  auditAction({
    action: 'incident.reopen',
    number: 'IN002',
    description: 'An incident was reopened: its subject failed again soon after, or somebody asked for it.',
    ...byWatching,
    example: { before: { status: 'resolved' }, after: { status: 'open' } },
  }),
  auditAction({
    action: 'incident.worsen',
    number: 'IN003',
    description: 'What had an open incident got worse than it was.',
    ...byWatching,
    example: { before: { severity: 'warning' }, after: { severity: 'critical' } },
  }),
  auditAction({
    action: 'incident.resolve',
    number: 'IN004',
    description: 'An incident was resolved: its subject is well again or not watched any more, or somebody closed it.',
    ...byWatching,
    example: { before: { status: 'open' }, after: { status: 'resolved' } },
  }),
] as const
