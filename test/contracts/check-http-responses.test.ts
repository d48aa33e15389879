import { afterAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { limitOfServer } from '../support/check-context'
import { closeTargets, reacts, served, says, run, at } from '../support/http-targets'

afterAll(closeTargets)

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

  test('that expands far beyond the limit is cut', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024))
    const one = await served((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(bomb)
    })
    const facts = await run(at(one.port), { body_limit_bytes: 100_000 })
    expect(facts).toMatchObject({ error: null, status: 200 })
    expect(facts.body!.length).toBe(100_000)
  })

  test('that does not match its encoding, or has another one, is an error', async () => {
    const one = await served((request, response) => {
      response.writeHead(200, { 'content-encoding': request.url!.slice(1) })
      response.end('plain')
    })
    const content = (message: string) => ({ kind: 'content' as const, message })
    expect((await run(at(one.port, '/gzip'))).error).toEqual(content('the body is not valid gzip'))
    expect((await run(at(one.port, '/lzma'))).error).toEqual(
      content('the body has the content encoding lzma, which was not requested'),
    )
    expect((await run(at(one.port, '/gzip,gzip,gzip'))).error).toEqual(content('the body has more than two content encodings'))
  })

  test.each(codings)('in %s is cut at the limit of its decoded size', async (coding, coded) => {
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
  ])('is not read in a response to %s with %s, even if the server sends one', async (method, status) => {
    const port = await says(`HTTP/1.1 ${status}\r\nContent-Length: 5\r\n\r\nhello`)
    const facts = await run(at(port), { method, accepted_status_codes: [status.slice(0, 3)] })
    expect(facts).toMatchObject({ error: null, body: '' })
  })

  test('contains no part of a password sent with Basic authentication', async () => {
    const one = await served((request, response) => response.end(request.headers.authorization))
    for (const username of ['u', 'ab', 'abc'])
      expect((await run(at(one.port), { auth: { type: 'basic', username, password: 'changeme-9f2c41' } })).body).toBe(
        'Basic [secret]',
      )
  })

  test('that is cut contains no beginning of a secret', async () => {
    const one = await served((request, response) => response.end(`sent: ${request.headers['x-key']}`))
    const ask = (limit: number) =>
      run(at(one.port), { body_limit_bytes: limit, secret_headers: { 'X-Key': 'changeme-9f2c41' } }).then(facts => facts.body)
    expect([await ask(20), await ask(10), await ask(8)]).toEqual(['sent: ', 'sent: ', 'sent: ch'])
  })

  test('that never ends is cut at the limit, and the connection is closed', async () => {
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

  test('is decoded by its charset', async () => {
    const one = await served((request, response) => {
      response.writeHead(200, { 'content-type': `text/plain; charset=${request.url!.slice(1)}` })
      response.end(Buffer.from([0xe4]))
    })
    expect((await run(at(one.port, '/iso-8859-1'))).body).toBe('ä')
    expect((await run(at(one.port, '/unknown-set'))).body).toBe('\ufffd')
  })

  test('and headers contain no OAuth token', async () => {
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

describe('expectations', () => {
  test('match headers with a pattern', async () => {
    const one = await served((_, response) => {
      response.writeHead(200, { 'content-type': 'Application/JSON; charset=utf-8' })
      response.end()
    })
    const expecting = async (headers: Record<string, string>) => (await run(at(one.port), { expected_headers: headers })).error
    expect(await expecting({ 'Content-Type': 'application/json*' })).toBeNull()
    expect(await expecting({ 'Content-Type': '*json*utf-8' })).toBeNull()
    expect(await expecting({ 'content-type': 'application/json' })).toEqual({
      kind: 'content',
      message: 'header content-type does not match "application/json"',
    })
    expect(await expecting({ 'X-None': '*' })).toEqual({ kind: 'content', message: 'the response has no X-None header' })
  })

  test('require or forbid TLS', async () => {
    const plain = await served((_, response) => response.end())
    const secure = await served((_, response) => response.end(), true)
    expect((await run(at(plain.port), { tls: 'required' })).error!.message).toBe(
      'TLS is required, but the response arrived without it',
    )
    expect((await run(`https://a.test:${secure.port}/`, { tls: 'required' })).error).toBeNull()
    expect((await run(`https://a.test:${secure.port}/`, { tls: 'forbidden' })).error!.kind).toBe('tls')
  })
})

describe('an invalid response', () => {
  test.each([
    ['SSH-2.0-OpenSSH_9.2\r\n', 'protocol', 'the response is not valid HTTP'],
    ['', 'closed', 'the server closed the connection without a response'],
    [`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(300_000)}\r\n\r\n`, 'protocol', 'the response headers are too large'],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc',
      'closed',
      'the server closed the connection before the response was complete',
    ],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'protocol', 'the response is not valid HTTP'],
  ] as const)('%p', async (text, kind, message) => {
    const facts = await run(at(await says(text)), {}, { withinMs: 5000 })
    expect(facts.error).toEqual({ kind, message })
  })

  test.each([
    ['has many and long headers', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\nok`],
    ['has lines that end in a bare line feed', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
    ['follows early hints', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ])('is not one that %s', async (_, text) => {
    expect(await run(at(await says(text)))).toMatchObject({ error: null, status: 200, body: 'ok' })
  })

  test('is one that switches protocols', async () => {
    const port = await says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n')
    expect((await run(at(port))).error!.kind).toBe('protocol')
  })

  test('is not waited for beyond the time limit', async () => {
    const silent = limitOfServer()
    const facts = await run(at(await reacts(silent.start)), {}, silent)
    expect(facts).toMatchObject({ connected: true, error: { kind: 'timeout', message: 'timed out waiting for the response' } })
    expect(facts.phases.connect).not.toBeNull()
    expect(facts.phases.first_byte).toBeNull()
    const limit = limitOfServer()
    const port = await reacts(socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', limit.start))
    const half = await run(at(port), {}, limit)
    expect(half).toMatchObject({
      status: 200,
      error: { kind: 'timeout', message: 'timed out waiting for the end of the response' },
    })
  })
})
