import { expect, spyOn, test } from 'bun:test'
import { globSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { Lexer } from 'marked'
import { problemKinds } from '../../src/core/problem'
import { groups, pages } from '../../src/docs'
import { world } from '../support/world'

const addresses = [
  '/',
  '/setup',
  '/login',
  '/sign-up',
  '/invite',
  '/docs',
  ...pages.map(page => `/docs/${page.slug}`),
  ...Object.keys(problemKinds).map(code => `/problems/${code}`),
  '/swagger',
  '/docs/search',
  '/docs/search?q=webhooks',
  '/docs/none',
  '/problems/none',
]

test('every page only allows scripts from this origin, and can’t be framed', async () => {
  const { anonymous } = await world()
  for (const address of addresses) {
    const { status, headers, text } = await anonymous.call('GET', address)
    expect([address, status]).toEqual([address, address.endsWith('/none') ? 404 : 200])
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'; script-src 'self'; ")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    // Nothing that the policy would block: inline scripts and styles, event handler attributes, other sites.
    expect([
      address,
      text.match(/<script(?![^>]*\ssrc="\/assets\/)[^>]*>|<style|\sstyle=|\son[a-z]+="|(?:src|<link[^>]* href)="https?:/g),
    ]).toEqual([address, null])
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(text).toMatch(/<title>[^<]+<\/title>/)
  }
})

test('every link of a page works', async () => {
  const { anonymous } = await world()
  const seen = new Set<string>()
  for (const address of [...addresses, '/reset', '/ack/none']) {
    const { text } = await anonymous.call('GET', address)
    for (const [, link] of text.matchAll(/(?:href|src)="(\/[^"#]*)/g)) seen.add(link!)
  }
  expect(seen.size).toBeGreaterThan(15)
  // The favicon while there are active issues.
  seen.add('/icon-bad.svg')
  for (const link of seen) expect([link, (await anonymous.call('GET', link)).status]).toEqual([link, 200])
})

test('the outline of the handbook leads to every page, and to headings that exist', async () => {
  const { anonymous } = await world()
  const { body, headers } = await anonymous.call('GET', '/docs/outline.json')
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(body.map((one: any) => `/docs/${one.slug}`)).toEqual(pages.map(page => `/docs/${page.slug}`))
  expect(body.find((one: any) => one.slug === 'webhooks').headings).toContainEqual({
    title: 'Verify signatures',
    anchor: 'verify-signatures',
  })
  for (const { slug, headings } of body) {
    const { text } = await anonymous.call('GET', `/docs/${slug}`)
    const missing = headings.filter(({ anchor }: any) => !text.includes(`id="${anchor}"`))
    expect([slug, missing]).toEqual([slug, []])
  }
})

test('assets have a content type, are compressed if the client accepts it, and are not sent again if unchanged', async () => {
  const { anonymous } = await world()
  const plain = await anonymous.call('GET', '/assets/swagger-ui-bundle.js')
  expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(plain.text).toContain('SwaggerUIBundle')
  expect(plain.headers.get('content-encoding')).toBeNull()
  const compressed = await anonymous.call('GET', '/assets/swagger-ui-bundle.js', undefined, { 'accept-encoding': 'gzip, br' })
  expect(compressed.headers.get('content-encoding')).toBe('gzip')
  expect(compressed.headers.get('vary')).toBe('Accept-Encoding')
  const refused = await anonymous.call('GET', '/assets/swagger-ui-bundle.js', undefined, { 'accept-encoding': 'gzip;q=0' })
  expect(refused.headers.get('content-encoding')).toBeNull()
  const again = await anonymous.call('GET', '/assets/swagger-ui-bundle.js', undefined, {
    'if-none-match': plain.headers.get('etag')!,
  })
  expect([again.status, again.text]).toEqual([304, ''])
})

test('pages of the handbook and the API description are created once, and compressed as the client accepts', async () => {
  const { anonymous, app } = await world()
  const decompress = { zstd: Bun.zstdDecompressSync, gzip: Bun.gunzipSync }
  for (const address of ['/docs/api', '/problems/not_found', '/v1/openapi.json']) {
    const { text, headers } = await anonymous.call('GET', address)
    const parse = spyOn(Lexer, 'lex')
    const stringify = spyOn(JSON, 'stringify')
    try {
      for (const [accepted, coding] of [
        ['gzip, deflate, br, zstd', 'zstd'],
        ['gzip', 'gzip'],
        ['identity', null],
      ] as const) {
        const headers = { 'accept-encoding': accepted }
        const response = await app.handle(new Request(`http://localhost:8484${address}`, { headers }))
        expect(response.headers.get('content-encoding')).toBe(coding)
        const bytes = await response.bytes()
        expect(new TextDecoder().decode(coding ? decompress[coding](bytes) : bytes)).toBe(text)
      }
      const again = { 'if-none-match': headers.get('etag')! }
      expect((await app.handle(new Request(`http://localhost:8484${address}`, { headers: again }))).status).toBe(304)
      expect([parse.mock.calls.length, stringify.mock.calls.length]).toEqual([0, 0])
    } finally {
      parse.mockRestore()
      stringify.mockRestore()
    }
  }
})

test('files of the dashboard are sent compressed and cached forever, and files of older versions are 404', async () => {
  const { anonymous } = await world()
  const { text } = await anonymous.call('GET', '/')
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(text)![1]!
  const compressed = await anonymous.call('GET', script, undefined, { 'accept-encoding': 'gzip, br' })
  expect(compressed.headers.get('content-encoding')).toBe('br')
  expect(compressed.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(compressed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await anonymous.call('GET', script, undefined, { 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBe(
    'gzip',
  )
  expect((await anonymous.call('GET', script)).headers.get('content-encoding')).toBeNull()
  expect((await anonymous.call('GET', '/')).headers.get('cache-control')).toBe('no-cache')
  const gone = await anonymous.call('GET', '/assets/index-000000.js')
  expect([gone.status, gone.body.code]).toEqual([404, 'not_found'])
})

test('the first page is small, and so are all pages together', () => {
  const parts = JSON.parse(readFileSync('dist/web/manifest.json', 'utf8')) as Record<string, Part>
  const first = new Set<string>(['index.html'])
  const add = (name: string) => {
    const { file, css = [], imports = [] } = parts[name]!
    if (first.has(file)) return
    for (const one of [file, ...css]) first.add(one)
    imports.forEach(add)
  }
  add('index.html')
  add('pages/index.tsx')
  expect(first.size).toBeGreaterThan(5)
  const compressed = (file: string) => gzipSync(readFileSync(`dist/web/${file}`), { level: 9 }).length
  const sum = (files: Iterable<string>) => [...files].reduce((total, file) => total + compressed(file), 0)
  expect(sum(first)).toBeLessThanOrEqual(250_000)
  // About 4 kB for each page. Grows with new areas of the product, but not by a library.
  expect(sum(globSync('**/*.{html,js,css,svg}', { cwd: 'dist/web' }))).toBeLessThanOrEqual(650_000)
})

interface Part {
  file: string
  css?: string[]
  imports?: string[]
}

test('the search finds sections of the handbook, best match first, and escapes what was entered', async () => {
  const { anonymous } = await world()
  const search = async (query: string) => (await anonymous.call('GET', `/docs/search?q=${encodeURIComponent(query)}`)).text
  const links = (text: string) => [...text.matchAll(/<li><a href="([^"]+)">/g)].map(match => match[1]!).slice(-30)
  const results = (text: string) => links(text.slice(text.indexOf('class="results"')))
  expect(results(await search('Verify signature'))[0]).toBe('/docs/webhooks#verify-signatures')
  expect(results(await search('quiet hours'))[0]).toBe('/docs/notifications#quiet-hours')
  expect(results(await search('heartbeats'))[0]).toBe('/docs/heartbeats')
  // Words in code, and headings with code.
  expect(results(await search('BAILIWICK_TRUSTED_PROXIES'))[0]).toBe('/docs/settings#bailiwick_trusted_proxies')
  expect(await search('quiet hours')).toContain('<mark>quiet</mark> <mark>hours</mark>')
  expect(await search('signature nonexistentword')).toContain('No results for “signature nonexistentword”')
  expect(await search('"><script>alert(1)</script> a&b')).toContain(
    'value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; a&amp;b"',
  )
  expect(await search('')).toContain('Enter one or more words')
  expect(await search('.*')).toContain('Enter one or more words')
})

test('pages of the handbook have a navigation by group, a list of their headings, and links to the pages before and after', async () => {
  const { anonymous } = await world()
  const { text } = await anonymous.call('GET', '/docs/webhooks')
  for (const group of groups) expect(text).toContain(`>${group.title}</p>`)
  expect(text.match(/aria-current="page"/g)).toHaveLength(1)
  expect(text.match(/<a href="#retries">Retries<\/a>/g)).toHaveLength(2)
  const at = pages.findIndex(page => page.slug === 'webhooks')
  expect(text).toContain(`<a rel="prev" href="/docs/${pages[at - 1]!.slug}">`)
  expect(text).toContain(`<a rel="next" href="/docs/${pages[at + 1]!.slug}">`)
  expect((await anonymous.call('GET', '/docs')).text).not.toContain('rel="prev"')
})

test('the page of an error code explains it and what to do', async () => {
  const { anonymous } = await world()
  const refused = await anonymous.call('GET', '/v1/tokens')
  const { text } = await anonymous.call('GET', refused.body.type)
  expect(text).toContain('<h1>Authentication required</h1>')
  expect(text).toContain('Send a token as <code>Authorization: Bearer bw_live_…</code>')
  expect(text).not.toContain('token_expired')
})

test('the page for an unknown URL does not contain the URL', async () => {
  const { anonymous } = await world()
  const { status, text } = await anonymous.call('GET', '/docs/%3Cscript%3Ealert(1)%3C%2Fscript%3E')
  expect(status).toBe(404)
  expect(text).not.toContain('alert(1)')
})

test('HEAD responds like GET without a body, and uses the same client address', async () => {
  const { app, hub } = await world({ BAILIWICK_TRUSTED_PROXIES: '127.0.0.1' })
  const response = await app.handle(new Request('http://localhost:8484/docs', { method: 'HEAD' }))
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    200,
    'text/html; charset=utf-8',
    '',
  ])
  expect(hub.baseUrl).toBe('http://127.0.0.1:8484')
  const far = await app.handle(
    new Request('http://localhost:8484/metrics', { method: 'HEAD', headers: { 'x-forwarded-for': '192.0.2.7' } }),
  )
  expect(far.status).toBe(403)
})

test('on the ping host, a path with only a UUID is a ping', async () => {
  const { app, acme } = await world({ BAILIWICK_PING_HOST: 'hc.example.net' })
  const { body } = await acme.call('POST', '/v1/heartbeats', {
    name: 'backup',
    schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 },
  })
  const ping = (host: string, path: string, init: RequestInit = {}) => app.handle(new Request(`http://${host}${path}`, init))
  const short = await ping('hc.example.net', `/${body.uuid}`, { method: 'POST', body: 'all fine' })
  expect([short.status, await short.text()]).toEqual([200, 'OK'])
  expect((await ping('hc.example.net:8484', `/${body.uuid}/start`)).status).toBe(200)
  expect((await acme.call('GET', `/v1/heartbeats/${body.id}`)).body.ping_count).toBe(2)
  expect((await acme.call('GET', `/v1/heartbeats/${body.id}/pings/1`)).body.body).toBe('all fine')
  expect((await ping('other.example.net', `/${body.uuid}`)).status).toBe(404)
  expect((await ping('hc.example.net', '/robots.txt')).headers.get('content-type')).toContain('problem+json')
})
