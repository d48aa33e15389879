import { afterAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { createServer as createSession, type ServerHttp2Stream } from 'node:http2'
import { createServer as createPlain } from 'node:net'
import { Value } from '@sinclair/typebox/value'
import { utils, type AuthContext } from 'ssh2'
import { http } from '../../src/checks/http'
import { httpOptions, type HttpOptions, type SshTunnel } from '../../src/checks/http/options'
import { cpuTime } from '../support/cpu-time'
import { checkContext, limitOfServer } from '../support/check-context'
import { at, ca, closeTargets, listening, refusalOf, run, served } from '../support/http-targets'
import { ed25519KeyPair, fingerprintOf, hostKeys, sshServer } from '../support/ssh-server'

afterAll(closeTargets)

const host_key = fingerprintOf(hostKeys.public)
const other_key = fingerprintOf(ed25519KeyPair().public)
const password = 'changeme-tunnel'
const passphrase = 'changeme-phrase'
const key = ed25519KeyPair({ passphrase, cipher: 'aes256-ctr', rounds: 4 })
const slow = ed25519KeyPair({ passphrase, cipher: 'aes256-ctr', rounds: 40 })
const byPassword = (login: AuthContext) => login.method === 'password' && login.password === password

const through = (port: number, more: Partial<SshTunnel> = {}): { ssh_tunnel: SshTunnel } => ({
  ssh_tunnel: { host: 'proxy.test', port, username: 'probe', host_key, ...(!more.private_key && { password }), ...more },
})

describe('an SSH tunnel', () => {
  test('reaches a target that its server resolves, with and without TLS', async () => {
    const server = await sshServer(byPassword)
    const text = 'within '.repeat(100_000)
    const plain = await served((request, response) => response.end(request.text + text))
    const secure = await served((_, response) => response.end(text), true)
    const context = checkContext()
    const facts = await http.run(`https://a.test:${secure.port}/`, { ca, ...through(server.port) }, context)
    expect(facts).toMatchObject({
      connected: true,
      error: null,
      address: '127.0.0.1',
      body: text,
      tls: { certificate: { subject: 'CN=two-names' } },
    })
    expect(facts.phases.connect).toBeGreaterThan(0)
    expect(context.lookups).toEqual(['proxy.test'])
    const long = 'x'.repeat(65_536)
    const sent = await run(`http://unknown.test:${plain.port}/`, { method: 'POST', body: long, ...through(server.port) })
    expect(sent).toMatchObject({ error: null, status: 200, tls: null })
    expect(sent.body).toBe(long + text)
    expect(server.forwards).toEqual([`a.test:${secure.port}`, `unknown.test:${plain.port}`])
    expect(server.logins).toEqual(['probe password', 'probe password'])
    expect(server.clients[0]).toStartWith('Bailiwick_')
  })

  test('follows redirects, and passes IPv6 addresses without brackets', async () => {
    const server = await sshServer(byPassword)
    const next = await served((_, response) => response.end('there'))
    const first = await served((_, response) => response.writeHead(302, { location: `http://[::1]:${next.port}/` }).end())
    expect(await run(at(first.port), through(server.port))).toMatchObject({ error: null, body: 'there' })
    expect(server.forwards).toEqual([`a.test:${first.port}`, `::1:${next.port}`])
  })

  test('carries HTTP/2', async () => {
    const server = await sshServer(byPassword)
    const port = await listening(
      createSession().on('stream', (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 200 })
        stream.end('two')
      }),
    )
    expect(await run(at(port), { http_version: '2', ...through(server.port) })).toMatchObject({ error: null, body: 'two' })
  })

  test('reports another host key, and sends no username to that server', async () => {
    const server = await sshServer(byPassword)
    expect(await run('http://a.test/', through(server.port, { host_key: other_key }))).toMatchObject({
      connected: false,
      error: { kind: 'certificate', message: `ssh: host key mismatch: the server presented ${host_key}` },
    })
    expect(server).toMatchObject({ logins: [], forwards: [] })
  })

  test('logs in with an encrypted private key, and offers nothing else', async () => {
    const target = await served((_, response) => response.end('by key'))
    const own = utils.parseKey(key.public) as { getPublicSSH(): Buffer }
    const server = await sshServer(login => login.method === 'publickey' && login.key.data.equals(own.getPublicSSH()))
    const value = through(server.port, { private_key: key.private, passphrase })
    expect(await run(at(target.port), value)).toMatchObject({ error: null, body: 'by key' })
    expect(new Set(server.logins)).toEqual(new Set(['probe publickey']))
    const denies = await sshServer(() => false)
    expect((await run(at(target.port), { ssh_tunnel: { ...value.ssh_tunnel, port: denies.port } })).error).toEqual({
      kind: 'protocol',
      message: 'ssh: authentication failed: username, password, or key rejected',
    })
    expect(denies.logins).toEqual(['probe publickey'])
  })

  test('tries a rejected password only once', async () => {
    const server = await sshServer(() => false, { methods: ['password', 'keyboard-interactive'] })
    expect((await run('http://a.test/', through(server.port))).error).toEqual({
      kind: 'protocol',
      message: 'ssh: authentication failed: username, password, or key rejected',
    })
    expect(server.logins).toEqual(['probe password'])
  })

  test('answers a keyboard-interactive password prompt', async () => {
    const target = await served((_, response) => response.end('asked'))
    const answers: string[][] = []
    const server = await sshServer(
      login => {
        if (login.method !== 'keyboard-interactive') return false
        login.prompt([{ prompt: 'Password: ', echo: false }], input => {
          answers.push(input)
          login.accept()
        })
        return 'later'
      },
      { methods: ['keyboard-interactive'] },
    )
    expect(await run(at(target.port), through(server.port))).toMatchObject({ error: null, body: 'asked' })
    expect(answers).toEqual([[password]])
  })

  test('distinguishes an unreachable target from an unreachable server', async () => {
    const closed = await sshServer(byPassword, { forwards: () => false })
    expect(await run('http://a.test/', through(closed.port))).toMatchObject({
      connected: false,
      error: { kind: 'unreachable', message: expect.stringMatching(/^ssh: could not connect to the target/) },
    })
    const leaves = await sshServer(byPassword, { forwards: (_, client) => Boolean(client.end()) })
    expect((await run('http://a.test/', through(leaves.port))).error!.message).toMatch(
      /^ssh: (connection|session) closed by the server$/,
    )
    const { ssh_tunnel } = through(22, { host: '169.254.169.254' })
    expect((await run('http://a.test/', { ssh_tunnel })).error).toMatchObject({
      kind: 'blocked_address',
      message: expect.stringMatching(/^ssh: /),
    })
  })

  test.each([
    ['never responds', () => {}, 'timeout', 'ssh: timed out waiting for SSH authentication'],
    ['hangs up', (socket: { destroy(): void }) => socket.destroy(), 'closed', 'ssh: connection closed by the server'],
    [
      'hangs up after its greeting',
      (socket: { end(text: string): void }) => socket.end('SSH-2.0-none\r\n'),
      'closed',
      'ssh: connection closed by the server',
    ],
    [
      'speaks another protocol',
      (socket: { write(text: string): void }) => socket.write('SSH-1.5-old\r\n'),
      'protocol',
      'ssh: the server does not speak SSH 2',
    ],
  ] as const)('a server that %s', async (_, does, kind, message) => {
    const limit = limitOfServer(600)
    const port = await listening(
      createPlain(socket => {
        does(socket as never)
        limit.start()
      }),
    )
    const facts = await run('http://a.test/', through(port), limit)
    expect(facts).toMatchObject({ connected: false, error: { kind, message } })
  })

  test('a session that breaks in the middle of a response is an error', async () => {
    const target = await served((_, response) => {
      response.writeHead(200, { connection: 'close' }).write('half')
      setTimeout(() => leaving(), 50)
    })
    let leaving = () => {}
    const server = await sshServer(byPassword, {
      forwards: (_, client) => {
        leaving = () => (client as unknown as { _sock: { destroy(): void } })._sock.destroy()
        return true
      },
    })
    expect((await run(at(target.port), through(server.port))).error!.kind).toBe('closed')
  })

  test('closes its session', async () => {
    let open = 0
    const server = await sshServer(byPassword, {
      forwards: (_, client) => {
        open++
        client.on('close', () => open--)
        return true
      },
    })
    const target = await served((_, response) => response.end('ok'))
    const limit = limitOfServer()
    const silent = await served(limit.start)
    expect((await run(at(target.port), through(server.port))).error).toBeNull()
    expect((await run(at(silent.port), through(server.port), limit)).error!.kind).toBe('timeout')
    for (let tries = 0; open > 0 && tries < 500; tries++) await Bun.sleep(20)
    expect(open).toBe(0)
    expect(server.forwards).toHaveLength(2)
  })
})

describe('input', () => {
  test.each<[Partial<SshTunnel>, HttpOptions, string]>([
    [{}, { proxy: { url: 'http://a.test' } }, '/options/ssh_tunnel'],
    [{ host: 'a b' }, {}, '/options/ssh_tunnel/host'],
    [{ host: 'a.test:22' }, {}, '/options/ssh_tunnel/host'],
    [{ private_key: key.private, passphrase, password }, {}, '/options/ssh_tunnel/password'],
    [{ passphrase }, {}, '/options/ssh_tunnel/private_key'],
    [{ private_key: key.private }, {}, '/options/ssh_tunnel/passphrase'],
    [{ private_key: key.private, passphrase: 'changeme-other' }, {}, '/options/ssh_tunnel/passphrase'],
    [{ private_key: slow.private, passphrase }, {}, '/options/ssh_tunnel/private_key'],
    [{ private_key: key.public }, {}, '/options/ssh_tunnel/private_key'],
    [{ private_key: key.private.slice(0, 200) }, {}, '/options/ssh_tunnel/private_key'],
    [{ private_key: `-----BEGIN RSA PRIVATE KEY-----\n${'a: b\n'.repeat(12_000)}` }, {}, '/options/ssh_tunnel/private_key'],
    [
      { private_key: `-----BEGIN RSA PRIVATE KEY-----\n${'a: b\n'.repeat(12_000)}-----END RSA PRIVATE KEY-----` },
      {},
      '/options/ssh_tunnel/private_key',
    ],
  ])('rejects a tunnel %#', (more, options, pointer) => {
    const startedAt = cpuTime()
    const refusal = refusalOf({ ...options, ...through(22, more) })
    expect(refusal!.pointer).toBe(pointer)
    expect(refusal!.message).toMatch(/^(must|is) .*\.$/)
    expect(cpuTime() - startedAt).toBeLessThan(2000)
  })

  test('rejects a tunnel with neither password nor key', () => {
    const { password: _, ...rest } = through(22).ssh_tunnel
    expect(() => http.validate!({ ssh_tunnel: rest }, '')).toThrow('is required')
  })

  test('accepts PEM keys, and fingerprints as printed by OpenSSH', () => {
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' })
    expect(() => http.validate!(through(22, { private_key: String(pem) }), '')).not.toThrow()
    expect(() => http.validate!(through(22, { private_key: key.private, passphrase }), '')).not.toThrow()
    expect(Value.Check(httpOptions, through(22))).toBe(true)
    const { host_key: _, ...unknown } = through(22).ssh_tunnel
    for (const wrong of [unknown, { ...unknown, host_key: host_key.slice(0, -1) }, { ...unknown, host_key: `${host_key}=` }])
      expect(Value.Check(httpOptions, { ssh_tunnel: wrong })).toBe(false)
  })
})
