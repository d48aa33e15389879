import { afterAll, describe, expect, test } from 'bun:test'
import { closeTargets, served, says, run, at } from '../support/http-targets'

afterAll(closeTargets)

describe('redirects', () => {
  const server = served((request, response) => {
    const step = Number(/^\/step\/(\d+)/.exec(request.url!)?.[1] ?? 0)
    if (step > 0) response.writeHead(302, { location: `/step/${step - 1}` })
    response.end('there')
  })

  test('are followed to the last', async () => {
    const facts = await run(at((await server).port, '/step/5'))
    expect(facts).toMatchObject({ error: null, status: 200, body: 'there' })
    expect(facts.request).toEndWith('/step/0')
  })

  test('fail above the limit', async () => {
    const { port } = await server
    expect((await run(at(port, '/step/6'))).error).toEqual({ kind: 'redirects', message: 'too many redirects (more than 5)' })
    expect((await run(at(port, '/step/1'), { max_redirects: 0 })).error).toEqual({
      kind: 'redirects',
      message: 'too many redirects (more than 0)',
    })
    expect((await run(at(port, '/step/10'), { max_redirects: 10 })).error).toBeNull()
  })

  test('are the response if they are not followed', async () => {
    const { port } = await server
    expect((await run(at(port, '/step/1'), { follow_redirects: false })).error).toEqual({
      kind: 'status',
      message: 'HTTP 302, expected 200-299',
    })
    expect((await run(at(port, '/step/1'), { follow_redirects: false, accepted_status_codes: ['302'] })).error).toBeNull()
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
    expect(one.requests).toEqual(['POST /', `${method} /next`])
    expect(texts).toEqual(['form=1', body])
    expect(one.headers[1]!['content-type']).toBe(body ? 'application/x-www-form-urlencoded' : undefined)
  })

  test('to another origin carry no credentials, secret headers or cookies of the first', async () => {
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

  test('carry cookies set on the way, unless disabled', async () => {
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

  test('may contain UTF-8', async () => {
    const port = await says('HTTP/1.1 302 Found\r\nLocation: /gr\u00fc\u00dfe\r\nContent-Length: 0\r\n\r\n')
    const facts = await run(at(port), { max_redirects: 1 })
    expect(facts.request).toBe(`GET http://a.test:${port}/gr%C3%BC%C3%9Fe`)
  })

  test('to a blocked address, another scheme or an invalid URL fail', async () => {
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
    expect(await to('file:///etc/passwd')).toEqual({ kind: 'redirects', message: 'redirected to a file URL' })
    expect(await to('http://[')).toEqual({ kind: 'redirects', message: 'redirected to an invalid URL' })
    expect(await to('http://unknown.test/')).toMatchObject({ kind: 'dns' })
  })
})
