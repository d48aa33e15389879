import { describe, expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { call, fullToken, installation, runProgram, startHub, until } from '../support/binary'
import { freePort } from '../support/free-port'

const onPostgres = Boolean(process.env.BAILIWICK_DATABASE_URL)
const tokenFormat = /^bw_live_[0-9A-Za-z]{36}\n$/

describe('the command line', () => {
  test('--version prints only the version, for each program and each command', async () => {
    for (const name of ['bailiwick', 'bailiwick-agent', 'bailiwick-probe'] as const) {
      expect(await runProgram(name, ['--version'])).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' })
    }
    expect((await runProgram('bailiwick', ['serve', '--version'])).out).toBe(`${manifest.version}\n`)
  })

  test('--help of every command shows an example', async () => {
    const { out } = await runProgram('bailiwick', ['--help'])
    const commands = [...out.matchAll(/^ {2}([a-z]+) .*$/gm)]
      .map(match => match[1]!)
      .filter(name => name !== 'help' && name !== 'bailiwick')
    expect(commands).toContain('serve')
    for (const name of commands) {
      const help = await runProgram('bailiwick', [name, '--help'])
      expect({ name, code: help.code, example: /Examples:\n {2}\S/.test(help.out) }).toEqual({ name, code: 0, example: true })
    }
  })

  test.each([
    [[]],
    [['nonsense']],
    [['serve', '--nonsense']],
    [['token', 'create', '--full']],
    [['token', 'create', '--name', 'x']],
    [['token', 'create', '--name', 'x', '--permission', 'dns.fly']],
    [['token', 'create', '--name', 'x', '--full', '--read-only']],
    [['token', 'create', '--name', 'x', '--full', '--expires-in', 'soon']],
    [['backup', 'list', '--to', '/tmp']],
    [['user', 'create', '--email', 'nobody', '--name', 'x']],
    [['agent', 'run']],
    [['probe']],
  ])('invalid arguments end with exit code 2 and a reason: %j', async args => {
    const { code, out, err } = await runProgram('bailiwick', args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).not.toBe('')
    expect(err).not.toContain('    at ')
  })

  test('agent and probe are the same as the separate programs', async () => {
    for (const name of ['agent', 'probe'] as const) {
      const own = await runProgram(`bailiwick-${name}`, ['--help'])
      expect(own.code).toBe(0)
      expect(await runProgram('bailiwick', [name, '--help'])).toEqual(own)
      expect((await runProgram(`bailiwick-${name}`, ['enrol'])).code).toBe(2)
    }
  })

  test.each([
    ['BAILIWICK_LISTEN', 'everywhere', /^BAILIWICK_LISTEN: .*HOST:PORT/],
    ['BAILIWICK_BASE_URL', 'https://hub.example.com/path', /^BAILIWICK_BASE_URL: .*without path/],
    ['BAILIWICK_TRUSTED_PROXIES', '10.0.0.0/99', /^BAILIWICK_TRUSTED_PROXIES: /],
    ['BAILIWICK_PING_HOST', 'a/b', /^BAILIWICK_PING_HOST: .*not a hostname/],
    ['BAILIWICK_STOP_SECONDS', 'ten', /^BAILIWICK_STOP_SECONDS: .*whole number/],
    ['BAILIWICK_MASTER_KEY_FILE', '/nowhere/key', /^BAILIWICK_MASTER_KEY_FILE: \/nowhere\/key does not exist/],
    ['BAILIWICK_TLS_CERT', '/nowhere/cert', /^BAILIWICK_TLS_CERT and BAILIWICK_TLS_KEY must be set together/],
  ])('%s set to %s prevents the start with a one-line error', async (name, value, message) => {
    await using here = await installation()
    const { code, out, err } = await here.run(
      ['serve', '--listen', '127.0.0.1:0'].slice(0, name === 'BAILIWICK_LISTEN' ? 1 : 3),
      { env: { [name]: value } },
    )
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(message)
    expect(err.trim().split('\n')).toHaveLength(1)
  })

  test('openapi prints the document', async () => {
    const { code, out } = await runProgram('bailiwick', ['openapi'])
    expect(code).toBe(0)
    const document = JSON.parse(out)
    expect(document.openapi).toStartWith('3.1')
    expect(Object.keys(document.paths)).toContain('/v1/tokens')
  })
})

describe('a hub in an empty folder', () => {
  test('responds, creates the first user with the setup link once, and stops on a signal', async () => {
    await using here = await installation()
    const hub = await startHub(here)
    expect((await fetch(`${hub.url}/healthz`)).status).toBe(200)
    expect(hub.out()).toContain(`Bailiwick ${manifest.version} is running at ${hub.url}\n`)
    const link = await until('the setup link', async () => /first user at (\S+)\n/.exec(hub.out())?.[1])
    expect(link).toStartWith(`${hub.url}/setup#`)
    const setup = { token: link.split('#')[1], email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }
    expect((await call(hub, '', 'GET', '/v1/setup')).body).toEqual({ open: true })
    expect((await call(hub, '', 'POST', '/v1/setup', { ...setup, token: 'wrong' })).status).toBe(403)
    expect((await call(hub, '', 'POST', '/v1/setup', setup)).status).toBe(201)
    expect((await call(hub, '', 'POST', '/v1/setup', setup)).status).toBe(403)
    expect((await call(hub, '', 'POST', '/v1/sessions', { email: setup.email, password: setup.password })).status).toBe(201)
    for (const line of hub.err().split('\n').filter(Boolean)) expect(JSON.parse(line)).toHaveProperty('level')

    const startedAt = performance.now()
    expect(await hub.stop()).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(8000)

    const again = await startHub(here)
    expect(again.out()).not.toContain('/setup#')
    expect(await again.stop('SIGINT')).toBe(0)
  })

  test('accepts tokens that were created while it is running', async () => {
    await using here = await installation()
    await using hub = await startHub(here)
    const created = await here.run([
      'token',
      'create',
      '--name',
      'scripts',
      '--permission',
      'account.read',
      '--expires-in',
      '90d',
    ])
    expect(created.code).toBe(0)
    expect(created.out).toMatch(tokenFormat)
    const listed = await call(hub, created.out.trim(), 'GET', '/v1/tokens')
    expect(listed.status).toBe(200)
    const [token] = listed.body.data
    expect(token).toMatchObject({ name: 'scripts', mode: 'scoped', permissions: ['account.read'] })
    const lifetimeMs = Date.parse(token.expires_at) - Date.parse(token.created_at)
    expect(Math.round(lifetimeMs / 60_000)).toBe(90 * 24 * 60)
    expect(
      (await call(hub, created.out.trim(), 'POST', '/v1/tokens', { name: 'more', permissions: ['account.read'] })).status,
    ).toBe(403)
    expect((await call(hub, await fullToken(here), 'GET', '/v1/tokens')).body.data).toHaveLength(2)
  })

  test('warns about unknown BAILIWICK_ variables', async () => {
    await using here = await installation()
    await using hub = await startHub(here, { env: { BAILIWICK_LISTENN: 'x' } })
    expect(hub.err()).toContain('BAILIWICK_LISTENN is not a setting')
  })

  test('is healthy while running, and not after it stopped', async () => {
    await using here = await installation()
    const hub = await startHub(here)
    expect(await here.run(['health', '--url', hub.url])).toEqual({ code: 0, out: 'ok\n', err: '' })
    await hub.stop()
    expect((await here.run(['health', '--url', hub.url])).code).toBe(1)
  })

  test('stops immediately on a second signal', async () => {
    await using here = await installation()
    const hub = await startHub(here)
    // An unfinished request, which the stop waits for.
    const unfinished = new ReadableStream({ start: control => control.enqueue(new TextEncoder().encode('{')) })
    const request = fetch(`${hub.url}/v1/sessions`, {
      method: 'POST',
      body: unfinished,
      headers: { 'content-type': 'application/json' },
    }).catch(() => null)
    process.kill(hub.pid, 'SIGTERM')
    await until('the first signal is handled', async () => hub.err().includes('"stopping"'))
    expect(await hub.stop()).toBe(0)
    await request
  })
})

describe('a data folder', () => {
  test('can be empty when creating a token', async () => {
    await using here = await installation()
    const created = await here.run(['token', 'create', '--name', 'first', '--full'])
    expect(created.code).toBe(0)
    expect(created.out).toMatch(tokenFormat)
    await using hub = await startHub(here)
    expect((await call(hub, created.out.trim(), 'GET', '/v1/tokens')).status).toBe(200)
    const unknown = await here.run(['token', 'create', '--name', 'x', '--full', '--workspace', 'nowhere'])
    expect(unknown).toMatchObject({ code: 1, out: '', err: 'No workspace has the ID or name nowhere.\n' })
  })

  test.skipIf(onPostgres)('can be used by only one hub at a time', async () => {
    await using here = await installation()
    await using hub = await startHub(here)
    const second = await here.run(['serve', '--listen', '127.0.0.1:0'])
    expect(second).toMatchObject({ code: 1, out: '' })
    expect(second.err).toContain(`in use by the hub with process id ${hub.pid}`)
    expect((await fetch(`${hub.url}/healthz`)).status).toBe(200)
  })

  test.skipIf(onPostgres)('can be used again after a hub was killed', async () => {
    await using here = await installation()
    const hub = await startHub(here)
    const token = await fullToken(here)
    expect(await hub.stop('SIGKILL')).not.toBe(0)
    await using next = await startHub(here)
    expect((await call(next, token, 'GET', '/v1/tokens')).status).toBe(200)
  })

  test.skipIf(onPostgres)('contains no files that other users can read', async () => {
    await using here = await installation()
    await fullToken(here)
    for (const name of ['master.key', 'bailiwick.db']) expect(statSync(join(here.folder, name)).mode & 0o077).toBe(0)
  })

  test('with a wrong master key is rejected with a clear error, and stays unchanged', async () => {
    await using here = await installation()
    const token = await fullToken(here)
    const other = join(here.folder, 'other.key')
    writeFileSync(other, `${Buffer.alloc(32, 1).toString('base64')}\n`, { mode: 0o600 })
    const refused = await here.run(['serve', '--listen', '127.0.0.1:0'], { env: { BAILIWICK_MASTER_KEY_FILE: other } })
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('The master key does not match the database')
    expect(refused.err).not.toContain('    at ')
    await using hub = await startHub(here)
    expect((await call(hub, token, 'GET', '/v1/tokens')).status).toBe(200)
  })

  test('cannot be served if the port is in use', async () => {
    await using here = await installation()
    const port = await freePort()
    using listener = Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } })
    const refused = await here.run(['serve', '--listen', `127.0.0.1:${listener.port}`])
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain(`port ${port} on 127.0.0.1 is already in use`)
  })

  test('can be migrated before the start, with a list of migrations', async () => {
    await using here = await installation()
    const pending = await here.run(['migrate', '--status'])
    expect(pending.code).toBe(1)
    expect(pending.out).toMatch(/^pending {2}0000_/)
    const migrated = await here.run(['migrate'])
    expect(migrated).toMatchObject({ code: 0, err: '' })
    expect(migrated.out).toEndWith('The database is up to date.\n')
    expect((await here.run(['migrate', '--status'])).code).toBe(0)
  })
})

describe('doctor', () => {
  test('reports no problem for an empty folder, and creates nothing in it', async () => {
    await using here = await installation()
    const { code, out } = await here.run(['doctor', '--listen', '127.0.0.1:0'])
    expect({ code, fails: /^fail/m.test(out) }).toEqual({ code: 0, fails: false })
    expect(existsSync(join(here.folder, 'bailiwick.db'))).toBe(false)
    expect(existsSync(join(here.folder, 'master.key'))).toBe(false)
  })

  test('reports no problem for a running hub', async () => {
    await using here = await installation()
    await using hub = await startHub(here)
    const { code, out } = await here.run(['doctor', '--listen', '127.0.0.1:0'])
    expect(out).toContain('The master key matches the database.')
    expect(code).toBe(0)
    expect((await fetch(`${hub.url}/healthz`)).status).toBe(200)
  })

  test('finds the address of the running hub, and shows how long requests had to wait', async () => {
    await using here = await installation()
    await using hub = await startHub(here)
    // Hubs that share a PostgreSQL database have no address in the data folder.
    const { code, out } = await here.run(['doctor', ...(onPostgres ? ['--listen', new URL(hub.url).host] : [])])
    expect(code).toBe(0)
    expect(out).toMatch(
      onPostgres
        ? /^ok +port +Port \d+ is in use by a running hub/m
        : new RegExp(`^ok +port +The running hub of this data folder \\(process \\d+\\) is listening at ${hub.url}\\.`, 'm'),
    )
    expect(out).toMatch(/^(ok|warn) +responsiveness +Requests to the running hub waited for up to \d+ ms for other work/m)
  })

  test('reports an invalid setting, a wrong key, a port in use, and an unknown variable', async () => {
    await using here = await installation()
    await fullToken(here)
    const setting = await here.run(['doctor'], { env: { BAILIWICK_STOP_SECONDS: 'ten' } })
    expect({ code: setting.code, named: /^fail +settings +BAILIWICK_STOP_SECONDS/m.test(setting.out) }).toEqual({
      code: 1,
      named: true,
    })

    const other = join(here.folder, 'other.key')
    writeFileSync(other, `${Buffer.alloc(32, 1).toString('base64')}\n`, { mode: 0o600 })
    const key = await here.run(['doctor', '--listen', '127.0.0.1:0'], { env: { BAILIWICK_MASTER_KEY_FILE: other } })
    expect({ code: key.code, named: /^fail +master key match +The database requires the key/m.test(key.out) }).toEqual({
      code: 1,
      named: true,
    })

    using listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const port = await here.run(['doctor', '--listen', `127.0.0.1:${listener.port}`], { env: { BAILIWICK_NONSENSE: '1' } })
    expect(port.code).toBe(1)
    expect(port.out).toMatch(/^fail +port +Port \d+ on 127\.0\.0\.1 is in use by another program/m)
    expect(port.out).toMatch(/^warn +unknown settings +BAILIWICK_NONSENSE/m)
  })
})

describe('bailiwick user', () => {
  test('creates, lists, disables and enables users, and changes passwords', async () => {
    await using here = await installation()
    await using hub = await startHub(here)
    const signIn = async (password: string) =>
      (await call(hub, '', 'POST', '/v1/sessions', { email: 'ada@example.com', password })).status
    const create = ['user', 'create', '--email', 'Ada@example.com', '--name', 'Ada', '--role', 'owner', '--operator']
    expect(await here.run(create, { input: 'short\n' })).toMatchObject({
      code: 1,
      err: 'The password must have at least 10 characters.\n',
    })
    expect(await here.run(create, { input: 'Password123!\n' })).toMatchObject({
      code: 1,
      err: 'This is a common password, or a small change to one. Choose another one.\n',
    })
    expect((await here.run(create, { input: 'correct horse battery\n' })).out).toMatch(/^usr_[0-9a-z]{26}\n$/)
    expect(await here.run(create, { input: 'correct horse battery\n' })).toMatchObject({
      code: 1,
      err: 'A user with the email address ada@example.com already exists.\n',
    })
    expect((await here.run(['user', 'list'])).out).toBe('ada@example.com\tAda\tdefault:owner\toperator\n')
    expect(await signIn('correct horse battery')).toBe(201)

    const file = join(here.folder, 'password')
    writeFileSync(file, 'another horse battery\n')
    expect((await here.run(['user', 'set-password', 'ada@example.com', '--password-file', file])).code).toBe(0)
    const link = await here.run(['user', 'reset-link', 'ada@example.com'])
    expect([link.code, link.out]).toEqual([0, expect.stringMatching(/^http:\/\/\S+\/reset#bw_reset_[0-9A-Za-z]{32}\n$/)])
    expect(await here.run(['user', 'reset-second-factor', 'ada@example.com'])).toMatchObject({
      code: 0,
      out: 'Reset the two-factor authentication of ada@example.com and revoked all sessions.\n',
    })
    expect(await signIn('correct horse battery')).toBe(401)
    expect(await signIn('another horse battery')).toBe(201)

    const owner = 'ada@example.com is the last owner who can sign in to these workspaces: default.'
    const operator = 'ada@example.com is the last operator who can sign in.'
    expect(await here.run(['user', 'disable', 'ada@example.com'])).toMatchObject({
      code: 1,
      err:
        `${owner} Make another member an owner first.\n` +
        `${operator} Create another one first with bailiwick user create --operator.\n` +
        'Use --force to disable the user anyway.\n',
    })
    expect(await signIn('another horse battery')).toBe(201)
    expect(await here.run(['user', 'disable', 'ada@example.com', '--force'])).toMatchObject({
      code: 0,
      out: 'Disabled ada@example.com.\n',
      err: `Warning: ${owner}\nWarning: ${operator}\n`,
    })
    expect(await signIn('another horse battery')).toBe(401)
    expect((await here.run(['user', 'enable', 'ada@example.com'])).code).toBe(0)
    expect(await signIn('another horse battery')).toBe(201)
    expect((await here.run(['user', 'disable', 'bob@example.com'])).code).toBe(1)

    const audit = await call(hub, await fullToken(here), 'GET', '/v1/audit-events?action=account.user.*')
    expect(audit.body.data.map((one: any) => one.action)).toEqual([
      'account.user.enable',
      'account.user.disable',
      'account.user.reset_second_factor',
      'account.user.set_password',
      'account.user.create',
    ])
    expect(audit.body.data[0]).toMatchObject({ actor: { type: 'operator' }, context: { channel: 'cli' } })
  })
})
