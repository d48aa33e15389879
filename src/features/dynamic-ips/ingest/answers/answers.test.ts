import { describe, expect, test } from 'bun:test'
import type { HostOutcome, Outcome } from '../outcome'
import { answerDuckDns } from './duckdns'
import { answerDyndns2 } from './dyndns2'
import { answerDynv6 } from './dynv6'

const host = (result: HostOutcome['result'], ipv4: string | null = null, ipv6: string | null = null): HostOutcome => ({
  name: 'home.example.com',
  result,
  problem: null,
  ipv4,
  ipv6,
})
const reported = (hosts: HostOutcome[], more: Partial<Extract<Outcome, { kind: 'reported' }>> = {}): Outcome => ({
  kind: 'reported',
  changed: hosts.some(one => one.result === 'changed'),
  ipv4: '203.0.113.7',
  ipv6: null,
  prefix6: null,
  shown: { ipv4: '203.0.113.7', ipv6: more.ipv6 ?? null },
  hosts,
  verbose: false,
  ...more,
})

// The name, the outcome, and the status and body of each dialect.
type Answered = [status: number, body: string]
const table: [string, Outcome, dyndns2: Answered, duckdns: Answered, dynv6: Answered][] = [
  ['changed', reported([host('changed', '203.0.113.7')]), [200, 'good 203.0.113.7\n'], [200, 'OK'], [200, 'addresses updated']],
  [
    'unchanged',
    reported([host('unchanged', '203.0.113.7')]),
    [200, 'nochg 203.0.113.7\n'],
    [200, 'OK'],
    [200, 'addresses unchanged'],
  ],
  [
    'both families',
    reported([host('changed', '203.0.113.7', '2001:db8::7')]),
    [200, 'good 203.0.113.7,2001:db8::7\n'],
    [200, 'OK'],
    [200, 'addresses updated'],
  ],
  [
    'several hosts, one failed',
    reported([host('changed', '203.0.113.7'), host('failed'), host('nohost'), host('unchanged', null, '2001:db8::7')]),
    [200, 'good 203.0.113.7\ndnserr\nnohost\nnochg 2001:db8::7\n'],
    [200, 'KO'],
    [200, 'good 203.0.113.7\ndnserr\nnohost\nnochg 2001:db8::7\n'],
  ],
  ['not a full name', reported([host('notfqdn')]), [200, 'notfqdn\n'], [200, 'KO'], [200, 'notfqdn\n']],
  [
    'a source without hosts',
    reported([], { changed: true, ipv6: '2001:db8::7' }),
    [200, 'good 203.0.113.7,2001:db8::7\n'],
    [200, 'OK'],
    [200, 'addresses updated'],
  ],
  ['removed', reported([host('changed')], { ipv4: null }), [200, 'good\n'], [200, 'OK'], [200, 'addresses updated']],
  ['a wrong token', { kind: 'unauthorized', detail: '' }, [401, 'badauth\n'], [200, 'KO'], [401, 'invalid authentication token']],
  ['too many hosts', { kind: 'refused', code: 'numhost', detail: '' }, [200, 'numhost\n'], [200, 'KO'], [200, 'numhost\n']],
  [
    'an address that is refused',
    { kind: 'refused', code: 'dnserr', detail: '' },
    [200, 'dnserr\n'],
    [200, 'KO'],
    [200, 'dnserr\n'],
  ],
  [
    'temporary',
    { kind: 'later', retryAfterSeconds: 60, detail: '', isRateLimit: false },
    [503, '911\n'],
    [200, 'KO'],
    [503, '911\n'],
  ],
]

describe.each(table)('%s', (_, outcome, ...expected) => {
  test('has a response in each dialect', () => {
    const answers = [answerDyndns2(outcome), answerDuckDns(outcome), answerDynv6(outcome)]
    expect(answers.map(one => [one.status, one.body])).toEqual(expected)
    for (const { headers, body } of answers) {
      expect(headers['Content-Type']).toBe('text/plain; charset=utf-8')
      expect(headers['Cache-Control']).toBe('no-store')
      // Clients search the text for words.
      expect(body).not.toContain('home')
    }
  })
})

test('the headers of a wrong token and of a temporary failure', () => {
  expect(answerDyndns2({ kind: 'unauthorized', detail: '' }).headers['WWW-Authenticate']).toBe('Basic realm="dynamic-ip"')
  expect(answerDyndns2({ kind: 'later', retryAfterSeconds: 60, detail: '', isRateLimit: false }).headers['Retry-After']).toBe(
    '60',
  )
})

test('DuckDNS: verbose responses have four lines', () => {
  const verbose = (more: object) => answerDuckDns(reported([host('changed')], { verbose: true, ...more })).body
  expect(verbose({ ipv6: '2001:db8::7' })).toBe('OK\n203.0.113.7\n2001:db8::7\nUPDATED')
  expect(verbose({ changed: false })).toBe('OK\n203.0.113.7\n\nNOCHANGE')
})
