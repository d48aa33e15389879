import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { world } from '../support/world'

// The tests send hundreds of unauthenticated requests, and the clock stands still.
const { acme, anonymous } = await world({
  BAILIWICK_ANONYMOUS_PER_MINUTE: '1000000',
  BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
})

test('a path with NUL or invalid encoding is not found', async () => {
  for (const id of ['%00', 'a%00b', '%zz', '%', '%ED%A0%80']) {
    const answer = await acme.call('GET', `/v1/tokens/${id}`)
    expect([id, answer.status, answer.body.code]).toEqual([id, 404, 'not_found'])
  }
})

test('NUL in a query parameter is rejected with the name of the parameter', async () => {
  for (const query of ['q=%00', 'q=a%00b']) {
    const answer = await acme.call('GET', `/v1/tokens?${query}`)
    const { code, errors } = answer.body
    expect([query, answer.status, code, errors[0].pointer]).toEqual([query, 400, 'invalid_parameter', '#/query/q'])
  }
})

test('NUL or half a surrogate pair in a body is rejected with a pointer', async () => {
  const login = await anonymous.call('POST', '/v1/sessions', { email: 'a\0@example.com', password: 'x' })
  expect([login.status, login.body.errors]).toEqual([422, [expect.objectContaining({ pointer: '#/email', code: 'character' })]])
  const half = await acme.call('POST', '/v1/tokens', '{"name":"\\ud800","permissions":["dns.read"]}')
  expect([half.status, half.body.errors[0].pointer]).toEqual([422, '#/name'])
  const deep = await acme.call('POST', '/v1/tokens', { name: 'x', permissions: ['dns.read', 'dns\0'] })
  expect([deep.status, deep.body.errors[0].pointer]).toEqual([422, '#/permissions/1'])
  const member = await acme.call('POST', '/v1/tokens', '{"name":"x","a\\u0000/b":1}')
  expect([member.status, member.body.errors[0].pointer]).toEqual([422, '#/a\0~1b'])
  expect((await acme.call('POST', '/v1/tokens', { name: '\u202enaïve 🜁', permissions: ['dns.read'] })).status).toBe(201)
})

/** Texts that often cause errors: NUL, halves of surrogate pairs, direction marks, wildcards, long texts. */
const piece = fc.oneof(
  fc.constantFrom(
    '\0',
    '\ud800',
    '\udc00',
    '\u202e',
    '\u200f',
    '\ufeff',
    '%',
    '_',
    '\\',
    "'",
    '"',
    '%00',
    '\\u0000',
    '\n',
    '\u007f',
    '🜁',
    'ß',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
)
const hostile = fc.oneof(
  { weight: 5, arbitrary: fc.array(piece, { maxLength: 12 }).map(parts => parts.join('')) },
  {
    weight: 1,
    arbitrary: fc.tuple(piece, fc.integer({ min: 1000, max: 20_000 })).map(([part, n]) => part.repeat(n).slice(0, 20_000)),
  },
)
const encoded = (text: string) => encodeURIComponent(text.toWellFormed())

const requests: [name: string, send: (text: string) => Promise<{ status: number }>][] = [
  ['path', text => acme.call('GET', `/v1/tokens/x${encoded(text)}`)],
  ['path of a write', text => acme.call('DELETE', `/v1/tokens/x${encoded(text)}`)],
  ['search', text => acme.call('GET', `/v1/workspaces?q=${encoded(text)}`)],
  ['filter', text => acme.call('GET', `/v1/audit-events?target_id=${encoded(text)}&action=${encoded(text)}`)],
  ['cursor', text => acme.call('GET', `/v1/tokens?cursor=${encoded(text)}`)],
  ['name of a parameter', text => acme.call('GET', `/v1/tokens?${encoded(text)}=1`)],
  ['member', text => acme.call('POST', '/v1/tokens', { name: text, permissions: ['dns.read'] })],
  ['name of a member', text => acme.call('POST', '/v1/tokens', { name: 'x', permissions: ['dns.read'], [text]: text })],
  ['name that is unique', text => acme.call('POST', '/v1/workspaces', { name: text })],
  ['reference', text => acme.call('POST', '/v1/workspaces', { name: 'x', plan: text })],
  [
    'login',
    text =>
      anonymous.call('POST', '/v1/setup', {
        token: text,
        email: `${text}@example.com`,
        password: `${text}0123456789`,
        name: text,
      }),
  ],
]

test.each(requests)(
  'no text as %s causes a server error',
  async (_, send) => {
    await fc.assert(
      fc.asyncProperty(hostile, async text => {
        expect((await send(text)).status).toBeLessThan(500)
      }),
      { numRuns: 60 },
    )
  },
  180_000,
)

test('no email address causes a server error at sign-in', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async text => {
      const login = { email: `${text.slice(0, 200)}@example.com`, password: text.slice(0, 900) || 'x' }
      const answer = await anonymous.call('POST', '/v1/sessions', login)
      expect([401, 422]).toContain(answer.status)
    }),
    { numRuns: 25 },
  )
}, 180_000)

test('query parameters named like properties of every object are unknown', async () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const { status, body } = await acme.call('GET', `/v1/tokens?${name}=1`)
    expect([name, status, body.code, body.errors[0].pointer]).toEqual([name, 400, 'unknown_parameter', `#/query/${name}`])
  }
})

test('the length of a text is counted in characters, including those outside the BMP', async () => {
  const named = (name: string) => acme.call('POST', '/v1/tokens', { name, permissions: ['dns.read'] })
  expect((await named('🜁'.repeat(100))).body.name).toBe('🜁'.repeat(100))
  const long = await named('🜁'.repeat(101))
  expect([long.status, long.body.errors]).toEqual([422, [expect.objectContaining({ pointer: '#/name', code: 'too_long' })]])
  const tokens = (text: string) => acme.call('GET', `/v1/tokens?q=${encodeURIComponent(text)}`)
  expect([(await tokens('🜁'.repeat(100))).status, (await tokens('🜁'.repeat(101))).status]).toEqual([200, 400])
})
