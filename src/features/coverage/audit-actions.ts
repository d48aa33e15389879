import { Type } from '@sinclair/typebox'
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
  'certificates.gap.issue': {
    phrase: 'issue a certificate for {certificate_gap}',
    number: 'CE304',
    description: 'Issuing of a certificate that closes a gap was started.',
    targets: ['certificate_gap', 'managed_certificate', 'action'],
    changes: { fields: { names: Type.Array(Type.String(), { description: 'Names of the certificate.' }) } },
    example: { before: {}, after: { names: ['shop.example.com'] } },
  },
} satisfies AuditActionDrafts
