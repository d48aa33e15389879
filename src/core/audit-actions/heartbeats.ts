import { Type } from '@sinclair/typebox'
import { asked, auditAction } from './entry'

const targets = ['heartbeat']
const byPing = { channels: ['ingest', 'job'], targets, changes: { members: { status: Type.String() } } } as const
const beginning = { before: {}, after: { name: 'nightly backup', slug: 'nightly-backup', status: 'new' } }

export const heartbeatActions = [
  auditAction({
    action: 'heartbeat.create',
    number: 'HB001',
    description: 'A heartbeat was made, by hand or by a ping that asked for it.',
    channels: [...asked, 'ingest'],
    targets,
    changes: 'answer',
    example: beginning,
  }),
  auditAction({
    action: 'heartbeat.update',
    number: 'HB002',
    description: 'A heartbeat was edited.',
    targets,
    changes: 'answer',
    example: { before: { name: 'backup' }, after: { name: 'nightly backup' } },
  }),
  auditAction({
    action: 'heartbeat.delete',
    number: 'HB003',
    description: 'A heartbeat was deleted, with its pings.',
    targets,
    changes: { of: 'heartbeat.create' },
    example: { before: beginning.after, after: {} },
  }),
  auditAction({
    action: 'heartbeat.pause',
    number: 'HB004',
    description: 'A heartbeat was paused: no ping is waited for.',
    targets,
    changes: 'answer',
    example: { before: { status: 'up' }, after: { status: 'paused' } },
  }),
  auditAction({
    action: 'heartbeat.resume',
    number: 'HB005',
    description: 'A paused heartbeat was resumed, by hand or by a ping.',
    channels: [...asked, 'ingest'],
    targets,
    changes: 'answer',
    example: { before: { status: 'paused' }, after: { status: 'new' } },
  }),
  auditAction({
    action: 'heartbeat.rotate',
    number: 'HB006',
    description: 'A heartbeat got a new ping address; the old one stopped working.',
    targets,
    changes: 'answer',
  }),
  auditAction({
    action: 'heartbeat.ping',
    number: 'HB007',
    description: 'A ping was refused. Pings that are taken are in the log of the heartbeat.',
    channels: ['ingest'],
    targets: [],
  }),
  auditAction({
    action: 'heartbeat.ping_key.create',
    number: 'HB008',
    description: 'The workspace got its key for ping addresses by slug.',
    targets: ['ping_key'],
  }),
  auditAction({
    action: 'heartbeat.ping_key.rotate',
    number: 'HB009',
    description: 'The key for ping addresses by slug was replaced; the old one stopped working.',
    targets: ['ping_key'],
    changes: { of: 'heartbeat.ping_key.rotate' },
  }),
  auditAction({
    action: 'heartbeat.begin',
    number: 'HB010',
    description: 'The first ping of a heartbeat came.',
    ...byPing,
    example: { before: { status: 'new' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'heartbeat.miss',
    number: 'HB011',
    description: 'A ping did not come in time: the heartbeat went down.',
    ...byPing,
    example: { before: { status: 'up' }, after: { status: 'down' } },
  }),
  auditAction({
    action: 'heartbeat.fail',
    number: 'HB012',
    description: 'A job reported a failure: the heartbeat went down.',
    ...byPing,
    example: { before: { status: 'up' }, after: { status: 'down' } },
  }),
  auditAction({
    action: 'heartbeat.recover',
    number: 'HB013',
    description: 'A heartbeat that was down came up again.',
    ...byPing,
    example: { before: { status: 'down' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'heartbeat.bulk',
    number: 'HB014',
    description: 'Many changes of heartbeats at once were refused; those that are made have entries of their own.',
    targets: [],
  }),
] as const
