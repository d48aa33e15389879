import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const status = { before: { status: 'fresh' }, after: { status: 'paused' } }
const addresses = { before: { ipv4: '203.0.113.7' }, after: { ipv4: '203.0.113.42' } }

export const dynamicIpActions = {
  'dynamic_ip.pause': {
    number: 'DI004',
    description: 'A dynamic IP source was paused. Its records stay as they are.',
    changes: 'response',
    example: status,
  },
  'dynamic_ip.resume': {
    number: 'DI005',
    description: 'A paused or held dynamic IP source was resumed, or its hold ended.',
    channels: [...requestChannels, 'job'],
    changes: 'response',
    example: { before: { status: 'paused' }, after: { status: 'fresh' } },
  },
  'dynamic_ip.report': {
    phrase: 'report new addresses for {dynamic_ip}',
    number: 'DI006',
    description:
      'New addresses of a dynamic IP source were reported, by its client or through the API. Reports that change nothing are not logged.',
    channels: [...requestChannels, 'ingest'],
    targets: ['dynamic_ip', 'zone', 'firewall'],
    changes: 'response',
    example: addresses,
  },
  'dynamic_ip.hold': {
    sentence: 'Changes of {dynamic_ip} are refused, because its address changes too often',
    number: 'DI007',
    description: 'A dynamic IP source was held: two clients use its token, or its address changes too often.',
    channels: ['ingest'],
    targets: ['dynamic_ip'],
    changes: { of: 'dynamic_ip.pause' },
    example: { before: { status: 'fresh' }, after: { status: 'held' } },
  },
  'dynamic_ip.rotate_token': {
    phrase: 'rotate the token of {dynamic_ip}',
    number: 'DI008',
    description: 'The token of a dynamic IP source was rotated.',
    changes: { of: 'dynamic_ip.pause' },
  },
  'dynamic_ip.revoke_token': {
    phrase: 'revoke the token of {dynamic_ip}',
    number: 'DI009',
    description: 'The token of a dynamic IP source was revoked.',
    changes: { of: 'dynamic_ip.pause' },
  },
  'dynamic_ip.firewall_link.create': {
    phrase: 'link a firewall rule to {dynamic_ip}',
    number: 'DI010',
    description: 'A firewall rule was linked to a dynamic IP source, whose address it allows.',
    targets: ['dynamic_ip'],
    changes: { of: 'dynamic_ip.firewall_link.update' },
  },
  'dynamic_ip.firewall_link.update': {
    phrase: 'update a firewall link of {dynamic_ip}',
    number: 'DI011',
    description: 'A firewall link of a dynamic IP source was updated.',
    targets: ['dynamic_ip'],
    changes: 'response',
    example: { before: { grace_seconds: 120 }, after: { grace_seconds: 300 } },
  },
  'dynamic_ip.firewall_link.resume': {
    phrase: 'resume a firewall link of {dynamic_ip}',
    number: 'DI012',
    description: 'A paused or failed firewall link of a dynamic IP source was resumed.',
    targets: ['dynamic_ip'],
    changes: { of: 'dynamic_ip.firewall_link.update' },
  },
  'dynamic_ip.firewall_link.expire': {
    sentence: 'Old addresses of {dynamic_ip} were removed from {firewall}',
    number: 'DI014',
    description: 'Old addresses of a dynamic IP source were removed from a firewall rule, because their grace period ended.',
    channels: ['job'],
    targets: ['dynamic_ip', 'firewall'],
    changes: { fields: { rule_id: Type.String(), networks: Type.Array(Type.String()) } },
    example: { before: { rule_id: 'ssh', networks: ['203.0.113.7/32'] }, after: { rule_id: 'ssh', networks: [] } },
  },
  'dynamic_ip.firewall_link.delete': {
    phrase: 'delete a firewall link of {dynamic_ip}',
    number: 'DI013',
    description: 'A firewall link of a dynamic IP source was deleted, and the addresses that it added were removed.',
    targets: ['dynamic_ip'],
    changes: { of: 'dynamic_ip.firewall_link.update' },
  },
} satisfies AuditActionDrafts
