import { expect, test } from 'bun:test'
import { rdataOfContent } from '../../../core/dns/rdata'
import { ignoredAmong, usualRules } from './ignoring'

const rrset = (name: string, type: string, content: string) => ({
  name,
  type,
  ttl: 300,
  values: [rdataOfContent(type, content, 'example.com.')],
})

test('rules are names with stars, and types', () => {
  const observed = [
    rrset('_acme-challenge', 'TXT', 'x'),
    rrset('_acme-challenge.www', 'CNAME', 'y'),
    rrset('www', 'TXT', 'x'),
    rrset('lab.dev', 'A', '192.0.2.1'),
    rrset('lab.dev', 'TXT', 'x'),
  ]
  expect([...ignoredAmong(observed, usualRules)]).toEqual(['_acme-challenge TXT', '_acme-challenge.www CNAME'])
  expect([...ignoredAmong(observed, [{ name: '*.dev', types: ['A'] }])]).toEqual(['lab.dev A'])
  expect([...ignoredAmong(observed, [])]).toEqual([])
  expect([...ignoredAmong(observed, [{ name: 'w.w' }])]).toEqual([])
})

test('a star stands for any text, none too', () => {
  const fits = (rule: string, name: string) => ignoredAmong([rrset(name, 'A', '192.0.2.1')], [{ name: rule }]).size === 1
  for (const [rule, name] of [
    ['*', 'www'],
    ['*', '@'],
    ['w*w', 'ww'],
    ['w*.*.dev', 'www.a.b.dev'],
    ['*a*a', 'aa'],
    ['a**b', 'ab'],
    ['W*', 'www'],
  ] as const)
    expect([rule, name, fits(rule, name)]).toEqual([rule, name, true])
  for (const [rule, name] of [
    ['w*w', 'w'],
    ['*a*a', 'ab'],
    ['ab*ba', 'aba'],
    ['*.dev', 'dev'],
    ['w*b*w', 'waw'],
    ['www', 'www2'],
  ] as const)
    expect([rule, name, fits(rule, name)]).toEqual([rule, name, false])
})

test('what external-dns marks as its own is ignored along with the mark', () => {
  const mark = '"heritage=external-dns,external-dns/owner=default,external-dns/resource=ingress/default/web"'
  const observed = [
    rrset('a-web', 'TXT', mark),
    rrset('web', 'A', '192.0.2.1'),
    rrset('web', 'AAAA', '2001:db8::1'),
    rrset('old', 'TXT', mark),
    rrset('old', 'CNAME', 'web'),
    rrset('mine', 'TXT', 'about heritage=external-dns'),
  ]
  expect([...ignoredAmong(observed, [])].sort()).toEqual(['a-web TXT', 'old CNAME', 'old TXT', 'web A'])
})
