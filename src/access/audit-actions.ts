import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../core/audit-actions'

const token = { name: 'backup script', mode: 'scoped', permissions: ['monitoring.write'] }
const user = { fields: { email: Type.String(), name: Type.String(), role: Type.String(), operator: Type.Boolean() } }
const newUser = { before: {}, after: { email: 'ada@example.com', name: 'Ada', role: 'owner', operator: true } }
const keys = { channels: ['cli'], targets: ['key'] } as const

export const accountActions = {
  'account.token.create': {
    description: 'An API token was created.',
    channels: [...requestChannels, 'cli'],
    example: { before: {}, after: token },
  },
  'account.token.update': {
    description: 'An API token was updated, or a rotation set its expiry.',
    channels: [...requestChannels, 'job'],
    example: { before: { name: 'backup' }, after: { name: 'backup script' } },
  },
  'account.token.revoke': {
    number: 'AC003',
    description: 'An API token was revoked.',
    channels: [...requestChannels, 'cli'],
    changes: { of: 'account.token.update' },
    example: { before: { revoked_at: null }, after: { revoked_at: '2026-11-21T10:00:00.000Z' } },
  },
  'account.token.rotate': {
    number: 'AC004',
    description: 'An API token was rotated. The old token keeps working until the new one has been in use for a while.',
    changes: { of: 'account.token.update' },
  },
  'account.token.report': {
    phrase: 'report {token} as leaked',
    number: 'AC005',
    description: 'An API token was reported as leaked and revoked.',
    changes: { of: 'account.token.update' },
  },
  'account.token.use': {
    phrase: 'use the API from a new IP address',
    number: 'AC006',
    description: 'An API token was used from a new IP address, or its use was denied.',
  },
  'account.session.create': {
    phrase: 'sign in',
    number: 'AC007',
    description: 'A user signed in, or failed to sign in.',
    targets: ['user'],
  },
  'account.session.delete': {
    phrase: 'end a session',
    number: 'AC008',
    description: 'A user signed out or ended one of their sessions.',
  },
  'account.setup.complete': {
    phrase: 'complete the setup',
    number: 'AC009',
    description: 'Setup was completed and the first user was created.',
    targets: ['user'],
    changes: user,
    example: newUser,
  },
  'account.user.create': {
    number: 'AC010',
    description: 'A user was created.',
    channels: ['cli'],
    changes: user,
    example: newUser,
  },
  'account.user.set_password': {
    phrase: 'change the password of {user}',
    number: 'AC011',
    description:
      'A user’s password was changed and their other sessions ended, or the change failed because of a wrong password.',
    channels: [...requestChannels, 'cli'],
  },
  'account.user.disable': { number: 'AC012', description: 'A user was disabled and their sessions ended.', channels: ['cli'] },
  'account.user.enable': { number: 'AC013', description: 'A user was enabled.', channels: ['cli'] },
  'account.workspace.create': { channels: [...requestChannels, 'job'] },
  'account.workspace.update': {
    description: 'The name, plan, limits, or network policy of a workspace were updated.',
    example: { before: { name: 'Acme' }, after: { name: 'Acme Ltd' } },
  },
  'account.plan.create': { number: 'AC016', description: 'A plan was created.', targets: ['plan'], changes: 'response' },
  'account.plan.update': { number: 'AC017', description: 'A plan was updated.', targets: ['plan'], changes: 'response' },
  'account.plan.delete': {
    number: 'AC018',
    description: 'A plan was deleted.',
    targets: ['plan'],
    changes: { of: 'account.plan.update' },
  },
  'account.resource.read': {
    phrase: 'read a resource',
    number: 'AC019',
    description: 'A read request was denied. The reason contains the operation.',
    targets: [],
  },
  'account.master_key.rotate': {
    phrase: 'rotate the master key',
    number: 'AC020',
    description: 'The data keys were re-encrypted with a new master key.',
    ...keys,
    changes: { fields: { fingerprint: Type.String() } },
    example: { before: { fingerprint: '9f86d081884c7d65' }, after: { fingerprint: '60303ae22b998861' } },
  },
  'account.master_key.retire': {
    phrase: 'retire the previous master key',
    number: 'AC021',
    description: 'The previous master key was retired and no longer encrypts any data key.',
    ...keys,
  },
  'account.data_keys.begin_rotation': {
    phrase: 'start a rotation of the data keys',
    number: 'AC022',
    description: 'Re-encryption of all values with new data keys started.',
    ...keys,
  },
  'account.data_keys.rotate': {
    phrase: 'rotate the data keys',
    number: 'AC023',
    description: 'All values were re-encrypted with new data keys, and the old data keys were deleted.',
    ...keys,
    changes: { fields: { workspaces: Type.Integer(), values: Type.Integer(), keys_deleted: Type.Integer() } },
    example: { before: {}, after: { workspaces: 1, values: 12, keys_deleted: 1 } },
  },
  'account.secrets.verify': {
    phrase: 'verify all encrypted values',
    number: 'AC024',
    description: 'All data keys and encrypted values were verified.',
    ...keys,
    changes: { fields: { data_keys: Type.Integer(), values: Type.Integer(), failures: Type.Integer() } },
    example: { before: {}, after: { data_keys: 1, values: 12, failures: 0 } },
  },
  'account.instance.restore': {
    number: 'AC026',
    description: 'The installation was restored from a backup. Changes made since the backup are lost.',
    phrase: 'restore the installation from a backup',
    channels: ['cli'],
    targets: [],
    changes: {
      fields: {
        file: Type.String(),
        backup_at: Type.String(),
        restored_at: Type.String(),
        gap_seconds: Type.Integer(),
        jobs_released: Type.Integer(),
        sessions_ended: Type.Integer(),
        deliveries_held: Type.Integer(),
      },
    },
    example: {
      before: {},
      after: {
        file: 'bailiwick-1f3a9c2e-2026-11-21T02-00-00-000Z.tar.zst',
        backup_at: '2026-11-21T02:00:00.000Z',
        restored_at: '2026-11-21T09:30:00.000Z',
        gap_seconds: 27000,
        jobs_released: 1,
        sessions_ended: 3,
        deliveries_held: 2,
      },
    },
  },
} satisfies AuditActionDrafts
