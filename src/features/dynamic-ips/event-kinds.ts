import { Shape } from '../../core/shapes'
import { extensionKind } from '../../core/event-kinds'
import { At, MaybeText, Named, Texts } from '../../core/event-fields'

export const dynamicIpKinds = [
  extensionKind({
    kind: 'dynamic_ip.changed',
    area: 'dynamic_ip',
    title: 'Dynamic IP changed',
    description: 'A dynamic IP source reported a new address.',
    data: Shape({
      dynamic_ip: Named('dip', 'The dynamic IP source.'),
      ipv4: MaybeText('Current IPv4 address; null if none.'),
      previous_ipv4: MaybeText('Previous IPv4 address; null if none.'),
      ipv6: MaybeText('Current IPv6 address; null if none.'),
      previous_ipv6: MaybeText('Previous IPv6 address; null if none.'),
      prefix6: MaybeText('Current delegated IPv6 prefix, such as `2001:db8:1::/56`; null if none.'),
      previous_prefix6: MaybeText('Previous delegated IPv6 prefix; null if none.'),
      hosts: Texts('Fully qualified names of the DNS records that it updates.'),
      firewalls: Texts('IDs of the firewalls that it updates.'),
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
