import { auditAction } from '../../core/audit-actions'

const targets = ['audit_stream']
const created = { name: 'SIEM', url: 'https://siem.example.com/bailiwick', actions: null, active: true, status: 'ok' }

export const auditStreamActions = [
  auditAction({
    action: 'account.audit_stream.create',
    number: 'AS001',
    description: 'An audit stream was created.',
    targets,
    changes: { of: 'account.audit_stream.update' },
    example: { before: {}, after: created },
  }),
  auditAction({
    action: 'account.audit_stream.update',
    number: 'AS002',
    description: 'An audit stream was updated, paused, or resumed.',
    targets,
    changes: 'response',
    example: { before: { active: true, status: 'ok' }, after: { active: false, status: 'paused' } },
  }),
  auditAction({
    action: 'account.audit_stream.delete',
    number: 'AS003',
    description: 'An audit stream was deleted.',
    targets,
    changes: { of: 'account.audit_stream.update' },
    example: { before: created, after: {} },
  }),
  auditAction({
    action: 'account.audit_stream.rotate_secret',
    number: 'AS004',
    description: 'The signing secret of an audit stream was rotated.',
    targets,
    changes: { of: 'account.audit_stream.update' },
  }),
  auditAction({
    action: 'account.audit_stream.test',
    number: 'AS005',
    description: 'A test message was sent to an audit stream. The reason contains the result.',
    targets,
  }),
  auditAction({
    action: 'account.audit_stream.fail',
    number: 'AS006',
    description: 'An audit stream failed three times in a row. Delivery keeps being retried.',
    channels: ['job'],
    targets,
  }),
  auditAction({
    action: 'account.audit_stream.recover',
    number: 'AS007',
    description: 'A failing audit stream recovered.',
    channels: ['job'],
    targets,
  }),
  auditAction({
    action: 'account.audit_stream.skip_entries',
    number: 'AS008',
    description: 'Entries were pruned before they could be delivered to an audit stream. The reason contains the range.',
    channels: ['job'],
    targets,
  }),
  auditAction({
    action: 'account.audit_stream.promote_secret',
    number: 'AS009',
    description: 'The old signing secret of an audit stream was dropped before the overlap ended.',
    targets,
    changes: 'response',
  }),
] as const
