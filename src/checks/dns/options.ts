import { Type } from '@sinclair/typebox'
import { RCODE } from '../../core/dns/message'
import { Line, Shape, Words } from '../../core/shapes'
import { ipFamily, serverName, tlsMembers } from '../tls-options'

/** What may be said of a check of DNS. */
export const dnsOptions = Shape({
  record_type: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9-]{0,15}$',
      'x-rule': 'must be a type of records: A, MX, TYPE65280.',
      default: 'A',
      description: 'Type of the records that are asked for.',
      examples: ['MX'],
    }),
  ),
  transport: Type.Optional(
    Words(['udp', 'tcp', 'dot', 'doh'], {
      default: 'udp',
      description:
        'What carries the question: UDP, with TCP where the answer does not fit; TCP; TLS (RFC 7858); or HTTPS (RFC 8484).',
    }),
  ),
  resolver: Type.Optional(
    Line({
      minLength: 1,
      maxLength: 2048,
      description:
        'Server that is asked: a host with a port or without, and a URL with `doh`. Without it the resolvers that the hub looks names up with, each until it answers.',
      examples: ['9.9.9.9', 'ns1.example.com:5353', 'https://dns.example.net/dns-query'],
    }),
  ),
  expected_rcode: Type.Optional(
    Words(Object.keys(RCODE), {
      default: 'NOERROR',
      description: 'Code that the answer must have: `NXDOMAIN` for names that must not exist.',
    }),
  ),
  require_answer: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether an answer of NOERROR must have a record of the type.' }),
  ),
  expected_answers: Type.Optional(
    Type.Array(Line({ minLength: 1, maxLength: 1000 }), {
      maxItems: 100,
      default: [],
      description:
        'Values of records, as in a zone file, with or without the dot at the end of names; TXT without quotes. `*` stands for any number of characters.',
      examples: [['10 mail.example.com']],
    }),
  ),
  match: Type.Optional(
    Words(['any', 'all', 'exact'], {
      default: 'all',
      description: 'Whether one of them must be among the answers, all of them, or all of them and nothing else.',
    }),
  ),
  require_authoritative: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether the answer must be of a server of the zone (AA).' }),
  ),
  require_dnssec: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether the resolver must have proven the answer by DNSSEC (AD). Between it and the hub nothing proves it.',
    }),
  ),
  recursion: Type.Optional(Type.Boolean({ default: true, description: 'Whether the server is to ask others (RD).' })),
  servername: serverName,
  ...tlsMembers,
  ip_family: ipFamily,
})
