import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reading } from './reading'
import { icannForm, whoisForms } from './whois-forms'
import { readWhois, whoisText } from './whois-response'

const folder = join(import.meta.dir, '../../../test/fixtures/whois')
const fixture = (tld: string, part: 'free' | 'registered'): Uint8Array => {
  const text = readFileSync(join(folder, `${tld}.txt`), 'utf8')
  return new TextEncoder().encode(text.split('### registered\n')[part === 'free' ? 0 : 1]!.replace('### free\n', ''))
}
const bytes = (text: string) => new TextEncoder().encode(text)
const read = (tld: string, text: string): Reading => readWhois(bytes(text), whoisForms[tld]!, `example.${tld}`)

/** The end of each registered example; null if the registry doesn’t publish it. */
const ends: Record<string, string | null> = {
  ...{ ac: '2027-05-28T22:09:44', co: '2027-05-28T22:09:44', io: '2027-05-28T22:09:44', sh: '2027-05-28T22:09:44' },
  ...{ us: '2027-05-28T22:09:44', ie: '2027-05-28T22:09:44', me: '2027-06-13T17:17:40' },
  ...{ at: null, be: null, de: null, eu: null, hu: null, lu: null, lv: null },
  ...{ dk: '2027-03-31', ee: '2027-02-04', hk: '2027-03-31', it: '2027-04-21', jp: '2027-05-31', kr: '2027-03-02' },
  ...{ lt: '2027-06-07', mx: '2027-05-11', nu: '2027-10-20', se: '2027-10-20', ro: '2027-09-17', sk: '2027-07-24' },
  ...{ tr: '2027-08-22', pt: '2027-02-28T23:59:00', cn: '2027-03-17T04:48:36', cl: '2027-11-20T17:48:02' },
  ...{ ru: '2027-03-04T21:00:00', su: '2027-03-04T21:00:00', 'xn--p1ai': '2027-03-04T21:00:00' },
}

test('each form has a fixture', () => {
  const fixtures = readdirSync(folder).map(file => file.replace('.txt', ''))
  expect(fixtures.toSorted()).toEqual(Object.keys(whoisForms).toSorted())
  expect(Object.keys(ends).toSorted()).toEqual(Object.keys(whoisForms).toSorted())
})

describe.each(Object.keys(whoisForms))('.%s', tld => {
  const name = `example.${tld}`
  test('a name that is not registered is absent', () => {
    expect(readWhois(fixture(tld, 'free'), whoisForms[tld]!, name).state).toBe('absent')
  })
  test('a registered name is found, with its end', () => {
    const reading = readWhois(fixture(tld, 'registered'), whoisForms[tld]!, name)
    if (reading.state !== 'found') throw new Error(JSON.stringify(reading))
    const end = ends[tld]!
    expect(reading.facts.expires_at).toBe(end === null ? null : Date.parse(end.length === 10 ? end : `${end}Z`))
  })
  test('a response about another name says nothing', () => {
    expect(readWhois(fixture(tld, 'registered'), whoisForms[tld]!, `other.${tld}`).state).toBe('unknown')
  })
  test('a line of the registry that a registrant wrote into a field says nothing', () => {
    const registered = whoisText(fixture(tld, 'registered'))
    for (const free of whoisForms[tld]!.free) {
      const line = free.replace('{name}', name)
      expect(read(tld, `${registered}\nremarks: ${line}\n`).state).not.toBe('absent')
      expect(read(tld, `${registered}\n% Names that are ${line} may still be reserved.\n`).state).not.toBe('absent')
      if (!/^status:/i.test(line)) expect(read(tld, `${registered}\n${line}\n`).state).toBe('unknown')
    }
  })
})

test('reads the facts of the ICANN form', () => {
  const reading = readWhois(fixture('io', 'registered'), icannForm, 'example.io')
  expect(reading).toMatchObject({
    facts: {
      statuses: ['client transfer prohibited'],
      registered_at: Date.parse('2010-05-28T22:09:44Z'),
      changed_at: Date.parse('2026-05-27T07:30:51Z'),
      registrar: { name: 'Example Registrar LLC', iana_id: 9999 },
      nameservers: ['ns1.example.net', 'ns2.example.net'],
    },
  })
})

test('reads the end of a name below co.jp', () => {
  const text =
    'Domain Information:\na. [Domain Name]                EXAMPLE.CO.JP\n[State]                         Connected (2027/03/31)\n'
  expect(readWhois(bytes(text), whoisForms['jp']!, 'example.co.jp')).toMatchObject({
    state: 'found',
    facts: { expires_at: Date.parse('2027-03-31') },
  })
})

test('two different ends are none', () => {
  expect(read('lt', 'Domain: example.lt\nStatus: registered\nExpires: 2027-06-07\nExpires: 2028-06-07\n')).toMatchObject({
    state: 'found',
    facts: { expires_at: null },
  })
})

test.each([
  ['de', '% Error: 55000000002 Connection refused; access control limit exceeded.\n'],
  ['com', 'WHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS\r\n'],
  ['eu', 'Your quota for today is used.\n'],
  ['be', '% Excessive querying, grace period of 30 seconds.\n% Too many requests\n'],
])('a refusal of .%s closes the server', (_, text) => {
  expect(readWhois(bytes(text), icannForm, 'example.com')).toMatchObject({ state: 'unknown', isThrottled: true })
})

test.each([
  '',
  '\n\r\n  \n',
  'Hello',
  '<html>No match!!</html>',
  'x'.repeat(65_536),
  ': '.repeat(30_000),
  'D\u0000o\u0000m\u0000a\u0000i\u0000n',
])('a response without the form of the registry says nothing', text => {
  expect(readWhois(bytes(text), icannForm, 'example.com').state).toBe('unknown')
})

test('text that is not UTF-8 is Latin-1', () => {
  const latin = Uint8Array.from([...'Nincs tal\u00e1lat / No match\n'].map(char => char.charCodeAt(0)))
  expect(readWhois(latin, whoisForms['hu']!, 'example.hu').state).toBe('absent')
  const utf16 = new Uint8Array(Buffer.from('Status: free\n', 'utf16le'))
  expect(readWhois(utf16, whoisForms['de']!, 'example.de').state).toBe('unknown')
})
