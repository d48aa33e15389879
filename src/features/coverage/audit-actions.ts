import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

export const coverageActions = {
  'certificates.settings.update': {
    number: 'CE301',
    phrase: 'change the certificate settings',
    description: 'The certificate settings of the workspace were changed.',
    targets: ['workspace'],
    changes: 'response',
    example: { before: { ignore: [] }, after: { ignore: ['*.internal.example.com'] } },
  },
  'certificates.gap.acknowledge': {
    number: 'CE302',
    description: 'A certificate gap was acknowledged.',
    changes: 'response',
    example: { before: { status: 'open' }, after: { status: 'acknowledged' } },
  },
  'certificates.gap.unacknowledge': {
    number: 'CE303',
    description: 'The acknowledgement of a certificate gap was removed, or has expired.',
    channels: [...requestChannels, 'job'],
    changes: { of: 'certificates.gap.acknowledge' },
    example: { before: { status: 'acknowledged' }, after: { status: 'open' } },
  },
} satisfies AuditActionDrafts
