import { describe, expect, test } from 'bun:test'
import { readCall, type CallOptions } from './call'
import { explainReport } from './explain'
import { judgeCall, type SourceRules } from './judge'
import { parsePairs } from './raw-query'

const source: SourceRules = {
  families: ['ipv4', 'ipv6'],
  allowPrivate: false,
  hosts: ['home.example.com', 'vpn.example.com'],
}
const judge = (query: string, rules: Partial<SourceRules> = {}, options: Partial<CallOptions> = {}, user: string | null = null) =>
  judgeCall(
    readCall(parsePairs(query), { dialect: 'dyndns2', caller: '198.51.100.9', ...options }),
    { ...source, ...rules },
    user,
  )

test('an accepted call', () => {
  expect(judge('hostname=home.example.com,x.example.com&myip=203.0.113.7&myipv6=')).toEqual({
    kind: 'accepted',
    values: { ipv4: '203.0.113.7', ipv6: null },
    perHost: new Map(),
    hosts: [
      { asked: 'home.example.com', host: 'home.example.com', problem: null },
      { asked: 'x.example.com', host: null, problem: 'nohost' },
    ],
    ignored: [],
  })
  expect(judge('myip=203.0.113.7')).toMatchObject({ hosts: null })
})

test('the user of Basic authentication is the host if nothing else names one', () => {
  expect(judge('myip=203.0.113.7', {}, {}, 'VPN.example.com')).toMatchObject({ hosts: [{ host: 'vpn.example.com' }] })
  expect(judge('myip=203.0.113.7', {}, {}, 'any')).toMatchObject({ hosts: null })
  expect(judge('hostname=home.example.com', {}, {}, 'vpn.example.com')).toMatchObject({ hosts: [{ host: 'home.example.com' }] })
})

test('addresses of single hosts', () => {
  expect(judge('myipv4:home.example.com=203.0.113.9&myip=203.0.113.7')).toMatchObject({
    values: { ipv4: '203.0.113.7' },
    perHost: new Map([['home.example.com', { ipv4: '203.0.113.9' }]]),
    hosts: null,
  })
  expect(judge('hostname=vpn.example.com&myipv4:home.example.com=203.0.113.9')).toMatchObject({
    hosts: [{ host: 'vpn.example.com' }, { host: 'home.example.com' }],
  })
  expect(judge('myipv4:x.example.com=203.0.113.9')).toMatchObject({ kind: 'refused', code: 'nohost' })
  expect(judge('myipv4:home.example.com=127.0.0.1')).toMatchObject({ kind: 'refused', code: 'dnserr' })
})

test('a family that the source does not use is ignored', () => {
  expect(judge('myip=100.65.3.2&myipv6=2001:db8::7&prefix=2001:db8::/56', { families: ['ipv6'] })).toMatchObject({
    values: { ipv6: '2001:db8::7', prefix6: '2001:db8::/56' },
    ignored: ['ipv4'],
  })
  expect(judge('myip=203.0.113.7&myipv6=fe80::1&prefix=2001:db8::/56', { families: ['ipv4'] })).toMatchObject({
    values: { ipv4: '203.0.113.7' },
    ignored: ['ipv6'],
  })
})

test('private addresses need a setting', () => {
  for (const address of ['192.168.1.2', '100.65.3.2', 'fd00::1', 'fd00:1:2::/64']) {
    expect(judge(`myip=${address}`)).toMatchObject({ kind: 'refused', code: 'dnserr' })
    expect(judge(`myip=${address}`, { allowPrivate: true }).kind).toBe('accepted')
  }
  expect(judge('myip=127.0.0.1', { allowPrivate: true })).toMatchObject({ kind: 'refused', code: 'dnserr' })
})

describe('what is refused has an explanation', () => {
  test.each([
    [
      'myip=100.65.3.2',
      'dnserr',
      'The client sent `100.65.3.2`, which is an address of a carrier’s network (RFC 6598). Other networks can’t reach it. To accept such addresses, enable `allow_private`.',
    ],
    [
      'myip=<ipaddr>',
      'dnserr',
      'The client sent `<ipaddr>`, a placeholder that it did not replace. Check the spelling of the placeholder in its settings.',
    ],
    [
      'myip=nonsense',
      'dnserr',
      'The client sent `nonsense`, which is not an IP address. Check the parameters in the settings of the client.',
    ],
    [
      'ip6lanprefix=2001:db8::/65',
      'dnserr',
      'The client sent `2001:db8::/65`, which does not have the length of a prefix. Use an address, or an IPv6 prefix from /48 to /64.',
    ],
    [
      `hostname=${Array(21).fill('a.b').join(',')}`,
      'numhost',
      'The request names more than 20 hosts. Leave the hosts out: a report updates all hosts of the source, including those that it doesn’t name.',
    ],
    [
      `myip=${Array(1000).fill('203.0.113.7').join(',')}`,
      'dnserr',
      'The request has too many parameters or addresses. Nothing was changed.',
    ],
  ])('%s', (query, code, detail) => {
    expect(judge(query)).toEqual({ kind: 'refused', code: code as 'dnserr', detail })
  })

  test('the address of a connection, and TXT records', () => {
    expect(judge('', {}, { caller: '192.168.1.2' })).toMatchObject({
      detail:
        'The client sent no address, and the address of the connection is a private address (RFC 1918). Other networks can’t reach it. To accept such addresses, enable `allow_private`.',
    })
    expect(judge('txt=abc', {}, { dialect: 'duckdns' }).kind).toBe('refused')
  })
})

test('a report has an explanation', () => {
  const none = { ipv4: null, ipv6: null, prefix6: null }
  const after = {
    kind: 'reported' as const,
    changed: false,
    ...none,
    ipv4: '203.0.113.7',
    shown: none,
    hosts: [],
    verbose: false,
  }
  const plain = { usesCaller: false, ignored: [], isPaused: false }
  expect(explainReport(after, after, plain)).toBe('Nothing changed.')
  expect(explainReport(after, { ...after, changed: true }, plain)).toBe('The records were updated.')
  expect(explainReport(none, after, plain)).toBe('The IPv4 address is 203.0.113.7.')
  expect(explainReport({ ...none, prefix6: '2001:db8::/56' }, after, plain)).toBe(
    'The IPv4 address is 203.0.113.7. The IPv6 prefix 2001:db8::/56 was removed.',
  )
  const hosts = [
    { name: 'a.example.com', result: 'failed' as const, problem: { code: 'locked', detail: 'The record set is locked.' } },
    { name: '%h', result: 'notfqdn' as const, problem: null },
    { name: 'x.example.com', result: 'nohost' as const, problem: null },
  ].map(one => ({ ...one, ipv4: null, ipv6: null }))
  expect(
    explainReport(
      { ...none, ipv4: '203.0.113.1' },
      { ...after, hosts },
      { usesCaller: true, ignored: ['ipv6'], isPaused: true },
    ).split('. '),
  ).toEqual([
    'The IPv4 address changed from 203.0.113.1 to 203.0.113.7',
    'The client sent no address, so the address of the connection was used',
    'IPv6 was ignored, because the source does not use it',
    'The source is paused, so no records or firewall rules were updated',
    'a.example.com: The record set is locked',
    '`%h` is not a full host name',
    'Check the hosts in the settings of the client',
    'This source has no host named `x.example.com`.',
  ])
})

test('the JSON API refuses a request with an unknown host', () => {
  expect(judge('hostname=home.example.com,x.example.com', {}, { dialect: 'json' })).toEqual({
    kind: 'refused',
    code: 'nohost',
    detail: 'This source has no host named `x.example.com`.',
  })
})
