import { Type } from '@sinclair/typebox'
import { requestChannels, auditAction } from '../../core/audit-actions'

const targets = ['heartbeat']
const byPing = { channels: ['ingest', 'job'], targets, changes: { fields: { status: Type.String() } } } as const
const created = { before: {}, after: { name: 'nightly backup', slug: 'nightly-backup', status: 'new' } }

export const heartbeatActions = [
  auditAction({
    action: 'heartbeat.create',
    number: 'HB001',
    description: 'A heartbeat was created manually or by its first ping.',
    channels: [...requestChannels, 'ingest'],
    targets,
    changes: 'response',
    example: created,
  }),
  auditAction({
    action: 'heartbeat.update',
    number: 'HB002',
    description: 'A heartbeat was updated.',
    targets,
    changes: 'response',
    example: { before: { name: 'backup' }, after: { name: 'nightly backup' } },
  }),
  auditAction({
    action: 'heartbeat.delete',
    number: 'HB003',
    description: 'A heartbeat was deleted with its pings.',
    targets,
    changes: { of: 'heartbeat.create' },
    example: { before: created.after, after: {} },
  }),
  auditAction({
    action: 'heartbeat.pause',
    number: 'HB004',
    description: 'A heartbeat was paused. Missing pings don’t trigger alerts while it is paused.',
    targets,
    changes: 'response',
    example: { before: { status: 'up' }, after: { status: 'paused' } },
  }),
  auditAction({
    action: 'heartbeat.resume',
    number: 'HB005',
    description: 'A paused heartbeat was resumed manually or by a ping.',
    channels: [...requestChannels, 'ingest'],
    targets,
    changes: 'response',
    example: { before: { status: 'paused' }, after: { status: 'new' } },
  }),
  auditAction({
    action: 'heartbeat.rotate',
    number: 'HB006',
    description: 'The ping URL of a heartbeat was rotated. The old one stopped working.',
    targets,
    changes: 'response',
  }),
  auditAction({
    action: 'heartbeat.ping',
    number: 'HB007',
    description: 'A ping was denied. Accepted pings are in the ping log of the heartbeat.',
    channels: ['ingest'],
    targets: [],
  }),
  auditAction({
    action: 'heartbeat.ping_key.create',
    number: 'HB008',
    description: 'The ping key of the workspace was created.',
    targets: ['ping_key'],
  }),
  auditAction({
    action: 'heartbeat.ping_key.rotate',
    number: 'HB009',
    description: 'The ping key of the workspace was rotated. The old one stopped working.',
    targets: ['ping_key'],
    changes: { of: 'heartbeat.ping_key.rotate' },
  }),
  auditAction({
    action: 'heartbeat.activate',
    number: 'HB010',
    description: 'The first ping of a heartbeat was received.',
    ...byPing,
    example: { before: { status: 'new' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'heartbeat.miss',
    number: 'HB011',
    description: 'A ping was not received in time, and the heartbeat went down.',
    ...byPing,
    example: { before: { status: 'up' }, after: { status: 'down' } },
  }),
  auditAction({
    action: 'heartbeat.fail',
    number: 'HB012',
    description: 'A job reported a failure, and the heartbeat went down.',
    ...byPing,
    example: { before: { status: 'up' }, after: { status: 'down' } },
  }),
  auditAction({
    action: 'heartbeat.recover',
    number: 'HB013',
    description: 'A heartbeat recovered.',
    ...byPing,
    example: { before: { status: 'down' }, after: { status: 'up' } },
  }),
  auditAction({
    action: 'heartbeat.bulk',
    number: 'HB014',
    description: 'A bulk change of heartbeats was denied. Successful changes have their own events.',
    targets: [],
  }),
] as const
