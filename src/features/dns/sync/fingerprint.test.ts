import { expect, test } from 'bun:test'
import { rdataOfText } from '../../../dns/rdata'
import type { ProviderRrset } from '../providers/provider'
import { fingerprintsMatch, exactComparison, fingerprintOf, effectiveTtl } from './fingerprint'

const cloudy = { ttl: { min: 60, max: 86_400, auto: 1 }, rechunksTxt: true }
const rrset = (type: string, texts: string[], more: Partial<ProviderRrset> = {}): ProviderRrset => ({
  name: 'www',
  type,
  ttl: 300,
  values: texts.map(text => rdataOfText(type, text, 'example.com.')),
  ...more,
})

test('the order of values and the case of names do not matter', () => {
  const one = fingerprintOf(rrset('MX', ['10 mail.example.com.', '20 b.example.net.']), exactComparison)
  expect(fingerprintOf(rrset('MX', ['20 B.Example.NET.', '10 MAIL']), exactComparison)).toBe(one)
  expect(fingerprintOf(rrset('MX', ['10 mail.example.com.', '21 b.example.net.']), exactComparison)).not.toBe(one)
  expect(fingerprintOf(rrset('MX', ['10 mail.example.com.']), exactComparison)).not.toBe(one)
})

test('value boundaries matter', () => {
  const of = (...values: number[][]) =>
    fingerprintOf(rrset('TYPE65280', [], { values: values.map(one => Uint8Array.from(one)) }), exactComparison)
  expect(of([1, 2], [3])).not.toBe(of([1], [2, 3]))
})

test('TXT string boundaries matter only if the provider preserves them', () => {
  const whole = rrset('TXT', ['"v=spf1 -all"'])
  const cut = rrset('TXT', ['"v=spf1 " "-all"'])
  expect(fingerprintOf(cut, exactComparison)).not.toBe(fingerprintOf(whole, exactComparison))
  expect(fingerprintOf(cut, cloudy)).toBe(fingerprintOf(whole, cloudy))
})

test('TTLs match if the provider stores the same value, including its automatic TTL', () => {
  expect([0, 59, 60, 3600, 1_000_000, 1].map(ttl => effectiveTtl(ttl, cloudy))).toEqual([60, 60, 60, 3600, 86_400, 1])
  const of = (ttl: number) => fingerprintOf(rrset('A', ['192.0.2.1'], { ttl }), cloudy)
  expect(of(5)).toBe(of(60))
  expect(of(61)).not.toBe(of(60))
})

test('proxying is compared if both sides report it, and TTLs only if not proxied', () => {
  const of = (ttl: number, proxied?: boolean) =>
    fingerprintOf(rrset('A', ['192.0.2.1'], { ttl, ...(proxied !== undefined && { options: { proxied } }) }), cloudy)
  expect(fingerprintsMatch(of(300), of(300, false))).toBe(true)
  expect(fingerprintsMatch(of(300), of(1, true))).toBe(true)
  expect(fingerprintsMatch(of(300, false), of(1, true))).toBe(false)
  expect(fingerprintsMatch(of(300, true), of(1, true))).toBe(true)
  expect(fingerprintsMatch(of(300), of(301, false))).toBe(false)
  expect(fingerprintsMatch(of(300), null)).toBe(false)
  // A provider that doesn't proxy has no automatic TTL.
  const plain = (ttl: number) => fingerprintOf(rrset('A', ['192.0.2.1'], { ttl, options: { proxied: true } }), exactComparison)
  expect(fingerprintsMatch(plain(300), plain(301))).toBe(false)
  expect(fingerprintsMatch(null, null)).toBe(true)
})
