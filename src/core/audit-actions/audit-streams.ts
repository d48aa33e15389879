import { auditAction } from './entry'

const targets = ['audit_stream']
const made = { name: 'SIEM', url: 'https://siem.example.com/bailiwick', actions: null, active: true, status: 'ok' }

export const auditStreamActions = [
  auditAction({
    action: 'account.audit_stream.create',
    number: 'AS001',
    description: 'A stream of the audit log was made.',
    targets,
    changes: { of: 'account.audit_stream.update' },
    example: { before: {}, after: made },
  }),
  auditAction({
    action: 'account.audit_stream.update',
    number: 'AS002',
    description: 'A stream of the audit log was edited, switched on or off.',
    targets,
    changes: 'answer',
    example: { before: { active: true, status: 'ok' }, after: { active: false, status: 'off' } },
  }),
  auditAction({
    action: 'account.audit_stream.delete',
    number: 'AS003',
    description: 'A stream of the audit log was deleted.',
    targets,
    changes: { of: 'account.audit_stream.update' },
    example: { before: made, after: {} },
  }),
  auditAction({
    action: 'account.audit_stream.rotate_secret',
    number: 'AS004',
    description: 'A stream of the audit log got a new signing secret.',
    targets,
    changes: { of: 'account.audit_stream.update' },
  }),
  auditAction({
    action: 'account.audit_stream.test',
    number: 'AS005',
    description: 'A test message was sent to a stream of the audit log; the reason tells what came of it.',
    targets,
  }),
  auditAction({
    action: 'account.audit_stream.fail',
    number: 'AS006',
    description: 'The receiver of a stream failed three times in a row; it is tried on.',
    channels: ['job'],
    targets,
  }),
  auditAction({
    action: 'account.audit_stream.recover',
    number: 'AS007',
    description: 'The receiver of a stream that had failed takes the log again.',
    channels: ['job'],
    targets,
  }),
  auditAction({
    action: 'account.audit_stream.lose',
    number: 'AS008',
    description: 'Entries were pruned before the receiver of a stream took them; the reason tells which.',
    channels: ['job'],
    targets,
  }),
  auditAction({
    action: 'account.audit_stream.promote_secret',
    number: 'AS009',
    description: 'The old signing secret of a stream of the audit log was dropped before the end of the overlap.',
    targets,
    changes: 'answer',
  }),
] as const
