import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTls } from 'node:https'
import { createServer as createPlain, connect, type Socket } from 'node:net'
import { http } from '../../src/checks/http'
import type { HttpOptions } from '../../src/checks/http/options'
import { checkContext } from '../support/check-context'
import { closeTargets, ca, listening, served, shown, run, at } from '../support/http-targets'

afterAll(closeTargets)

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

  test('requests a token once, until it expires', async () => {
    const target = await served((_, response) => response.end())
    const tokens = await authority(count => ({ access_token: `changeme-${count}`, expires_in: 60 }))
    const now = 1_800_000_000_000
    for (const later of [0, 40_000, 51_000]) await run(at(target.port), options(tokens.port), { now: now + later })
    expect(target.headers.map(one => one.authorization)).toEqual(['Bearer changeme-1', 'Bearer changeme-1', 'Bearer changeme-2'])
    expect(tokens.texts[0]).toBe('grant_type=client_credentials&scope=health')
    expect(tokens.headers[0]!.authorization).toBe(`Basic ${btoa('probe%3A1:changeme-secret')}`)
  })

  test('requests a new token if a cached one is rejected, and can send the secret in the form', async () => {
    const target = await served((request, response) => {
      response.statusCode = request.headers.authorization === 'Bearer changeme-1' && target.requests.length > 1 ? 401 : 200
      response.end()
    })
    const tokens = await authority(count => ({ access_token: `changeme-${count}`, expires_in: 3600 }))
    const input = options(tokens.port, { client_auth: 'body' })
    expect((await run(at(target.port), input)).error).toBeNull()
    expect((await run(at(target.port), input)).error).toBeNull()
    expect(target.headers.map(one => one.authorization)).toEqual(['Bearer changeme-1', 'Bearer changeme-1', 'Bearer changeme-2'])
    expect(tokens.texts[0]).toBe('grant_type=client_credentials&scope=health&client_id=probe%3A1&client_secret=changeme-secret')
    expect(tokens.headers[0]!.authorization).toBeUndefined()
  })

  test('reports that no token could be obtained', async () => {
    const target = await served((_, response) => response.end())
    const denies = await served((_, response) => {
      response.statusCode = 401
      response.end()
    })
    expect((await run(at(target.port), options(denies.port))).error).toEqual({
      kind: 'status',
      message: 'OAuth 2.0 token: HTTP 401, expected 200',
    })
    const empty = await authority(() => ({}))
    expect((await run(at(target.port), options(empty.port))).error!.message).toBe(
      'OAuth 2.0 token: the response contains no access token',
    )
    expect(target.requests).toEqual([])
  })
})

test('NTLM replies to the challenge on the same connection', async () => {
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
  /** Supports CONNECT and forwards plain HTTP. */
  async function proxied() {
    const requests: string[] = []
    const authorizations: (string | undefined)[] = []
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`)
      authorizations.push(request.headers['proxy-authorization'])
      response.end('from the proxy')
    })
    server.on('connect', (request: IncomingMessage, socket: Socket) => {
      requests.push(`CONNECT ${request.url}`)
      authorizations.push(request.headers['proxy-authorization'])
      if (request.url!.startsWith('denied.test')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      const onward = connect(Number(request.url!.split(':')[1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        socket.pipe(onward).pipe(socket)
      })
      onward.on('error', () => socket.destroy())
      socket.on('close', () => onward.destroy())
    })
    return { port: await listening(server), requests, authorizations }
  }

  test('over HTTP tunnels TLS, forwards plain HTTP, and resolves the target itself', async () => {
    const proxy = await proxied()
    const secure = await served((_, response) => response.end('within'), true)
    const options = { proxy: { url: `http://proxy.test:${proxy.port}`, username: 'probe', password: 'changeme-proxy' } }
    const context = checkContext()
    const facts = await http.run(`https://a.test:${secure.port}/`, { ca, ...options }, context)
    expect(facts).toMatchObject({ error: null, body: 'within', tls: { certificate: { subject: 'CN=two-names' } } })
    expect(context.lookups).toEqual(['proxy.test'])
    expect((await run('http://unknown.test/x', options)).body).toBe('from the proxy')
    expect(proxy.requests).toEqual([`CONNECT a.test:${secure.port}`, 'GET http://unknown.test/x'])
    expect(proxy.authorizations).toEqual(Array(2).fill(`Basic ${btoa('probe:changeme-proxy')}`))
    expect(secure.headers[0]).not.toHaveProperty('proxy-authorization')
  })

  test('works with a server that only supports the post-quantum key exchange', async () => {
    const proxy = await proxied()
    const demanding = createTls({ ...shown('two-names'), ecdhCurve: 'X25519MLKEM768' }, (_, response) => response.end('within'))
    const facts = await run(`https://a.test:${await listening(demanding)}/`, {
      ca,
      proxy: { url: `http://proxy.test:${proxy.port}` },
    })
    expect(facts).toMatchObject({ error: null, body: 'within' })
  })

  test('that fails is distinguished from a target that fails', async () => {
    const proxy = await proxied()
    const denied = await run('https://denied.test/', { proxy: { url: `http://proxy.test:${proxy.port}` } })
    expect(denied).toMatchObject({
      connected: false,
      error: { kind: 'unreachable', message: 'proxy: could not connect to the target (HTTP 403)' },
    })
    const blocked = await run('https://a.test/', { proxy: { url: 'http://169.254.169.254:3128' } })
    expect(blocked.error!.kind).toBe('blocked_address')
  })

  test('over SOCKS 5 gets the name of the target', async () => {
    const one = await served((_, response) => response.end('behind'))
    const requests: string[] = []
    const port = await listening(
      createPlain(socket => {
        socket.once('data', () => {
          socket.write(Buffer.from([5, 0]))
          socket.once('data', (request: Buffer) => {
            requests.push(request.subarray(5, 5 + request[4]!).toString())
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
    expect(requests).toEqual(['unknown.test'])
    const wrong = await run('http://unknown.test/', { proxy: { url: `socks5://proxy.test:${one.port}` } }, { withinMs: 3000 })
    expect(wrong.error!.message).toStartWith('proxy: ')
  })
})
