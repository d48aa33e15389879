import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const targets = ['incident']
const channels = [...requestChannels, 'job'] as const

export const incidentActions = {
  'incident.open': {
    number: 'IN001',
    description: 'An incident was opened because a monitor or heartbeat failed.',
    channels: ['job'],
    changes: { of: 'incident.create' },
    example: { before: {}, after: { status: 'open', severity: 'critical' } },
  },
  'incident.reopen': {
    number: 'IN002',
    description: 'An incident was reopened manually, or because its monitor or heartbeat soon failed again.',
    channels,
    changes: 'response',
    example: { before: { status: 'resolved' }, after: { status: 'open' } },
  },
  'incident.worsen': {
    sentence: 'The severity of {incident} increased',
    number: 'IN003',
    description: 'The severity of an open incident increased.',
    channels: ['job'],
    changes: { of: 'incident.create' },
    example: { before: { severity: 'warning' }, after: { severity: 'critical' } },
  },
  'incident.resolve': {
    number: 'IN004',
    description: 'An incident was resolved manually, or because its monitor or heartbeat recovered, was paused, or was deleted.',
    channels,
    changes: 'response',
    example: { before: { status: 'open' }, after: { status: 'resolved' } },
  },
  'incident.create': {
    description: 'An incident was created manually.',
    example: { before: {}, after: { title: 'Payments fail', status: 'open' } },
  },
  'incident.update': { example: { before: { severity: 'critical' }, after: { severity: 'warning' } } },
  'incident.acknowledge': {
    number: 'IN007',
    description: 'An incident was acknowledged. If this was done through a link in a notification, the actor is the channel.',
    channels: [...requestChannels, 'ingest'],
    changes: 'response',
    example: { before: { status: 'open' }, after: { status: 'acknowledged' } },
  },
  'incident.unacknowledge': {
    phrase: 'remove the acknowledgement of {incident}',
    number: 'IN008',
    description: 'An acknowledgement was removed or expired, and the incident is open again.',
    channels,
    changes: 'response',
    example: { before: { status: 'acknowledged' }, after: { status: 'open' } },
  },
  'incident.note.create': {
    phrase: 'add a note to {incident}',
    number: 'IN009',
    description: 'A note was added to the timeline of an incident.',
    targets,
    changes: 'response',
    example: { before: {}, after: { text: 'Restarted the second web server.' } },
  },
  'incident.note.update': {
    phrase: 'update a note on {incident}',
    number: 'IN010',
    description: 'A note on the timeline of an incident was updated.',
    targets,
    changes: 'response',
    example: { before: { text: 'Restarted it.' }, after: { text: 'Restarted the second web server.' } },
  },
  'incident.postmortem.update': {
    phrase: 'update the postmortem of {incident}',
    number: 'IN011',
    description: 'The postmortem of an incident was updated.',
    targets,
    changes: 'response',
  },
  'incident.postmortem.delete': {
    phrase: 'delete the postmortem of {incident}',
    number: 'IN012',
    description: 'The postmortem of an incident was deleted.',
    targets,
    changes: { of: 'incident.postmortem.update' },
  },
} satisfies AuditActionDrafts
