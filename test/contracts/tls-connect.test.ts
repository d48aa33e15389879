import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls'
import { attempt } from '../../src/checks/attempt'
import { connectTcp, connectTls, upgradeToTls, type TlsWish } from '../../src/checks/tls-connect'
import { around } from '../support/around'
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

const wish = (more: Partial<TlsWish> = {}): TlsWish => ({ name: 'a.test', verify: true, ca, ...more })
const seen = (port: number, more: Partial<TlsWish> = {}, given: Parameters<typeof around>[0] = {}) =>
  attempt(around(given), async one => {
    await connectTls(one, 'a.test', port, wish(more))
  })

const good = await secure(shown('two-names'))
const expired = await secure(shown('expired'))

describe('a connection with TLS', () => {
  test('tells version, cipher, certificate, address and the time of each phase', async () => {
    const facts = await seen(good)
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

  test('to an address is checked against the addresses of the certificate', async () => {
    const port = await secure(shown('loopback'))
    expect(await seen(port, { name: '127.0.0.1' })).toMatchObject({ error: null })
    expect((await seen(port)).error).toEqual({
      kind: 'certificate',
      message: 'certificate is for 127.0.0.1, ::1, not for a.test',
    })
  })

  test('shows the certificate of a server that it does not trust, and where verification is off that is all', async () => {
    const now = Date.UTC(2021, 0, 4)
    const facts = await seen(expired, {}, { now })
    expect(facts.error).toEqual({ kind: 'certificate', message: 'certificate expired 3 days ago' })
    expect(facts.tls!.certificate).toMatchObject({ subject: 'CN=expired', not_after: Date.UTC(2021, 0, 1) })
    expect(await seen(expired, { verify: false })).toMatchObject({ error: null, tls: { certificate: { subject: 'CN=expired' } } })
  })

  test.each([
    ['of an unknown authority', good, { ca: undefined }, 'certificate', /not signed by a trusted authority/],
    ['for another name', good, { name: 'c.test' }, 'certificate', /^certificate is for a\.test, b\.test, not for c\.test$/],
  ] as const)('is refused with a certificate %s', async (_, port, more, kind, message) => {
    expect((await seen(port, more)).error).toEqual({ kind, message: expect.stringMatching(message) })
  })

  test('is refused with a self-signed certificate', async () => {
    const port = await secure(shown('self-signed'))
    expect((await seen(port, { ca: undefined })).error).toEqual({ kind: 'certificate', message: 'certificate is self-signed' })
  })

  test('is made in no lower version than the lowest that is accepted', async () => {
    const port = await secure({ ...shown('two-names'), maxVersion: 'TLSv1.2' })
    expect(await seen(port)).toMatchObject({ error: null, tls: { version: '1.2' } })
    expect((await seen(port, { minVersion: '1.3' })).error).toEqual({
      kind: 'tls',
      message: 'the server speaks no version of TLS that is accepted',
    })
  })

  test('shows a client certificate', async () => {
    const names: string[] = []
    const port = await secure({ ...shown('two-names'), ca, requestCert: true, rejectUnauthorized: true }, socket => {
      names.push(socket.getPeerCertificate().subject.CN as string)
      socket.end()
    })
    const facts = await attempt(around(), async one => {
      const socket = await connectTls(one, 'a.test', port, wish({ clientCertificate: shown('client') }))
      await one.within(new Promise<void>(resolve => socket.resume().once('close', () => resolve())), 'no end')
    })
    expect(facts.error).toBeNull()
    expect(names).toEqual(['client'])
    expect((await seen(port, { clientCertificate: { cert: 'none', key: 'none' } })).error).toEqual({
      kind: 'tls',
      message: 'the given certificates or key cannot be used',
    })
  })

  test('speaks a protocol that both know', async () => {
    const port = await secure({ ...shown('two-names'), ALPNProtocols: ['h2'] })
    let spoken: string | false | null = null
    await attempt(around(), async one => {
      spoken = (await connectTls(one, 'a.test', port, wish({ alpn: ['h2', 'http/1.1'] }))).alpnProtocol
    })
    expect(spoken as unknown).toBe('h2')
  })
})

describe('a connection that does not come about', () => {
  test('to a closed port is refused', async () => {
    const port = await plain(() => {})
    const server = servers.pop()!
    await new Promise(resolve => server.close(resolve))
    const facts = await seen(port)
    expect(facts).toMatchObject({ connected: false, error: { kind: 'refused', message: 'connection refused' } })
    expect(facts.phases.connect).toBeNull()
  })

  test('to a server that speaks no TLS is told from one that hangs up', async () => {
    expect((await seen(await plain(socket => socket.end('220 hello\r\n')))).error).toEqual({
      kind: 'tls',
      message: 'the server does not speak TLS on this port',
    })
    expect((await seen(await plain(socket => socket.end()))).error).toEqual({
      kind: 'closed',
      message: 'the server closed the connection during the TLS handshake',
    })
  })

  test('with a silent server ends with the time of the check and leaves nothing behind', async () => {
    const closed = Promise.withResolvers<void>()
    const port = await plain(socket => socket.resume().on('close', () => closed.resolve()))
    const facts = await seen(port, {}, { withinMs: 100 })
    expect(facts).toMatchObject({
      connected: true,
      error: { kind: 'timeout', message: 'no end of the TLS handshake within the time limit' },
    })
    await closed.promise
  })

  test('to a name that nobody knows, or an address that is closed to the workspace', async () => {
    const unknown = await attempt(around(), async one => void (await connectTcp(one, 'unknown.test', 80)))
    expect(unknown).toMatchObject({ connected: false, address: null, error: { kind: 'dns' } })
    const policy = { allowPrivate: false }
    const blocked = await attempt(around({ policy }), async one => void (await connectTcp(one, 'a.test', 80)))
    expect(blocked).toMatchObject({ connected: false, address: null, error: { kind: 'blocked_address' } })
  })
})

describe('the key exchange', () => {
  async function offered(more: Partial<TlsWish>): Promise<number[]> {
    const hello = Promise.withResolvers<Buffer>()
    const port = await plain(socket => void socket.once('data', (octets: Buffer) => (hello.resolve(octets), socket.destroy())))
    await seen(port, more)
    return groupsOffered(await hello.promise)
  }

  test('withstands quantum computers where something secret may be sent, and costs less where nothing is', async () => {
    expect((await offered({})).slice(0, 2)).toEqual([x25519mlkem768, x25519])
    const plainly = await offered({ nothingSecret: true })
    expect(plainly[0]).toBe(x25519)
    expect(plainly).not.toContain(x25519mlkem768)
  })

  for (const group of ['X25519MLKEM768', 'X25519', 'P-256', 'P-384', 'P-521'])
    test(`is had with a server that knows ${group} alone`, async () => {
      const port = await secure({ ...shown('two-names'), ecdhCurve: group })
      for (const nothingSecret of [false, true]) expect((await seen(port, { nothingSecret })).error).toBeNull()
    })
})

test('TLS begins on a connection that has talked before', async () => {
  const port = await plain(socket => {
    socket.write('220 ready\r\n')
    socket.once('data', () => {
      socket.write('220 go ahead\r\n')
      const upgraded = new TLSSocket(socket, { isServer: true, ...shown('two-names') })
      upgraded.on('error', () => {})
      upgraded.on('data', octets => upgraded.end(`heard ${octets}`))
    })
  })
  const heard = (socket: Socket) => new Promise<string>(resolve => socket.once('data', octets => resolve(String(octets))))
  let answer = ''
  const facts = await attempt(around(), async one => {
    const socket = await connectTcp(one, 'a.test', port)
    expect(await one.within(heard(socket), 'no greeting')).toBe('220 ready\r\n')
    socket.write('STARTTLS\r\n')
    await one.within(heard(socket), 'no answer')
    const secured = await upgradeToTls(one, socket, wish())
    secured.write('EHLO')
    answer = await one.within(heard(secured), 'no answer')
  })
  expect(facts.error).toBeNull()
  expect(answer).toBe('heard EHLO')
})

test('a fault of the check itself is no news of the target', async () => {
  const facts = await attempt(around(), async () => {
    throw new TypeError('undefined is not a function')
  })
  expect(facts.error!.kind).toBe('internal')
})
