import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { listen } from '../../src/hub/listen'
import { world } from '../support/world'
import { sendRaw } from './raw-connection'

// Invalid HTTP, sent to a listening hub. BAILIWICK_TEST_REQUESTS and BAILIWICK_TEST_SEED as in requests.test.ts.
const runs = Math.ceil(Number(process.env.BAILIWICK_TEST_REQUESTS ?? 1_500) / 15)
const seed = Number(process.env.BAILIWICK_TEST_SEED ?? 20_261_121)

const { hub, app, acme } = await world({
  BAILIWICK_ANONYMOUS_PER_MINUTE: '1000000',
  BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
})
const listening = listen(app, { ...hub.config, listen: { host: '127.0.0.1', port: 0 } })
const port = listening.server().port!
afterAll(() => listening.server().stop(true))

const auth = `Authorization: Bearer ${acme.token}\r\n`
const head = (line: string, headers = '') => `${line} HTTP/1.1\r\nHost: localhost:${port}\r\n${auth}${headers}\r\n`
const body = (name: string) => JSON.stringify({ name, permissions: ['dns.read'] })
const post = (name: string, headers = '') =>
  head('POST /v1/tokens', `Content-Type: application/json\r\nContent-Length: ${body(name).length}\r\n${headers}`) + body(name)
const createdNames = async () =>
  (await acme.call('GET', '/v1/tokens?limit=100&q=wire')).body.data.map((one: { name: string }) => one.name)

test('a request that arrives in pieces is one request', async () => {
  const whole = post('wire pieces', 'Connection: close\r\n')
  const pieces = [whole.slice(0, 3), whole.slice(3, 60), whole.slice(60, -10), whole.slice(-10)]
  expect((await sendRaw(port, pieces, 30)).statuses).toEqual([201])
  expect(await createdNames()).toEqual(['wire pieces'])
})

// Bun closes a connection if a request arrives before the response to the previous one, unless that response is immediate.
test('pipelined requests get responses in order, or the connection is closed', async () => {
  const { statuses, closed } = await sendRaw(port, [
    head('GET /v1/limits') +
      head('GET /v1/nowhere') +
      head('GET /v1/tokens?limit=0') +
      head('GET /v1/plans', 'Connection: close\r\n'),
  ])
  expect(statuses).toEqual([200, 404, 400, 200].slice(0, statuses.length))
  expect(closed).toBe(true)
})

test('a body with two lengths has no effect and can’t smuggle a second request', async () => {
  const smuggled = head('DELETE /v1/sessions')
  const framings = [
    `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`,
    `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n`,
    `Content-Length: 4\r\nContent-Length: 40\r\n`,
    `Transfer-Encoding: chunked, identity\r\nContent-Length: 4\r\n`,
    `Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n`,
    `Content-Length: +4\r\n`,
    `Content-Length: 0x4\r\n`,
    `Content-Length: 4, 4\r\n`,
    `Content-Length : 4\r\n`,
    `Content-Length: -1\r\n`,
  ]
  for (const framing of framings) {
    const sent = head('POST /v1/tokens', `Content-Type: application/json\r\n${framing}`) + `0\r\n\r\n${smuggled}`
    const { statuses } = await sendRaw(port, [sent], 0, 300)
    expect([framing, statuses.length <= 1, statuses.every(one => one >= 400 && one < 500)]).toEqual([framing, true, true])
  }
})

test('a body that never arrives does not block other requests', async () => {
  const slow = sendRaw(
    port,
    [head('POST /v1/tokens', 'Content-Type: application/json\r\nContent-Length: 50\r\n'), '{"na'],
    200,
    200,
  )
  expect((await sendRaw(port, [head('GET /v1/limits', 'Connection: close\r\n')])).statuses).toEqual([200])
  expect((await slow).statuses).toEqual([])
})

const anything = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map(one => String.fromCharCode(one)), maxLength: 40 })
const firstLine = fc.oneof(
  fc.constantFrom('GET /v1/tokens HTTP/1.1\r\n', 'POST /v1/tokens HTTP/1.1\r\n', 'PATCH /v1/tokens/x HTTP/1.1\r\n'),
  fc.constantFrom(
    'GET http://other.example/v1/limits HTTP/1.1\r\n',
    'GET * HTTP/1.1\r\n',
    'GET //v1/tokens HTTP/1.1\r\n',
    'CONNECT x:1 HTTP/1.1\r\n',
    'GET /v1/limits HTTP/1.0\r\n',
    'GET /v1/limits HTTP/9.9\r\n',
    'GET /v1/limits\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'get /v1/limits HTTP/1.1\r\n',
    'GET /v1/tokens/\0 HTTP/1.1\r\n',
    'GET /v1/tokens?q=\xff HTTP/1.1\r\n',
    'GET /v1/tokens#x HTTP/1.1\r\n',
    'GET  /v1/tokens  HTTP/1.1\r\n',
    `GET /v1/tokens?q=${'x'.repeat(30_000)} HTTP/1.1\r\n`,
  ),
  anything,
)
const header = fc.oneof(
  fc.constantFrom('Host: localhost\r\n', auth, 'Content-Type: application/json\r\n', 'Content-Length: 2\r\n'),
  fc.constantFrom(
    'Host: \r\n',
    'Host: a b\r\n',
    'Host: [::1\r\n',
    'Host: x:99999\r\n',
    'Content-Length: 99999999999999999999\r\n',
    'Content-Length: 1\r\n',
    'Content-Length:\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding:\tchunked\r\n',
    'Expect: 100-continue\r\n',
    'Expect: nothing\r\n',
    'Connection: close\r\n',
    'Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n',
    'X: a\r\n folded\r\n',
    'X\x00: a\r\n',
    'X: \x00\r\n',
    'X: a\nY: b\r\n',
    ': nothing\r\n',
    'If-Match: \xff\xfe\r\n',
    'Cookie: bailiwick=\r\n',
    'X-Forwarded-For: ,,,\r\n',
    `X: ${'x'.repeat(20_000)}\r\n`,
    'A: b\r\n'.repeat(300),
  ),
  anything,
)
const rest = fc.oneof(
  fc.constantFrom('\r\n', '\r\n{}', '\r\n2\r\n{}\r\n0\r\n\r\n', '\r\nffffffffffffffff\r\n', '\r\n-1\r\n', '\r\n0\r\n\r\n', '\n'),
  fc.constantFrom('', '\r\n2;ext=1\r\n{}\r\n0\r\nTrailer: x\r\n\r\n', '\r\n2\r\n{}0\r\n\r\n', '\r\n2\n{}\n0\n\n'),
  anything.map(one => `\r\n${one}`),
)
const junk = fc
  .tuple(firstLine, fc.constantFrom('Host: localhost\r\n', ''), fc.array(header, { maxLength: 5 }), rest)
  .map(([line, host, headers, end]) => [line, host, ...headers, end])

test('no input makes the hub fail or block other requests', async () => {
  await fc.assert(
    fc.asyncProperty(junk, fc.boolean(), async (pieces, inPieces) => {
      const bytes = pieces.map(one => Buffer.from(one, 'latin1'))
      const { statuses, text } = await sendRaw(port, inPieces ? bytes : [Buffer.concat(bytes)], inPieces ? 2 : 0, 40)
      expect(statuses.filter(one => one >= 500 && one !== 505)).toEqual([])
      expect(text).not.toContain(acme.token)
    }),
    { seed, numRuns: runs },
  )
  const { statuses } = await sendRaw(port, [head('GET /healthz', 'Connection: close\r\n')])
  expect(statuses).toEqual([200])
}, 3_600_000)
