import type { BlockCode } from '../../src/features/dns/plans/guards'
import { samples } from './provider-contract'

/**
 * Name, type, TTL in seconds, and values. TXT values without a leading quote are plain text; all others are in zone file format.
 */
export type StateRrset = [name: string, type: string, ttl: number, ...values: string[]]

/** A state of a zone, without the apex NS records. */
export interface ZoneState {
  title: string
  rrsets: StateRrset[]
  /** Reasons that block the change from the previous state. */
  blockedBy?: BlockCode[]
  /** Additional reasons if the provider doesn’t show the apex NS records. */
  blockedByWithoutNs?: BlockCode[]
}

const long = 'a;b"c\\d $e (f) @g %h 100\\100 '.repeat(11).slice(0, 300)
const many = (count: number, ttl: (n: number) => number = () => 300): StateRrset[] =>
  Array.from({ length: count }, (_, n) => [`host-${n}`, 'A', ttl(n), `10.0.${n >> 8}.${n & 255}`])

// From simple to unusual. Each list is the sequence of states of one zone, starting empty.

/** @param takes whether the provider supports a type */
export const zoneScenarios = (takes: (type: string) => boolean): Record<string, ZoneState[]> => ({
  'an address': [
    { title: 'one', rrsets: [['www', 'A', 300, '192.0.2.1']] },
    { title: 'a different one', rrsets: [['www', 'A', 300, '192.0.2.2']] },
    { title: 'three', rrsets: [['www', 'A', 300, '192.0.2.3', '192.0.2.2', '192.0.2.1']] },
    { title: 'the same ones in another order', rrsets: [['www', 'A', 300, '192.0.2.1', '192.0.2.3', '192.0.2.2']] },
    { title: 'with a longer TTL', rrsets: [['www', 'A', 86_400, '192.0.2.1', '192.0.2.3', '192.0.2.2']] },
    { title: 'with a TTL of 0', rrsets: [['www', 'A', 0, '192.0.2.1']] },
    {
      title: 'of both families',
      rrsets: [
        ['www', 'A', 300, '192.0.2.1'],
        ['www', 'AAAA', 300, '2001:db8::1'],
      ],
    },
    { title: 'deleted', rrsets: [], blockedByWithoutNs: ['zone_emptied'] },
  ],
  'a CNAME': [
    { title: 'created', rrsets: [['www', 'CNAME', 300, 'one.example.net.']] },
    { title: 'with another target', rrsets: [['www', 'CNAME', 300, 'two.example.net.']] },
    {
      title: 'replaced by addresses',
      rrsets: [
        ['www', 'A', 300, '192.0.2.1'],
        ['www', 'TXT', 300, 'there'],
      ],
    },
    { title: 'replacing addresses', rrsets: [['www', 'CNAME', 300, 'one.example.net.']] },
    {
      title: 'in a chain',
      rrsets: [
        ['web', 'A', 300, '192.0.2.1'],
        ['www', 'CNAME', 300, 'web'],
        ['blog', 'CNAME', 300, 'www'],
      ],
    },
    {
      title: 'in a reversed chain',
      rrsets: [
        ['web', 'CNAME', 300, 'www'],
        ['www', 'A', 300, '192.0.2.1'],
        ['blog', 'CNAME', 300, 'www'],
      ],
    },
    { title: 'without its previous targets', rrsets: [['blog', 'CNAME', 300, 'www.example.net.']] },
  ],
  'the apex': [
    {
      title: 'with typical records',
      rrsets: [
        ['@', 'A', 300, '192.0.2.1'],
        ['@', 'AAAA', 300, '2001:db8::1'],
        ['@', 'MX', 300, '10 mail.example.net.'],
        ['@', 'TXT', 300, 'v=spf1 mx -all'],
        ['@', 'CAA', 300, '0 issue "ca.example.net"'],
      ],
    },
    {
      title: 'with other values',
      rrsets: [
        ['@', 'A', 300, '192.0.2.2', '192.0.2.3'],
        ['@', 'AAAA', 300, '2001:db8::1'],
        ['@', 'MX', 300, '10 mail.example.net.', '20 backup.example.net.'],
        ['@', 'TXT', 300, 'v=spf1 mx -all', 'proof=1'],
        ['@', 'CAA', 300, '0 issue ";"', '0 iodef "mailto:security@example.net"'],
      ],
    },
    {
      title: 'without mail',
      rrsets: [
        ['@', 'A', 300, '192.0.2.2', '192.0.2.3'],
        ['@', 'AAAA', 300, '2001:db8::1'],
        ['@', 'TXT', 300, 'v=spf1 -all'],
        ['@', 'CAA', 300, '0 issue ";"'],
      ],
      blockedBy: ['loses_apex_mx'],
    },
    {
      title: 'with nothing',
      rrsets: [],
      blockedBy: ['deletes_over_limit', 'loses_apex_address', 'loses_caa'],
      blockedByWithoutNs: ['zone_emptied'],
    },
  ],
  names: [
    {
      title: 'of other scripts',
      rrsets: [
        ['bücher', 'A', 300, '192.0.2.1'],
        ['例え.テスト', 'A', 300, '192.0.2.2'],
      ],
    },
    {
      title: 'with wildcards',
      rrsets: [
        ['bücher', 'A', 300, '192.0.2.1'],
        ['*', 'A', 300, '192.0.2.2'],
        ['*.dev', 'TXT', 300, 'wild'],
      ],
      blockedBy: ['new_wildcard'],
    },
    {
      title: 'nested, and of services',
      rrsets: [
        ['bücher', 'A', 300, '192.0.2.1'],
        ['*', 'A', 300, '192.0.2.3'],
        ['*.dev', 'TXT', 300, 'wild'],
        ['a.b.c.d.e.f', 'A', 300, '192.0.2.4'],
        ['_sip._tcp', 'SRV', 300, '0 5 5060 sip.example.net.'],
        ['selector._domainkey', 'TXT', 300, `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`],
      ],
    },
    { title: 'none', rrsets: [], blockedBy: ['deletes_over_limit'], blockedByWithoutNs: ['zone_emptied'] },
  ],
  texts: [
    { title: 'with special characters', rrsets: [['long', 'TXT', 300, long]] },
    {
      title: 'in other scripts, with surrounding spaces, and several',
      rrsets: [
        ['long', 'TXT', 300, [...long].toReversed().join(''), 'v=DMARC1; p=none', ' leading and trailing '],
        ['other', 'TXT', 300, 'ключ=värde 🔑', '"cut" "in two"'],
      ],
    },
    { title: 'of many strings', rrsets: [['long', 'TXT', 300, long.repeat(6)]] },
  ],
  types: [
    {
      title: 'all of them',
      rrsets: samples.filter(([type]) => takes(type)).map(([type, name, before]) => [name, type, 300, ...before]),
      blockedBy: ['new_delegation'],
    },
    {
      title: 'all of them, with other values',
      rrsets: samples.filter(([type]) => takes(type)).map(([type, name, , after]) => [name, type, 600, ...after]),
      blockedBy: ['updates_over_limit'],
    },
    {
      title: 'no types',
      rrsets: [],
      blockedBy: ['deletes_over_limit', ...(takes('CAA') ? (['loses_caa'] as const) : [])],
      blockedByWithoutNs: ['zone_emptied'],
    },
  ],
  'a thousand names': [
    { title: 'created', rrsets: many(1000), blockedBy: ['creates_over_limit'] },
    { title: 'some with a longer TTL', rrsets: many(1000, n => (n < 100 ? 600 : 300)) },
    { title: 'some deleted', rrsets: many(800, n => (n < 100 ? 600 : 300)) },
    { title: 'deleted', rrsets: [], blockedBy: ['deletes_over_limit'], blockedByWithoutNs: ['zone_emptied'] },
  ],
})
