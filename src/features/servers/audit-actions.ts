import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'
import { serverVerbs } from './clouds/cloud'

const withSecret = {
  of: 'cloud.account.update',
  fields: { secret: Type.String({ description: 'The secrets in the settings, as a keyed hash.' }) },
}
const ownActions = serverVerbs.filter(verb => verb !== 'delete')

/** Sentences of actions whose verb alone would not be understood. */
const phrases: Partial<Record<(typeof serverVerbs)[number], string>> = {
  provision: 'create {server} at its cloud',
  power_on: 'power on {server}',
  power_off: 'power off {server}',
  shutdown: 'shut down {server}',
  power_cycle: 'power-cycle {server}',
  set_protection: 'change the protection of {server}',
  enable_rescue: 'enable the rescue system of {server}',
  disable_rescue: 'disable the rescue system of {server}',
  enable_backups: 'enable backups of {server}',
  disable_backups: 'disable backups of {server}',
}

const verbActions = Object.fromEntries(
  ownActions.map((verb, at) => [
    `cloud.server.${verb}`,
    {
      number: `CS${String(20 + at).padStart(3, '0')}`,
      phrase: phrases[verb] ?? `${verb.replaceAll('_', ' ')} {server}`,
      description: `The action \`${verb}\` was started on a server. A failure is logged when the action ends with an error.`,
      targets: ['server', 'action'],
      channels: [...requestChannels, 'job'],
      changes: { fields: { status: Type.String() } },
      example: { before: {}, after: { status: 'running' } },
    },
  ]),
) as unknown as {
  [V in Exclude<(typeof serverVerbs)[number], 'delete'> as `cloud.server.${V}`]: AuditActionDrafts[string] & {
    number: string
    description: string
  }
}

export const serverActions = {
  'cloud.account.create': {
    changes: withSecret,
    example: { before: {}, after: { kind: 'hetzner', name: 'Hetzner production' } },
  },
  'cloud.account.update': {
    channels: [...requestChannels, 'job'],
    changes: withSecret,
    example: { before: { name: 'Hetzner' }, after: { name: 'Hetzner production' } },
  },
  'cloud.account.delete': {
    description: 'A cloud account was deleted with its secrets.',
    example: { before: { name: 'Hetzner production' }, after: {} },
  },
  'cloud.account.check': {
    number: 'CA004',
    description: 'A cloud account was checked manually. The reason contains the result.',
    changes: { of: 'cloud.account.update' },
    example: { before: { state: 'unknown' }, after: { state: 'ok' } },
  },
  'cloud.account.fail': {
    sentence: '{cloud_account} became unreachable or rejected its settings',
    number: 'CA005',
    description: 'A cloud account became unreachable or rejected its settings.',
    channels: ['job'],
    changes: { of: 'cloud.account.update' },
    example: {
      before: { state: 'ok', last_error: null },
      after: { state: 'failing', last_error: { code: 'unreachable', detail: 'The host refused the connection.' } },
    },
  },
  'cloud.account.recover': {
    sentence: '{cloud_account} recovered',
    number: 'CA006',
    description: 'A failing cloud account recovered.',
    channels: ['job'],
    changes: { of: 'cloud.account.update' },
    example: { before: { state: 'failing' }, after: { state: 'ok' } },
  },
  'cloud.account.validate': {
    phrase: 'validate the settings of a cloud account',
    number: 'CA007',
    description: 'Validating the settings of a cloud account was denied. Successful validations are not logged.',
    targets: [],
  },
  'cloud.account.sync': {
    phrase: 'read the servers of {cloud_account}',
    number: 'CA008',
    description: 'Reading the servers of a cloud account was started.',
    targets: ['cloud_account', 'action'],
    channels: [...requestChannels, 'job'],
  },
  'cloud.account.claim': {
    phrase: 'add servers of {cloud_account}',
    number: 'CA009',
    description: 'Servers that exist in a cloud account were added to the workspace.',
    changes: { fields: { refs: Type.Array(Type.String()) } },
    example: { before: {}, after: { refs: ['4711'] } },
  },
  'cloud.server.create': { example: { before: {}, after: { name: 'web-1', kind: 'vm' } } },
  'cloud.server.update': { example: { before: { labels: {} }, after: { labels: { role: 'web' } } } },
  'cloud.server.delete': {
    description: 'A server was deleted, or the action that deletes it at its cloud was started.',
    targets: ['server', 'action'],
    channels: [...requestChannels, 'job'],
    changes: { of: 'cloud.server.update' },
    example: { before: { name: 'web-1' }, after: {} },
  },
  'cloud.server.act': {
    phrase: 'perform an action on {server}',
    number: 'CS004',
    description: 'An action on a server was denied. Actions that were started are logged under their own names.',
  },
  'cloud.server.follow': {
    sentence: '{server} changed at its cloud',
    number: 'CS005',
    description: 'A server was found at its cloud, was changed there, or no longer exists there.',
    channels: ['job'],
    changes: {
      of: 'cloud.server.update',
      fields: { cores: Type.Integer(), memoryBytes: Type.Integer(), diskBytes: Type.Integer() },
    },
    example: { before: { name: 'web-1' }, after: { name: 'web-01' } },
  },
  ...verbActions,
} satisfies AuditActionDrafts
