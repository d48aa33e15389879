import { Type } from '@sinclair/typebox'
import { auditAction } from '../../core/audit-actions'

const targets = ['monitor']
const withSecret = { secret: Type.String({ description: 'The secrets in the options, as a keyed hash.' }) }
const byChecks = {
  channels: ['job'],
  targets: ['monitor'],
  changes: { fields: { status: Type.String(), flapping: Type.Boolean() } },
} as const
const created = { before: {}, after: { name: 'Shop', type: 'http', target: 'https://shop.example.com/', status: 'new' } }

export const monitorActions = [
  auditAction({
    action: 'monitor.create',
    number: 'MO001',
    description: 'A monitor was created.',
    targets,
    changes: { of: 'monitor.update', fields: withSecret },
    example: created,
  }),
  auditAction({
    action: 'monitor.update',
    number: 'MO002',
    description: 'A monitor was updated.',
    targets,
    changes: { of: 'monitor.update', fields: withSecret },
    example: { before: { interval_seconds: 60 }, after: { interval_seconds: 30 } },
  }),
  auditAction({
    action: 'monitor.delete',
    number: 'MO003',
    description: 'A monitor was deleted with its history. The other targets are monitors that depended on it and no longer do.',
    targets,
    changes: { of: 'monitor.create' },
    example: { before: created.after, after: {} },
  }),
  auditAction({
    action: 'monitor.pause',
    number: 'MO004',
    description: 'A monitor was paused.',
    targets,
    changes: 'response',
    example: { before: { status: 'up' }, after: { status: 'paused' } },
  }),
  auditAction({
    action: 'monitor.resume',
    number: 'MO005',
    description: 'A paused monitor was resumed.',
    targets,
    changes: 'response',
    example: { before: { status: 'paused' }, after: { status: 'new' } },
  }),
  auditAction({
    action: 'monitor.reset',
    number: 'MO006',
    description: 'The status of a monitor was reset.',
    targets,
    changes: 'response',
    example: { before: { status: 'down' }, after: { status: 'new' } },
  }),
  auditAction({
    action: 'monitor.clone',
    number: 'MO007',
    description: 'A monitor was cloned. The second target is the original.',
    targets,
    changes: { of: 'monitor.update', fields: withSecret },
    example: created,
  }),
  auditAction({
    action: 'monitor.bulk',
    number: 'MO008',
    description: 'A bulk change of monitors was denied. Successful changes have their own events.',
    targets: [],
  }),
  auditAction({
    action: 'monitor.check',
    number: 'MO010',
    description: 'A monitor was checked manually. The reason contains the result.',
    targets,
  }),
  auditAction({
    action: 'monitor.import',
    number: 'MO009',
    description: 'Monitors were imported from a document. Monitors that were created, updated, or deleted have their own events.',
    targets: ['workspace'],
  }),
  // Status changes found by checks. Checks without a status change are not logged.
  auditAction({
    action: 'monitor.begin',
    number: 'MO501',
    description: 'A monitor got its first status, or its first one after a period without checks.',
    ...byChecks,
    example: { before: { status: 'new' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'monitor.fail',
    number: 'MO502',
    description: 'A monitor went down.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'down' } },
  }),
  auditAction({
    action: 'monitor.degrade',
    number: 'MO503',
    description: 'A monitor became degraded.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'degraded' } },
  }),
  auditAction({
    action: 'monitor.recover',
    number: 'MO504',
    description: 'A monitor recovered.',
    ...byChecks,
    example: { before: { status: 'down' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'monitor.lose_contact',
    number: 'MO505',
    description: 'No location reported results of a monitor anymore, so its status is unknown.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'unknown' } },
  }),
  auditAction({
    action: 'monitor.enter_maintenance',
    number: 'MO506',
    description: 'A maintenance window of a monitor started. Checks keep running but don’t trigger alerts.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'maintenance' } },
  }),
  auditAction({
    action: 'monitor.leave_maintenance',
    number: 'MO507',
    description: 'The maintenance window of a monitor ended.',
    ...byChecks,
    example: { before: { status: 'maintenance' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'monitor.flap',
    number: 'MO508',
    description: 'A monitor started flapping. Its status changes are not notified individually until it is stable.',
    ...byChecks,
    example: { before: { flapping: false }, after: { flapping: true } },
  }),
  auditAction({
    action: 'monitor.stabilize',
    number: 'MO509',
    description: 'A flapping monitor became stable.',
    ...byChecks,
    example: { before: { flapping: true }, after: { flapping: false } },
  }),
] as const
