import { Shape } from '../shapes'
import { extensionKind } from './entry'
import { At, MaybeText, Named, Texts } from './members'

export const dynamicIpKinds = [
  extensionKind({
    kind: 'dynamic_ip.changed',
    area: 'dynamic_ip',
    title: 'Dynamic IP changed',
    description: 'A dynamic IP source reported another address than before.',
    data: Shape({
      dynamic_ip: Named('dip', 'The dynamic IP source.'),
      ipv4: MaybeText('Its IPv4 address now.'),
      previous_ipv4: MaybeText('Its IPv4 address before.'),
      ipv6: MaybeText('Its IPv6 address now.'),
      previous_ipv6: MaybeText('Its IPv6 address before.'),
      prefix6: MaybeText('Its delegated IPv6 prefix now, such as `2001:db8:1::/56`.'),
      previous_prefix6: MaybeText('Its delegated IPv6 prefix before.'),
      hosts: Texts('Full names of the DNS records it drives.'),
      firewalls: Texts('Ids of the firewalls it drives.'),
      changed_at: At('When the change was reported.'),
    }),
    example: {
      dynamic_ip: { id: 'dip_01k3zd4f6g8h0j2k4m6n8p0q2r', name: 'Office router' },
      ipv4: '203.0.113.42',
      previous_ipv4: '203.0.113.7',
      ipv6: null,
      previous_ipv6: null,
      prefix6: null,
      previous_prefix6: null,
      hosts: ['office.example.com'],
      firewalls: ['fw_01k3zd5s7t9v1w3x5y7z9a1b3c'],
      changed_at: '2027-01-31T09:26:53.589Z',
    },
  }),
] as const
