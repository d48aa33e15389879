import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls'
import { runAttempt } from '../../src/checks/attempt'
import { connectTcp, connectTls, upgradeToTls, type TlsSettings } from '../../src/checks/connect'
import { checkContext, limitOfServer } from '../support/check-context'
import { groupsOffered, x25519, x25519mlkem768 } from '../support/client-hello'

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
const ca = fixture('ca.pem')
const shown = (name: string) => ({ key: fixture(`${name}.key`), cert: fixture(`${name}.pem`) })

const servers: Server[] = []
const accepted = new Set<Socket>()
afterAll(() => {
  for (const server of servers) server.close()
  for (const socket of accepted) socket.destroy()
})

function listening(server: Server): Promise<number> {
  servers.push(server)
  server.on('connection', (socket: Socket) => {
    accepted.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => accepted.delete(socket))
  })
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

const secure = (options: TlsOptions, greet: (socket: TLSSocket) => void = socket => socket.end('hello')) =>
  listening(
    createTlsServer(options, socket => {
      socket.on('error', () => {})
      greet(socket)
    }),
  )
const plain = (talk: (socket: Socket) => void) => listening(createServer(talk))

const settings = (more: Partial<TlsSettings> = {}): TlsSettings => ({ name: 'a.test', verify: true, ca, ...more })
const check = (port: number, more: Partial<TlsSettings> = {}, input: Parameters<typeof checkContext>[0] = {}) =>
  runAttempt(checkContext(input), async attempt => {
    await connectTls(attempt, 'a.test', port, settings(more))
  })

const good = await secure(shown('two-names'))
const expired = await secure(shown('expired'))

describe('a connection with TLS', () => {
  test('reports version, cipher, certificate, address and the duration of each phase', async () => {
    const facts = await check(good)
    expect(facts).toMatchObject({
      connected: true,
      error: null,
      address: '127.0.0.1',
      tls: {
        version: '1.3',
        certificate: { subject: 'CN=two-names', names: ['a.test', 'b.test'], not_after: Date.UTC(2124, 0, 1) },
      },
    })
    expect(facts.tls!.cipher).toMatch(/^TLS_/)
    for (const phase of ['dns', 'connect', 'tls', 'total'] as const) expect(facts.phases[phase]).toBeGreaterThanOrEqual(0)
    const { dns, connect, tls, total } = facts.phases
    expect(dns! + connect! + tls!).toBeLessThanOrEqual(total! + 1)
    expect(facts.phases.first_byte).toBeNull()
  })

  test('to an IP address is verified with the IP addresses in the certificate', async () => {
    const port = await secure(shown('loopback'))
    expect(await check(port, { name: '127.0.0.1' })).toMatchObject({ error: null })
    expect((await check(port)).error).toEqual({
      kind: 'certificate',
      message: 'certificate is valid for 127.0.0.1, ::1, not a.test',
    })
  })

  test('reports the certificate of an untrusted server, and accepts it without verification', async () => {
    const now = Date.UTC(2021, 0, 4)
    const facts = await check(expired, {}, { now })
    expect(facts.error).toEqual({ kind: 'certificate', message: 'certificate expired 3 days ago' })
    expect(facts.tls!.certificate).toMatchObject({ subject: 'CN=expired', not_after: Date.UTC(2021, 0, 1) })
    expect(await check(expired, { verify: false })).toMatchObject({
      error: null,
      tls: { certificate: { subject: 'CN=expired' } },
    })
  })

  test.each([
    ['from an unknown authority', good, { ca: undefined }, 'certificate', /signed by unknown authority/],
    ['for another name', good, { name: 'c.test' }, 'certificate', /^certificate is valid for a\.test, b\.test, not c\.test$/],
  ] as const)('is rejected with a certificate %s', async (_, port, more, kind, message) => {
    expect((await check(port, more)).error).toEqual({ kind, message: expect.stringMatching(message) })
  })

  test('is rejected with a self-signed certificate', async () => {
    const port = await secure(shown('self-signed'))
    expect((await check(port, { ca: undefined })).error).toEqual({ kind: 'certificate', message: 'certificate is self-signed' })
  })

  test('uses no version below the minimum', async () => {
    const port = await secure({ ...shown('two-names'), maxVersion: 'TLSv1.2' })
    expect(await check(port)).toMatchObject({ error: null, tls: { version: '1.2' } })
    expect((await check(port, { minVersion: '1.3' })).error).toEqual({
      kind: 'tls',
      message: 'the server supports none of the accepted TLS versions',
    })
  })

  test('presents a client certificate', async () => {
    const names: string[] = []
    const port = await secure({ ...shown('two-names'), ca, requestCert: true, rejectUnauthorized: true }, socket => {
      names.push(socket.getPeerCertificate().subject.CN as string)
      socket.end()
    })
    const facts = await runAttempt(checkContext(), async attempt => {
      const socket = await connectTls(attempt, 'a.test', port, settings({ clientCertificate: shown('client') }))
      await attempt.within(
        new Promise<void>(resolve => socket.resume().once('close', () => resolve())),
        'the end of the connection',
      )
    })
    expect(facts.error).toBeNull()
    expect(names).toEqual(['client'])
    expect((await check(port, { clientCertificate: { cert: 'none', key: 'none' } })).error).toEqual({
      kind: 'tls',
      message: 'the configured certificates or key can’t be used',
    })
  })

  test('negotiates a protocol that both support', async () => {
    const port = await secure({ ...shown('two-names'), ALPNProtocols: ['h2'] })
    let spoken: string | false | null = null
    await runAttempt(checkContext(), async attempt => {
      spoken = (await connectTls(attempt, 'a.test', port, settings({ alpn: ['h2', 'http/1.1'] }))).alpnProtocol
    })
    expect(spoken as unknown).toBe('h2')
  })
})

describe('a failing connection', () => {
  test('to a closed port is refused', async () => {
    const port = await plain(() => {})
    const server = servers.pop()!
    await new Promise(resolve => server.close(resolve))
    const facts = await check(port)
    expect(facts).toMatchObject({ connected: false, error: { kind: 'refused', message: 'connection refused' } })
    expect(facts.phases.connect).toBeNull()
  })

  test('to a server without TLS is distinguished from one that closes the connection', async () => {
    expect((await check(await plain(socket => socket.end('220 hello\r\n')))).error).toEqual({
      kind: 'tls',
      message: 'the server does not speak TLS on this port',
    })
    expect((await check(await plain(socket => socket.end()))).error).toEqual({
      kind: 'closed',
      message: 'the server closed the connection during the TLS handshake',
    })
  })

  test('with a silent server ends at the time limit and is closed', async () => {
    const closed = Promise.withResolvers<void>()
    const limit = limitOfServer()
    const port = await plain(socket => {
      socket.resume().on('close', () => closed.resolve())
      limit.start()
    })
    const facts = await check(port, {}, { signal: limit.signal })
    expect(facts).toMatchObject({
      connected: true,
      error: { kind: 'timeout', message: 'timed out waiting for the TLS handshake' },
    })
    await closed.promise
  })

  test('to an unknown name, or an address that the network policy blocks', async () => {
    const unknown = await runAttempt(checkContext(), async attempt => void (await connectTcp(attempt, 'unknown.test', 80)))
    expect(unknown).toMatchObject({ connected: false, address: null, error: { kind: 'dns' } })
    const policy = { allowPrivate: false }
    const blocked = await runAttempt(checkContext({ policy }), async attempt => void (await connectTcp(attempt, 'a.test', 80)))
    expect(blocked).toMatchObject({ connected: false, address: null, error: { kind: 'blocked_address' } })
  })
})

describe('the key exchange', () => {
  async function offered(more: Partial<TlsSettings>): Promise<number[]> {
    const hello = Promise.withResolvers<Buffer>()
    const port = await plain(socket => void socket.once('data', (octets: Buffer) => (hello.resolve(octets), socket.destroy())))
    await check(port, more)
    return groupsOffered(await hello.promise)
  }

  test('is post-quantum if secrets may be sent, and cheaper otherwise', async () => {
    expect((await offered({})).slice(0, 2)).toEqual([x25519mlkem768, x25519])
    const plainly = await offered({ classicalKeyExchange: true })
    expect(plainly[0]).toBe(x25519)
    expect(plainly).not.toContain(x25519mlkem768)
  })

  for (const group of ['X25519MLKEM768', 'X25519', 'P-256', 'P-384', 'P-521'])
    test(`works with a server that only supports ${group}`, async () => {
      const port = await secure({ ...shown('two-names'), ecdhCurve: group })
      for (const classicalKeyExchange of [false, true]) expect((await check(port, { classicalKeyExchange })).error).toBeNull()
    })
})

test('TLS can start on a connection that is already in use', async () => {
  const port = await plain(socket => {
    socket.write('220 ready\r\n')
    socket.once('data', () => {
      socket.write('220 go ahead\r\n')
      const upgraded = new TLSSocket(socket, { isServer: true, ...shown('two-names') })
      upgraded.on('error', () => {})
      upgraded.on('data', octets => upgraded.end(`received ${octets}`))
    })
  })
  const received = (socket: Socket) => new Promise<string>(resolve => socket.once('data', octets => resolve(String(octets))))
  let answer = ''
  const facts = await runAttempt(checkContext(), async attempt => {
    const socket = await connectTcp(attempt, 'a.test', port)
    expect(await attempt.within(received(socket), 'the greeting')).toBe('220 ready\r\n')
    socket.write('STARTTLS\r\n')
    await attempt.within(received(socket), 'the response')
    const secured = await upgradeToTls(attempt, socket, settings())
    secured.write('EHLO')
    answer = await attempt.within(received(secured), 'the response')
  })
  expect(facts.error).toBeNull()
  expect(answer).toBe('received EHLO')
})

test('a bug in a check is reported as an internal error', async () => {
  const facts = await runAttempt(checkContext(), async () => {
    throw new TypeError('undefined is not a function')
  })
  expect(facts.error!.kind).toBe('internal')
})
