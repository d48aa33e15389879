import { afterEach, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls'
import { join } from 'node:path'
import { createEgress, type NetworkPolicy } from './egress'
import { FetchFailed } from './fetch-failure'
import { type FetchLimits, guardedFetch, type GuardedRequest, presentedFingerprint } from './guarded-fetch'
import { parseFingerprint } from './fingerprint'
import { fingerprintOf } from './pinned-fetch'

const policy: NetworkPolicy = { allowPrivate: true, allowRanges: [], requireHttps: false }
const egress = createEgress({ resolve: async () => ['127.0.0.1'], ownListeners: () => [] })
const fixture = (name: string) => readFileSync(join(import.meta.dir, '../../../test/fixtures/tls', name), 'utf8')
const pinOf = (name: string) => fingerprintOf(new X509Certificate(fixture(`${name}.pem`)))

const opened: { stop(): unknown }[] = []
afterEach(() => {
  for (const one of opened.splice(0)) one.stop()
})

/** A TLS listener; `onRequest` gets the bytes of each connection up to the end of the headers. */
async function listen(certificate: string, onRequest: (socket: TLSSocket, head: string) => void, more: TlsOptions = {}) {
  const seen: string[] = []
  const sockets = new Set<TLSSocket>()
  const options = { cert: fixture(`${certificate}.pem`), key: fixture(`${certificate}.key`), ...more }
  const server = createServer(options, socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    let text = ''
    socket.on('data', bytes => {
      seen.push(bytes.toString())
      const isComplete = text.includes('\r\n\r\n')
      text += bytes.toString()
      if (!isComplete && text.includes('\r\n\r\n')) onRequest(socket, text)
    })
  })
  server.on('error', () => {})
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  opened.push({
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  })
  return { port: (server.address() as { port: number }).port, seen, sockets }
}

const ok = (socket: TLSSocket) => socket.end('HTTP/1.1 200 OK\r\nx-one: 1\r\ncontent-length: 2\r\n\r\nok')
const send = (request: GuardedRequest, limits: FetchLimits = {}) => guardedFetch(request, { egress, policy, limits })

async function failureOf(promise: Promise<unknown>): Promise<FetchFailed> {
  const outcome = await promise.catch((error: unknown) => error)
  if (!(outcome instanceof FetchFailed)) throw new Error(`not a FetchFailed: ${Bun.inspect(outcome)}`)
  expect(outcome.message).not.toMatch(/127\.0\.0\.1/)
  return outcome
}

test.each(['loopback', 'two-names', 'expired', 'self-signed'])(
  'the pinned certificate %s is accepted, whatever its name, issuer and dates',
  async name => {
    const { port } = await listen(name, ok)
    for (const pin of [pinOf(name), new X509Certificate(fixture(`${name}.pem`)).fingerprint256])
      for (const host of ['other.test', '127.0.0.1']) {
        const { status, headers, body } = await send({ url: `https://${host}:${port}/`, pin })
        expect([status, headers.get('x-one'), new TextDecoder().decode(body)]).toEqual([200, '1', 'ok'])
      }
  },
)

test('any other certificate is refused before anything is sent, even a trusted one', async () => {
  const { port, seen } = await listen('two-names', ok)
  const requests: GuardedRequest[] = [
    { url: `https://a.test:${port}/` },
    { url: `https://a.test:${port}/`, ca: fixture('ca.pem') },
    { url: `https://a.test:${port}/`, method: 'POST', body: 'secret', headers: { authorization: 'secret' } },
  ]
  for (const request of requests) {
    const failure = await failureOf(send({ ...request, pin: pinOf('loopback') }))
    expect(failure).toMatchObject({ errorClass: 'tls', code: 'PIN_MISMATCH' })
    expect(failure.message).toContain(`is ${pinOf('two-names')}, but ${pinOf('loopback')} is expected`)
    expect(failure.timings).toMatchObject({ connect_ms: null, first_byte_ms: null })
  }
  // The certificate of the issuer doesn't count.
  expect((await failureOf(send({ ...requests[0]!, pin: pinOf('ca') }))).code).toBe('PIN_MISMATCH')
  expect(seen).toEqual([])
})

test('the certificate of each connection is compared', async () => {
  const first = await listen('loopback', ok)
  const request = { url: `https://a.test:${first.port}/`, pin: pinOf('loopback') }
  expect((await send(request)).status).toBe(200)
  opened.splice(0).forEach(one => one.stop())
  const server = Bun.serve({
    port: first.port,
    hostname: '127.0.0.1',
    tls: { cert: fixture('self-signed.pem'), key: fixture('self-signed.key') },
    fetch: () => new Response('other'),
  })
  opened.push({ stop: () => server.stop(true) })
  expect((await failureOf(send(request))).code).toBe('PIN_MISMATCH')
  expect((await send({ ...request, pin: pinOf('self-signed') })).status).toBe(200)
  // An unpinned request doesn't profit from a pinned one.
  expect((await failureOf(send({ url: request.url }))).code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
})

test('a request is sent as without a pin', async () => {
  const received: string[] = []
  const { port, seen, sockets } = await listen('loopback', (socket, head) => {
    received.push(head)
    ok(socket)
  })
  const url = `https://a.test:${port}/hook?x=1`
  const answer = await send({
    url,
    method: 'PUT',
    pin: pinOf('loopback'),
    headers: { 'x-mine': '1', host: 'evil.test', 'content-length': '1', 'transfer-encoding': 'chunked' },
    body: 'grüße',
  })
  expect(answer).toMatchObject({ status: 200, reason: 'OK', address: '127.0.0.1', addressFamily: 4, bodyTruncated: false })
  expect(answer.timings.connect_ms).toBeGreaterThan(0)
  expect(received[0]).toMatch(/^PUT \/hook\?x=1 HTTP\/1\.1\r\n/)
  const headers = received[0]!.split('\r\n\r\n')[0]!.toLowerCase().split('\r\n').slice(1)
  for (const one of [`host: a.test:${port}`, 'x-mine: 1', 'content-length: 7', 'connection: close'])
    expect(headers).toContain(one)
  expect(seen.join('').endsWith('\r\n\r\ngrüße')).toBe(true)
  expect(headers.join()).not.toMatch(/transfer-encoding|evil/)
  await send({ url, method: 'DELETE', pin: pinOf('loopback') })
  expect(received[1]).toMatch(/^DELETE [^]*content-length: 0/i)
  await send({ url, pin: pinOf('loopback') })
  expect(received[2]).not.toMatch(/content-length/i)
  while (sockets.size > 0) await Bun.sleep(1)
  await expect(send({ url, pin: 'abc' })).rejects.toThrow(TypeError)
})

test('the connection is closed after the response, and by an error', async () => {
  const keeping = await listen('loopback', socket => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'))
  const request = { url: `https://a.test:${keeping.port}/`, pin: pinOf('loopback') }
  await send(request)
  await send(request, { maxBodyBytes: 1 })
  await failureOf(send({ ...request, pin: pinOf('expired') }))
  await presentedFingerprint(request.url, { egress, policy })
  while (keeping.sockets.size > 0) await Bun.sleep(1)
})

test('the client certificate is sent', async () => {
  const requests: string[] = []
  const { port } = await listen(
    'loopback',
    socket => {
      requests.push(socket.getPeerCertificate().subject?.CN as string)
      ok(socket)
    },
    { requestCert: true, rejectUnauthorized: false, ca: fixture('ca.pem') },
  )
  const clientCertificate = { cert: fixture('client.pem'), key: fixture('client.key') }
  await send({ url: `https://a.test:${port}/`, pin: pinOf('loopback'), clientCertificate })
  expect(requests).toEqual(['client'])
})

test('the network policy applies, and HTTPS is required', async () => {
  const { port, seen } = await listen('loopback', ok)
  const pin = pinOf('loopback')
  const customer = { egress, policy: { ...policy, allowPrivate: false } }
  const url = `https://a.test:${port}/`
  expect((await failureOf(guardedFetch({ url, pin }, customer))).errorClass).toBe('blocked_address')
  expect((await failureOf(presentedFingerprint(url, customer))).errorClass).toBe('blocked_address')
  expect(await failureOf(send({ url: `http://a.test:${port}/`, pin }))).toMatchObject({
    errorClass: 'tls',
    message: 'The URL must use https, because its certificate is pinned.',
  })
  expect(seen).toEqual([])
})

test('limits and failures are those of other requests', async () => {
  const pin = pinOf('loopback')
  const at = async (onRequest: (socket: TLSSocket) => void) => {
    const { port } = await listen('loopback', onRequest)
    return { url: `https://a.test:${port}/`, pin }
  }
  const long = await at(socket => socket.end(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(100_000)}`))
  expect(await send(long, { maxBodyBytes: 1000 })).toMatchObject({ bodyTruncated: true, body: { byteLength: 1000 } })
  expect((await failureOf(send(long, { maxBodyBytes: 1000, overflow: 'fail' }))).errorClass).toBe('too_large')
  expect((await send(long, { maxBodyBytes: 100_000 })).body.byteLength).toBe(100_000)

  const cut = await failureOf(send(await at(socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'))))
  expect([cut.errorClass, cut.message]).toEqual(['connect', 'The server closed the connection before its response was complete.'])
  expect(cut.timings.first_byte_ms).toBeGreaterThan(0)
  const closed = await failureOf(send(await at(socket => socket.destroy())))
  expect([closed.errorClass, closed.message]).toEqual(['connect', 'The server closed the connection without a response.'])
  expect(closed.timings.connect_ms).toBeGreaterThan(0)
  const ssh = await failureOf(send(await at(socket => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))))
  expect([ssh.errorClass, ssh.message]).toEqual(['connect', 'The server’s response is not valid HTTP.'])
  const headers = await at(socket => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(2_000_000)}\r\n\r\n`))
  expect((await failureOf(send(headers))).errorClass).toBe('too_large')
  const silent = await failureOf(send(await at(() => {}), { totalMs: 300 }))
  expect([silent.errorClass, silent.timings.connect_ms === null]).toEqual(['timeout', false])
  const trickle = await at(socket => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'))
  expect((await failureOf(send(trickle, { totalMs: 300 }))).errorClass).toBe('timeout')
  expect((await send(await at(socket => socket.end('HTTP/1.1 204 No Content\r\n\r\n')))).status).toBe(204)
  expect(
    (await send(await at(socket => socket.end('HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n')))).status,
  ).toBe(302)
  const unmade = await failureOf(send({ ...long, signal: AbortSignal.abort() }))
  expect(unmade.errorClass).toBe('aborted')
})

test('a listener that refuses or does not speak TLS is an error', async () => {
  const { port } = await listen('loopback', ok)
  opened.splice(0).forEach(one => one.stop())
  const url = `https://a.test:${port}/`
  const pin = pinOf('loopback')
  expect(await failureOf(send({ url, pin }))).toMatchObject({ errorClass: 'connect', code: 'ECONNREFUSED' })
  expect(await failureOf(presentedFingerprint(url, { egress, policy }))).toMatchObject({ code: 'ECONNREFUSED' })
  const plain = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
      },
    },
  })
  opened.push({ stop: () => plain.stop(true) })
  expect((await failureOf(send({ url: `https://a.test:${plain.port}/`, pin }))).errorClass).toBe('tls')
  const mute = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  opened.push({ stop: () => mute.stop(true) })
  const limits = { connectMs: 100 }
  const failure = await failureOf(send({ url: `https://a.test:${mute.port}/`, pin }, limits))
  expect([failure.errorClass, failure.timings.connect_ms]).toEqual(['timeout', null])
})

test('the fingerprint that a server presents can be read, without sending anything', async () => {
  const { port, seen } = await listen('expired', ok)
  expect(await presentedFingerprint(`https://a.test:${port}/`, { egress, policy })).toBe(pinOf('expired'))
  expect((await failureOf(presentedFingerprint(`http://a.test:${port}/`, { egress, policy }))).errorClass).toBe('tls')
  expect(seen).toEqual([])
})

test('fingerprints are accepted as tools print them', () => {
  const hex = 'ab'.repeat(32)
  const withColons = hex.toUpperCase().match(/../g)!.join(':')
  for (const text of [hex, hex.toUpperCase(), withColons, ` ${withColons}\n`]) expect(parseFingerprint(text)).toBe(hex)
  for (const text of ['', hex.slice(1), `${hex}0`, hex.replace('a', 'g'), 'sha256:ab']) expect(parseFingerprint(text)).toBeNull()
})
