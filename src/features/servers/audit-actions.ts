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
  snapshot: 'create a snapshot of {server}',
  restore_snapshot: 'restore {server} from a snapshot',
  restart_unit: 'restart a unit of {server}',
  collect: 'collect the data of {server}',
  update_agent: 'update the agent of {server}',
  set_labels: 'store the labels of {server} at its cloud',
}

// `Object.fromEntries` loses the names.
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

/** An action on a volume. */
const volumeAction = (number: string, phrase: string, verb: string, state: string) => ({
  number,
  phrase,
  description: `The action \`${verb}\` was started on a volume. A failure is logged when the action ends with an error.`,
  targets: ['volume', 'action'] as const,
  channels: [...requestChannels, 'job'] as const,
  changes: { fields: { state: Type.String() } },
  example: { before: {}, after: { state } },
})

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
  'cloud.server.create': {
    channels: [...requestChannels, 'ingest'],
    example: { before: {}, after: { name: 'web-1', kind: 'vm' } },
  },
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
      fields: { cores: Type.Integer(), memory_bytes: Type.Integer(), disk_bytes: Type.Integer() },
    },
    example: { before: { name: 'web-1' }, after: { name: 'web-01' } },
  },
  'cloud.volume.create': {
    targets: ['volume'],
    channels: [...requestChannels, 'job'],
    example: { before: {}, after: { name: 'data-1' } },
  },
  'cloud.volume.update': {
    targets: ['volume', 'action'],
    channels: [...requestChannels, 'job'],
    example: { before: { labels: {} }, after: { labels: { role: 'database' } } },
  },
  'cloud.volume.delete': {
    description: 'A volume was deleted, or the action that deletes it at its cloud was started.',
    targets: ['volume', 'action'],
    channels: [...requestChannels, 'job'],
    changes: { of: 'cloud.volume.update' },
    example: { before: { name: 'data-1' }, after: {} },
  },
  'cloud.volume.act': {
    phrase: 'perform an action on {volume}',
    number: 'CV004',
    description: 'An action on a volume was denied. Actions that were started are logged under their own names.',
  },
  'cloud.volume.follow': {
    sentence: '{volume} changed at its cloud',
    number: 'CV005',
    description: 'A volume was found at its cloud, was changed there, or no longer exists there.',
    channels: ['job'],
    changes: { of: 'cloud.volume.update' },
    example: { before: { state: 'available' }, after: { state: 'missing' } },
  },
  'cloud.volume.attach': volumeAction('CV006', 'attach {volume} to a server', 'attach', 'attaching'),
  'cloud.volume.detach': volumeAction('CV007', 'detach {volume}', 'detach', 'detaching'),
  'cloud.volume.resize': volumeAction('CV008', 'resize {volume}', 'resize', 'resizing'),
  'cloud.volume.set_protection': volumeAction('CV009', 'change the protection of {volume}', 'set_protection', 'available'),
  'cloud.volume.restore_snapshot': volumeAction('CV010', 'restore {volume} from a snapshot', 'restore_snapshot', 'restoring'),
  'cloud.snapshot_policy.create': { example: { before: {}, after: { name: 'nightly' } } },
  'cloud.snapshot_policy.update': { example: { before: { paused: false }, after: { paused: true } } },
  'cloud.snapshot_policy.delete': { example: { before: { name: 'nightly' }, after: {} } },
  'cloud.snapshot_policy.run': {
    number: 'SP004',
    description: 'A snapshot policy was started manually. The snapshots are logged by themselves.',
    changes: { of: 'cloud.snapshot_policy.update' },
    example: { before: { next_at: null }, after: { next_at: '2026-11-27T10:00:00.000Z' } },
  },
  'cloud.snapshot.create': {
    targets: ['snapshot', 'action'],
    channels: [...requestChannels, 'job'],
    example: { before: {}, after: { name: 'before the upgrade' } },
  },
  'cloud.snapshot.update': {
    targets: ['snapshot', 'action'],
    channels: [...requestChannels, 'job'],
    example: { before: { protected: false }, after: { protected: true } },
  },
  'cloud.snapshot.delete': {
    description: 'A snapshot was deleted, or the action that deletes it at its cloud was started.',
    targets: ['snapshot', 'action'],
    channels: [...requestChannels, 'job'],
    changes: { of: 'cloud.snapshot.update' },
    example: { before: { name: 'before the upgrade' }, after: {} },
  },
  'cloud.snapshot.follow': {
    sentence: '{snapshot} changed at its cloud',
    number: 'CN004',
    description: 'A snapshot was found at its cloud, or no longer exists there.',
    channels: ['job'],
    changes: { of: 'cloud.snapshot.update' },
    example: { before: { state: 'available' }, after: { state: 'missing' } },
  },
  'cloud.firewall.create': { example: { before: {}, after: { name: 'web', rules_version: 1 } } },
  'cloud.firewall.update': { example: { before: { drift_policy: 'report' }, after: { drift_policy: 'enforce' } } },
  'cloud.firewall.delete': {
    changes: { of: 'cloud.firewall.update' },
    example: { before: { name: 'web' }, after: {} },
  },
  'cloud.firewall.apply': {
    phrase: 'change the rules of {firewall}',
    number: 'FW004',
    description:
      'Rules of a firewall were replaced, restored, or adopted. The reason is the note. A failure is logged when the action ends with an error.',
    targets: ['firewall', 'action'],
    channels: [...requestChannels, 'job'],
    changes: { of: 'cloud.firewall.update', fields: { allowed: Type.Array(Type.String()) } },
    example: { before: { rules_version: 7 }, after: { rules_version: 8, allowed: ['cuts_ssh'] } },
  },
  'cloud.firewall.attach': {
    phrase: 'attach {firewall} to servers',
    number: 'FW005',
    description: 'A firewall was attached to servers. The reason is the note, or that its label selector selects them.',
    targets: ['firewall', 'action'],
    channels: [...requestChannels, 'job'],
    changes: {
      fields: { attached: Type.Array(Type.String()), allowed: Type.Array(Type.String()), label_selector: Type.String() },
    },
    example: { before: {}, after: { attached: ['srv_01k3z9a1b2c3d4e5f6g7h8j9km'], allowed: [] } },
  },
  'cloud.firewall.detach': {
    phrase: 'detach {firewall} from servers',
    number: 'FW006',
    description:
      'A firewall was detached from servers. The reason is the note, or that its label selector no longer selects them.',
    targets: ['firewall', 'action'],
    channels: [...requestChannels, 'job'],
    changes: {
      fields: { detached: Type.Array(Type.String()), allowed: Type.Array(Type.String()), label_selector: Type.String() },
    },
    example: { before: {}, after: { detached: ['srv_01k3z9a1b2c3d4e5f6g7h8j9km'], allowed: [] } },
  },
  'cloud.firewall.confirm': {
    phrase: 'confirm the rules of {firewall}',
    number: 'FW007',
    description: 'A change of the rules of a firewall was confirmed.',
    changes: { of: 'cloud.firewall.update' },
    example: { before: {}, after: { rules_version: 8 } },
  },
  'cloud.firewall.revert': {
    phrase: 'restore the previous rules of {firewall}',
    number: 'FW008',
    description:
      'The previous rules of a firewall were restored, because the change was reverted, not confirmed in time, or failed.',
    channels: [...requestChannels, 'job'],
    changes: { of: 'cloud.firewall.update' },
    example: { before: { rules_version: 8 }, after: { rules_version: 9 } },
  },
  'cloud.firewall.adopt': {
    phrase: 'adopt the rules of {firewall} at a cloud',
    number: 'FW009',
    description:
      'Adopting the rules that a firewall has at a cloud was denied. Rules that were adopted are logged as `cloud.firewall.apply`.',
  },
  'cloud.firewall.drift': {
    sentence: '{firewall} was changed at its cloud',
    number: 'FW010',
    description: 'The rules of a firewall were changed at a cloud.',
    channels: ['job'],
    changes: { fields: { servers: Type.Integer(), enforced: Type.Boolean() } },
    example: { before: {}, after: { servers: 1, enforced: false } },
  },
  'cloud.enrolment_key.create': { example: { before: {}, after: { name: 'Golden image of the web servers', uses: 20 } } },
  'cloud.enrolment_key.delete': { example: { before: { name: 'Golden image of the web servers' }, after: {} } },
  'cloud.agent.enroll': {
    number: 'AG001',
    phrase: 'enroll {agent}',
    description: 'An agent was enrolled, or asked to be enrolled and awaits approval.',
    targets: ['agent', 'server'],
    channels: ['ingest'],
    changes: { of: 'cloud.agent.update' },
    example: { before: {}, after: { name: 'web-1', state: 'reporting' } },
  },
  'cloud.agent.update': {
    example: {
      before: { config: { interval_seconds: 60, watched_units: [], watched_processes: [] } },
      after: { config: { interval_seconds: 60, watched_units: ['nginx.service'], watched_processes: [] } },
    },
  },
  'cloud.agent.delete': { example: { before: { name: 'web-1' }, after: {} } },
  'cloud.agent.approve': {
    number: 'AG004',
    description: 'An agent that awaited approval was approved.',
    targets: ['agent', 'server'],
    changes: { of: 'cloud.agent.update' },
    example: { before: { state: 'awaiting_approval' }, after: { state: 'stopped' } },
  },
  'cloud.agent.reject': {
    number: 'AG005',
    description: 'An agent that awaited approval was rejected.',
    changes: { of: 'cloud.agent.update' },
    example: { before: { state: 'awaiting_approval' }, after: { state: 'revoked' } },
  },
  'cloud.agent.rotate': {
    number: 'AG006',
    phrase: 'rotate the token of {agent}',
    description: 'A new token was created for an agent.',
    changes: { of: 'cloud.agent.update' },
    example: { before: { hint: 'bw_agent_…7Kq2' }, after: { hint: 'bw_agent_…x3Fd' } },
  },
  'cloud.agent_updates.update': {
    number: 'AU001',
    phrase: 'change the updates of agents',
    description: 'The policy for updates of agents was changed.',
    targets: ['workspace'],
    changes: 'response',
    example: { before: { policy: 'manual' }, after: { policy: 'auto' } },
  },
  'cloud.agent_updates.retry': {
    number: 'AU002',
    phrase: 'continue the updates of agents',
    description: 'Automatic updates of agents were continued after a rollback.',
    targets: ['workspace'],
    changes: { of: 'cloud.agent_updates.update' },
    example: { before: { state: 'stopped' }, after: { state: 'first' } },
  },
  'cloud.agent.revoke': {
    number: 'AG007',
    description: 'An agent was revoked, or replaced by another one of its server.',
    channels: [...requestChannels, 'ingest'],
    changes: { of: 'cloud.agent.update' },
    example: { before: { state: 'reporting' }, after: { state: 'revoked' } },
  },
  ...verbActions,
} satisfies AuditActionDrafts
