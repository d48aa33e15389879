import { requestChannels, auditAction } from '../../core/audit-actions'

const targets = ['incident']
const channels = [...requestChannels, 'job'] as const
const withChanges = { targets, changes: 'response' } as const

export const incidentActions = [
  auditAction({
    action: 'incident.open',
    number: 'IN001',
    description: 'An incident was opened because a monitor or heartbeat failed.',
    channels: ['job'],
    targets,
    changes: { of: 'incident.create' },
    example: { before: {}, after: { status: 'open', severity: 'critical' } },
  }),
  auditAction({
    action: 'incident.reopen',
    number: 'IN002',
    description: 'An incident was reopened manually, or because its monitor or heartbeat soon failed again.',
    channels,
    ...withChanges,
    example: { before: { status: 'resolved' }, after: { status: 'open' } },
  }),
  auditAction({
    action: 'incident.worsen',
    number: 'IN003',
    description: 'The severity of an open incident increased.',
    channels: ['job'],
    targets,
    changes: { of: 'incident.create' },
    example: { before: { severity: 'warning' }, after: { severity: 'critical' } },
  }),
  auditAction({
    action: 'incident.resolve',
    number: 'IN004',
    description: 'An incident was resolved manually, or because its monitor or heartbeat recovered, was paused, or was deleted.',
    channels,
    ...withChanges,
    example: { before: { status: 'open' }, after: { status: 'resolved' } },
  }),
  auditAction({
    action: 'incident.create',
    number: 'IN005',
    description: 'An incident was created manually.',
    ...withChanges,
    example: { before: {}, after: { title: 'Payments fail', status: 'open' } },
  }),
  auditAction({
    action: 'incident.update',
    number: 'IN006',
    description: 'An incident was updated.',
    ...withChanges,
    example: { before: { severity: 'critical' }, after: { severity: 'warning' } },
  }),
  auditAction({
    action: 'incident.acknowledge',
    number: 'IN007',
    description: 'An incident was acknowledged. If this was done through a link in a notification, the actor is the channel.',
    channels: [...requestChannels, 'ingest'],
    ...withChanges,
    example: { before: { status: 'open' }, after: { status: 'acknowledged' } },
  }),
  auditAction({
    action: 'incident.unacknowledge',
    number: 'IN008',
    description: 'An acknowledgement was removed or expired, and the incident is open again.',
    channels,
    ...withChanges,
    example: { before: { status: 'acknowledged' }, after: { status: 'open' } },
  }),
  auditAction({
    action: 'incident.note.create',
    number: 'IN009',
    description: 'A note was added to the timeline of an incident.',
    targets,
    changes: 'response',
    example: { before: {}, after: { text: 'Restarted the second web server.' } },
  }),
  auditAction({
    action: 'incident.note.update',
    number: 'IN010',
    description: 'A note on the timeline of an incident was updated.',
    targets,
    changes: 'response',
    example: { before: { text: 'Restarted it.' }, after: { text: 'Restarted the second web server.' } },
  }),
  auditAction({
    action: 'incident.postmortem.update',
    number: 'IN011',
    description: 'The postmortem of an incident was updated.',
    ...withChanges,
  }),
  auditAction({
    action: 'incident.postmortem.delete',
    number: 'IN012',
    description: 'The postmortem of an incident was deleted.',
    targets,
    changes: { of: 'incident.postmortem.update' },
  }),
  auditAction({
    action: 'incident.bulk',
    number: 'IN013',
    description: 'A bulk change of incidents was denied. Successful changes have their own events.',
    targets: [],
  }),
] as const
