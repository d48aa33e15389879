import { asked, auditAction } from './entry'

const targets = ['incident']
const channels = [...asked, 'job'] as const
const standing = { targets, changes: 'answer' } as const

export const incidentActions = [
  auditAction({
    action: 'incident.open',
    number: 'IN001',
    description: 'A monitor or a heartbeat failed: an incident was opened.',
    channels: ['job'],
    targets,
    changes: { of: 'incident.create' },
    example: { before: {}, after: { status: 'open', severity: 'critical' } },
  }),
  auditAction({
    action: 'incident.reopen',
    number: 'IN002',
    description: 'An incident was reopened: its subject failed again soon after, or somebody asked for it.',
    channels,
    ...standing,
    example: { before: { status: 'resolved' }, after: { status: 'open' } },
  }),
  auditAction({
    action: 'incident.worsen',
    number: 'IN003',
    description: 'What had an open incident got worse than it was.',
    channels: ['job'],
    targets,
    changes: { of: 'incident.create' },
    example: { before: { severity: 'warning' }, after: { severity: 'critical' } },
  }),
  auditAction({
    action: 'incident.resolve',
    number: 'IN004',
    description: 'An incident was resolved: its subject is well again or not watched any more, or somebody closed it.',
    channels,
    ...standing,
    example: { before: { status: 'open' }, after: { status: 'resolved' } },
  }),
  auditAction({
    action: 'incident.create',
    number: 'IN005',
    description: 'Somebody opened an incident.',
    ...standing,
    example: { before: {}, after: { title: 'Payments fail', status: 'open' } },
  }),
  auditAction({
    action: 'incident.update',
    number: 'IN006',
    description: 'An incident was edited.',
    ...standing,
    example: { before: { severity: 'critical' }, after: { severity: 'warning' } },
  }),
  auditAction({
    action: 'incident.acknowledge',
    number: 'IN007',
    description: 'Somebody took an incident on, also by the link of a message: then the actor is the channel.',
    channels: [...asked, 'ingest'],
    ...standing,
    example: { before: { status: 'open' }, after: { status: 'acknowledged' } },
  }),
  auditAction({
    action: 'incident.unacknowledge',
    number: 'IN008',
    description: 'An acknowledgement ended, by hand or in time: the incident is open again.',
    channels,
    ...standing,
    example: { before: { status: 'acknowledged' }, after: { status: 'open' } },
  }),
  auditAction({
    action: 'incident.note.create',
    number: 'IN009',
    description: 'A note was added to the timeline of an incident.',
    targets,
    changes: 'answer',
    example: { before: {}, after: { text: 'Restarted the second web server.' } },
  }),
  auditAction({
    action: 'incident.note.update',
    number: 'IN010',
    description: 'A note on the timeline of an incident was edited.',
    targets,
    changes: 'answer',
    example: { before: { text: 'Restarted it.' }, after: { text: 'Restarted the second web server.' } },
  }),
  auditAction({
    action: 'incident.postmortem.update',
    number: 'IN011',
    description: 'The post-mortem of an incident was written.',
    ...standing,
  }),
  auditAction({
    action: 'incident.postmortem.delete',
    number: 'IN012',
    description: 'The post-mortem of an incident was taken away.',
    targets,
    changes: { of: 'incident.postmortem.update' },
  }),
  auditAction({
    action: 'incident.bulk',
    number: 'IN013',
    description: 'Many changes of incidents at once were refused; those that are made have entries of their own.',
    targets: [],
  }),
] as const
