import { Type } from '@sinclair/typebox'
import { RCODE } from '../../dns/message'
import { grouped, Line, Shape, Words } from '../../core/shapes'
import { ipFamily, serverName, tlsOptions } from '../tls-options'

/** Options of DNS checks. */
export const dnsOptions = Shape({
  record_type: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9-]{0,15}$',
      'x-rule': 'must be a record type such as A, MX, or TYPE65280.',
      default: 'A',
      description: 'Record type to query.',
      examples: ['MX'],
    }),
  ),
  expected_answers: Type.Optional(
    Type.Array(Line({ minLength: 1, maxLength: 1000 }), {
      maxItems: 100,
      default: [],
      description:
        'Expected record values, in zone file syntax. The trailing dot of names is optional, TXT values are written without quotes, and `*` matches any number of characters.',
      examples: [['10 mail.example.com']],
    }),
  ),
  ...grouped('Response', {
    match: Type.Optional(
      Words(['any', 'all', 'exact'], {
        title: 'Comparison',
        default: 'all',
        description:
          'How to compare: at least one expected value (`any`), all of them (`all`), or all of them and no others (`exact`).',
      }),
    ),
    expected_rcode: Type.Optional(
      Words(Object.keys(RCODE), {
        title: 'Expected response code',
        default: 'NOERROR',
        description: 'Expected response code. `NXDOMAIN` checks that a name does not exist.',
      }),
    ),
    require_answer: Type.Optional(
      Type.Boolean({
        title: 'Require an answer',
        default: true,
        description: 'Require at least one record of the type in a NOERROR response.',
      }),
    ),
    require_authoritative: Type.Optional(
      Type.Boolean({
        title: 'Require an authoritative response',
        default: false,
        description: 'Require an authoritative response (AA flag).',
      }),
    ),
    require_dnssec: Type.Optional(
      Type.Boolean({
        title: 'Require DNSSEC',
        default: false,
        description:
          'Require that the resolver validated the answer with DNSSEC (AD flag). The path between the resolver and the hub is not protected by this.',
      }),
    ),
  }),
  ...grouped('Query', {
    resolver: Type.Optional(
      Line({
        minLength: 1,
        maxLength: 2048,
        description:
          'Name server to query: a host with an optional port, or a URL with `doh`. By default the resolvers of the hub, in order, until one answers.',
        examples: ['9.9.9.9', 'ns1.example.com:5353', 'https://dns.example.net/dns-query'],
      }),
    ),
    transport: Type.Optional(
      Words(['udp', 'tcp', 'dot', 'doh'], {
        default: 'udp',
        description:
          'Transport: `udp` (falls back to TCP for truncated responses), `tcp`, `dot` (DNS over TLS, RFC 7858), or `doh` (DNS over HTTPS, RFC 8484).',
      }),
    ),
    recursion: Type.Optional(Type.Boolean({ default: true, description: 'Request recursion (RD flag).' })),
  }),
  server_name: serverName,
  ...tlsOptions,
  ip_family: ipFamily,
})
