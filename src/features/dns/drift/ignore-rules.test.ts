import { expect, test } from 'bun:test'
import { rdataOfContent } from '../../../dns/rdata'
import { ignoredKeys, defaultIgnoreRules } from './ignore-rules'

const rrset = (name: string, type: string, content: string) => ({
  name,
  type,
  ttl: 300,
  values: [rdataOfContent(type, content, 'example.com.')],
})

test('rules match names with wildcards, and types', () => {
  const observed = [
    rrset('_acme-challenge', 'TXT', 'x'),
    rrset('_acme-challenge.www', 'CNAME', 'y'),
    rrset('www', 'TXT', 'x'),
    rrset('lab.dev', 'A', '192.0.2.1'),
    rrset('lab.dev', 'TXT', 'x'),
  ]
  expect([...ignoredKeys(observed, defaultIgnoreRules)]).toEqual(['_acme-challenge TXT', '_acme-challenge.www CNAME'])
  expect([...ignoredKeys(observed, [{ name: '*.dev', types: ['A'] }])]).toEqual(['lab.dev A'])
  expect([...ignoredKeys(observed, [])]).toEqual([])
  expect([...ignoredKeys(observed, [{ name: 'w.w' }])]).toEqual([])
})

test('a star matches any text, even none', () => {
  const fits = (rule: string, name: string) => ignoredKeys([rrset(name, 'A', '192.0.2.1')], [{ name: rule }]).size === 1
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

test('records owned by external-dns are ignored, with their ownership TXT', () => {
  const writeMarks = '"heritage=external-dns,external-dns/owner=default,external-dns/resource=ingress/default/web"'
  const observed = [
    rrset('a-web', 'TXT', writeMarks),
    rrset('web', 'A', '192.0.2.1'),
    rrset('web', 'AAAA', '2001:db8::1'),
    rrset('old', 'TXT', writeMarks),
    rrset('old', 'CNAME', 'web'),
    rrset('mine', 'TXT', 'about heritage=external-dns'),
  ]
  expect([...ignoredKeys(observed, [])].sort()).toEqual(['a-web TXT', 'old CNAME', 'old TXT', 'web A'])
})
