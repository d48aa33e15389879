import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { createServer as createSecure } from 'node:https'
import { createServer as createPlain, connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { CheckInputRefused, type Facts } from '../../src/checks/check'
import { http } from '../../src/checks/http'
import type { HttpOptions } from '../../src/checks/http/options'
import { version } from '../../src/core/version'
import { around } from '../support/around'

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
const ca = fixture('ca.pem')
const shown = (name: string) => ({ key: fixture(`${name}.key`), cert: fixture(`${name}.pem`) })

const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

type Answer = (request: IncomingMessage & { text: string }, response: ServerResponse) => void
interface Served {
  port: number
  /** All requests, in order: `GET /path`. */
  asked: string[]
  headers: IncomingMessage['headers'][]
}

function listening(server: {
  listen: Server['listen']
  on: Function
  close: Function
  address: Server['address']
}): Promise<number> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
  })
  stops.push(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

async function served(answer: Answer, secure = false): Promise<Served> {
  const asked: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    asked.push(`${request.method} ${request.url}`)
    headers.push(request.headers)
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => answer(Object.assign(request, { text: Buffer.concat(chunks).toString() }), response))
  }
  const server = secure ? createSecure({ ...shown('two-names') }, listener as never) : createServer(listener)
  return { port: await listening(server), asked, headers }
}

/** A server that says these octets to whoever connects and asks something, and then hangs up. */
const says = (text: string | Buffer, hangsUp = true) =>
  listening(
    createPlain(socket => {
      socket.once('data', () => (hangsUp ? socket.end(text) : socket.write(text)))
    }),
  )

const run = (url: string, options: HttpOptions = {}, given: Parameters<typeof around>[0] = {}): Promise<Facts> =>
  http.run(http.target(url), { ca, ...options }, around(given))
const at = (port: number, path = '/', host = 'a.test') => `http://${host}:${port}${path}`

describe('the request', () => {
  test('has method, body, its kind, headers and a name of its own', async () => {
    let text = ''
    const server = await served((request, response) => {
      text = request.text
      response.end('ok')
    })
    const facts = await run(at(server.port, '/x?y=1'), {
      method: 'POST',
      body: '{"a":1}',
      body_encoding: 'json',
      headers: { 'X-One': '1', accept: 'text/plain' },
      secret_headers: { 'X-Key': 'changeme-key' },
    })
    expect(facts).toMatchObject({ error: null, status: 200, body: 'ok', connected: true, address: '127.0.0.1' })
    expect(facts.request).toBe(`POST http://a.test:${server.port}/x?y=1`)
    expect(server.asked).toEqual(['POST /x?y=1'])
    expect(text).toBe('{"a":1}')
    expect(server.headers[0]).toMatchObject({
      host: `a.test:${server.port}`,
      'user-agent': `Bailiwick/${version} (+monitor)`,
      'content-type': 'application/json',
      'content-length': '7',
      'x-one': '1',
      'x-key': 'changeme-key',
      accept: 'text/plain',
      connection: 'close',
    })
  })

  test('is a new one for caches when it is to be', async () => {
    const server = await served((_, response) => response.end())
    await run(at(server.port, '/?a=b'), { cache_bust: true })
    await run(at(server.port, '/?a=b'), { cache_bust: true })
    expect(server.asked[0]).toMatch(/^GET \/\?a=b&bailiwick_check=[0-9a-f]{16}$/)
    expect(server.asked[0]).not.toBe(server.asked[1])
  })

  test('leaves the rest of the query as it was written', async () => {
    const server = await served((_, response) => response.end())
    await run(at(server.port, '/a?wsdl&b=c%20d'), { cache_bust: true })
    await run(at(server.port, '/a'), { cache_bust: true })
    expect(server.asked[0]).toMatch(/^GET \/a\?wsdl&b=c%20d&bailiwick_check=[0-9a-f]{16}$/)
    expect(server.asked[1]).toMatch(/^GET \/a\?bailiwick_check=[0-9a-f]{16}$/)
  })

  test('has the Content-Type that was given where it has no body, unless a redirect took the body away', async () => {
    const server = await served((request, response) => {
      if (request.url === '/once') response.writeHead(303, { location: '/' })
      response.end()
    })
    const headers = { 'Content-Type': 'application/json' }
    await run(at(server.port), { headers })
    await run(at(server.port, '/once'), { headers, method: 'POST', body: '{}' })
    expect(server.headers.map(one => one['content-type'])).toEqual(['application/json', 'application/json', undefined])
  })

  test('carries Basic and Bearer credentials', async () => {
    const server = await served((_, response) => response.end())
    await run(at(server.port), { auth: { type: 'basic', username: 'probe', password: 'changeme' } })
    await run(at(server.port), { auth: { type: 'bearer', token: 'changeme-token' } })
    expect(server.headers.map(one => one.authorization)).toEqual([`Basic ${btoa('probe:changeme')}`, 'Bearer changeme-token'])
  })
})

describe('the status', () => {
  const server = served((request, response) => {
    response.statusCode = Number(request.url!.slice(1))
    response.end()
  })
  test.each<[number, string[] | undefined, string | null]>([
    [200, undefined, null],
    [204, undefined, null],
    [299, undefined, null],
    [404, undefined, 'HTTP 404 where 200-299 is accepted'],
    [503, ['200-299', '401'], 'HTTP 503 where 200-299, 401 are accepted'],
    [401, ['200-299', '401'], null],
    [200, ['418'], 'HTTP 200 where 418 is accepted'],
    [304, ['300-399'], null],
  ])('%d where %p is accepted', async (status, accepted, message) => {
    const facts = await run(at((await server).port, `/${status}`), accepted ? { accepted_status: accepted } : {})
    expect(facts.status).toBe(status)
    expect(facts.error).toEqual(message === null ? null : { kind: 'status', message })
  })

  test('turned upside down is well where it would be down', async () => {
    const { port } = await server
    expect((await run(at(port, '/503'), { invert: true })).error).toBeNull()
    expect((await run(at(port, '/200'), { invert: true })).error).toEqual({
      kind: 'status',
      message: 'HTTP 200 where a failure is expected',
    })
    expect((await run(at(port), { invert: true }, { policy: { allowPrivate: false } })).error!.kind).toBe('blocked_address')
  })
})

describe('redirects', () => {
  const server = served((request, response) => {
    const step = Number(/^\/step\/(\d+)/.exec(request.url!)?.[1] ?? 0)
    if (step > 0) response.writeHead(302, { location: `/step/${step - 1}` })
    response.end('there')
  })

  test('are followed to the last, and times of all are counted', async () => {
    const facts = await run(at((await server).port, '/step/5'))
    expect(facts).toMatchObject({ error: null, status: 200, body: 'there' })
    expect(facts.request).toEndWith('/step/0')
  })

  test('end after as many as are allowed', async () => {
    const { port } = await server
    expect((await run(at(port, '/step/6'))).error).toEqual({ kind: 'redirects', message: 'more than 5 redirects' })
    expect((await run(at(port, '/step/1'), { max_redirects: 0 })).error).toEqual({
      kind: 'redirects',
      message: 'more than 0 redirects',
    })
    expect((await run(at(port, '/step/10'), { max_redirects: 10 })).error).toBeNull()
  })

  test('are the answer where they are not followed', async () => {
    const { port } = await server
    expect((await run(at(port, '/step/1'), { follow_redirects: false })).error).toEqual({
      kind: 'status',
      message: 'HTTP 302 where 200-299 is accepted',
    })
    expect((await run(at(port, '/step/1'), { follow_redirects: false, accepted_status: ['302'] })).error).toBeNull()
  })

  test.each([
    [301, 'GET', ''],
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', 'form=1'],
    [308, 'POST', 'form=1'],
  ])('by %d turn a POST into a %s', async (status, method, body) => {
    const texts: string[] = []
    const one = await served((request, response) => {
      texts.push(request.text)
      if (request.url === '/') response.writeHead(status, { location: '/next' })
      response.end()
    })
    await run(at(one.port), { method: 'POST', body: 'form=1', body_encoding: 'form' })
    expect(one.asked).toEqual(['POST /', `${method} /next`])
    expect(texts).toEqual(['form=1', body])
    expect(one.headers[1]!['content-type']).toBe(body ? 'application/x-www-form-urlencoded' : undefined)
  })

  test('to another origin carry no credentials, no secret header and no cookie of the first', async () => {
    const elsewhere = await served((_, response) => response.end())
    const first = await served((_, response) => {
      response.writeHead(302, { location: `http://user:pw@b.test:${elsewhere.port}/in?ticket=1`, 'set-cookie': 'session=1' })
      response.end()
    })
    const facts = await run(at(first.port), {
      auth: { type: 'basic', username: 'probe', password: 'changeme' },
      headers: { Authorization: 'changeme-own', Cookie: 'own=1', 'X-Plain': 'kept', Host: 'virtual.test' },
      secret_headers: { 'X-Key': 'changeme-key' },
    })
    expect(first.headers[0]).toMatchObject({ 'x-key': 'changeme-key', host: 'virtual.test' })
    expect(elsewhere.headers[0]).toMatchObject({ 'x-plain': 'kept', host: `b.test:${elsewhere.port}` })
    for (const name of ['authorization', 'cookie', 'x-key']) expect(elsewhere.headers[0]).not.toHaveProperty(name)
    expect(facts.request).toBe(`GET http://b.test:${elsewhere.port}/in?...`)
  })

  test('carry cookies that were set on the way, and not where they are unwanted', async () => {
    const one = await served((request, response) => {
      if (request.url === '/')
        response.writeHead(
          302,
          [
            ['location', '/in'],
            ['set-cookie', 'a=1; Path=/'],
            ['set-cookie', 'b=2'],
          ].flat(),
        )
      response.end()
    })
    await run(at(one.port), { headers: { cookie: 'own=0' } })
    await run(at(one.port), { cookies: false })
    expect(one.headers.map(headers => headers.cookie)).toEqual(['own=0', 'own=0; a=1; b=2', undefined, undefined])
  })

  test('lead where a URL in UTF-8 says', async () => {
    const port = await says('HTTP/1.1 302 Found\r\nLocation: /gr\u00fc\u00dfe\r\nContent-Length: 0\r\n\r\n')
    const facts = await run(at(port), { max_redirects: 1 })
    expect(facts.request).toBe(`GET http://a.test:${port}/gr%C3%BC%C3%9Fe`)
  })

  test('to an address that is closed, another scheme or nowhere are refused', async () => {
    const one = await served((request, response) => {
      response.writeHead(302, { location: decodeURIComponent(request.url!.slice(1)) })
      response.end()
    })
    const to = async (location: string, policy = {}) =>
      (await run(at(one.port, `/${encodeURIComponent(location)}`), {}, { policy })).error
    expect(await to('http://169.254.169.254/latest/meta-data')).toMatchObject({ kind: 'blocked_address' })
    expect(await to('http://b.test/', { allowPrivate: false, allowRanges: ['a.test'] })).toMatchObject({
      kind: 'blocked_address',
    })
    expect(await to('file:///etc/passwd')).toEqual({ kind: 'redirects', message: 'redirected to a URL of the scheme file' })
    expect(await to('http://[')).toEqual({ kind: 'redirects', message: 'redirected to what is no URL' })
    expect(await to('http://unknown.test/')).toMatchObject({ kind: 'dns' })
  })
})

describe('the body', () => {
  const codings: [string, (octets: Buffer) => Uint8Array][] = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['identity', octets => octets],
  ]
  test.each(codings)('is decoded from %s', async (coding, coded) => {
    const one = await served((_, response) => {
      response.writeHead(200, { 'content-encoding': coding })
      response.end(coded(Buffer.from('well ✓')))
    })
    expect((await run(at(one.port))).body).toBe('well ✓')
  })

  test('that stands for far more than is read is read no further', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024))
    const one = await served((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(bomb)
    })
    const facts = await run(at(one.port), { body_limit_bytes: 100_000 })
    expect(facts).toMatchObject({ error: null, status: 200 })
    expect(facts.body!.length).toBe(100_000)
  })

  test('that is not what its header says, or coded otherwise, is wrong', async () => {
    const one = await served((request, response) => {
      response.writeHead(200, { 'content-encoding': request.url!.slice(1) })
      response.end('plain')
    })
    const content = (message: string) => ({ kind: 'content' as const, message })
    expect((await run(at(one.port, '/gzip'))).error).toEqual(content('the body is not the gzip that its header says'))
    expect((await run(at(one.port, '/lzma'))).error).toEqual(content('the body is coded as lzma, which was not asked for'))
    expect((await run(at(one.port, '/gzip,gzip,gzip'))).error).toEqual(content('the body is coded more than twice'))
  })

  test.each(codings)('in %s is read to the limit of its decoded form', async (coding, coded) => {
    const text = Array.from({ length: 500 }, (_, at) => `line ${at}\n`).join('')
    const one = await served((_, response) => {
      response.writeHead(200, { 'content-encoding': coding })
      response.end(coded(Buffer.from(text)))
    })
    expect(await run(at(one.port), { body_limit_bytes: 40 })).toMatchObject({ error: null, body: text.slice(0, 40) })
  })

  test.each([
    ['HEAD', '200 OK'],
    ['GET', '204 No Content'],
    ['GET', '304 Not Modified'],
  ])('is not looked for in an answer to %s of %s, though the server sends one', async (method, status) => {
    const port = await says(`HTTP/1.1 ${status}\r\nContent-Length: 5\r\n\r\nhello`)
    const facts = await run(at(port), { method, accepted_status: [status.slice(0, 3)] })
    expect(facts).toMatchObject({ error: null, body: '' })
  })

  test('holds nothing of a password that was sent by Basic, not its first character either', async () => {
    const one = await served((request, response) => response.end(request.headers.authorization))
    for (const username of ['u', 'ab', 'abc'])
      expect((await run(at(one.port), { auth: { type: 'basic', username, password: 'changeme-9f2c41' } })).body).toBe(
        'Basic [secret]',
      )
  })

  test('that is cut holds no beginning of a secret', async () => {
    const one = await served((request, response) => response.end(`sent: ${request.headers['x-key']}`))
    const ask = (limit: number) =>
      run(at(one.port), { body_limit_bytes: limit, secret_headers: { 'X-Key': 'changeme-9f2c41' } }).then(facts => facts.body)
    expect([await ask(20), await ask(10), await ask(8)]).toEqual(['sent: ', 'sent: ', 'sent: ch'])
  })

  test('without end is cut at the limit, and the connection closed', async () => {
    const closed = Promise.withResolvers<void>()
    const one = await served((_, response) => {
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 1)
      response.on('close', () => {
        clearInterval(timer)
        closed.resolve()
      })
    })
    const facts = await run(at(one.port), { body_limit_bytes: 50_000 })
    expect(facts.error).toBeNull()
    expect(facts.body!.length).toBe(50_000)
    await closed.promise
  })

  test('is text of its charset', async () => {
    const one = await served((request, response) => {
      response.writeHead(200, { 'content-type': `text/plain; charset=${request.url!.slice(1)}` })
      response.end(Buffer.from([0xe4]))
    })
    expect((await run(at(one.port, '/iso-8859-1'))).body).toBe('ä')
    expect((await run(at(one.port, '/unknown-set'))).body).toBe('\ufffd')
  })

  test('and headers hold no token that was had for it', async () => {
    const tokens = await served((_, response) => response.end('{"access_token": "changeme-token", "expires_in": 60}'))
    const one = await served((request, response) => {
      response.writeHead(200, { 'x-echo': request.headers.authorization! })
      response.end(JSON.stringify(request.headers))
    })
    const auth = { type: 'oauth2' as const, token_url: at(tokens.port), client_id: 'echo', client_secret: 'changeme-secret' }
    const facts = await run(at(one.port), { auth })
    expect(JSON.stringify(facts)).not.toContain('changeme-token')
    expect(facts.headers!['x-echo']).toBe('Bearer [secret]')
  })
})

describe('what is asked of the answer', () => {
  test('are headers by a pattern', async () => {
    const one = await served((_, response) => {
      response.writeHead(200, { 'content-type': 'Application/JSON; charset=utf-8' })
      response.end()
    })
    const expecting = async (headers: Record<string, string>) => (await run(at(one.port), { expected_headers: headers })).error
    expect(await expecting({ 'Content-Type': 'application/json*' })).toBeNull()
    expect(await expecting({ 'Content-Type': '*json*utf-8' })).toBeNull()
    expect(await expecting({ 'content-type': 'application/json' })).toEqual({
      kind: 'content',
      message: 'the header content-type is not "application/json"',
    })
    expect(await expecting({ 'X-None': '*' })).toEqual({ kind: 'content', message: 'the answer has no header X-None' })
  })

  test('is TLS, or none', async () => {
    const plain = await served((_, response) => response.end())
    const secure = await served((_, response) => response.end(), true)
    expect((await run(at(plain.port), { tls: 'required' })).error!.message).toBe('the answer came without TLS, which is required')
    expect((await run(`https://a.test:${secure.port}/`, { tls: 'required' })).error).toBeNull()
    expect((await run(`https://a.test:${secure.port}/`, { tls: 'forbidden' })).error!.kind).toBe('tls')
  })
})

describe('an answer that is none', () => {
  test.each([
    ['SSH-2.0-OpenSSH_9.2\r\n', 'protocol', 'the answer is not valid HTTP'],
    ['', 'closed', 'the server closed the connection without an answer'],
    [
      `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(300_000)}\r\n\r\n`,
      'protocol',
      'the headers of the answer are larger than is read',
    ],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc',
      'closed',
      'the server closed the connection before its answer was complete',
    ],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'protocol', 'the answer is not valid HTTP'],
  ] as const)('%p', async (text, kind, message) => {
    const facts = await run(at(await says(text)), {}, { withinMs: 5000 })
    expect(facts.error).toEqual({ kind, message })
  })

  test.each([
    ['has many and long headers', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\nok`],
    ['has lines that end in a line feed alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
    ['comes after hints', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ])('is none that %s', async (_, text) => {
    expect(await run(at(await says(text)))).toMatchObject({ error: null, status: 200, body: 'ok' })
  })

  test('but a switch of protocols has nothing to say', async () => {
    const port = await says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n')
    expect((await run(at(port))).error!.kind).toBe('protocol')
  })

  test('is not waited for beyond the limit of time', async () => {
    const facts = await run(at(await says('', false)), {}, { withinMs: 150 })
    expect(facts).toMatchObject({ connected: true, error: { kind: 'timeout', message: 'no answer within the time limit' } })
    expect(facts.phases.connect).not.toBeNull()
    expect(facts.phases.first_byte).toBeNull()
    const half = await run(at(await says('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', false)), {}, { withinMs: 150 })
    expect(half).toMatchObject({ status: 200, error: { kind: 'timeout', message: 'no end of the answer within the time limit' } })
  })
})

describe('HTTP/2', () => {
  test('is spoken over TLS, with the same facts', async () => {
    const server = createSecureServer({ ...shown('two-names'), allowHTTP1: false })
    const heads: Record<string, unknown>[] = []
    server.on('stream', (stream: ServerHttp2Stream, head) => {
      heads.push(head)
      stream.respond({ ':status': 203, 'content-encoding': 'gzip', 'x-a': '1' })
      stream.end(gzipSync('two'))
    })
    server.on('sessionError', () => {})
    const port = await listening(server)
    const facts = await run(`https://a.test:${port}/p?q`, {
      http_version: '2',
      method: 'POST',
      body: 'x',
      auth: { type: 'bearer', token: 'changeme-token' },
    })
    expect(facts).toMatchObject({ error: null, status: 203, body: 'two', headers: { 'x-a': '1' }, tls: { version: '1.3' } })
    expect(facts.phases.first_byte).toBeGreaterThan(0)
    expect(heads[0]).toMatchObject({
      ':method': 'POST',
      ':path': '/p?q',
      ':authority': `a.test:${port}`,
      authorization: 'Bearer changeme-token',
    })
    expect(facts.headers).not.toHaveProperty(':status')
  })

  const frame = (type: number, flags: number, stream: number, ...octets: number[]) =>
    Buffer.from([0, 0, octets.length, type, flags, 0, 0, 0, stream, ...octets])
  const head = frame(1, 4, 1, 0x88)
  const half = frame(0, 0, 1, 0x68, 0x61, 0x6c, 0x66)
  const end = frame(0, 1, 1)
  const reset = (code: number) => frame(3, 0, 1, 0, 0, 0, code)
  const incomplete = 'the server closed the connection before its answer was complete'
  test.each([
    ['that is whole', [head, half, end], null],
    ['that is reset with a reason', [head, half, reset(2)], 'the server broke off the stream before its answer was complete'],
    ['that is reset without one', [head, half, reset(8)], incomplete],
    ['whose connection ends', [head, half], incomplete],
    ['that is reset at once', [reset(0)], 'the server broke off the stream without an answer'],
    ['that is refused', [reset(7)], 'the server broke off the stream without an answer'],
  ])('tells an answer %s from one that is not', async (_, frames, message) => {
    const port = await listening(
      createPlain(socket => {
        let asked = ''
        socket.on('data', octets => {
          if (!asked) socket.write(frame(4, 0, 0))
          asked += octets.toString('latin1')
          // The head of the request is its frame with the end of the stream.
          if (!asked.includes('\x01\x05\0\0\0\x01')) return
          socket.removeAllListeners('data')
          socket.end(Buffer.concat(frames))
        })
      }),
    )
    const { error, body } = await run(at(port), { http_version: '2' }, { withinMs: 5000 })
    expect(error).toEqual(message === null ? null : { kind: 'closed', message })
    if (message === null) expect(body).toBe('half')
  })

  test('is missed at a server that does not speak it', async () => {
    const secure = await served((_, response) => response.end(), true)
    expect((await run(`https://a.test:${secure.port}/`, { http_version: '2' })).error!.kind).toMatch(/^(protocol|tls)$/)
    const plain = await served((_, response) => response.end())
    const { error } = await run(at(plain.port), { http_version: '2' }, { withinMs: 5000 })
    expect(error!.kind).toMatch(/^(protocol|closed)$/)
  })
})

describe('OAuth 2.0', () => {
  const options = (port: number, more: object = {}): HttpOptions => ({
    auth: {
      type: 'oauth2',
      token_url: `http://b.test:${port}/token`,
      client_id: 'probe:1',
      client_secret: 'changeme-secret',
      scope: 'health',
      ...more,
    } as HttpOptions['auth'],
  })
  const authority = async (answer: (count: number) => object) => {
    const texts: string[] = []
    const server = await served((request, response) => {
      texts.push(request.text)
      response.end(JSON.stringify(answer(texts.length)))
    })
    return { ...server, texts }
  }

  test('asks for a token once, until it expires', async () => {
    const target = await served((_, response) => response.end())
    const tokens = await authority(count => ({ access_token: `changeme-${count}`, expires_in: 60 }))
    const now = 1_800_000_000_000
    for (const later of [0, 40_000, 51_000]) await run(at(target.port), options(tokens.port), { now: now + later })
    expect(target.headers.map(one => one.authorization)).toEqual(['Bearer changeme-1', 'Bearer changeme-1', 'Bearer changeme-2'])
    expect(tokens.texts[0]).toBe('grant_type=client_credentials&scope=health')
    expect(tokens.headers[0]!.authorization).toBe(`Basic ${btoa('probe%3A1:changeme-secret')}`)
  })

  test('asks anew when a kept token is refused, and shows the secret in the form if it is to', async () => {
    const target = await served((request, response) => {
      response.statusCode = request.headers.authorization === 'Bearer changeme-1' && target.asked.length > 1 ? 401 : 200
      response.end()
    })
    const tokens = await authority(count => ({ access_token: `changeme-${count}`, expires_in: 3600 }))
    const given = options(tokens.port, { client_auth: 'body' })
    expect((await run(at(target.port), given)).error).toBeNull()
    expect((await run(at(target.port), given)).error).toBeNull()
    expect(target.headers.map(one => one.authorization)).toEqual(['Bearer changeme-1', 'Bearer changeme-1', 'Bearer changeme-2'])
    expect(tokens.texts[0]).toBe('grant_type=client_credentials&scope=health&client_id=probe%3A1&client_secret=changeme-secret')
    expect(tokens.headers[0]!.authorization).toBeUndefined()
  })

  test('tells that the token could not be had', async () => {
    const target = await served((_, response) => response.end())
    const denies = await served((_, response) => {
      response.statusCode = 401
      response.end()
    })
    expect((await run(at(target.port), options(denies.port))).error).toEqual({
      kind: 'status',
      message: 'token of OAuth 2.0: HTTP 401 where 200 is accepted',
    })
    const empty = await authority(() => ({}))
    expect((await run(at(target.port), options(empty.port))).error!.message).toBe(
      'token of OAuth 2.0: the answer holds no access token',
    )
    expect(target.asked).toEqual([])
  })
})

test('NTLM answers the challenge on the connection that it came on', async () => {
  const sockets = new Set<unknown>()
  const challenge = Buffer.concat([
    Buffer.from(
      '4e544c4d535350000200000000000000380000003582898a0123456789abcdef0000000000000000040004003800000000000000',
      'hex',
    ),
    Buffer.alloc(4),
    Buffer.alloc(4),
  ])
  const one = await served((request, response) => {
    sockets.add(request.socket)
    const sent = Buffer.from((request.headers.authorization ?? '').replace('NTLM ', ''), 'base64')
    const kind = sent.length > 8 ? sent.readUInt32LE(8) : 0
    if (kind === 3) return void response.end(`hello ${request.text}`)
    response.writeHead(401, { 'www-authenticate': kind === 1 ? `NTLM ${challenge.toString('base64')}` : 'NTLM' })
    response.end('who are you')
  })
  const facts = await run(at(one.port), {
    method: 'POST',
    body: 'me',
    auth: { type: 'ntlm', username: 'User', password: 'changeme', domain: 'Domain' },
  })
  expect(facts).toMatchObject({ error: null, status: 200, body: 'hello me' })
  expect(sockets.size).toBe(1)
})

describe('a proxy', () => {
  /** Speaks CONNECT and plain forwarding of HTTP. */
  async function proxied() {
    const asked: string[] = []
    const authorizations: (string | undefined)[] = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      authorizations.push(request.headers['proxy-authorization'])
      response.end('from the proxy')
    })
    server.on('connect', (request: IncomingMessage, socket: Socket) => {
      asked.push(`CONNECT ${request.url}`)
      authorizations.push(request.headers['proxy-authorization'])
      if (request.url!.startsWith('denied.test')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      const onward = connect(Number(request.url!.split(':')[1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        socket.pipe(onward).pipe(socket)
      })
      onward.on('error', () => socket.destroy())
      socket.on('close', () => onward.destroy())
    })
    return { port: await listening(server), asked, authorizations }
  }

  test('of HTTP tunnels TLS and forwards what is plain, and looks the target up itself', async () => {
    const proxy = await proxied()
    const secure = await served((_, response) => response.end('within'), true)
    const options = { proxy: { url: `http://proxy.test:${proxy.port}`, username: 'probe', password: 'changeme-proxy' } }
    const context = around()
    const facts = await http.run(`https://a.test:${secure.port}/`, { ca, ...options }, context)
    expect(facts).toMatchObject({ error: null, body: 'within', tls: { certificate: { subject: 'CN=two-names' } } })
    expect(context.asked).toEqual(['proxy.test'])
    expect((await run('http://unknown.test/x', options)).body).toBe('from the proxy')
    expect(proxy.asked).toEqual([`CONNECT a.test:${secure.port}`, 'GET http://unknown.test/x'])
    expect(proxy.authorizations).toEqual(Array(2).fill(`Basic ${btoa('probe:changeme-proxy')}`))
    expect(secure.headers[0]).not.toHaveProperty('proxy-authorization')
  })

  test('that does not connect is told from a target that does not', async () => {
    const proxy = await proxied()
    const denied = await run('https://denied.test/', { proxy: { url: `http://proxy.test:${proxy.port}` } })
    expect(denied).toMatchObject({
      connected: false,
      error: { kind: 'unreachable', message: 'proxy: it did not connect to the target (HTTP 403)' },
    })
    const blocked = await run('https://a.test/', { proxy: { url: 'http://169.254.169.254:3128' } })
    expect(blocked.error!.kind).toBe('blocked_address')
  })

  test('of SOCKS 5 gets the name of the target', async () => {
    const one = await served((_, response) => response.end('behind'))
    const asked: string[] = []
    const port = await listening(
      createPlain(socket => {
        socket.once('data', () => {
          socket.write(Buffer.from([5, 0]))
          socket.once('data', (request: Buffer) => {
            asked.push(request.subarray(5, 5 + request[4]!).toString())
            const onward = connect(one.port, '127.0.0.1', () => {
              socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
              socket.pipe(onward).pipe(socket)
            })
            socket.on('close', () => onward.destroy())
          })
        })
      }),
    )
    const facts = await run('http://unknown.test/', { proxy: { url: `socks5://proxy.test:${port}` } })
    expect(facts).toMatchObject({ error: null, body: 'behind' })
    expect(asked).toEqual(['unknown.test'])
    const wrong = await run('http://unknown.test/', { proxy: { url: `socks5://proxy.test:${one.port}` } }, { withinMs: 3000 })
    expect(wrong.error!.message).toStartWith('proxy: ')
  })
})

describe('input', () => {
  test.each([
    ['http://example.com', 'http://example.com/'],
    ['HTTPS://EXAMPLE.com:443/A?b', 'https://example.com/A?b'],
    ['http://[2001:db8::1]:8080/', 'http://[2001:db8::1]:8080/'],
  ])('takes the target %s', (text, kept) => {
    expect(http.target(text)).toBe(kept)
  })

  test.each([
    'example.com',
    'ftp://a.test/',
    'http://',
    'http://u:p@a.test/',
    'http://a.test/#x',
    'http://a.test/ x',
    'http://a.test:0/',
    `http://a.test/${'x'.repeat(2048)}`,
  ])('refuses the target %s', text => {
    expect(() => http.target(text)).toThrow(CheckInputRefused)
  })

  const certificate = shown('client')
  test.each<[HttpOptions, string]>([
    [{ method: 'CONNECT' }, '/options/method'],
    [{ method: 'GET', body: 'x' }, '/options/body'],
    [{ headers: { 'Content-Length': '1' } }, '/options/headers'],
    [{ secret_headers: { 'transfer-encoding': 'chunked' } }, '/options/secret_headers'],
    [{ method: 'POST', body: '{', body_encoding: 'json' }, '/options/body'],
    [{ method: 'POST', body: 'a=ä', body_encoding: 'form' }, '/options/body'],
    [{ accepted_status: ['299-200'] }, '/options/accepted_status'],
    [{ auth: { type: 'basic', username: 'a:b', password: 'changeme' } }, '/options/auth/username'],
    [{ auth: { type: 'oauth2', token_url: 'ftp://a.test', client_id: 'a', client_secret: 'b' } }, '/options/auth/token_url'],
    [{ auth: { type: 'ntlm', username: 'a', password: 'b' }, http_version: '2' }, '/options/http_version'],
    [{ proxy: { url: 'ftp://a.test' } }, '/options/proxy/url'],
    [{ proxy: { url: 'http://a.test', password: 'changeme' } }, '/options/proxy/username'],
    [{ ca: 'none' }, '/options/ca'],
    [{ client_certificate: { cert: 'none', key: certificate.key } }, '/options/client_certificate/cert'],
    [{ client_certificate: { cert: certificate.cert, key: 'none' } }, '/options/client_certificate/key'],
    [{ client_certificate: { cert: certificate.cert, key: fixture('ca.key') } }, '/options/client_certificate/key'],
  ])('refuses the options %j', (options, pointer) => {
    const refusal = (() => {
      try {
        http.refuse!(options, 'https://a.test/')
        return null
      } catch (error) {
        return error as CheckInputRefused
      }
    })()
    expect(refusal).toBeInstanceOf(CheckInputRefused)
    expect(refusal!.pointer).toBe(pointer)
    expect(refusal!.message).toMatch(/^(must|is) .*\.$/)
  })

  test('takes what is right', () => {
    expect(() =>
      http.refuse!({ method: 'POST', body: '{}', body_encoding: 'json', ca, client_certificate: certificate }, ''),
    ).not.toThrow()
  })
})
