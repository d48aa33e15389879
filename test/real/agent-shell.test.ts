import { X509Certificate } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { version } from '../../src/core/version'
import { AgentHub } from '../support/agent-hub'
import { ShellMachine } from '../support/shell-machine'

// The agent for routers and small boards, in the shells that these have.

const key = `bw_enrol_${'k'.repeat(36)}`
const shells = {
  'dash with curl': { shell: ['dash'], env: { PATH: process.env.PATH! } },
  // Without the other programs of this machine.
  'BusyBox with nc': { shell: ['/bin/busybox', 'sh'], env: { PATH: '/nonexistent' } },
}

let machine: ShellMachine
let hub: AgentHub
const state = (name = '') => join(machine.root, 'etc/bailiwick-agent-shell', name)
const fixture = (name: string) => readFileSync(`test/fixtures/tls/${name}`, 'utf8')
const certificateIn = (name: string) => new X509Certificate(fixture(`${name}.pem`))
const serveTls = () => new AgentHub(machine.now, { tls: { cert: fixture('loopback.pem'), key: fixture('loopback.key') } })
const enrol = () => machine.command('enrol', '--hub', hub.url, '--key', key)

async function begin({ shell, env }: (typeof shells)['dash with curl'], changes?: string): Promise<void> {
  machine = new ShellMachine(shell, env, changes)
  hub = new AgentHub(machine.now)
}
afterEach(async () => {
  machine[Symbol.dispose]()
  await hub[Symbol.asyncDispose]()
})

/** Starts of minutes since the machine was started, up to this one. */
const minutesUntil = (last: number) => Array.from({ length: last + 1 }, (_, at) => machine.minute(at))

describe.each(Object.entries(shells))('%s', (_, shell) => {
  beforeEach(() => begin(shell))

  test('enrolls without a key of its own, and measures', async () => {
    hub.approveAfter = 2
    machine.write('limit', '100\n')
    expect(await enrol()).toEqual({
      code: 0,
      err: 'bailiwick-agent: This server is known already. Waiting until its agent is approved in the dashboard…\n',
    })
    expect(hub.requests[0]!.headers.get('authorization')).toBe(`Bearer ${key}`)
    expect(hub.enrolments).toHaveLength(3)
    expect(hub.enrolments[2]).toEqual({
      v: 1,
      // openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef <(printf bailiwick)
      machine_id_hash: new Bun.CryptoHasher('sha256', '0123456789abcdef0123456789abcdef').update('bailiwick').digest('hex'),
      version,
      allow: [],
      facts: {
        ...{ hostname: 'router', kernel: '6.6.93', arch: expect.any(String), os: 'OpenWrt 24.10.2', image: 'openwrt-24.10.2' },
        ...{ cpu_model: 'A small router', cores: 2, memory_bytes: 102_400_000, boot_at: 1_795_769_000_000 },
        ...{ macs: ['02:00:00:00:00:01'], addresses: expect.any(Array) },
      },
    })
    expect(machine.read('etc/bailiwick-agent-shell/identity')).toBe(
      `hub ${hub.url}\nagent_id agent_1\nserver_id srv_1\ntoken ${hub.token}\n`,
    )
    expect(statSync(state()).mode & 0o777).toBe(0o700)
    expect(statSync(state('identity')).mode & 0o777).toBe(0o600)

    await machine.start()
    await machine.advanceTo(200)
    const { code, err } = await machine.stop()
    expect({ code, err }).toEqual({
      code: 0,
      err: `bailiwick-agent: Version ${version} reports to ${hub.url} as agent_1.\n`,
    })
    expect(hub.reports.map(one => one.seq)).toEqual(hub.reports.map((_, at) => at + 1))
    expect(hub.reports[0]).toMatchObject({ v: 1, clock_offset_ms: null, minutes: [], allow: [], backlog: false, spooled: 0 })
    expect(hub.reports[1]).toMatchObject({ clock_offset_ms: 0, uptime_seconds: 400, interval_seconds: 60 })
    expect(hub.reports.filter(one => one.facts)).toHaveLength(1)
    expect(hub.reports.at(-1)).toMatchObject({ stopping: 'stop', version })
    expect([...hub.minutes.keys()].sort()).toEqual(minutesUntil(3))
    expect(hub.minutes.get(machine.minute(2))).toEqual({
      ...{
        'cpu.used_percent': 28,
        'cpu.user_percent': 21,
        'cpu.system_percent': 5,
        'cpu.iowait_percent': 2,
        'cpu.steal_percent': 2,
      },
      ...{ 'load.1': 0.5, 'load.5': 0.25, 'load.15': 0.1 },
      ...{ 'memory.used_bytes': 40_960_000, 'memory.available_bytes': 61_440_000, 'memory.cached_bytes': 33_792_000 },
      ...{ 'swap.size_bytes': 5_120_000, 'swap.used_bytes': 1_024_000 },
      ...{ 'network.received_bytes_per_second:eth0': 1500, 'network.sent_bytes_per_second:eth0': 500 },
      ...{ 'network.received_packets_per_second:eth0': 3, 'network.sent_packets_per_second:eth0': 2 },
      ...{ 'network.errors_per_second:eth0': 0, 'network.drops_per_second:eth0': 1 },
      ...{ 'filesystem.used_bytes:/': expect.any(Number), 'filesystem.size_bytes:/': expect.any(Number) },
      'filesystem.available_bytes:/': expect.any(Number),
    })
    expect(hub.reports.flatMap(one => one.minutes).find(([start]) => start === machine.minute(2))![1]).toBe(6)
    expect(machine.spool).toEqual([])
  }, 180_000)

  test('a hub that is away or talks nonsense: no minute is missing afterwards', async () => {
    await enrol()
    await machine.start()
    await machine.advanceTo(100)
    const behaviors = ['page', 'silent', { status: 500 }, { status: 401, code: 'invalid_token' }] as const
    for (const [at, behavior] of behaviors.entries()) {
      hub.behavior = behavior
      await machine.advanceTo(170 + 70 * at)
    }
    hub.behavior = { status: 429, headers: { 'retry-after': '240' } }
    const before = hub.requests.length
    while (hub.requests.length === before) await machine.advanceTo(machine.elapsed + 30)
    const asked = hub.requests[before]!.at
    hub.behavior = 'ok'
    await machine.advanceTo(machine.elapsed + 360)
    expect(hub.requests[before + 1]!.at - asked).toBeGreaterThanOrEqual(240_000)
    const last = Math.floor(machine.elapsed / 60) - 1
    await machine.advanceTo((last + 2) * 60)
    const { err } = await machine.stop()
    expect([...hub.minutes.keys()].sort()).toEqual(minutesUntil(last + 2))
    expect(hub.reports.some(one => one.backlog && one.minutes.length > 3)).toBe(true)
    expect(hub.reports.at(-1)).toMatchObject({ dropped: 0 })
    expect(machine.spool).toEqual([])
    const sentences = err.trim().split('\n').slice(1)
    expect(sentences[0]).toBe('bailiwick-agent: The hub’s response is invalid. Minutes are stored and sent later.')
    expect(sentences.at(-1)).toBe('bailiwick-agent: The hub is reachable again.')
    expect(new Set(sentences).size).toBe(sentences.length)
  }, 180_000)

  test('a revoked agent ends with code 78, and does not ask again', async () => {
    await enrol()
    hub.behavior = { status: 401, code: 'token_revoked' }
    machine.write('limit', '100\n')
    const ended = { code: 78, err: expect.stringContaining('bailiwick-agent: The agent was revoked, so it stops.') }
    expect(await machine.command('run')).toEqual(ended)
    const asked = hub.requests.length
    expect(await machine.command('run')).toEqual(ended)
    expect(hub.requests.length).toBe(asked)
    hub.behavior = 'ok'
    expect((await enrol()).code).toBe(0)
    await machine.start()
    expect((await machine.stop()).code).toBe(0)
  }, 180_000)
})

describe('in BusyBox', () => {
  const shell = shells['BusyBox with nc']

  test('a wrong clock: minutes are filed by the time of the hub, also those from before it was known', async () => {
    await begin(shell)
    await enrol()
    hub.behavior = { status: 503 }
    machine.skew(-300)
    await machine.start()
    await machine.advanceTo(130)
    hub.behavior = 'ok'
    await machine.advanceTo(600)
    machine.skew(300)
    await machine.advanceTo(700)
    await machine.stop()
    expect([...hub.minutes.keys()].sort()).toEqual(minutesUntil(11))
    expect(hub.reports.find(one => one.minutes.length > 0)).toMatchObject({ clock_offset_ms: 300_000 })
    expect(hub.reports.at(-1)).toMatchObject({ clock_offset_ms: -300_000 })
    expect(Math.abs(hub.reports.at(-1)!.sent_at - machine.now() - 300_000)).toBeLessThan(1000)
  }, 180_000)

  test('killed while the hub is away: no minute is missing, and the same minute continues', async () => {
    await begin(shell)
    // Then minutes are stored in memory, in a folder that only root can create.
    machine.write('etc/openwrt_release', '')
    await enrol()
    await machine.start()
    await machine.advanceTo(100)
    const { port, minutes } = hub
    await hub[Symbol.asyncDispose]()
    for (let round = 1; round <= 4; round++) {
      await machine.advanceTo(100 + 75 * round)
      await machine.stop('SIGKILL')
      await machine.start()
    }
    expect(machine.spool).not.toEqual([])
    expect(['tmp', 'var/lib'].filter(folder => existsSync(join(machine.root, folder)))).toEqual([])
    hub = new AgentHub(machine.now, { port })
    await machine.advanceTo(840)
    await machine.stop()
    const known = new Set([...minutes.keys(), ...hub.minutes.keys()])
    expect([...known].sort()).toEqual(minutesUntil(14))
    const samples = new Map(hub.reports.flatMap(one => one.minutes.map(([start, count]) => [start, count] as const)))
    expect([...samples.values()].slice(0, -1).every(count => count >= 5)).toBe(true)
    expect(new Set(hub.reports.map(one => one.run_id)).size).toBe(1)
    expect(machine.spool).toEqual([])
  }, 180_000)

  test('if too many minutes wait, the oldest are dropped and counted', async () => {
    await begin(shell, 'max_spooled=4\nmax_lines=2')
    await enrol()
    hub.behavior = { status: 503 }
    await machine.start()
    await machine.advanceTo(600)
    hub.behavior = 'ok'
    await machine.advanceTo(960)
    await machine.stop()
    const { dropped } = hub.reports.at(-1)!
    expect(dropped).toBeGreaterThanOrEqual(4)
    expect(hub.minutes.size + dropped).toBe(17)
    expect([...hub.minutes.keys()]).toContain(machine.minute(9))
    expect(machine.read('var/lib/bailiwick-agent-shell/dropped')).toBe(`${dropped}\n`)
  }, 180_000)

  test('a minute that the hub refuses does not block the others', async () => {
    await begin(shell)
    await enrol()
    const refused = machine.minute(3)
    hub.rejects = report => {
      const at = report.minutes.findIndex(([start]) => start === refused)
      return at < 0 ? [] : [`#/minutes/${at}/0`]
    }
    hub.behavior = { status: 503 }
    await machine.start()
    await machine.advanceTo(300)
    hub.behavior = 'ok'
    await machine.advanceTo(660)
    const { err } = await machine.stop()
    expect([...hub.minutes.keys()].sort()).toEqual(minutesUntil(11).filter(start => start !== refused))
    expect(hub.reports.at(-1)!.dropped).toBe(1)
    expect(err).toContain('The minute was dropped.')
  }, 180_000)

  test('restored from a snapshot with its memory: it starts a new run', async () => {
    await begin(shell)
    await enrol()
    await machine.start()
    await machine.advanceTo(100)
    const run = hub.reports.at(-1)!.run_id
    // What the hub received after the snapshot.
    hub.runs.set(run, 1000)
    await machine.advanceTo(330)
    await machine.stop()
    const restored = hub.reports.filter(one => one.run_id !== run)
    expect(restored.map(one => one.seq)).toEqual(restored.map((_, at) => at + 1))
    expect(new Set(restored.map(one => one.run_id)).size).toBe(1)
    expect([...hub.minutes.keys()].sort()).toEqual(minutesUntil(5))
  }, 180_000)

  test('what the hub decides is used: the interval, and when everything is sent again', async () => {
    await begin(shell)
    await enrol()
    hub.config = { interval_seconds: 120, watched_units: [] }
    await machine.start()
    await machine.advanceTo(130)
    hub.sendAll = true
    const before = hub.reports.length
    await machine.advanceTo(500)
    await machine.stop()
    const later = hub.reports.slice(before, -1)
    expect(later.map(one => one.minutes.length).slice(1)).toEqual(later.slice(1).map(() => 2))
    expect(later.filter(one => one.facts)).toHaveLength(1)
    expect(later.at(-1)!.interval_seconds).toBe(120)
  }, 180_000)
})

describe('with curl', () => {
  const shell = shells['dash with curl']

  test('the token is in no command line', async () => {
    await begin(shell)
    const tools = join(machine.root, 'tools')
    mkdirSync(tools)
    writeFileSync(join(tools, 'curl'), `#!/bin/sh\necho "$*" >>${machine.root}/calls\nexec ${Bun.which('curl')} "$@"\n`)
    chmodSync(join(tools, 'curl'), 0o755)
    machine.env.PATH = `${tools}:${shell.env.PATH}`
    await enrol()
    await machine.start()
    await machine.advanceTo(60)
    await machine.stop()
    expect(new Set(machine.read('calls').trim().split('\n'))).toEqual(new Set(['-q -sS -K -']))
    expect(hub.requests.length).toBeGreaterThan(3)
    const leftover = readdirSync(join(machine.root, 'var/run/bailiwick-agent-shell')).filter(name =>
      machine.read(`var/run/bailiwick-agent-shell/${name}`).includes('bw_'),
    )
    expect(leftover).toEqual([])
  }, 180_000)

  test.each([
    ['the pinned certificate', 'loopback', 0, ''],
    ['another pinned certificate', 'self-signed', 1, 'bailiwick-agent: The hub can’t be reached: SSL certificate problem'],
    ['a certificate that no authority confirms', null, 1, 'bailiwick-agent: The hub can’t be reached: SSL certificate problem'],
  ])(
    'a hub with %s',
    async (_, pinned, expected, sentence) => {
      machine = new ShellMachine(shell.shell, shell.env, '', pinned === null ? null : certificateIn(pinned))
      hub = serveTls()
      const { code, err } = await enrol()
      expect([code, err.slice(0, sentence.length), hub.enrolments.length]).toEqual([expected, sentence, 1 - expected])
      if (expected === 0) expect(err).toBe('')
    },
    180_000,
  )

  test('the script decides which certificate of the hub is trusted, also if the server is enrolled already', async () => {
    machine = new ShellMachine(shell.shell, shell.env, '', certificateIn('loopback'))
    hub = serveTls()
    await enrol()
    const logOfRun = async () => {
      await machine.start()
      await machine.advanceTo(machine.elapsed + 30)
      return (await machine.stop()).err
    }
    machine.download(certificateIn('self-signed'))
    const elsewhere = await machine.command('enrol', '--hub', 'https://127.0.0.1:1', '--key', key)
    expect([elsewhere.code, elsewhere.err]).toEqual([1, expect.stringContaining('can’t be reached')])
    // The failed enrolment did not install its script.
    machine.download(certificateIn('loopback'))
    expect(await logOfRun()).not.toContain('can’t be reached')
    const reported = hub.reports.length
    expect(reported).toBeGreaterThan(1)

    // The hub serves a script without a certificate, once an authority confirms it.
    machine.download(null)
    expect(await enrol()).toEqual({ code: 0, err: '' })
    expect(await logOfRun()).toContain('SSL certificate problem')
    machine.download(certificateIn('loopback'))
    expect(await enrol()).toEqual({ code: 0, err: '' })
    expect(await logOfRun()).not.toContain('can’t be reached')
    expect([hub.enrolments.length, hub.reports.length > reported]).toEqual([1, true])
  }, 180_000)
})
