import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createEgress, type NetworkPolicy } from './egress'
import { FetchFailed } from './fetch-failure'
import { type FetchLimits, guardedFetch, type GuardedRequest } from './guarded-fetch'

const OPERATOR: NetworkPolicy = { allowPrivate: true, allowRanges: [], requireHttps: false }
const fixture = (name: string) => readFileSync(join(import.meta.dir, '../../../test/fixtures/tls', name), 'utf8')
const ca = fixture('ca.pem')

// All names resolve to this machine, so requests only differ in the name.
const egress = createEgress({ resolve: async name => (name === 'six.test' ? ['::1'] : ['127.0.0.1']), ownListeners: () => [] })

const get = (request: GuardedRequest | string, limits: FetchLimits = {}, policy = OPERATOR) =>
  guardedFetch(typeof request === 'string' ? { url: request } : request, { egress, policy, limits })

const post = (url: string, limits?: FetchLimits) => get({ url, method: 'POST', body: '{"n":1}' }, limits)

async function failureOf(promise: Promise<unknown>): Promise<FetchFailed> {
  const outcome = await promise.catch((error: unknown) => error)
  if (!(outcome instanceof FetchFailed)) throw new Error(`not a FetchFailed: ${Bun.inspect(outcome)}`)
  // No error message may contain the resolved address.
  expect(outcome.message).not.toMatch(/127\.0\.0\.1|::1/)
  return outcome
}

const opened: { stop(): unknown }[] = []
afterEach(() => {
  for (const listener of opened.splice(0)) listener.stop()
})

function http(fetch: (request: Request) => Response | Promise<Response>, hostname = '127.0.0.1') {
  const server = Bun.serve({ port: 0, hostname, fetch })
  opened.push({ stop: () => server.stop(true) })
  return server.port!
}

function https(certificate: string, more: Partial<Bun.TLSOptions> = {}) {
  const tls = { cert: fixture(`${certificate}.pem`), key: fixture(`${certificate}.key`), ...more }
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', tls, fetch: () => new Response('ok') })
  opened.push({ stop: () => server.stop(true) })
  return server.port!
}

/** A TCP listener; `onRequest` gets the first bytes of each connection. */
async function tcp(onRequest: (socket: net.Socket, bytes: Buffer) => void): Promise<number> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', (bytes: Buffer) => onRequest(socket, bytes))
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  opened.push({
    stop: () => {
      server.close()
      sockets.forEach(socket => socket.destroy())
    },
  })
  return (server.address() as net.AddressInfo).port
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('a request', () => {
  test('is sent to the checked address, with the name in Host, its own headers and its length', async () => {
    const port = http(async request => {
      return Response.json({ headers: [...request.headers], body: await request.text(), url: request.url })
    })
    const answer = await get({
      url: `http://a.test:${port}/hook?x=1`,
      method: 'POST',
      headers: { 'x-mine': '1', host: 'evil.test', 'content-length': '1', 'transfer-encoding': 'chunked', connection: 'close' },
      body: 'grüße',
    })
    const seen = JSON.parse(text(answer.body))
    expect(new URL(seen.url)).toMatchObject({ pathname: '/hook', search: '?x=1' })
    expect(Object.fromEntries(seen.headers)).toMatchObject({ host: `a.test:${port}`, 'x-mine': '1', 'content-length': '7' })
    expect(Object.fromEntries(seen.headers)).not.toHaveProperty('transfer-encoding')
    expect(seen.body).toBe('grüße')
    expect(answer).toMatchObject({ status: 200, reason: 'OK', addressFamily: 4, address: '127.0.0.1', bodyTruncated: false })
  })

  test.each([0, 7, 65_536])('sends a body of %d bytes with its length, not chunked', async size => {
    const raw = Promise.withResolvers<string>()
    const port = await tcp((socket, first) => {
      let seen = ''
      const onBytes = (bytes: Buffer) => {
        seen += bytes.toString('latin1')
        const head = seen.indexOf('\r\n\r\n')
        if (head < 0 || seen.length < head + 4 + size) return
        raw.resolve(seen)
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      }
      socket.on('data', onBytes)
      onBytes(first)
    })
    const body = new Uint8Array(size).fill(0x61)
    const answer = await get({ url: `http://a.test:${port}/hook`, method: 'POST', headers: { 'X-Service-Event': 'a.b' }, body })
    expect(answer.status).toBe(200)
    const [head, rest] = (await raw.promise).split('\r\n\r\n')
    expect(head).toMatch(/^POST \/hook HTTP\/1\.1\r\n/)
    expect(head!.match(/^content-length: .*$/gim)).toEqual([`Content-Length: ${size}`])
    expect(head).not.toMatch(/transfer-encoding/i)
    expect(head).toContain('X-Service-Event: a.b')
    expect(rest).toBe('a'.repeat(size))
  })

  test('can have an empty body or none', async () => {
    const port = http(async request => new Response(`${request.method} ${(await request.text()).length}`))
    expect(text((await get({ url: `http://a.test:${port}/`, method: 'DELETE' })).body)).toBe('DELETE 0')
    expect(text((await get(`http://a.test:${port}/`)).body)).toBe('GET 0')
    expect((await get({ url: `http://a.test:${port}/`, method: 'HEAD' })).body.byteLength).toBe(0)
    await expect(get({ url: `http://a.test:${port}/`, body: 'x' })).rejects.toThrow(TypeError)
  })

  test('reaches IPv6, by name and by address', async () => {
    const port = http(request => new Response(request.headers.get('host')), '::1')
    expect(text((await get(`http://[::1]:${port}/`)).body)).toBe(`[::1]:${port}`)
    const named = await get(`http://six.test:${port}/`)
    expect(text(named.body)).toBe(`six.test:${port}`)
    expect(named.addressFamily).toBe(6)
  })

  test('measures all phases that can be measured', async () => {
    const port = http(() => new Response('ok'))
    const { timings } = await post(`http://a.test:${port}/`)
    expect(timings.tls_ms).toBeNull()
    expect(timings.connect_ms).toBeGreaterThan(0)
    expect(timings.first_byte_ms).toBeGreaterThanOrEqual(timings.connect_ms!)
    expect(timings.total_ms).toBeGreaterThanOrEqual(timings.dns_ms! + timings.first_byte_ms!)
    expect((await get(`http://a.test:${port}/`)).timings.connect_ms).toBeNull()
  })

  test('does not follow a redirect', async () => {
    let followed = 0
    const port = http(request => {
      if (request.url.endsWith('/next')) followed++
      return new Response('moved', { status: 302, headers: { location: '/next' } })
    })
    for (const answer of [await get(`http://a.test:${port}/`), await post(`http://a.test:${port}/`)]) {
      expect(answer.status).toBe(302)
      expect(answer.headers.get('location')).toBe('/next')
      expect(text(answer.body)).toBe('moved')
    }
    expect(followed).toBe(0)
  })

  test('is not sent if the policy refuses it', async () => {
    let calls = 0
    const port = http(() => new Response(String(++calls)))
    const customer = { ...OPERATOR, allowPrivate: false }
    expect((await failureOf(get(`http://a.test:${port}/`, {}, customer))).errorClass).toBe('blocked_address')
    expect((await failureOf(get(`http://127.0.0.1:${port}/`, {}, customer))).errorClass).toBe('blocked_address')
    expect((await failureOf(get('http://169.254.169.254/'))).errorClass).toBe('blocked_address')
    expect((await failureOf(get(`http://user@a.test:${port}/`))).errorClass).toBe('blocked_address')
    const own = createEgress({ resolve: async () => ['127.0.0.1'], ownListeners: () => [{ address: '::', port }] })
    const refused = guardedFetch({ url: `http://a.test:${port}/` }, { egress: own, policy: OPERATOR })
    expect((await failureOf(refused)).errorClass).toBe('blocked_address')
    expect(calls).toBe(0)
  })

  test('is not sent to a name that became private after it was saved', async () => {
    let calls = 0
    const port = http(() => new Response(String(++calls)))
    const answers = [['93.184.215.14'], ['127.0.0.1']]
    const rebinding = createEgress({ resolve: async () => answers.shift()!, ownListeners: () => [] })
    const policy = { ...OPERATOR, allowPrivate: false }
    await rebinding.vetUrl(`http://a.test:${port}/`, policy)
    const sent = guardedFetch({ url: `http://a.test:${port}/` }, { egress: rebinding, policy })
    expect((await failureOf(sent)).errorClass).toBe('blocked_address')
    expect(calls).toBe(0)
  })

  test('to a name that does not resolve is a dns error without later timings', async () => {
    const nowhere = createEgress({ resolve: async () => [], ownListeners: () => [] })
    const failure = await failureOf(guardedFetch({ url: 'http://a.test/' }, { egress: nowhere, policy: OPERATOR }))
    expect(failure.errorClass).toBe('dns')
    expect(failure.timings).toMatchObject({ dns_ms: null, connect_ms: null, first_byte_ms: null })
  })
})

describe('certificates', () => {
  test('are verified against the name, although the connection is to the address', async () => {
    const port = https('two-names')
    expect((await get({ url: `https://a.test:${port}/`, ca })).status).toBe(200)
    const failure = await failureOf(get({ url: `https://c.test:${port}/`, ca }))
    expect(failure).toMatchObject({ errorClass: 'tls', code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    expect((await failureOf(get({ url: `https://127.0.0.1:${port}/`, ca }))).errorClass).toBe('tls')
  })

  test('are verified against the address if the URL has no name', async () => {
    expect((await get({ url: `https://127.0.0.1:${https('loopback')}/`, ca })).status).toBe(200)
  })

  test('that are expired, self-signed or from an unknown authority are refused', async () => {
    const expired = await failureOf(get({ url: `https://a.test:${https('expired')}/`, ca }))
    expect(expired).toMatchObject({ errorClass: 'tls', code: 'CERT_HAS_EXPIRED' })
    const selfSigned = await failureOf(get(`https://a.test:${https('self-signed')}/`))
    expect(selfSigned).toMatchObject({ errorClass: 'tls', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    const unknown = await failureOf(get(`https://a.test:${https('two-names')}/`))
    expect(unknown).toMatchObject({ errorClass: 'tls', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  })

  test('of a custom CA are parsed before anything is sent', async () => {
    const failure = await failureOf(get({ url: `https://a.test:${https('two-names')}/`, ca: 'nonsense' }))
    expect(failure).toMatchObject({ errorClass: 'tls', message: 'The CA certificate is invalid.' })
  })

  test('separate the connection pool: a connection is only reused for the same name and CA', async () => {
    const peers: string[] = []
    const port = https('two-names')
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: { cert: fixture('two-names.pem'), key: fixture('two-names.key') },
      fetch(request, server) {
        peers.push(`${request.headers.get('host')!.split(':')[0]} ${server.requestIP(request)!.port}`)
        return new Response('ok')
      },
    })
    opened.push({ stop: () => server.stop(true) })
    for (const name of ['a', 'b', 'a', 'b']) await get({ url: `https://${name}.test:${server.port}/`, ca })
    expect(peers[2]).toBe(peers[0]!)
    expect(peers[3]).toBe(peers[1]!)
    expect(peers[0]!.split(' ')[1]).not.toBe(peers[1]!.split(' ')[1])

    // The connection for a.test must not be reused for a name that is not in the certificate, or with other trusted roots.
    await get({ url: `https://a.test:${port}/`, ca })
    expect((await failureOf(get({ url: `https://c.test:${port}/`, ca }))).errorClass).toBe('tls')
    expect((await failureOf(get(`https://a.test:${port}/`))).errorClass).toBe('tls')
  })

  test('of clients separate the connection pool and are only sent if set', async () => {
    const port = https('two-names', { ca, requestCert: true, rejectUnauthorized: true })
    const clientCertificate = { cert: fixture('client.pem'), key: fixture('client.key') }
    expect((await get({ url: `https://a.test:${port}/`, ca, clientCertificate })).status).toBe(200)
    await failureOf(get({ url: `https://a.test:${port}/`, ca }))
  })
})

describe('a listener that misbehaves', () => {
  test('by refusing is a connect error', async () => {
    const port = http(() => new Response())
    opened.splice(0).forEach(listener => listener.stop())
    expect(await failureOf(post(`http://a.test:${port}/`))).toMatchObject({ errorClass: 'connect', code: 'ECONNREFUSED' })
  })

  test('by resetting before or during its response is a connect error', async () => {
    const before = await tcp(socket => socket.resetAndDestroy())
    expect(await failureOf(get(`http://a.test:${before}/`))).toMatchObject({ errorClass: 'connect', code: 'ECONNRESET' })
    const middle = await tcp(socket => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', () => socket.resetAndDestroy())
    })
    const failure = await failureOf(get(`http://a.test:${middle}/`))
    expect(failure.errorClass).toBe('connect')
  })

  test('by ending its body early is a connect error, not a shorter body', async () => {
    const port = await tcp(socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'))
    const failure = await failureOf(post(`http://a.test:${port}/`))
    expect(failure.errorClass).toBe('connect')
    expect(failure.message).toBe('The server closed the connection before its response was complete.')
    expect(failure.timings.first_byte_ms).toBeGreaterThan(0)
  })

  test('by not speaking HTTP is a connect error', async () => {
    const port = await tcp(socket => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))
    const failure = await failureOf(get(`http://a.test:${port}/`))
    expect(failure).toMatchObject({ errorClass: 'connect', message: 'The server’s response is not valid HTTP.' })
  })

  test('by not speaking TLS is a tls error', async () => {
    const plain = await tcp(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect((await failureOf(get(`https://a.test:${plain}/`))).errorClass).toBe('tls')
    const closing = await tcp(socket => socket.destroy())
    expect((await failureOf(post(`https://a.test:${closing}/`))).errorClass).toBe('tls')
  })

  test('by never responding times out', async () => {
    const port = await tcp(() => {})
    const failure = await failureOf(post(`http://a.test:${port}/`, { totalMs: 500 }))
    expect(failure).toMatchObject({ errorClass: 'timeout', message: 'The request timed out.' })
    expect(failure.timings.connect_ms).not.toBeNull()
    expect(failure.timings.first_byte_ms).toBeNull()
    expect((await failureOf(get(`http://a.test:${port}/`, { totalMs: 60 }))).errorClass).toBe('timeout')
  })

  test('by never completing the handshake reaches the connect timeout', async () => {
    const port = await tcp(() => {})
    const failure = await failureOf(post(`https://a.test:${port}/`, { connectMs: 60 }))
    expect(failure).toMatchObject({ errorClass: 'timeout', message: 'The connection timed out.' })
    expect(failure.timings.connect_ms).toBeNull()
  })

  test('by responding slowly does not reach the connect timeout', async () => {
    const port = await tcp(socket => setTimeout(() => socket.end('HTTP/1.1 204 No Content\r\n\r\n'), 1100))
    expect((await post(`http://a.test:${port}/`, { connectMs: 1000 })).status).toBe(204)
  })

  test('by sending headers or body very slowly times out', async () => {
    const drip = (start: string, drop: string) =>
      tcp(socket => {
        socket.write(start)
        const timer = setInterval(() => socket.write(drop), 10)
        socket.on('close', () => clearInterval(timer))
      })
    const headers = await drip('HTTP/1.1 200 OK\r\nx: ', 'y')
    expect((await failureOf(get(`http://a.test:${headers}/`, { totalMs: 100 }))).errorClass).toBe('timeout')
    const hints = await drip('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')
    expect((await failureOf(get(`http://a.test:${hints}/`, { totalMs: 100 }))).errorClass).toBe('timeout')
    const body = await drip('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n', 'z')
    const failure = await failureOf(get(`http://a.test:${body}/`, { totalMs: 500 }))
    expect(failure.errorClass).toBe('timeout')
    expect(failure.timings.first_byte_ms).not.toBeNull()
  })

  test('by sending endless headers is a too_large error', async () => {
    const port = await tcp(socket => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(2_000_000)}\r\n\r\n`))
    expect((await failureOf(get(`http://a.test:${port}/`))).errorClass).toBe('too_large')
  })

  test('with a resolver that never responds reaches the total timeout', async () => {
    const stuck = createEgress({ resolve: () => new Promise(() => {}), ownListeners: () => [] })
    const failure = await failureOf(
      guardedFetch({ url: 'http://a.test/' }, { egress: stuck, policy: OPERATOR, limits: { totalMs: 30 } }),
    )
    expect(failure.errorClass).toBe('timeout')
  })
})

describe('a response', () => {
  test('is returned up to maxReturnedBytes and read up to maxBodyBytes', async () => {
    const port = http(() => new Response('x'.repeat(1000)))
    const whole = await get(`http://a.test:${port}/`, { maxBodyBytes: 1000 })
    expect([whole.body.byteLength, whole.bodyTruncated]).toEqual([1000, false])
    const kept = await get(`http://a.test:${port}/`, { maxBodyBytes: 1000, maxReturnedBytes: 100 })
    expect([kept.body.byteLength, kept.bodyTruncated]).toEqual([100, true])
    const cut = await get(`http://a.test:${port}/`, { maxBodyBytes: 999 })
    expect([cut.body.byteLength, cut.bodyTruncated]).toEqual([999, true])
  })

  test('over the limit is an error if the caller needs all of it', async () => {
    const port = http(() => new Response('x'.repeat(1000)))
    expect((await failureOf(get(`http://a.test:${port}/`, { maxBodyBytes: 999, overflow: 'fail' }))).errorClass).toBe('too_large')
    expect((await get(`http://a.test:${port}/`, { maxBodyBytes: 1000, overflow: 'fail' })).body.byteLength).toBe(1000)
  })

  test('that is a gzip bomb is not decompressed and is truncated', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    expect(bomb.byteLength).toBeLessThan(65_536)
    const port = http(() => new Response(bomb, { headers: { 'content-encoding': 'gzip' } }))
    const answer = await get(`http://a.test:${port}/`, { maxReturnedBytes: 16_384 })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.body.byteLength).toBe(16_384)
    expect(Buffer.from(answer.body).equals(bomb.subarray(0, 16_384))).toBe(true)
  })

  test('that is endless is truncated and its connection closed', async () => {
    const closed = Promise.withResolvers<number>()
    const port = await tcp(socket => {
      const pour = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
      }
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.on('drain', pour)
      socket.on('close', () => closed.resolve(socket.bytesWritten))
      pour()
    })
    const answer = await get(`http://a.test:${port}/`)
    expect([answer.body.byteLength, answer.bodyTruncated]).toEqual([65_536, true])
    expect(await closed.promise).toBeGreaterThan(65_536)
  })
})

describe('aborting', () => {
  test('works before the request, while waiting and while reading', async () => {
    expect((await failureOf(get({ url: 'http://a.test:9/', signal: AbortSignal.abort() }))).errorClass).toBe('aborted')

    const waiting = new AbortController()
    const silent = await tcp(() => waiting.abort())
    expect((await failureOf(get({ url: `http://a.test:${silent}/`, signal: waiting.signal }))).errorClass).toBe('aborted')

    const reading = new AbortController()
    const halting = await tcp(socket =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc', () => setTimeout(() => reading.abort(), 300)),
    )
    const failure = await failureOf(get({ url: `http://a.test:${halting}/`, signal: reading.signal }))
    expect(failure.errorClass).toBe('aborted')
    expect(failure.timings.first_byte_ms).not.toBeNull()
  })
})

describe('the environment', () => {
  test('does not set a proxy or disable verification', async () => {
    let proxied = 0
    const proxy = await tcp(socket => {
      proxied++
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nproxy')
    })
    const [plain, secure, unknown] = [http(() => new Response('direct')), https('two-names'), https('self-signed')]
    const script = `
      import { createEgress } from ${JSON.stringify(join(import.meta.dir, 'egress.ts'))}
      import { guardedFetch } from ${JSON.stringify(join(import.meta.dir, 'guarded-fetch.ts'))}
      const egress = createEgress({ resolve: async () => ['127.0.0.1'], ownListeners: () => [] })
      const policy = { allowPrivate: true, allowRanges: [], requireHttps: false }
      const ca = ${JSON.stringify(ca)}
      const outcome = (request) => guardedFetch(request, { egress, policy })
        .then((answer) => new TextDecoder().decode(answer.body), (error) => error.errorClass)
      const bare = await (await fetch('http://127.0.0.1:${plain}/')).text()
      console.log(JSON.stringify([
        bare,
        await outcome({ url: 'http://a.test:${plain}/' }),
        await outcome({ url: 'http://127.0.0.1:${plain}/', method: 'POST', body: 'x' }),
        await outcome({ url: 'https://a.test:${secure}/', ca }),
        await outcome({ url: 'https://a.test:${unknown}/' }),
      ]))`
    const address = `http://127.0.0.1:${proxy}`
    const child = Bun.spawn([process.execPath, '-e', script], {
      env: {
        HTTP_PROXY: address,
        HTTPS_PROXY: address,
        ALL_PROXY: address,
        http_proxy: address,
        https_proxy: address,
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    // The first is a plain fetch, to show that the proxy would have been used.
    expect(JSON.parse(await new Response(child.stdout).text())).toEqual(['proxy', 'direct', 'direct', 'ok', 'tls'])
    expect(proxied).toBe(1)
  })
})
