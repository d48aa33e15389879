import type { BlockCode } from '../../src/features/dns/sync/guards'
import { samples } from './provider-contract'

/** Name, type, TTL in seconds, and values: TXT that does not begin with a quote is text as it is, all else is as in a zone file. */
export type StateRrset = [name: string, type: string, ttl: number, ...values: string[]]

/** All of a zone but the NS of its apex. */
export interface ZoneState {
  title: string
  rrsets: StateRrset[]
  /** Why the way here from the state before is held back. */
  held?: BlockCode[]
  /** More reasons, where the NS of the apex do not count since the provider does not show them. */
  heldWithoutNs?: BlockCode[]
}

const long = 'a;b"c\\d $e (f) @g %h 100\\100 '.repeat(11).slice(0, 300)
const many = (count: number, ttl: (n: number) => number = () => 300): StateRrset[] =>
  Array.from({ length: count }, (_, n) => [`host-${n}`, 'A', ttl(n), `10.0.${n >> 8}.${n & 255}`])

// From easy to odd. Each list is the way of one zone, from empty, through its states in their order.

/** @param takes whether the provider has a type */
export const waysOfZones = (takes: (type: string) => boolean): Record<string, ZoneState[]> => ({
  'an address': [
    { title: 'one', rrsets: [['www', 'A', 300, '192.0.2.1']] },
    { title: 'another one', rrsets: [['www', 'A', 300, '192.0.2.2']] },
    { title: 'three', rrsets: [['www', 'A', 300, '192.0.2.3', '192.0.2.2', '192.0.2.1']] },
    { title: 'the same ones', rrsets: [['www', 'A', 300, '192.0.2.1', '192.0.2.3', '192.0.2.2']] },
    { title: 'that lives longer', rrsets: [['www', 'A', 86_400, '192.0.2.1', '192.0.2.3', '192.0.2.2']] },
    { title: 'that is not to be kept', rrsets: [['www', 'A', 0, '192.0.2.1']] },
    {
      title: 'of both kinds',
      rrsets: [
        ['www', 'A', 300, '192.0.2.1'],
        ['www', 'AAAA', 300, '2001:db8::1'],
      ],
    },
    { title: 'gone', rrsets: [], heldWithoutNs: ['zone_emptied'] },
  ],
  'a CNAME': [
    { title: 'in place of nothing', rrsets: [['www', 'CNAME', 300, 'one.example.net.']] },
    { title: 'to something else', rrsets: [['www', 'CNAME', 300, 'two.example.net.']] },
    {
      title: 'that addresses take the place of',
      rrsets: [
        ['www', 'A', 300, '192.0.2.1'],
        ['www', 'TXT', 300, 'there'],
      ],
    },
    { title: 'in place of addresses', rrsets: [['www', 'CNAME', 300, 'one.example.net.']] },
    {
      title: 'in a chain',
      rrsets: [
        ['web', 'A', 300, '192.0.2.1'],
        ['www', 'CNAME', 300, 'web'],
        ['blog', 'CNAME', 300, 'www'],
      ],
    },
    {
      title: 'in a chain that is turned around',
      rrsets: [
        ['web', 'CNAME', 300, 'www'],
        ['www', 'A', 300, '192.0.2.1'],
        ['blog', 'CNAME', 300, 'www'],
      ],
    },
    { title: 'without what it led to', rrsets: [['blog', 'CNAME', 300, 'www.example.net.']] },
  ],
  'the apex': [
    {
      title: 'with what an apex has',
      rrsets: [
        ['@', 'A', 300, '192.0.2.1'],
        ['@', 'AAAA', 300, '2001:db8::1'],
        ['@', 'MX', 300, '10 mail.example.net.'],
        ['@', 'TXT', 300, 'v=spf1 mx -all'],
        ['@', 'CAA', 300, '0 issue "ca.example.net"'],
      ],
    },
    {
      title: 'with others',
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
      held: ['loses_apex_mx'],
    },
    {
      title: 'with nothing',
      rrsets: [],
      held: ['deletes_over_limit', 'loses_apex_address', 'loses_caa'],
      heldWithoutNs: ['zone_emptied'],
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
      title: 'for all that is not there',
      rrsets: [
        ['bücher', 'A', 300, '192.0.2.1'],
        ['*', 'A', 300, '192.0.2.2'],
        ['*.dev', 'TXT', 300, 'wild'],
      ],
      held: ['new_wildcard'],
    },
    {
      title: 'deep down, and of services',
      rrsets: [
        ['bücher', 'A', 300, '192.0.2.1'],
        ['*', 'A', 300, '192.0.2.3'],
        ['*.dev', 'TXT', 300, 'wild'],
        ['a.b.c.d.e.f', 'A', 300, '192.0.2.4'],
        ['_sip._tcp', 'SRV', 300, '0 5 5060 sip.example.net.'],
        ['selector._domainkey', 'TXT', 300, `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`],
      ],
    },
    { title: 'of none', rrsets: [], held: ['deletes_over_limit'], heldWithoutNs: ['zone_emptied'] },
  ],
  texts: [
    { title: 'with all that has a meaning somewhere', rrsets: [['long', 'TXT', 300, long]] },
    {
      title: 'of other scripts, with blanks at both ends, and several',
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
      held: ['new_delegation'],
    },
    {
      title: 'all of them, with other values',
      rrsets: samples.filter(([type]) => takes(type)).map(([type, name, , after]) => [name, type, 600, ...after]),
      held: ['updates_over_limit'],
    },
    {
      title: 'none of them',
      rrsets: [],
      held: ['deletes_over_limit', ...(takes('CAA') ? (['loses_caa'] as const) : [])],
      heldWithoutNs: ['zone_emptied'],
    },
  ],
  'a thousand names': [
    { title: 'made', rrsets: many(1000), held: ['creates_over_limit'] },
    { title: 'of which some live longer', rrsets: many(1000, n => (n < 100 ? 600 : 300)) },
    { title: 'of which some go', rrsets: many(800, n => (n < 100 ? 600 : 300)) },
    { title: 'removed', rrsets: [], held: ['deletes_over_limit'], heldWithoutNs: ['zone_emptied'] },
  ],
})
