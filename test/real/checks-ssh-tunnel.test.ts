import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { at, ca, closeTargets, run, served } from '../support/http-targets'
import { fingerprintOf } from '../support/ssh-server'
import { startServer, type ServerProcess } from '../support/server-process'

// Checks through Debian's OpenSSH. sshd lets only root log in as root, and needs its own folder in /run.

const passphrase = 'changeme-phrase'
const root = process.getuid?.() === 0

describe.skipIf(!root)('a tunnel of OpenSSH', () => {
  let folder: string
  const servers: ServerProcess[] = []
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'bailiwick-tunnel-'))
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    generateKey('host-ed25519', ['-t', 'ed25519'])
    generateKey('host-rsa', ['-t', 'rsa', '-b', '2048'])
    generateKey('user-ed25519', ['-t', 'ed25519'], passphrase)
    generateKey('user-ecdsa', ['-t', 'ecdsa', '-b', '384'])
    generateKey('user-rsa', ['-t', 'rsa', '-b', '2048'])
    generateKey('user-rsa-pem', ['-t', 'rsa', '-b', '2048', '-m', 'PEM'], passphrase)
    generateKey('unauthorized', ['-t', 'ed25519'])
  })
  afterAll(async () => {
    closeTargets()
    for (const server of servers) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  function generateKey(name: string, kind: string[], phrase = ''): void {
    const run = Bun.spawnSync(['ssh-keygen', '-q', ...kind, '-N', phrase, '-f', join(folder, name)])
    if (run.exitCode !== 0) throw new Error(run.stderr.toString())
  }

  /** @param host its host key @param more additional configuration */
  async function sshd(host: string, more = ''): Promise<{ host: string; port: number; username: string; host_key: string }> {
    const users = ['user-ed25519', 'user-ecdsa', 'user-rsa', 'user-rsa-pem'].map(name => read(`${name}.pub`)).join('')
    const server = await startServer(1, (at, [port]) => ({
      command: ['/usr/sbin/sshd', '-D', '-E', join(at, 'log'), '-f', join(at, 'sshd_config')],
      files: {
        authorized: users,
        sshd_config: `Port ${port}\nListenAddress 127.0.0.1\nHostKey ${join(folder, host)}\nPidFile none\nLogLevel VERBOSE
StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no
AuthorizedKeysFile ${at}/authorized\n${more}\n`,
      },
    }))
    servers.push(server)
    return { host: 'proxy.test', port: server.ports[0]!, username: 'root', host_key: fingerprintOf(read(`${host}.pub`)) }
  }

  test.each([
    ['user-ed25519', 'host-ed25519', passphrase],
    ['user-ecdsa', 'host-rsa', undefined],
    ['user-rsa', 'host-ed25519', undefined],
    ['user-rsa-pem', 'host-rsa', passphrase],
  ])('accepts %s at %s', async (user, host, phrase) => {
    const server = await sshd(host)
    const ssh_tunnel = { ...server, private_key: read(user), ...(phrase !== undefined && { passphrase: phrase }) }
    const text = 'within '.repeat(100_000)
    const plain = await served((_, response) => response.end(text))
    const secure = await served((_, response) => response.end(text), true)
    expect(await run(at(plain.port, '/', '127.0.0.1'), { ssh_tunnel })).toMatchObject({ error: null, body: text, tls: null })
    // The server resolves this name itself; the certificate is for other names.
    const facts = await run(`https://localhost:${secure.port}/`, { ssh_tunnel, ca, verify_tls: false })
    expect(facts).toMatchObject({ error: null, body: text, tls: { certificate: { subject: 'CN=two-names' } } })
  })

  test('reports why the target is not reached', async () => {
    const private_key = read('user-ecdsa')
    const server = await sshd('host-ed25519')
    const target = await served((_, response) => response.end('never'))
    const here = at(target.port, '/', '127.0.0.1')
    const error = async (options: object, url = here) =>
      (await run(url, { ssh_tunnel: { ...server, private_key, ...options } })).error
    expect(await error({}, at(1, '/', '127.0.0.1'))).toEqual({
      kind: 'unreachable',
      message: 'ssh: could not connect to the target',
    })
    expect(await error(await sshd('host-ed25519', 'AllowTcpForwarding no'))).toEqual({
      kind: 'unreachable',
      message: 'ssh: could not connect to the target: port forwarding is prohibited',
    })
    expect(await error({ private_key: read('unauthorized') })).toEqual({
      kind: 'protocol',
      message: 'ssh: authentication failed: username, password, or key rejected',
    })
    expect(await error({ host_key: fingerprintOf(read('host-rsa.pub')) })).toEqual({
      kind: 'certificate',
      message: `ssh: host key mismatch: the server presented ${server.host_key}`,
    })
    expect(target.requests).toEqual([])
  })
})
