import { afterAll, describe, expect, test } from 'bun:test'
import { closeTargets, served, says, run, at } from '../support/http-targets'

afterAll(closeTargets)

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
