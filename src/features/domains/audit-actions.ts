import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const example = { before: {}, after: { name: 'example.com', expires_at: null, tags: ['shop'] } }

export const domainActions = {
  'domains.domain.create': {
    description: 'A domain is tracked, also by an import, or because it is in a registrar account.',
    channels: [...requestChannels, 'job'],
    changes: 'response',
    example,
  },
  'domains.domain.delete': {
    description: 'A domain is no longer tracked. Its registration is not affected.',
    channels: requestChannels,
  },
  'domains.domain.import': {
    phrase: 'import domains',
    number: 'DO006',
    description: 'Domains were imported from a list. Each created domain has its own event.',
    targets: ['workspace'],
  },
  'domains.domain.refresh': {
    phrase: 'refresh {domain}',
    number: 'DO005',
    description: 'A lookup of a domain at its registry was requested.',
  },
} satisfies AuditActionDrafts
