import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import type { AuthContext } from 'ssh2'
import type { Problem } from '../../src/core/problem'
import { ssh } from '../../src/features/servers/controllers/ssh'
import { failureOf } from '../support/controllers/failure'
import { closeTargets } from '../support/http-targets'
import { ManualClock } from '../support/manual-clock'
import { pluginContext } from '../support/plugin-context'
import { ed25519KeyPair, fingerprintOf, hostKeys, sshServer, type CommandResult, type SshServer } from '../support/ssh-server'

const hostKey = fingerprintOf(hostKeys.public)
const userKeys = ed25519KeyPair()
const clock = new ManualClock()
let server: SshServer

afterEach(() => server?.close())
afterAll(closeTargets)

/** Starts a server with one user. @param runs replaces what commands do */
async function start(runs: (command: string) => CommandResult | undefined = () => undefined): Promise<void> {
  const admits = (login: AuthContext) =>
    login.username === 'root' && (login.method === 'publickey' || (login.method === 'password' && login.password === 'changeme'))
  server = await sshServer(admits, { runs: command => runs(command) ?? normal(command) })
}

function normal(command: string): CommandResult {
  if (command === 'uname -sr') return { code: 0, stdout: 'Linux 6.1.0\n' }
  return { code: 0, stdout: command === 'id -u' ? '0\n' : '' }
}

const open = (more: object = {}) =>
  ssh.open(
    { host: '127.0.0.1', port: server.port, user: 'root', password: 'changeme', host_key: hostKey, ...more },
    { ...pluginContext(), clock },
  )

const shutdown = { verb: 'shutdown', timeoutSeconds: 60, thenForce: false } as const

describe('a check', () => {
  test.each([
    ['a password', {}],
    ['a key', { password: undefined, private_key: userKeys.private }],
  ])('signs in with %s and changes nothing', async (_, credentials) => {
    await start()
    expect(await open(credentials).check()).toEqual({ detail: 'Linux 6.1.0', warnings: [] })
    expect(server.commands).toEqual(['uname -sr', 'id -u'])
  })

  test('warns without the rights', async () => {
    await start(command =>
      command.startsWith('sudo -n -l shutdown -r') ? { code: 1 } : command === 'id -u' ? { code: 0, stdout: '1000' } : undefined,
    )
    expect((await open().check()).warnings).toEqual([
      'The user "root" is not root. Set sudo, and allow the commands in the sudoers file.',
    ])
    expect((await open({ sudo: true }).check()).warnings).toEqual([
      'sudo does not let "root" run "shutdown" without a password. Add a line to the sudoers file: root ALL=(root) NOPASSWD: /usr/sbin/shutdown',
    ])
  })
})

describe('the host key', () => {
  test('is reported and nothing is sent if it is not set', async () => {
    await start()
    const [failure, message] = await failureOf(open({ host_key: undefined }).check())
    expect(failure).toBe('refused')
    expect(message).toContain(`The server presents ${hostKey}.`)
    expect(server.logins).toEqual([])
  })

  test('must be the expected one', async () => {
    await start()
    const other = `SHA256:${'A'.repeat(43)}`
    for (const call of [open({ host_key: other }).check(), open({ host_key: other }).start({ verb: 'reboot' })])
      expect(await failureOf(call)).toEqual([
        'refused',
        `The server’s host key has the fingerprint ${hostKey}, but host_key is ${other}. Change host_key only if you know why the key changed.`,
      ])
    expect(server.logins).toEqual([])
  })
})

describe('commands', () => {
  test('are fixed', async () => {
    await start()
    expect(await open().start({ verb: 'reboot' })).toEqual({ state: 'done' })
    expect(await open({ sudo: true }).start({ verb: 'reboot' })).toEqual({ state: 'done' })
    await open().start(shutdown)
    expect(server.commands).toEqual(['shutdown -r now', 'sudo -n shutdown -r now', 'shutdown -h now'])
    expect(await failureOf(open().start({ verb: 'power_on' }))).toEqual([
      'refused',
      'SSH does not support power_on. It supports shutdown, reboot.',
    ])
  })

  test('that fail are errors with their output', async () => {
    await start(() => ({ code: 127, stderr: 'sh: shutdown: not found\n' }))
    expect(await failureOf(open().start({ verb: 'reboot' }))).toEqual([
      'refused',
      'The command failed with exit status 127: sh: shutdown: not found.',
    ])
    server.close()
    await start(() => ({ code: 1, stderr: 'sudo: a password is required' }))
    expect((await failureOf(open({ sudo: true }).start({ verb: 'reboot' })))[1]).toContain('NOPASSWD: /usr/sbin/shutdown')
  })

  test('are accepted if the server is gone before it responds', async () => {
    await start(() => 'dropped')
    expect(await open().start({ verb: 'reboot' })).toEqual({ state: 'done' })
  })

  test('to shut down end when the server no longer accepts connections', async () => {
    await start()
    const started = await open().start(shutdown)
    if (started.state !== 'running') throw new Error(started.state)
    expect(await open().poll(started.operation)).toMatchObject({ state: 'running' })
    clock.advance(61_000)
    expect((await failureOf(open().poll(started.operation)))[0]).toBe('timeout')
    server.close()
    expect(await open().poll(started.operation)).toEqual({ state: 'done' })
  })
})

test('errors tell their causes', async () => {
  await start()
  expect(await failureOf(open({ password: 'wrong' }).check())).toEqual([
    'unauthorized',
    'The server rejected the user "root", or its password or key.',
  ])
  server.close()
  expect(await failureOf(open().check())).toEqual(['unreachable', 'The host refused the SSH connection.'])
  const around = pluginContext({}, { allowPrivate: false })
  const settings = { host: '127.0.0.1', user: 'root', password: 'changeme', host_key: hostKey }
  expect((await failureOf(ssh.open(settings, around).check()))[1]).toContain('network policy')
  const silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data() {}, open: socket => void socket.end('220 mail\r\n') },
  })
  expect((await failureOf(open({ port: silent.port }).check()))[0]).toBe('unreachable')
  silent.stop(true)
})

test('settings are validated', () => {
  const problems = (more: object) => {
    try {
      ssh.validate!({ host: 'web-1.test', user: 'root', ...more })
      return []
    } catch (error) {
      return (error as Problem).extras.errors!.map(one => `${one.pointer} ${one.detail}`)
    }
  }
  const locked = ed25519KeyPair({ passphrase: 'changeme', cipher: 'aes256-ctr', rounds: 1 })
  expect(problems({ private_key: userKeys.private })).toEqual([])
  expect(problems({ password: 'changeme' })).toEqual([])
  expect(problems({})).toEqual(['#/settings/private_key is required without a password.'])
  expect(problems({ password: 'changeme', private_key: userKeys.private })).toEqual([
    '#/settings/private_key must not be set together with a password.',
  ])
  expect(problems({ private_key: locked.private })).toEqual([
    '#/settings/private_key must not have a passphrase. Remove it with `ssh-keygen -p`, or create a key for Bailiwick.',
  ])
  expect(problems({ private_key: userKeys.public })).toEqual([
    '#/settings/private_key must be an SSH private key, as written by `ssh-keygen`.',
  ])
  expect(problems({ host: 'a b', password: 'changeme' })).toEqual(['#/settings/host must be a hostname or an IP address.'])
})
