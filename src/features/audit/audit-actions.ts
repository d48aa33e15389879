import type { AuditActionDrafts } from '../../core/audit-actions'

const created = { name: 'SIEM', url: 'https://siem.example.com/bailiwick', actions: null, active: true, status: 'ok' }

export const auditStreamActions = {
  'account.audit_stream.create': { example: { before: {}, after: created } },
  'account.audit_stream.update': {
    description: 'An audit stream was updated, paused, or resumed.',
    example: { before: { active: true, status: 'ok' }, after: { active: false, status: 'paused' } },
  },
  'account.audit_stream.rotate_secret': {
    phrase: 'rotate the signing secret of {audit_stream}',
    number: 'AS004',
    description: 'The signing secret of an audit stream was rotated.',
    changes: { of: 'account.audit_stream.update' },
  },
  'account.audit_stream.test': {
    phrase: 'send a test message to {audit_stream}',
    number: 'AS005',
    description: 'A test message was sent to an audit stream. The reason contains the result.',
  },
  'account.audit_stream.fail': {
    sentence: '{audit_stream} failed three times in a row',
    number: 'AS006',
    description: 'An audit stream failed three times in a row. Delivery is still being retried.',
    channels: ['job'],
  },
  'account.audit_stream.recover': {
    sentence: '{audit_stream} recovered',
    number: 'AS007',
    description: 'A failing audit stream recovered.',
    channels: ['job'],
  },
  'account.audit_stream.skip_entries': {
    sentence: 'Entries were deleted before {audit_stream} could deliver them',
    number: 'AS008',
    description: 'Entries were deleted before they could be delivered to an audit stream. The reason contains the range.',
    channels: ['job'],
  },
  'account.audit_stream.promote_secret': {
    phrase: 'end the secret rotation of {audit_stream}',
    number: 'AS009',
    description: 'The old signing secret of an audit stream was dropped before the overlap ended.',
    changes: 'response',
  },
} satisfies AuditActionDrafts
