import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { at, ca, closeTargets, run, served } from '../support/http-targets'
import { fingerprintOf } from '../support/ssh-server'
import { started, type Started } from '../support/started'

// Checks through OpenSSH as it comes with Debian. It lets only root log in as root, and wants its own folder in /run.

const passphrase = 'changeme-phrase'
const root = process.getuid?.() === 0

describe.skipIf(!root)('a tunnel of OpenSSH', () => {
  let folder: string
  const servers: Started[] = []
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'bailiwick-tunnel-'))
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    made('host-ed25519', ['-t', 'ed25519'])
    made('host-rsa', ['-t', 'rsa', '-b', '2048'])
    made('user-ed25519', ['-t', 'ed25519'], passphrase)
    made('user-ecdsa', ['-t', 'ecdsa', '-b', '384'])
    made('user-rsa', ['-t', 'rsa', '-b', '2048'])
    made('user-rsa-pem', ['-t', 'rsa', '-b', '2048', '-m', 'PEM'], passphrase)
    made('stranger', ['-t', 'ed25519'])
  })
  afterAll(async () => {
    closeTargets()
    for (const server of servers) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  function made(name: string, kind: string[], phrase = ''): void {
    const run = Bun.spawnSync(['ssh-keygen', '-q', ...kind, '-N', phrase, '-f', join(folder, name)])
    if (run.exitCode !== 0) throw new Error(run.stderr.toString())
  }

  /** @param host key of it @param more of its configuration */
  async function sshd(host: string, more = ''): Promise<{ host: string; port: number; username: string; host_key: string }> {
    const users = ['user-ed25519', 'user-ecdsa', 'user-rsa', 'user-rsa-pem'].map(name => read(`${name}.pub`)).join('')
    const server = await started(1, (at, [port]) => ({
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
  ])('is logged in to by %s at %s', async (user, host, phrase) => {
    const server = await sshd(host)
    const ssh_tunnel = { ...server, private_key: read(user), ...(phrase !== undefined && { passphrase: phrase }) }
    const text = 'within '.repeat(100_000)
    const plain = await served((_, response) => response.end(text))
    const secure = await served((_, response) => response.end(text), true)
    expect(await run(at(plain.port, '/', '127.0.0.1'), { ssh_tunnel })).toMatchObject({ error: null, body: text, tls: null })
    // A name that the server looks up by itself; the certificate is for others.
    const facts = await run(`https://localhost:${secure.port}/`, { ssh_tunnel, ca, verify_tls: false })
    expect(facts).toMatchObject({ error: null, body: text, tls: { certificate: { subject: 'CN=two-names' } } })
  })

  test('tells why it does not lead to the target', async () => {
    const private_key = read('user-ecdsa')
    const server = await sshd('host-ed25519')
    const target = await served((_, response) => response.end('never'))
    const here = at(target.port, '/', '127.0.0.1')
    const error = async (options: object, url = here) =>
      (await run(url, { ssh_tunnel: { ...server, private_key, ...options } })).error
    expect(await error({}, at(1, '/', '127.0.0.1'))).toEqual({
      kind: 'unreachable',
      message: 'ssh: it did not connect to the target',
    })
    expect(await error(await sshd('host-ed25519', 'AllowTcpForwarding no'))).toEqual({
      kind: 'unreachable',
      message: 'ssh: it did not connect to the target, which it forbids',
    })
    expect(await error({ private_key: read('stranger') })).toEqual({
      kind: 'protocol',
      message: 'ssh: it refuses the user name, password or key',
    })
    expect(await error({ host_key: fingerprintOf(read('host-rsa.pub')) })).toEqual({
      kind: 'certificate',
      message: `ssh: the server shows another host key: ${server.host_key}`,
    })
    expect(target.asked).toEqual([])
  })
})
