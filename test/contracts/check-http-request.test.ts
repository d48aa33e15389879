import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type AddressInfo } from 'node:net'
import { InvalidCheckInput } from '../../src/checks/check'
import { http } from '../../src/checks/http'
import type { HttpOptions } from '../../src/checks/http/options'
import { version } from '../../src/core/version'
import { groupsOffered, x25519, x25519mlkem768 } from '../support/client-hello'
import { at, ca, closeTargets, fixture, refusalOf, run, served, shown } from '../support/http-targets'

afterAll(closeTargets)

describe('the request', () => {
  test('has method, body, content type, headers and a user agent', async () => {
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
    expect(server.requests).toEqual(['POST /x?y=1'])
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

  test('has a random parameter with cache_bust', async () => {
    const server = await served((_, response) => response.end())
    await run(at(server.port, '/?a=b'), { cache_bust: true })
    await run(at(server.port, '/?a=b'), { cache_bust: true })
    expect(server.requests[0]).toMatch(/^GET \/\?a=b&bailiwick_check=[0-9a-f]{16}$/)
    expect(server.requests[0]).not.toBe(server.requests[1])
  })

  test('leaves the rest of the query as written', async () => {
    const server = await served((_, response) => response.end())
    await run(at(server.port, '/a?wsdl&b=c%20d'), { cache_bust: true })
    await run(at(server.port, '/a'), { cache_bust: true })
    expect(server.requests[0]).toMatch(/^GET \/a\?wsdl&b=c%20d&bailiwick_check=[0-9a-f]{16}$/)
    expect(server.requests[1]).toMatch(/^GET \/a\?bailiwick_check=[0-9a-f]{16}$/)
  })

  test('has the given Content-Type even without a body, unless a redirect dropped the body', async () => {
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
    [404, undefined, 'HTTP 404, expected 200-299'],
    [503, ['200-299', '401'], 'HTTP 503, expected 200-299, 401'],
    [401, ['200-299', '401'], null],
    [200, ['418'], 'HTTP 200, expected 418'],
    [304, ['300-399'], null],
  ])('%d where %p is accepted', async (status, accepted, message) => {
    const facts = await run(at((await server).port, `/${status}`), accepted ? { accepted_status_codes: accepted } : {})
    expect(facts.status).toBe(status)
    expect(facts.error).toEqual(message === null ? null : { kind: 'status', message })
  })

  test('inverted is up where it would be down', async () => {
    const { port } = await server
    expect((await run(at(port, '/503'), { invert: true })).error).toBeNull()
    expect((await run(at(port, '/200'), { invert: true })).error).toEqual({
      kind: 'status',
      message: 'HTTP 200, expected a failure',
    })
    expect((await run(at(port), { invert: true }, { policy: { allowPrivate: false } })).error!.kind).toBe('blocked_address')
  })
})

describe('input', () => {
  test.each([
    ['http://example.com', 'http://example.com/'],
    ['HTTPS://EXAMPLE.com:443/A?b', 'https://example.com/A?b'],
    ['http://[2001:db8::1]:8080/', 'http://[2001:db8::1]:8080/'],
  ])('accepts the target %s', (text, canonical) => {
    expect(http.target(text)).toBe(canonical)
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
  ])('rejects the target %s', text => {
    expect(() => http.target(text)).toThrow(InvalidCheckInput)
  })

  const certificate = shown('client')
  test.each<[HttpOptions, string]>([
    [{ method: 'CONNECT' }, '/options/method'],
    [{ method: 'GET', body: 'x' }, '/options/body'],
    [{ headers: { 'Content-Length': '1' } }, '/options/headers'],
    [{ secret_headers: { 'transfer-encoding': 'chunked' } }, '/options/secret_headers'],
    [{ method: 'POST', body: '{', body_encoding: 'json' }, '/options/body'],
    [{ method: 'POST', body: 'a=ä', body_encoding: 'form' }, '/options/body'],
    [{ accepted_status_codes: ['299-200'] }, '/options/accepted_status_codes'],
    [{ auth: { type: 'basic', username: 'a:b', password: 'changeme' } }, '/options/auth/username'],
    [{ auth: { type: 'oauth2', token_url: 'ftp://a.test', client_id: 'a', client_secret: 'b' } }, '/options/auth/token_url'],
    [{ auth: { type: 'ntlm', username: 'a', password: 'b' }, http_version: '2' }, '/options/http_version'],
    [{ proxy: { url: 'ftp://a.test' } }, '/options/proxy/url'],
    [{ proxy: { url: 'http://a.test', password: 'changeme' } }, '/options/proxy/username'],
    [{ ca: 'none' }, '/options/ca'],
    [{ client_certificate: { cert: 'none', key: certificate.key } }, '/options/client_certificate/cert'],
    [{ client_certificate: { cert: certificate.cert, key: 'none' } }, '/options/client_certificate/key'],
    [{ client_certificate: { cert: certificate.cert, key: fixture('ca.key') } }, '/options/client_certificate/key'],
  ])('rejects the options %j', (options, pointer) => {
    const refusal = refusalOf(options)
    expect(refusal!.pointer).toBe(pointer)
    expect(refusal!.message).toMatch(/^(must|is) .*\.$/)
  })

  test('accepts valid options', () => {
    expect(() =>
      http.validate!({ method: 'POST', body: '{}', body_encoding: 'json', ca, client_certificate: certificate }, ''),
    ).not.toThrow()
  })
})

test('the key exchange is post-quantum unless the request only contains a public URL', async () => {
  let hello: Buffer | null = null
  const server = createServer(
    socket => void socket.on('error', () => {}).once('data', (octets: Buffer) => ((hello = octets), socket.destroy())),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `https://a.test:${(server.address() as AddressInfo).port}/`
  const first = async (target: string, options: HttpOptions) => {
    await run(target, options)
    return groupsOffered(hello!)[0]
  }
  expect(await first(url, { method: 'HEAD', accepted_status_codes: ['200-299'] })).toBe(x25519)
  expect(await first(`${url}?key=1`, {})).toBe(x25519mlkem768)
  expect(await first(url, { headers: { 'X-Own': '1' } })).toBe(x25519mlkem768)
  expect(await first(url, { secret_headers: { 'X-Own': '1' } })).toBe(x25519mlkem768)
  expect(await first(url, { method: 'POST', body: 'a' })).toBe(x25519mlkem768)
  expect(await first(url, { auth: { type: 'bearer', token: 'changeme' } })).toBe(x25519mlkem768)
  server.close()
})
