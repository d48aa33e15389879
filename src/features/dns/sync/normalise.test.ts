import { expect, test } from 'bun:test'
import { rdataOfText } from '../../../core/dns/rdata'
import type { ProviderRrset } from '../providers/provider'
import { alike, exactly, printOf, ttlKept } from './normalise'

const cloudy = { ttl: { min: 60, max: 86_400, auto: 1 }, rechunksTxt: true }
const rrset = (type: string, texts: string[], more: Partial<ProviderRrset> = {}): ProviderRrset => ({
  name: 'www',
  type,
  ttl: 300,
  values: texts.map(text => rdataOfText(type, text, 'example.com.')),
  ...more,
})

test('values are alike in any order and in any case of the names in them', () => {
  const one = printOf(rrset('MX', ['10 mail.example.com.', '20 b.example.net.']), exactly)
  expect(printOf(rrset('MX', ['20 B.Example.NET.', '10 MAIL']), exactly)).toBe(one)
  expect(printOf(rrset('MX', ['10 mail.example.com.', '21 b.example.net.']), exactly)).not.toBe(one)
  expect(printOf(rrset('MX', ['10 mail.example.com.']), exactly)).not.toBe(one)
})

test('values that run into each other are told apart', () => {
  const of = (...values: number[][]) =>
    printOf(rrset('TYPE65280', [], { values: values.map(one => Uint8Array.from(one)) }), exactly)
  expect(of([1, 2], [3])).not.toBe(of([1], [2, 3]))
})

test('strings of TXT count only where the provider keeps them as they are', () => {
  const whole = rrset('TXT', ['"v=spf1 -all"'])
  const cut = rrset('TXT', ['"v=spf1 " "-all"'])
  expect(printOf(cut, exactly)).not.toBe(printOf(whole, exactly))
  expect(printOf(cut, cloudy)).toBe(printOf(whole, cloudy))
})

test('TTLs are alike that the provider would keep alike, and its own choice is one of them', () => {
  expect([0, 59, 60, 3600, 1_000_000, 1].map(ttl => ttlKept(ttl, cloudy))).toEqual([60, 60, 60, 3600, 86_400, 1])
  const of = (ttl: number) => printOf(rrset('A', ['192.0.2.1'], { ttl }), cloudy)
  expect(of(5)).toBe(of(60))
  expect(of(61)).not.toBe(of(60))
})

test('proxying is compared where both tell of it, and TTLs only of what is not proxied', () => {
  const of = (ttl: number, proxied?: boolean) =>
    printOf(rrset('A', ['192.0.2.1'], { ttl, ...(proxied !== undefined && { options: { proxied } }) }), cloudy)
  expect(alike(of(300), of(300, false))).toBe(true)
  expect(alike(of(300), of(1, true))).toBe(true)
  expect(alike(of(300, false), of(1, true))).toBe(false)
  expect(alike(of(300, true), of(1, true))).toBe(true)
  expect(alike(of(300), of(301, false))).toBe(false)
  expect(alike(of(300), null)).toBe(false)
  // A provider that answers for nobody chooses no TTL.
  const plain = (ttl: number) => printOf(rrset('A', ['192.0.2.1'], { ttl, options: { proxied: true } }), exactly)
  expect(alike(plain(300), plain(301))).toBe(false)
  expect(alike(null, null)).toBe(true)
})
