import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import {
  actorFields,
  editable,
  Instant,
  Line,
  ListOf,
  Nullable,
  NullableInstant,
  Prose,
  Shape,
  Words,
} from '../../../core/shapes'
import { guardCodes, maxBlocks, maxNetworks, maxPorts, maxRules, ruleProtocols } from './rules'
import { Labels } from '../labels'

const firewallStates = ['applied', 'applying', 'awaiting_confirmation', 'drifted', 'failed'] as const
export const attachmentStates = ['applying', 'applied', 'drifted', 'failed', 'detaching'] as const
export const confirmModes = ['manual', 'auto'] as const
export const maxAttached = 500

const ruleId = { minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$' }
const ruleFields = {
  direction: Words(['in', 'out'], { description: '`in`: incoming traffic; `out`: outgoing traffic.' }),
  protocol: Words(ruleProtocols, { description: 'Protocol; `any` for all.' }),
}
const ports = (more: object = {}) =>
  Type.Array(Type.String({ maxLength: 16 }), {
    description: 'Ports and ranges, such as `443` and `8000-8010`, for `tcp` and `udp`. Empty: all ports.',
    ...more,
  })
const networks = (description: string, more: object = {}) => Type.Array(Type.String({ maxLength: 64 }), { description, ...more })
const sources =
  'For `in`: networks in CIDR notation, and dynamic IP sources: `dip_…` for their addresses, `dip_…/prefix6` for their delegated IPv6 prefix.'
const destinations = 'For `out`: networks in CIDR notation.'
const blocks =
  'Networks in CIDR notation whose packets are dropped, even if the rules of this or another firewall allow them. Only for clouds with `firewall_blocks`.'

const exampleRule = {
  id: 'https',
  direction: 'in' as const,
  protocol: 'tcp' as const,
  ports: ['443'],
  sources: ['0.0.0.0/0', '::/0'],
  destinations: [],
  description: 'HTTPS',
}

const FirewallRule = Shape(
  {
    id: Type.String({ description: 'ID of the rule, unique within the firewall.' }),
    ...ruleFields,
    ports: ports(),
    sources: networks(sources),
    destinations: networks(destinations),
    description: Type.String({ description: 'What the rule is for.' }),
  },
  { $id: 'FirewallRule', description: 'Traffic that a firewall allows.', examples: [exampleRule] },
)
const FirewallRuleInput = Shape(
  {
    id: Type.Optional(
      Type.String({
        ...ruleId,
        'x-rule': 'must have letters, digits, hyphens, and underscores.',
        description: 'ID of the rule, unique within the firewall. Default: a new one.',
      }),
    ),
    ...ruleFields,
    ports: Type.Optional(ports({ maxItems: maxPorts, default: [] })),
    sources: Type.Optional(networks(sources, { maxItems: maxNetworks, default: [] })),
    destinations: Type.Optional(networks(destinations, { maxItems: maxNetworks, default: [] })),
    description: Type.Optional(Line({ maxLength: 200, default: '', description: 'What the rule is for.' })),
  },
  { $id: 'FirewallRuleInput', description: 'A rule of a firewall.', examples: [exampleRule] },
)

export const firewallMembers = members({
  name: {
    schema: Line({ minLength: 1, maxLength: 60, description: 'Name of the firewall, unique within the workspace.' }),
    required: true,
  },
  description: { schema: Prose({ maxLength: 2000, description: 'What the firewall is for.' }), default: '', clearable: true },
  drift_policy: {
    schema: Words(['report', 'enforce'], {
      description:
        'What happens if the rules are changed at the cloud, or on the host of an agent. `report`: a notice. `enforce`: they are also restored, up to three times in ten minutes. The rules of a host are restored if at least one of its firewalls has `enforce`.',
    }),
    default: 'report',
  },
  labels: { schema: Labels, default: {} },
  label_selector: {
    schema: Nullable(Type.String({ minLength: 1, maxLength: 2000 }), {
      description:
        'Selects servers by their labels, such as `role=web,!temporary`: those that match have the firewall. Null for none.',
    }),
    default: null,
  },
})

const FirewallEntry = Shape(
  {
    action: Words(['allow', 'block'], { description: 'What happens to the traffic.' }),
    direction: Words(['in', 'out'], { description: 'Direction of the traffic.' }),
    protocol: Type.String({ description: 'Protocol; `any` for all.' }),
    port: Nullable(Type.String(), { description: 'Port or range; null for all ports.' }),
    network: Type.String({
      description: 'Network in CIDR notation: the source of incoming traffic, the destination of outgoing traffic.',
    }),
  },
  {
    $id: 'FirewallEntry',
    description: 'Traffic of one protocol, port or range, and network.',
    examples: [{ action: 'allow', direction: 'in', protocol: 'tcp', port: '443', network: '0.0.0.0/0' }],
  },
)

const FirewallDrift = Shape(
  {
    detected_at: Instant({ description: 'When it was detected.' }),
    is_attached: Type.Boolean({ description: 'False if the server no longer has the firewall.' }),
    changed_defaults: Type.Array(Words(['in', 'out']), {
      description:
        'Directions whose default was changed at the cloud. `in`: incoming traffic that no rule allows is no longer dropped. `out`: outgoing traffic that no rule matches is allowed although the firewall restricts it, or dropped although it doesn’t.',
    }),
    added: Type.Array(FirewallEntry, {
      description: 'What the cloud allows or blocks, but the firewall doesn’t. Empty for agents, which don’t report that.',
    }),
    removed: Type.Array(FirewallEntry, {
      description: 'What the firewall allows or blocks, but the cloud doesn’t. Empty for agents, which don’t report that.',
    }),
  },
  {
    $id: 'FirewallDrift',
    description: 'How the rules at the cloud or on the host differ from those of the firewall.',
    examples: [
      {
        detected_at: '2026-11-27T10:00:00.000Z',
        is_attached: true,
        changed_defaults: [],
        added: [{ action: 'allow', direction: 'in', protocol: 'tcp', port: '8080', network: '0.0.0.0/0' }],
        removed: [],
      },
    ],
  },
)

const FirewallAttachment = Shape(
  {
    server_id: Type.String({ description: 'ID of the server.' }),
    by: Words(['direct', 'selector'], {
      description: '`direct`: it was attached. `selector`: only the label selector of the firewall selects it.',
    }),
    enforcer: Type.String({
      description: 'What enforces the firewall: the kind of the cloud, or `agent` if the agent of the server does.',
    }),
    state: Words(attachmentStates, {
      description:
        '`applying`: the rules are being applied. `drifted`: they were changed at the cloud, or on the host. `failed`: see `error`. `detaching`: the firewall is being removed from the server, or will be once the server can be reached, see `error`.',
    }),
    rules_version: Nullable(Type.Integer(), { description: 'Version of the rules that was applied last; null if none was.' }),
    applied_at: NullableInstant({ description: 'When it was applied.' }),
    error: Nullable(Type.String(), { description: 'Why the rules could not be applied; null if they could.' }),
    warning: Nullable(Type.String(), {
      description: 'A setting of the cloud that keeps the firewall from working; null if there is none.',
    }),
    drift: Nullable(FirewallDrift, { description: 'What was changed at the cloud or on the host; null if nothing was.' }),
  },
  {
    $id: 'FirewallAttachment',
    description: 'A server that has a firewall.',
    examples: [
      {
        server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
        by: 'direct',
        enforcer: 'hetzner',
        state: 'applied',
        rules_version: 7,
        applied_at: '2026-11-27T10:00:00.000Z',
        error: null,
        warning: null,
        drift: null,
      },
    ],
  },
)

const FirewallRefusal = Shape(
  {
    server_id: Type.String({ description: 'ID of the server.' }),
    reason: Type.String({ description: 'Why it can’t have the firewall.' }),
  },
  {
    $id: 'FirewallRefusal',
    description: 'A server that can’t have a firewall.',
    examples: [{ server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km', reason: 'web-1 has 5 firewalls already, the maximum.' }],
  },
)

const FirewallPending = Shape(
  {
    rules_version: Type.Integer({ description: 'Version of the rules that has to be confirmed.' }),
    restore_version: Type.Integer({ description: 'Version of the rules that is restored otherwise.' }),
    confirm: Words(confirmModes, { description: 'How the change is confirmed.' }),
    expires_at: NullableInstant({ description: 'When the previous rules are restored; null until the rules are applied.' }),
  },
  {
    $id: 'FirewallPending',
    description: 'A change of rules that is reverted unless it is confirmed.',
    examples: [{ rules_version: 8, restore_version: 7, confirm: 'manual', expires_at: '2026-11-27T10:01:00.000Z' }],
  },
)

export const Firewall = Shape(
  {
    id: Type.String({ description: 'ID of the firewall.' }),
    ...viewMembers(firewallMembers),
    rules: Type.Array(FirewallRule, {
      description:
        'What is allowed. All other incoming traffic is dropped. Outgoing traffic is only restricted if there are rules for it.',
    }),
    blocks: networks(blocks),
    rules_version: Type.Integer({ description: 'Version of the rules, which increases with each change.' }),
    state: Words(firewallStates, {
      description:
        'State at the servers. `awaiting_confirmation`: the rules are applied, and the previous ones are restored unless the change is confirmed.',
    }),
    attached: Type.Array(FirewallAttachment, { description: 'Servers that have the firewall.' }),
    refused: Type.Array(FirewallRefusal, {
      description: 'Servers that the label selector selects, but that can’t have the firewall.',
    }),
    pending: Nullable(FirewallPending, { description: 'The change that has to be confirmed; null if there is none.' }),
    action_id: Nullable(Type.String(), { description: 'ID of the action that is applying the rules; null if there is none.' }),
    ...editable,
  },
  {
    $id: 'Firewall',
    description: 'A list of allowed traffic for any number of servers, which can be at different clouds.',
    examples: [
      {
        id: 'fw_01k3zd5s7t9v1w3x5y7z9a1b3c',
        name: 'web',
        description: '',
        drift_policy: 'report',
        labels: {},
        label_selector: null,
        rules: [exampleRule],
        blocks: ['203.0.113.0/24'],
        rules_version: 7,
        state: 'applied',
        attached: [],
        refused: [],
        pending: null,
        action_id: null,
        version: 4,
        created_at: '2026-11-27T10:00:00.000Z',
        updated_at: '2026-11-27T10:00:00.000Z',
      },
    ],
  },
)
export const FirewallList = ListOf(Firewall)

/** Overrides of guards. */
export const allowFields = {
  allow: Type.Optional(
    Type.Array(Words(guardCodes), {
      maxItems: 10,
      uniqueItems: true,
      description: 'Reasons to allow. A `note` is then required.',
    }),
  ),
  note: Type.Optional(
    Prose({ maxLength: 1000, description: 'Why the change is made. Stored in the history and the audit log.' }),
  ),
}
const rules = Type.Array(FirewallRuleInput, { maxItems: maxRules, description: 'All rules. Their order doesn’t matter.' })
export const FirewallInput = Shape(
  {
    ...inputMembers(firewallMembers),
    rules: Type.Optional({ ...rules, default: [] }),
    blocks: Type.Optional(networks(blocks, { maxItems: maxBlocks, default: [] })),
    ...allowFields,
  },
  { $id: 'FirewallInput', description: 'A firewall to create.', examples: [{ name: 'web', rules: [exampleRule] }] },
)
export const FirewallPatch = Shape(
  { ...patchMembers(firewallMembers), ...allowFields },
  {
    $id: 'FirewallPatch',
    description: 'Fields of the firewall to update. Rules are replaced with `PUT /v1/firewalls/{id}/rules`.',
    examples: [{ drift_policy: 'enforce' }],
  },
)

export const FirewallRulesInput = Shape(
  {
    rules,
    blocks: Type.Optional(networks(`${blocks} Default: unchanged.`, { maxItems: maxBlocks })),
    ...allowFields,
    confirm: Type.Optional(
      Words(confirmModes, {
        description:
          '`manual`: with `POST /v1/firewalls/{id}/confirm`. `auto`: in the same way, or automatically, once all agents that enforce the rules have reached the hub over a new connection, and all monitors of the servers were checked after the change without being down. Default: `manual`. If an agent enforces the firewall, and you set neither `allow` nor `confirm_within_seconds`: `auto`.',
      }),
    ),
    confirm_within_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 600,
        description:
          'Seconds after which the previous rules are restored unless the change was confirmed: 10 to 600, or 0 to never restore them, which is only possible if no agent enforces the firewall. Default: 60 if a reason is allowed or an agent enforces the firewall, otherwise 0.',
      }),
    ),
  },
  { $id: 'FirewallRulesInput', description: 'The rules of a firewall.', examples: [{ rules: [exampleRule] }] },
)
export const FirewallRulesQuery = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only returns what the change would do.' })),
})

const FirewallGuard = Shape(
  {
    code: Words(guardCodes, { description: 'Code for `allow`.' }),
    detail: Type.String({ description: 'What the change would do.' }),
  },
  {
    $id: 'FirewallGuard',
    description: 'A reason that blocks a change until it is allowed.',
    examples: [{ code: 'cuts_ssh', detail: 'No address could connect to port 22 (SSH) of web-1.' }],
  },
)
export const FirewallRulesPreview = Shape(
  {
    added: Type.Array(FirewallEntry, { description: 'Entries that would be added.' }),
    removed: Type.Array(FirewallEntry, { description: 'Entries that would be removed.' }),
    server_ids: Type.Array(Type.String(), { description: 'IDs of the servers that have the firewall.' }),
    blocked: Type.Array(FirewallGuard, { description: 'Reasons that block the change until they are allowed.' }),
  },
  {
    $id: 'FirewallRulesPreview',
    description: 'What a change of rules would do.',
    examples: [
      {
        added: [{ action: 'allow', direction: 'in', protocol: 'tcp', port: '443', network: '0.0.0.0/0' }],
        removed: [],
        server_ids: ['srv_01k3z9a1b2c3d4e5f6g7h8j9km'],
        blocked: [],
      },
    ],
  },
)

const serverIds = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'IDs of the servers.',
})
export const FirewallAttach = Shape(
  { server_ids: serverIds, ...allowFields },
  {
    $id: 'FirewallAttach',
    description: 'Servers to attach or detach.',
    examples: [{ server_ids: ['srv_01k3z9a1b2c3d4e5f6g7h8j9km'] }],
  },
)
export const FirewallRevert = Shape(
  { ...allowFields },
  { $id: 'FirewallRevert', description: 'Restores the previous rules.', examples: [{}] },
)
export const FirewallAdopt = Shape(
  {
    server_id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of a server whose rules were changed at the cloud.' }),
    ...allowFields,
  },
  { $id: 'FirewallAdopt', description: 'The rules to adopt.', examples: [{ server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km' }] },
)

const FirewallVersion = Shape(
  {
    id: Type.String({ description: 'ID of the version.' }),
    rules_version: Type.Integer({ description: 'Version of the rules.' }),
    rules: Type.Array(FirewallRule, { description: 'The rules.' }),
    blocks: networks('Networks that were blocked.'),
    reason: Words(['created', 'changed', 'reverted', 'adopted', 'dynamic_ip'], {
      description: 'Why there is a new version. `dynamic_ip`: a rule was linked to a dynamic IP source, or a link was deleted.',
    }),
    note: Nullable(Type.String(), { description: 'Note of the change; null if there is none.' }),
    allowed: Type.Array(Words(guardCodes), { description: 'Reasons that were allowed.' }),
    actor: Shape(actorFields, { $id: 'FirewallVersionActor', description: 'Who made the change.' }),
    created_at: Instant({ description: 'When it was made.' }),
  },
  {
    $id: 'FirewallVersion',
    description: 'A version of the rules of a firewall.',
    examples: [
      {
        id: 'fwv_01k3zd5s7t9v1w3x5y7z9a1b3c',
        rules_version: 7,
        rules: [exampleRule],
        blocks: [],
        reason: 'changed',
        note: null,
        allowed: [],
        actor: { type: 'user', id: 'usr_01k3zb7m9n1p3q5r7s9t1v3w5x', name: 'Alice' },
        created_at: '2026-11-27T10:00:00.000Z',
      },
    ],
  },
)
export const FirewallVersionList = ListOf(FirewallVersion)

export type FirewallView = Static<typeof Firewall>
export type FirewallInput = Static<typeof FirewallInput>
export type FirewallPatch = Static<typeof FirewallPatch>
export type FirewallRulesInput = Static<typeof FirewallRulesInput>
export type FirewallRuleInput = Static<typeof FirewallRuleInput>
export type FirewallAdopt = Static<typeof FirewallAdopt>
export type FirewallAttach = Static<typeof FirewallAttach>
export type FirewallRulesPreview = Static<typeof FirewallRulesPreview>
export type FirewallVersionView = Static<typeof FirewallVersion>
export type FirewallAttachmentView = Static<typeof FirewallAttachment>
