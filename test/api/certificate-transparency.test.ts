import { afterAll, beforeEach, expect, test } from 'bun:test'
import * as x509 from '@peculiar/x509'
import { settleMs } from '../../src/features/certificates/gaps-job'
import { startCtSearches } from '../../src/features/coverage/ct/search-ct'
import { makeCertificate, type MadeCertificate } from '../support/make-certificates'
import { world, type World } from '../support/world'
import { createZone } from '../support/zones'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

// A double of both APIs: Cert Spotter with two issuances per page, and crt.sh with a list and a file for each certificate.
let issued: { id: number; names: string[]; made: MadeCertificate; isOld?: boolean }[] = []
let requests: URL[] = []
let keys: (string | null)[] = []
/** Responds instead of the API, as long as it returns something. */
let instead: (url: URL) => Response | undefined
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const url = new URL(request.url)
    requests.push(url)
    keys.push(request.headers.get('authorization'))
    const other = instead(url)
    if (other) return other
    const isBelow = (domain: string) =>
      issued.filter(one => one.names.some(name => name === domain || name.endsWith(`.${domain}`)))
    if (url.pathname === '/v1/issuances') {
      const after = Number(url.searchParams.get('after') ?? 0)
      const page = isBelow(url.searchParams.get('domain')!)
        .filter(one => one.id > after)
        .slice(0, 2)
      return Response.json(
        page.map(({ id, names, made, isOld }) => {
          const data = Buffer.from(made.der).toString('base64')
          return { id: String(id), dns_names: names, ...(isOld ? { cert: { type: 'cert', data } } : { cert_der: data }) }
        }),
      )
    }
    const [id, query] = [url.searchParams.get('d'), url.searchParams.get('q')]
    if (id !== null) return new Response(issued.find(one => one.id === Number(id))!.made.pem)
    const found = isBelow(query!.replace('%.', '')).filter(one => query!.startsWith('%.') || one.names.includes(query!))
    return Response.json(found.map(one => ({ id: one.id, name_value: one.names.join('\n') })))
  },
})
const url = `http://127.0.0.1:${server.port}`
afterAll(() => server.stop(true))
beforeEach(() => {
  ;[issued, requests, keys, instead] = [[], [], [], () => undefined]
})

const issuer = await makeCertificate({ subject: 'CN=Public CA', isCa: true })
const add = async (id: number, name: string, more: object = {}) => {
  const made = await makeCertificate({ names: [name], issuer })
  issued.push({ id, names: [name], made, ...more })
}

const patch = (w: World, ct: object) => w.acme.call('PATCH', '/v1/certificate-settings', { ct })
const ctOf = async (w: World) => (await w.acme.call('GET', '/v1/certificate-settings')).body.ct
const found = async (w: World): Promise<string[]> =>
  (await w.acme.call('GET', '/v1/certificates?source=ct&limit=100')).body.data.map((one: any) => one.common_name).sort()
async function search(w: World) {
  await startCtSearches(w.hub)
  await w.settle()
}
async function scene(kind: string, more: object = {}): Promise<World> {
  const w = await world()
  await createZone(w.acme, 'example.com')
  await w.settle()
  expect((await patch(w, { kind, url, ...more })).status).toBe(200)
  return w
}
const iso = (ms: number) => new Date(ms).toISOString()

test('Cert Spotter is asked every hour, page by page, and unknown certificates become gaps', async () => {
  const w = await scene('certspotter', { token: 'a-key' })
  for (const [id, name] of ['a', 'b', 'c'].entries()) await add(id + 1, `${name}.example.com`, { isOld: id === 1 })
  await add(4, 'example.com')
  await add(5, 'www.other.com')
  await search(w)
  expect(await found(w)).toEqual(['a.example.com', 'b.example.com', 'c.example.com', 'example.com'])
  expect(requests.map(one => one.searchParams.get('after'))).toEqual([null, '2', '4'])
  expect(requests[0]!.search).toBe('?domain=example.com&include_subdomains=true&expand=dns_names&expand=cert&expand=cert_der')
  expect(new Set(keys)).toEqual(new Set(['Bearer a-key']))
  expect(await ctOf(w)).toEqual({
    ...{ kind: 'certspotter', url, token_set: true, last_checked_at: iso(w.clock.now()), last_error: null },
  })
  await w.advance(settleMs)
  const gaps = (await w.acme.call('GET', '/v1/certificate-gaps?kind=ct_unknown')).body.data
  expect(gaps.map((one: any) => [one.name, one.status]).sort()[0]).toEqual(['a.example.com', 'open'])
  expect(gaps.length).toBe(4)

  await w.advance(hourMs - settleMs - 1)
  await search(w)
  expect(requests.length).toBe(3)
  await add(6, 'd.example.com')
  await w.advance(1)
  await search(w)
  expect(requests.slice(3).map(one => one.searchParams.get('after'))).toEqual(['4', '6'])
  expect((await found(w)).length).toBe(5)
})

test('a failed page is read again, without those before it', async () => {
  const w = await scene('certspotter')
  for (const id of [1, 2, 3]) await add(id, `n${id}.example.com`)
  const page = () => requests.at(-1)!.searchParams.get('after')
  const cut = new Response('[{"id": "3", "cert_der": "MII', { headers: { 'content-type': 'application/json' } })
  instead = one => (one.searchParams.get('after') === '2' ? cut.clone() : undefined) as Response | undefined
  await search(w)
  expect((await found(w)).length).toBe(2)
  expect(await ctOf(w)).toMatchObject({ last_checked_at: null, last_error: 'The JSON response is truncated.' })
  await search(w)
  expect([requests.length, page()]).toEqual([2, '2'])
  instead = () => undefined
  await w.advance(hourMs)
  await search(w)
  expect(requests.slice(2).map(one => one.searchParams.get('after'))).toEqual(['2', '3'])
  expect((await found(w)).length).toBe(3)
  expect(await ctOf(w)).toMatchObject({ last_error: null, last_checked_at: iso(w.clock.now()) })
  const notices = async () => (await w.acme.call('GET', '/v1/notices?kind=certificate.ct_failing')).body.data
  instead = () => new Response(null, { status: 502 })
  for (let failures = 1; failures <= 4; failures++) {
    await w.advance(hourMs)
    await search(w)
    expect((await notices()).map((one: any) => one.count)).toEqual(failures < 3 ? [] : [1])
  }
})

test('what APIs ask for and send instead of certificates', async () => {
  const w = await scene('certspotter', { token: 'secret-key' })
  const wait = async (ms: number) => {
    const before = requests.length
    await w.advance(ms - 1)
    await search(w)
    expect(requests.length).toBe(before)
    await w.advance(1)
  }
  const json = (body: unknown, init?: ResponseInit) => () => Response.json(body, init)
  const cases: [() => Response, string, number][] = [
    [
      json({ message: 'slow down' }, { status: 429, headers: { 'retry-after': '7200' } }),
      'The remote server is rate limiting requests (429): slow down',
      2 * hourMs,
    ],
    [json({ message: 'no secret-key' }, { status: 401 }), 'The API key was rejected (401): no [redacted]', 6 * hourMs],
    [json({ message: 'broken' }, { status: 500 }), 'The remote server responded with status 500: broken', hourMs],
    [() => new Response('<html>'), 'The response is not JSON. This may not be the address of the API.', hourMs],
    [json({}), 'The response is not what the API is documented to send.', hourMs],
    [json([{ id: '1' }]), 'The response is not what the API is documented to send.', hourMs],
    [json([{ id: 'x'.repeat(101), cert_der: 'MII=' }]), 'The response is not what the API is documented to send.', hourMs],
    [json([{ id: 1, cert_der: 'x'.repeat(5 * 1024 ** 2) }]), 'The server’s response is larger than 4194304 bytes.', hourMs],
    [() => Response.redirect(`${url}/elsewhere`), 'The remote server responded with the unexpected status 302.', hourMs],
  ]
  for (const [answer, error, delay] of cases) {
    instead = answer
    await search(w)
    expect((await ctOf(w)).last_error).toBe(error)
    await wait(delay)
  }
  // An API that always returns the same page is not asked forever, and what can’t be parsed is left out.
  instead = json([{ id: '1', cert_der: 'AAAA' }])
  await search(w)
  expect((await ctOf(w)).last_error).toBe('The response is not what the API is documented to send.')
  expect(await found(w)).toEqual([])
  // After a success, the API may ask for a longer pause.
  await w.advance(hourMs)
  instead = json([], { headers: { 'retry-after': '86400' } })
  await search(w)
  expect((await ctOf(w)).last_error).toBeNull()
  await wait(24 * hourMs)
})

test('crt.sh is asked for the names of a zone, and for each certificate once', async () => {
  const w = await scene('crtsh')
  await add(7, 'example.com')
  for (let id = 10; id < 40; id++) await add(id, `n${id}.example.com`)
  await search(w)
  expect((await found(w)).length).toBe(31)
  expect(requests.filter(one => one.searchParams.has('d')).length).toBe(31)
  expect(new Set(keys)).toEqual(new Set([null]))
  requests = []
  await add(40, 'last.example.com')
  instead = one => (one.searchParams.has('d') ? new Response('404 not found', { status: 404 }) : undefined)
  await w.advance(hourMs)
  await search(w)
  expect((await ctOf(w)).last_error).toBe('The remote server responded with the unexpected status 404.')
  instead = () => undefined
  await w.advance(hourMs)
  await search(w)
  expect((await found(w)).length).toBe(32)
})

test('settings: the key is never shown, and entered again for another server; a change starts from the beginning', async () => {
  const w = await scene('certspotter', { token: 'a-key' })
  await add(1, 'a.example.com')
  await search(w)
  expect((await w.acme.call('GET', '/v1/certificate-settings')).text).not.toContain('a-key')
  const pointer = async (ct: object) => {
    const { status, body } = await patch(w, ct)
    return [status, body.errors?.[0].pointer]
  }
  expect(await pointer({ url: 'http://127.0.0.1:9' })).toEqual([422, '#/ct/token'])
  expect(await pointer({ kind: 'off' })).toEqual([200, undefined])
  expect(await pointer({ kind: 'certspotter', url: 'http://127.0.0.1:9' })).toEqual([422, '#/ct/token'])
  expect(await pointer({ kind: 'certspotter', url: 'ftp://x' })).toEqual([422, '#/ct/url'])
  expect(await pointer({ kind: 'certspotter', token: 'a b' })).toEqual([422, '#/ct/token'])
  expect(await pointer({ kind: 'crtsh', token: 'a-key' })).toEqual([422, '#/ct/token'])
  expect(await pointer({ kind: 'else' })).toEqual([422, '#/ct/kind'])
  const { length } = requests
  await w.advance(hourMs)
  await search(w)
  expect(requests.length).toBe(length)
  await w.audited()
  expect(await pointer({ kind: 'certspotter', token: null })).toEqual([200, undefined])
  expect(await w.audited()).toEqual(['certificates.settings.update'])
  await search(w)
  expect(requests.slice(length).map(one => one.searchParams.get('after'))).toEqual([null, '1'])
  expect(keys.at(-1)).toBeNull()
  expect((await ctOf(w)).token_set).toBe(false)
})

test('a precertificate and its certificate are one entry, which is no gap once it is served', async () => {
  const w = await scene('certspotter')
  const hex = (oid: string, value: string, isCritical = false) =>
    new x509.Extension(oid, isCritical, new Uint8Array(Buffer.from(value, 'hex')))
  const common = { names: ['shop.example.com'], issuer, serial: '1234' }
  const precertificate = await makeCertificate({ ...common, extensions: [hex('1.3.6.1.4.1.11129.2.4.3', '0500', true)] })
  issued.push({ id: 1, names: common.names, made: precertificate })
  await search(w)
  const [before] = (await w.acme.call('GET', '/v1/certificates?source=ct')).body.data
  expect(before).toMatchObject({ precertificate: true, in_use: false })
  const extensions = [hex('1.3.6.1.4.1.11129.2.4.2', '040c000a0003aabbcc0003ddeeff')]
  const { pem } = await makeCertificate({ ...common, keysOf: precertificate, extensions })
  const uploaded = await w.acme.call('POST', '/v1/certificates', pem, { 'content-type': 'application/x-pem-file' })
  expect(uploaded.body).toMatchObject({ id: before.id, precertificate: false, sources: ['ct', 'upload'] })
})
