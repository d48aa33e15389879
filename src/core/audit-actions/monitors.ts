import { Type } from '@sinclair/typebox'
import { auditAction } from './entry'

const targets = ['monitor']
const withSecret = { secret: Type.String({ description: 'The secrets among its options, as a keyed tag.' }) }
const beginning = { before: {}, after: { name: 'Shop', type: 'http', target: 'https://shop.example.com/', status: 'new' } }

export const monitorActions = [
  auditAction({
    action: 'monitor.create',
    number: 'MO001',
    description: 'A monitor was made.',
    targets,
    changes: { of: 'monitor.update', members: withSecret },
    example: beginning,
  }),
  auditAction({
    action: 'monitor.update',
    number: 'MO002',
    description: 'A monitor was edited.',
    targets,
    changes: { of: 'monitor.update', members: withSecret },
    example: { before: { interval_seconds: 60 }, after: { interval_seconds: 30 } },
  }),
  auditAction({
    action: 'monitor.delete',
    number: 'MO003',
    description:
      'A monitor was deleted, with its history. The targets behind it are monitors that named it, and name it no more.',
    targets,
    changes: { of: 'monitor.create' },
    example: { before: beginning.after, after: {} },
  }),
  auditAction({
    action: 'monitor.pause',
    number: 'MO004',
    description: 'A monitor was paused: it is not checked.',
    targets,
    changes: 'answer',
    example: { before: { status: 'up' }, after: { status: 'paused' } },
  }),
  auditAction({
    action: 'monitor.resume',
    number: 'MO005',
    description: 'A paused monitor was resumed.',
    targets,
    changes: 'answer',
    example: { before: { status: 'paused' }, after: { status: 'new' } },
  }),
  auditAction({
    action: 'monitor.reset',
    number: 'MO006',
    description: 'A monitor was begun anew: what it was found to be was forgotten.',
    targets,
    changes: 'answer',
    example: { before: { status: 'down' }, after: { status: 'new' } },
  }),
  auditAction({
    action: 'monitor.clone',
    number: 'MO007',
    description: 'A monitor was made like another, which is the second target.',
    targets,
    changes: { of: 'monitor.update', members: withSecret },
    example: beginning,
  }),
  auditAction({
    action: 'monitor.bulk',
    number: 'MO008',
    description: 'Many changes of monitors at once were refused; those that are made have entries of their own.',
    targets: [],
  }),
  auditAction({
    action: 'monitor.check',
    number: 'MO010',
    description: 'A monitor was checked by hand; the reason is what was found.',
    targets,
  }),
  auditAction({
    action: 'monitor.import',
    number: 'MO009',
    description:
      'Monitors were made what a document says; those that were made, edited or deleted by it have entries of their own.',
    targets: ['workspace'],
  }),
] as const
