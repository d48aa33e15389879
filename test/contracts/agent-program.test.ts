import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { enrolAt, pinIfMissing, settingsOf } from '../../src/agent/cli/enrol'
import { runAgent } from '../../src/agent/run'
import { stopReason } from '../../src/agent/stop-reason'
import { newId } from '../../src/core/ids'
import { version } from '../../src/core/version'
import { signCommand, type AgentCommand } from '../../src/wire/agent-command'
import { publicKeyText } from '../../src/wire/signed'
import { AgentHub } from '../support/agent-hub'
import { until } from '../support/binary'

let folder: string
let config: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-agent-program-'))
  config = join(folder, 'etc', 'agent.conf')
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const key = `bw_enrol_${'k'.repeat(36)}`
const now = () => Date.now()
const read = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8')

/** Writes settings with folders of the test. */
function configure(hub: string, ...lines: string[]): void {
  mkdirSync(join(folder, 'etc'), { recursive: true })
  // A file system of its own, where no package manager is asked for updates.
  const root = join(folder, 'root')
  mkdirSync(join(root, 'etc'), { recursive: true })
  if (!existsSync(join(root, 'proc'))) symlinkSync('/proc', join(root, 'proc'))
  writeFileSync(join(root, 'etc', 'hostname'), 'web-1')
  const folders = [
    `root = ${root}`,
    `state_folder = ${join(folder, 'state')}`,
    `runtime_folder = ${join(folder, 'run')}`,
    'certificates = no',
  ]
  writeFileSync(config, [`hub = ${hub}`, ...folders, ...lines, ''].join('\n'))
}

async function agent(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: '', err: '' }
  const print = { out: (text: string) => void (printed.out += text), err: (text: string) => void (printed.err += text) }
  const code = await runAgent([...args, '--config', config], print)
  return { code, ...printed }
}

/** Starts the program from source. */
function start(...args: string[]) {
  return Bun.spawn([process.execPath, 'src/bin/agent.ts', ...args, '--config', config], { stdout: 'pipe', stderr: 'pipe' })
}

describe('the command line', () => {
  test('--version and --help', async () => {
    expect(await agent('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' })
    const help = await agent('-h')
    expect(help.code).toBe(0)
    expect(help.out).toContain('Examples:\n  bailiwick-agent status')
  })

  test.each([
    [[], /^No command given\./],
    [['fly'], /^Unknown command: fly\./],
    [['constructor'], /^Unknown command/],
    [['run', 'twice'], /^Unknown command: run twice\./],
    [['run', '--fast'], /^Unknown option '--fast'\.\nRun bailiwick-agent --help for usage\.\n$/],
    [['enrol'], /^Missing option: --hub URL/],
    [['run'], /agent\.conf does not exist\.\n$/],
    [['status'], /agent\.conf does not exist\.\n$/],
    [['doctor'], /agent\.conf does not exist\.\n$/],
  ])('%j is refused with a sentence and code 2', async (args, message) => {
    const { code, out, err } = await agent(...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
  })

  test('settings that others can change are refused', async () => {
    configure('https://hub.example.com')
    chmodSync(config, 0o666)
    expect(await agent('run')).toMatchObject({ code: 2, err: expect.stringContaining('can be written by other users') })
    chmodSync(config, 0o644)
    expect(await agent('run')).toMatchObject({ code: 1, err: expect.stringContaining('not enrolled at https://hub.example.com') })
  })
})

describe('enrolment', () => {
  test('writes the settings, and files that only the agent reads', async () => {
    await using hub = new AgentHub(now)
    hub.config = { interval_seconds: 30, watched_units: ['nginx.service'] }
    configure('http://127.0.0.1:1', '# mine', 'allow = wake')
    expect(await agent('enrol', '--hub', hub.url, '--key', key, '--allow', 'reboot')).toEqual({
      code: 0,
      out: `Enrolled at ${hub.url} as agent_1.\n`,
      err: '',
    })
    expect(hub.requests.at(-1)!.headers.get('authorization')).toBe(`Bearer ${key}`)
    expect(hub.enrolments).toEqual([
      {
        v: 1,
        machine_id_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        public_key: publicKeyText(hub.publicKey!),
        version,
        allow: existsSync('/run/systemd/system') ? ['collect', 'reboot'] : ['collect'],
        facts: expect.objectContaining({ hostname: expect.any(String), kernel: expect.any(String) }),
      },
    ])
    expect(read('etc', 'agent.conf').split('\n')).toEqual([
      `hub = ${hub.url}`,
      `root = ${join(folder, 'root')}`,
      `state_folder = ${join(folder, 'state')}`,
      `runtime_folder = ${join(folder, 'run')}`,
      'certificates = no',
      '# mine',
      'allow = reboot',
      `hub_key = ${publicKeyText(hub.key)}`,
      '',
    ])
    expect(JSON.parse(read('state', 'identity.json'))).toEqual({
      hub: hub.url,
      agent_id: 'agent_1',
      server_id: 'srv_1',
      token: hub.token,
      hub_key: publicKeyText(hub.key),
    })
    expect(JSON.parse(read('state', 'config.json'))).toEqual(hub.config)
    for (const name of ['identity.json', 'key']) expect(statSync(join(folder, 'state', name)).mode & 0o777).toBe(0o600)
    expect(read('etc', 'agent.conf')).not.toContain(key)

    expect((await agent('enrol')).out).toBe(`This server is enrolled at ${hub.url} as agent_1.\n`)
    const { public_key: first } = hub.enrolments[0]!
    await agent('enrol', '--key', key)
    expect(hub.enrolments[1]).toMatchObject({ public_key: first })
  })

  test('a hub that doesn’t know a permission gets the others', async () => {
    await using hub = new AgentHub(now)
    hub.unknownPermissions = ['wake']
    configure(hub.url, 'allow = collect, wake')
    expect(await agent('enrol', '--key', key)).toEqual({
      code: 0,
      out: `Enrolled at ${hub.url} as agent_1.\n`,
      err: 'The hub responded with status 422: The request failed. The server is enrolled without wake.\n',
    })
    expect(hub.enrolments.map(one => one.allow)).toEqual([['collect']])
    expect(read('etc', 'agent.conf')).toContain('allow = collect, wake')
  })

  test('waits until it is approved', async () => {
    await using hub = new AgentHub(now)
    hub.approveAfter = 3
    configure(hub.url)
    let printed = ''
    let pauses = 0
    const flags = { config, key }
    const identity = await enrolAt(settingsOf(flags), flags, { out: text => (printed += text), err() {} }, async () => pauses++)
    expect(identity.agent_id).toBe('agent_1')
    expect(pauses).toBe(3)
    expect(printed).toBe('This server is known already. Waiting until its agent is approved in the dashboard…\n')
    expect(new Set(hub.enrolments.map(one => JSON.stringify(one))).size).toBe(1)
  })

  test.each([
    ['another key of the hub', {}, /^The hub has another key than --hub-key/],
    ['a used-up key', { behavior: { status: 401, code: 'token_revoked' } }, /^The hub responded with status 401/],
    ['a page instead of JSON', { behavior: 'page' }, /^The hub’s response is invalid: the body must be a JSON object/],
  ] as const)('%s: one sentence, and nothing is stored', async (_, changes, message) => {
    await using hub = new AgentHub(now)
    Object.assign(hub, changes)
    configure(hub.url, ...('behavior' in changes ? [] : ['hub_key = ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo']))
    const { code, out, err } = await agent('enrol', '--key', key)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(message)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(() => read('state', 'identity.json')).toThrow()
  })

  test('root pins the hub before the server counts as enrolled', async () => {
    await using hub = new AgentHub(now)
    configure(hub.url)
    // The program ends before it has written the file.
    mkdirSync(join(folder, 'state', 'identity.json', 'taken'), { recursive: true })
    expect((await agent('enrol', '--key', key)).code).toBe(1)
    const pinned = { agent_id: 'agent_1', hub_key: publicKeyText(hub.key) }
    expect(read('etc', 'agent.conf')).toContain(`hub_key = ${pinned.hub_key}\n`)
    const isRoot = process.getuid?.() === 0
    if (isRoot) expect(JSON.parse(read('etc', 'hub.json'))).toEqual(pinned)

    rmSync(join(folder, 'state', 'identity.json'), { recursive: true })
    rmSync(join(folder, 'etc', 'hub.json'), { force: true })
    const flags = { config, key }
    const identity = await enrolAt(settingsOf(flags), flags, { out() {}, err() {} })
    rmSync(join(folder, 'etc', 'hub.json'), { force: true })
    // The agent may have written another key to its own file.
    pinIfMissing(settingsOf({ config }), flags, { ...identity, hub_key: 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' })
    expect(existsSync(join(folder, 'etc', 'hub.json'))).toBe(false)
    pinIfMissing(settingsOf({ config }), flags, identity)
    expect(existsSync(join(folder, 'etc', 'hub.json'))).toBe(isRoot)
    pinIfMissing(settingsOf({ config }), flags, { ...identity, agent_id: 'agent_2' })
    if (isRoot) expect(JSON.parse(read('etc', 'hub.json'))).toEqual(pinned)
  })

  test('the identity of another hub is not used', async () => {
    await using hub = new AgentHub(now)
    configure(hub.url)
    await agent('enrol', '--key', key)
    await using other = new AgentHub(now)
    configure(other.url)
    expect((await agent('send-once')).err).toContain(`This server is not enrolled at ${other.url}.`)
  })
})

const certificate = {
  cert: readFileSync('test/fixtures/tls/self-signed.pem', 'utf8'),
  key: readFileSync('test/fixtures/tls/self-signed.key', 'utf8'),
}
const fingerprint = new X509Certificate(certificate.cert).fingerprint256

describe('a pinned certificate', () => {
  test('only this one is accepted', async () => {
    await using hub = new AgentHub(now, { tls: certificate })
    configure(hub.url, `pin = sha256:${fingerprint}`)
    expect(await agent('enrol', '--key', key)).toMatchObject({ code: 0, err: '' })
    expect(await agent('send-once')).toMatchObject({ code: 0, out: 'The hub received a report of srv_1.\n' })
    configure(hub.url, `pin = ${'ab'.repeat(32)}`)
    const { code, err } = await agent('send-once')
    expect(code).toBe(1)
    expect(err).toContain('differs from the stored one')
    const requests = hub.requests.length
    configure(hub.url)
    expect(await agent('send-once')).toMatchObject({ code: 1, err: 'The server’s certificate is self-signed.\n' })
    expect(hub.requests.length).toBe(requests)
  })
})

describe('the service', () => {
  test('reports, shows its status, and says goodbye', async () => {
    await using hub = new AgentHub(now)
    configure(hub.url)
    await agent('enrol', '--key', key)
    expect(await agent('status')).toMatchObject({ code: 1, err: expect.stringContaining('not running') })
    expect(await agent('doctor')).toMatchObject({ code: 1, out: expect.stringContaining('failed The agent is not running.\n') })
    const run = start('run')
    try {
      await until('the first reports', async () => hub.reports.length > 1)
      expect(hub.reports[0]).toMatchObject({ seq: 1, minutes: [], boot_id: expect.any(String) })
      expect(hub.reports[1]).toMatchObject({ seq: 2, facts: { hostname: expect.any(String) } })
      await until('the status', async () => (await agent('status')).code === 0)
      expect((await agent('status')).out).toContain('Server:          srv_1 (agent agent_1)\n')
      const doctor = await agent('doctor')
      expect(doctor.out.split('\n').filter(line => line.startsWith('failed'))).toEqual([])
      expect(doctor.code).toBe(0)
      run.kill('SIGTERM')
      expect(await run.exited).toBe(0)
      const last = hub.reports.at(-1)!
      expect(last).toMatchObject({ stopping: 'stop', seq: hub.reports.length })
      expect(last.minutes).toHaveLength(1)
      expect(last.columns).toContain('memory.used_bytes')
      expect((await new Response(run.stderr).text()).split('\n')[0]).toBe(
        `Bailiwick agent ${version} reports to ${hub.url} as agent_1.`,
      )
    } finally {
      run.kill('SIGKILL')
    }
  })

  test('runs commands that the hub has signed, and sends their results over new connections', async () => {
    await using hub = new AgentHub(now)
    configure(hub.url)
    await agent('enrol', '--key', key)
    const run = start('run')
    try {
      await until('the facts', async () => hub.reports.some(one => one.facts))
      const before = hub.reports.length
      const command = (name: 'collect' | 'reboot'): AgentCommand => ({
        ...{ id: newId('cmd'), agent_id: 'agent_1', name, params: {} },
        ...{ issued_at: now(), expires_at: now() + 60_000, requested_by: { type: 'user', id: 'usr_1', name: 'Alice' } },
      })
      const commands = [command('collect'), command('reboot')]
      hub.send(...commands.map(one => signCommand(hub.key, one)))
      await until('the results', async () => hub.results.length === 2)
      expect(hub.results.toSorted((a, b) => a.command_id.localeCompare(b.command_id))).toEqual([
        { command_id: commands[0]!.id, outcome: 'done', detail: null, output: null },
        {
          ...{ command_id: commands[1]!.id, outcome: 'refused', output: null },
          detail: 'The owner of the server doesn’t allow reboot.',
        },
      ])
      await until('a report of everything', async () => hub.reports.slice(before).some(one => one.facts))
      const results = hub.requests.filter(one => one.path.endsWith('/command-results'))
      const others = hub.requests.filter(one => !results.includes(one)).map(one => one.port)
      expect(new Set(results.map(one => one.port)).size).toBe(2)
      expect(results.filter(one => others.includes(one.port))).toEqual([])

      hub.look(60)
      // Rates need two samples.
      await until('live metrics', async () => hub.live.length > 1)
      expect(hub.live[0]!['memory.used_bytes']).toBeGreaterThan(0)
      expect(hub.live[1]!['cpu.used_percent']).toBeGreaterThanOrEqual(0)
      expect([hub.processes[0], hub.processes[1]?.length]).toEqual([undefined, expect.any(Number)])
    } finally {
      run.kill('SIGKILL')
    }
  })

  test('a revoked agent ends with code 78', async () => {
    await using hub = new AgentHub(now)
    configure(hub.url)
    await agent('enrol', '--key', key)
    hub.behavior = { status: 401, code: 'token_revoked' }
    const run = start('run')
    expect(await run.exited).toBe(78)
    expect(await new Response(run.stderr).text()).toContain('The agent was revoked, so it stops.')
  })
})

test.each([
  ['', 'stop'],
  ['12 reboot.target start waiting', 'reboot'],
  ['12 poweroff.target start waiting\n13 nginx.service stop running', 'shutdown'],
  ['12 halt.target start waiting', 'shutdown'],
  ['12 nginx.service stop running', 'stop'],
] as const)('jobs of systemd %j: %s', async (jobs, reason) => {
  expect(await stopReason(async () => jobs)).toBe(reason)
})

test('a process killed in the middle of writes loses no minute that it stored', async () => {
  const program = `
    import { Spool } from './src/agent/transport/spool'
    const spool = new Spool(process.argv[1], () => {}, { maxBytes: 1e9, maxLoose: 5 })
    const from = Number(process.argv[2])
    const values = Array.from({ length: 300 }, (_, at) => at / 7)
    for (let at = from; ; at++) {
      spool.add({ columns: values.map((_, at) => 'metric.' + at), row: [at * 60000, 6, values, values] })
      require('fs').writeSync(1, at + '\\n')
    }`
  let next = 0
  for (let round = 0; round < 8; round++) {
    const run = Bun.spawn([process.execPath, '-e', program, join(folder, 'spool'), String(next)], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    let out = ''
    const decoder = new TextDecoder()
    for await (const part of run.stdout) {
      out += decoder.decode(part)
      // At another moment each time.
      if (out.length > 40 + 37 * round && !run.killed) run.kill('SIGKILL')
    }
    next = Number(out.trim().split('\n').at(-1)) + 1
  }
  const { Spool } = await import('../../src/agent/transport/spool')
  const problems: string[] = []
  const spool = new Spool(join(folder, 'spool'), problem => problems.push(problem))
  const found = new Set<number>()
  for (let minutes = spool.oldest(); minutes.length > 0; minutes = spool.oldest()) {
    for (const { row } of minutes) found.add(row[0] / 60_000)
    spool.remove(minutes)
  }
  expect(Array.from({ length: next }, (_, at) => at).filter(at => !found.has(at))).toEqual([])
  expect(problems).toEqual([])
  expect(next).toBeGreaterThan(50)
})
