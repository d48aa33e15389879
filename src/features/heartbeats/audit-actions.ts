import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const byPing = { channels: ['ingest', 'job'], changes: { fields: { status: Type.String() } } } as const
const created = { before: {}, after: { name: 'nightly backup', slug: 'nightly-backup', status: 'new' } }

export const heartbeatActions = {
  'heartbeat.create': {
    description: 'A heartbeat was created manually or by its first ping.',
    channels: [...requestChannels, 'ingest'],
    example: created,
  },
  'heartbeat.update': { example: { before: { name: 'backup' }, after: { name: 'nightly backup' } } },
  'heartbeat.delete': { description: 'A heartbeat was deleted with its pings.' },
  'heartbeat.pause': {
    number: 'HB004',
    description: 'A heartbeat was paused. Missing pings don’t trigger alerts while it is paused.',
    changes: 'response',
    example: { before: { status: 'up' }, after: { status: 'paused' } },
  },
  'heartbeat.resume': {
    number: 'HB005',
    description: 'A paused heartbeat was resumed manually or by a ping.',
    channels: [...requestChannels, 'ingest'],
    changes: 'response',
    example: { before: { status: 'paused' }, after: { status: 'new' } },
  },
  'heartbeat.rotate': {
    phrase: 'rotate the ping URL of {heartbeat}',
    number: 'HB006',
    description: 'The ping URL of a heartbeat was rotated. The old one stopped working.',
    changes: 'response',
  },
  'heartbeat.ping': {
    sentence: 'A ping of a heartbeat was denied',
    number: 'HB007',
    description: 'A ping was denied. Accepted pings are in the ping log of the heartbeat.',
    channels: ['ingest'],
    targets: [],
  },
  'heartbeat.ping_key.create': {
    phrase: 'create the ping key',
    number: 'HB008',
    description: 'The ping key of the workspace was created.',
    targets: ['ping_key'],
  },
  'heartbeat.ping_key.rotate': {
    phrase: 'rotate the ping key',
    number: 'HB009',
    description: 'The ping key of the workspace was rotated. The old one stopped working.',
    targets: ['ping_key'],
    changes: { of: 'heartbeat.ping_key.rotate' },
  },
  'heartbeat.activate': {
    sentence: '{heartbeat} received its first ping',
    number: 'HB010',
    description: 'The first ping of a heartbeat was received.',
    ...byPing,
    example: { before: { status: 'new' }, after: { status: 'up' } },
  },
  'heartbeat.miss': {
    sentence: '{heartbeat} went down because a ping is missing',
    number: 'HB011',
    description: 'A ping was not received in time, and the heartbeat went down.',
    ...byPing,
    example: { before: { status: 'up' }, after: { status: 'down' } },
  },
  'heartbeat.fail': {
    sentence: '{heartbeat} went down because its job reported a failure',
    number: 'HB012',
    description: 'A job reported a failure, and the heartbeat went down.',
    ...byPing,
    example: { before: { status: 'up' }, after: { status: 'down' } },
  },
  'heartbeat.recover': {
    sentence: '{heartbeat} recovered',
    number: 'HB013',
    description: 'A heartbeat recovered.',
    ...byPing,
    example: { before: { status: 'down' }, after: { status: 'up' } },
  },
} satisfies AuditActionDrafts
