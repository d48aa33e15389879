import { Type } from '@sinclair/typebox'
import type { AuditActionDrafts } from '../../core/audit-actions'

const withSecret = {
  of: 'monitor.update',
  fields: { secret: Type.String({ description: 'The secrets in the options, as a keyed hash.' }) },
}
const byChecks = { channels: ['job'], changes: { fields: { status: Type.String(), flapping: Type.Boolean() } } } as const
const created = { before: {}, after: { name: 'Shop', type: 'http', target: 'https://shop.example.com/', status: 'new' } }

export const monitorActions = {
  'monitor.create': { changes: withSecret, example: created },
  'monitor.update': {
    changes: withSecret,
    example: { before: { interval_seconds: 60 }, after: { interval_seconds: 30 } },
  },
  'monitor.delete': {
    description: 'A monitor was deleted with its history. The other targets are monitors that depended on it and no longer do.',
  },
  'monitor.pause': {
    number: 'MO004',
    description: 'A monitor was paused.',
    changes: 'response',
    example: { before: { status: 'up' }, after: { status: 'paused' } },
  },
  'monitor.resume': {
    number: 'MO005',
    description: 'A paused monitor was resumed.',
    changes: 'response',
    example: { before: { status: 'paused' }, after: { status: 'new' } },
  },
  'monitor.reset': {
    number: 'MO006',
    description: 'The status of a monitor was reset.',
    changes: 'response',
    example: { before: { status: 'down' }, after: { status: 'new' } },
  },
  'monitor.clone': {
    phrase: 'clone a monitor as {monitor}',
    number: 'MO007',
    description: 'A monitor was cloned. The second target is the original.',
    changes: withSecret,
    example: created,
  },
  'monitor.check': { number: 'MO010', description: 'A monitor was checked manually. The reason contains the result.' },
  'monitor.detect': {
    phrase: 'detect monitors for a target',
    number: 'MO011',
    description: 'Detecting monitors for a target was denied. Successful detections are not logged.',
    targets: [],
  },
  'monitor.import': {
    phrase: 'import monitors',
    number: 'MO009',
    description: 'Monitors were imported from a document. Monitors that were created, updated, or deleted have their own events.',
    targets: ['workspace'],
  },
  // Status changes found by checks. Checks without a status change are not logged.
  'monitor.begin': {
    sentence: '{monitor} got its first status',
    number: 'MO501',
    description: 'A monitor got its first status, or its first one after a period without checks.',
    ...byChecks,
    example: { before: { status: 'new' }, after: { status: 'up' } },
  },
  'monitor.fail': {
    sentence: '{monitor} went down',
    number: 'MO502',
    description: 'A monitor went down.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'down' } },
  },
  'monitor.degrade': {
    sentence: '{monitor} became degraded',
    number: 'MO503',
    description: 'A monitor became degraded.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'degraded' } },
  },
  'monitor.recover': {
    sentence: '{monitor} recovered',
    number: 'MO504',
    description: 'A monitor recovered.',
    ...byChecks,
    example: { before: { status: 'down' }, after: { status: 'up' } },
  },
  'monitor.lose_contact': {
    sentence: 'No location reports results of {monitor} anymore',
    number: 'MO505',
    description: 'No location reported results of a monitor anymore, so its status is unknown.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'unknown' } },
  },
  'monitor.enter_maintenance': {
    sentence: 'Maintenance of {monitor} started',
    number: 'MO506',
    description: 'A maintenance window of a monitor started. Checks keep running but don’t trigger alerts.',
    ...byChecks,
    example: { before: { status: 'up' }, after: { status: 'maintenance' } },
  },
  'monitor.leave_maintenance': {
    sentence: 'Maintenance of {monitor} ended',
    number: 'MO507',
    description: 'The maintenance window of a monitor ended.',
    ...byChecks,
    example: { before: { status: 'maintenance' }, after: { status: 'up' } },
  },
  'monitor.flap': {
    sentence: '{monitor} started flapping',
    number: 'MO508',
    description: 'A monitor started flapping. No notifications are sent for individual status changes until it is stable.',
    ...byChecks,
    example: { before: { flapping: false }, after: { flapping: true } },
  },
  'monitor.stabilize': {
    sentence: '{monitor} became stable',
    number: 'MO509',
    description: 'A flapping monitor became stable.',
    ...byChecks,
    example: { before: { flapping: true }, after: { flapping: false } },
  },
} satisfies AuditActionDrafts
