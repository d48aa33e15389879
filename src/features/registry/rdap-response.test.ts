import { describe, expect, test } from 'bun:test'
import { readRdap } from './rdap-response'

const now = Date.parse('2026-11-27T10:00:00Z')
const example = {
  objectClassName: 'domain',
  ldhName: 'EXAMPLE.COM',
  status: ['client transfer prohibited', 'auto renew period'],
  events: [
    { eventAction: 'registration', eventDate: '1995-08-14T04:00:00Z' },
    { eventAction: 'expiration', eventDate: '2027-08-13T04:00:00Z' },
    { eventAction: 'last changed', eventDate: '2026-08-14T07:01:44Z' },
  ],
  entities: [
    { objectClassName: 'entity', roles: ['abuse'] },
    {
      objectClassName: 'entity',
      roles: ['registrar'],
      publicIds: [{ type: 'IANA Registrar ID', identifier: '376' }],
      vcardArray: [
        'vcard',
        [
          ['version', {}, 'text', '4.0'],
          ['fn', {}, 'text', 'Example Registrar'],
        ],
      ],
    },
  ],
  nameservers: [{ ldhName: 'NS1.EXAMPLE.NET.' }, { ldhName: 'ns1.example.net' }],
  links: [
    { rel: 'self', type: 'application/rdap+json', href: 'https://rdap.example/domain/example.com' },
    { rel: 'related', type: 'application/rdap+json', href: 'https://rdap.registrar.example/domain/EXAMPLE.COM' },
  ],
}
const read = (body: unknown, status = 200, headers: Record<string, string> = {}, isTooLong = false) =>
  readRdap(
    {
      status,
      headers: new Headers({ 'content-type': 'application/rdap+json', ...headers }),
      body: typeof body === 'string' ? new TextEncoder().encode(body) : new TextEncoder().encode(JSON.stringify(body)),
      isTooLong,
    },
    'example.com',
    now,
  )

test('reads a domain', () => {
  expect(read(example)).toEqual({
    state: 'found',
    related: 'https://rdap.registrar.example/domain/EXAMPLE.COM',
    facts: {
      statuses: ['client transfer prohibited', 'auto renew period'],
      registered_at: Date.parse('1995-08-14T04:00:00Z'),
      expires_at: Date.parse('2027-08-13T04:00:00Z'),
      registrar_expires_at: null,
      changed_at: Date.parse('2026-08-14T07:01:44Z'),
      registrar: { name: 'Example Registrar', iana_id: 376 },
      nameservers: ['ns1.example.net'],
    },
  })
})

test('a domain without details is found', () => {
  expect(read({ objectClassName: 'domain', ldhName: 'example.com' })).toMatchObject({
    state: 'found',
    facts: { statuses: [], expires_at: null, registrar: null, nameservers: [] },
  })
})

test('names of others are shown as a single line, and name servers have hostnames', () => {
  const fn = ['fn', {}, 'text', 'Example\u0000\r\n\u202eRegistrar\ud800']
  const entities = [{ roles: ['registrar'], vcardArray: ['vcard', [fn]] }]
  const nameservers = ['ns1.example.net', 'ns1', 'a b.example', '<b>.example', 'x\u0000.example', `${'a.'.repeat(130)}a`]
  expect(read({ ...example, entities, nameservers: nameservers.map(ldhName => ({ ldhName })) })).toMatchObject({
    facts: { registrar: { name: 'Example Registrar\ufffd', iana_id: null }, nameservers: ['ns1.example.net'] },
  })
})

describe('dates', () => {
  const ends = (...dates: string[]) => {
    const reading = read({ ...example, events: dates.map(eventDate => ({ eventAction: 'expiration', eventDate })) })
    return reading.state === 'found' ? reading.facts.expires_at : 'not found'
  }
  test('the same one twice is one, two different ones are none', () => {
    expect(ends('2027-08-13T04:00:00Z', '2027-08-13T04:00:00Z')).toBe(Date.parse('2027-08-13T04:00:00Z'))
    expect(ends('2027-08-13T04:00:00Z', '2028-08-13T04:00:00Z')).toBeNull()
    expect(ends('2027-08-13T04:00:00Z', '2028-08-13T04:00:00Z', '2028-08-13T04:00:00Z')).toBeNull()
  })
  test('years 1 and 9999 are none', () => {
    expect(ends('0001-01-01T00:00:00Z')).toBeNull()
    expect(ends('9999-12-31T23:59:59Z')).toBeNull()
  })
})

test('a name is absent with 404 or a status that says so', () => {
  expect(read({ errorCode: 404 }, 404).state).toBe('absent')
  expect(read('', 404).state).toBe('absent')
  for (const status of ['free', 'Available', 'release process - waiting'])
    expect(read({ ...example, status: [status] }).state).toBe('absent')
})

test('the status that says so is quoted, up to 200 characters', () => {
  const long = `release process ${'x'.repeat(10_000)}`
  const quoted = (status: string[]) => read({ ...example, status })
  expect(quoted(['locked', 'free'])).toEqual({ state: 'absent', detail: 'The status of the domain is “free”.' })
  expect(quoted(['x'.repeat(10_000), long])).toEqual({
    state: 'absent',
    detail: `The status of the domain is “${long.slice(0, 200)}”.`,
  })
})

test.each<[string, unknown, number, Record<string, string>]>([
  ['a web page', '<html>Not found</html>', 404, { 'content-type': 'text/html; charset=utf-8' }],
  ['HTML', '<html></html>', 200, {}],
  ['an array', [example], 200, {}],
  ['null', null, 200, {}],
  ['nothing', '', 200, {}],
  ['40 levels', '['.repeat(40) + ']'.repeat(40), 200, {}],
  ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000), 200, {}],
  ['another name', { ...example, ldhName: 'example.net' }, 200, {}],
  ['an entity', { ...example, objectClassName: 'entity' }, 200, {}],
  ['another encoding', '\u0000{\u0000}', 200, {}],
  ['a bad request', {}, 400, {}],
  ['a server error', example, 500, {}],
  ['another success', example, 206, {}],
])('%s is unknown', (_, body, status, headers) => {
  expect(read(body, status, headers).state).toBe('unknown')
})

test('members of the wrong type are ignored', () => {
  for (const wrong of [1, 'x', null, [[]], {}, [null], [1], ['x'], [{}]])
    expect(read({ ...example, status: wrong, events: wrong, entities: wrong, nameservers: wrong, links: wrong }).state).toBe(
      'found',
    )
})

test('a response that is too long is unknown', () => {
  expect(read(example, 200, {}, true).state).toBe('unknown')
})

test('a server that refuses queries says for how long', () => {
  expect(read({}, 429, { 'retry-after': '30' })).toMatchObject({ state: 'unknown', isThrottled: true, retryAfterMs: 30_000 })
  expect(read({}, 503)).toMatchObject({ isThrottled: true, retryAfterMs: null })
  expect(read({}, 502)).toMatchObject({ isThrottled: false })
})
