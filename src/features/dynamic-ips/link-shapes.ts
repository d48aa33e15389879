import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { Instant, Nullable, Shape, SinglePageOf, Words } from '../../core/shapes'
import { families } from './addresses'
import { Families } from './family-shapes'

export const linkStatuses = ['active', 'pending', 'paused', 'failed'] as const
export const maxLinks = 20

/** The fields of a firewall link that clients set. */
export const linkMembers = members({
  firewall_id: {
    schema: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the firewall.' }),
    required: true,
    fixed: true,
  },
  rule_id: {
    schema: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'ID of the rule, which must be inbound and have a list of source addresses.',
    }),
    required: true,
    fixed: true,
  },
  families: { schema: Families('Address families that are added to the rule.'), default: [...families], clearable: true },
  ipv6: {
    schema: Words(['address', 'prefix'], { description: 'Whether the reported IPv6 address or the whole prefix is added.' }),
    default: 'address',
    clearable: true,
  },
  grace_seconds: {
    schema: Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds for which an old address stays allowed after a change.',
    }),
    default: 120,
    clearable: true,
  },
  on_stale: {
    schema: Words(['keep', 'remove'], { description: 'Whether the addresses stay allowed while the source is stale.' }),
    default: 'keep',
    clearable: true,
  },
})

export const DynamicIpFirewallLink = Shape(
  {
    id: Type.String({ description: 'ID of the link.' }),
    ...viewMembers(linkMembers),
    status: Words(linkStatuses, {
      description:
        '`active`: the rule has the current addresses. `pending`: they are being applied. `paused`: the address changed too often, and the last addresses stay allowed. `failed`: see `reason`.',
    }),
    reason: Nullable(
      Shape(
        {
          code: Type.String({ description: '`flapping`, `rule_gone`, or `too_wide`.' }),
          detail: Type.String({ description: 'What happened.' }),
        },
        { $id: 'DynamicIpFirewallLinkReason', description: 'Why a firewall link does not follow its source.' },
      ),
      { description: 'Why the link is paused or failed; null otherwise.' },
    ),
    applied: Type.Array(Type.String(), { description: 'Networks that the link added to the rule, in CIDR notation.' }),
    pending_removal: Type.Array(
      Shape({
        cidr: Type.String({ description: 'Network in CIDR notation.' }),
        at: Instant({ description: 'When it is removed from the rule.' }),
      }),
      { description: 'Networks that are removed when their grace period is over.' },
    ),
  },
  {
    $id: 'DynamicIpFirewallLink',
    description: 'A firewall rule that follows the address of a dynamic IP source.',
    examples: [
      {
        id: 'dfl_01k3zd4f6g8h0j2k4m6n8p0q2r',
        firewall_id: 'fw_01k3zd5s7t9v1w3x5y7z9a1b3c',
        rule_id: 'rule_01k3zd5s7t9v1w3x5y7z9a1b3c',
        families: ['ipv4', 'ipv6'],
        ipv6: 'address',
        grace_seconds: 120,
        on_stale: 'keep',
        status: 'active',
        reason: null,
        applied: ['203.0.113.42/32'],
        pending_removal: [],
      },
    ],
  },
)
export const FirewallLinkList = SinglePageOf(DynamicIpFirewallLink)
export const FirewallLinkInput = Shape(inputMembers(linkMembers), {
  $id: 'DynamicIpFirewallLinkInput',
  description: 'A firewall rule to link.',
  examples: [{ firewall_id: 'fw_01k3zd5s7t9v1w3x5y7z9a1b3c', rule_id: 'rule_01k3zd5s7t9v1w3x5y7z9a1b3c' }],
})
export const FirewallLinkPatch = Shape(patchMembers(linkMembers), {
  $id: 'DynamicIpFirewallLinkPatch',
  description: 'Fields of a firewall link to update. Null resets a field to its default.',
  examples: [{ grace_seconds: 300 }],
})

export type FirewallLinkView = Static<typeof DynamicIpFirewallLink>
export type FirewallLinkInput = Static<typeof FirewallLinkInput>
export type FirewallLinkPatch = Static<typeof FirewallLinkPatch>
