import { afterAll, beforeAll, expect, test } from 'bun:test'
import { units } from '../../src/agent/install/units'
import { until } from '../support/binary'
import { faketime } from '../support/faketime'
import { HubOfGuest } from '../support/hub-of-guest'
import { minuteOfLoad } from '../support/minute-of-load'

// The command that installs the agent, on a Debian with systemd on which nothing is installed.

let on: HubOfGuest
let guest: HubOfGuest['guest']
beforeAll(async () => {
  on = await HubOfGuest.start()
  guest = on.guest
}, 240_000)
afterAll(() => on?.stop(), 60_000)

const api = (method: string, path: string, body?: unknown) => on.api(method, path, body)
const agents = async () => (await api('GET', '/v1/agents')).data as Record<string, any>[]
/** Everything in the guest that belongs to the agent. */
const traces = async () =>
  (
    await guest.run(
      "find / -xdev -name '*bailiwick*' -not -path '/proc/*' -not -path '/sys/*' -not -path '/tmp/*' -not -path '/var/tmp/*'; getent passwd bailiwick-agent || true",
    )
  )
    .split('\n')
    .filter(Boolean)
let pasted: string

test('another key of the hub, or a key that does not exist: one sentence, and nothing is left behind', async () => {
  const { commands } = await api('POST', '/v1/agents', {})
  for (const [pattern, other, sentence] of [
    [/ed25519:\S+/, 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', /is not signed by the key in --hub-key/],
    [/bw_enrol_\S+/, `bw_enrol_${'0'.repeat(36)}`, /^The hub responded with status 401: /],
  ] as const) {
    const printed = await on.paste(`${commands.curl.replace(pattern, other)} || true`)
    expect(printed).toMatch(sentence)
    expect(printed.split('\n')).toHaveLength(1)
    expect(await traces()).toEqual([])
  }
}, 180_000)

test('the command installs the agent, which reports within 15 seconds', async () => {
  ;({
    commands: { curl: pasted },
  } = await api('POST', '/v1/agents', { allow: ['reboot'] }))
  const began = performance.now()
  const printed = await on.paste(pasted)
  const [agent] = await agents()
  expect(agent).toMatchObject({ state: 'reporting', assurance: 'key', allow: ['collect', 'reboot'] })
  expect(agent!.last_report_at).not.toBeNull()
  expect(printed.split('\n').at(-1)).toBe(`The hub receives reports of this server: ${on.hub.url}/servers/${agent!.server_id}`)
  expect(performance.now() - began).toBeLessThan(15_000)
  const server = await api('GET', `/v1/servers/${agent!.server_id}`)
  expect(server).toMatchObject({ health: 'up', origin: 'added' })
  const facts = await until('facts', async () => {
    const { data } = await api('GET', `/v1/servers/${agent!.server_id}/facts`)
    return data.length > 5 ? JSON.stringify(data) : null
  })
  expect(facts).toContain('debian-12')
  expect(
    await guest.run('bailiwick-agent doctor; systemctl is-active bailiwick-agent; ls -ld /var/lib/bailiwick-agent | cut -c1-10'),
  ).toMatch(/^(ok {5}.*\n)+active\ndrwx------$/)
  // Nothing listens.
  expect(await guest.run('grep -hc " 0A " /proc/net/tcp /proc/net/tcp6 || true')).toBe('0\n0')
  // Run manually, it is the same machine as the service, which sees what the container sees.
  expect(await guest.run('bailiwick-agent send-once')).toBe(`The hub received a report of ${agent!.server_id}.`)
}, 180_000)

test('it needs little memory under all restrictions of its service', async () => {
  const read = await guest.run("grep -E 'VmRSS|RssAnon' /proc/$(systemctl show -P MainPID bailiwick-agent)/status")
  const [rss, own] = [...read.matchAll(/(\d+) kB/g)].map(one => Number(one[1]) / 1024)
  expect(rss).toBeLessThan(42)
  expect(own).toBeLessThan(6)
})

interface Measured {
  name: string
  device: string | null
  avg: [number]
}

const dropIns = '/etc/systemd/system/bailiwick-agent.service.d'
/** Makes the clock of the agent wrong when it starts the next time. */
async function setClock(offset: '+5m' | '-5m'): Promise<void> {
  const environment = `LD_PRELOAD=/srv/faketime.so FAKETIME=${offset} FAKETIME_DONT_FAKE_MONOTONIC=1`
  await guest.write(`${dropIns}/clock.conf`, `[Service]\nEnvironment=${environment}\n`)
  await guest.run('systemctl daemon-reload')
}
/** Waits until the agent has reported how wrong its clock is. */
const expectOffset = (ms: number) =>
  until('the offset of the clock', async () => Math.abs((await agents())[0]!.clock_offset_ms - ms) < 5000, 60_000)

test('the hub shows for a minute of load what vmstat, free, and ip report, with a wrong clock and an outage', async () => {
  const [{ server_id: id }] = (await agents()) as [{ server_id: string }]
  await guest.copy(faketime, '/srv/faketime.so')
  await setClock('+5m')
  await guest.run('systemctl restart bailiwick-agent')
  await expectOffset(-300_000)
  const minute = await minuteOfLoad(guest, on.hub.url)
  const [from, to] = [minute.start, minute.start + 60_000].map(time => new Date(time).toISOString())
  const measured = async () =>
    (await api('GET', `/v1/servers/${id}/metrics?from=${from}&to=${to}&step=60`)).series as Measured[] | undefined
  // A timer that fires slightly early ends the minute with the next sample.
  await until(
    'the end of the minute',
    async () => (await guest.run('ls /var/lib/bailiwick-agent/spool')) !== '' || (await measured())?.length,
    60_000,
  )
  // The minute is not lost if the hub is stopped, and the agent is killed meanwhile.
  const startHub = await on.stopHub()
  await setClock('-5m')
  await guest.run('systemctl kill --signal=KILL bailiwick-agent')
  await startHub()
  await expectOffset(300_000)
  await guest.run(`rm -r ${dropIns}; systemctl daemon-reload`)
  const series = await until(
    'the minute',
    async () => {
      const found = await measured()
      return found?.length ? found : null
    },
    180_000,
  )
  const valueOf = (name: string, device: string | null = null) =>
    series.find(one => one.name === name && one.device === device)!.avg[0]
  const [before, after, beforeEnd, afterEnd] = minute.counters
  const differences: string[] = []
  const expectBetween = (name: string, value: number, low: number, high: number) => {
    if (!(value >= low && value <= high)) differences.push(`${name} is ${value}, not between ${low} and ${high}`)
  }
  /** What the agent counted is at least what was counted between its samples, and at most what was around them. */
  const expectCount = (name: string, device: string, count: (one: typeof before) => number) => {
    const least = count(beforeEnd) - count(after)
    expectBetween(name, valueOf(name, device) * 60, least * 0.98 - 60, (count(afterEnd) - count(before)) * 1.02 + 60)
    return least
  }
  const received = expectCount('network.received_bytes_per_second', 'eth0', one => one.link.rx.bytes)
  expectCount('network.received_packets_per_second', 'eth0', one => one.link.rx.packets)
  expectCount('network.sent_bytes_per_second', 'eth0', one => one.link.tx.bytes)
  const disks = series.flatMap(({ name, device }) => (name === 'disk.write_bytes_per_second' ? [device!] : []))
  for (const disk of disks) {
    expectCount('disk.read_bytes_per_second', disk, one => one.disks.get(disk)!.read)
    expectCount('disk.write_bytes_per_second', disk, one => one.disks.get(disk)!.written)
  }
  expect(received).toBeGreaterThan(20_000_000)
  const usedShare = (first: typeof before, last: typeof before) => {
    const increase = (kinds: string[]) => kinds.reduce((sum, kind) => sum + last.cpu[kind]! - first.cpu[kind]!, 0)
    const all = increase(Object.keys(first.cpu).filter(kind => !kind.includes('guest')))
    return 100 - (100 * increase(['idle', 'IO-wait'])) / all
  }
  const shares = [usedShare(before, afterEnd), usedShare(after, beforeEnd)]
  expectBetween('cpu.used_percent', valueOf('cpu.used_percent'), Math.min(...shares) - 2, Math.max(...shares) + 2)
  for (const of of ['used', 'available'] as const) {
    const all = minute.memory.map(one => one[of])
    const slack = 0.02 * minute.memory[0]!.total
    expectBetween(of, valueOf(`memory.${of}_bytes`), Math.min(...all) - slack, Math.max(...all) + slack)
  }
  expect(differences).toEqual([])
}, 300_000)

test('after a restart of the guest, it reports again, and the hub knows why it stopped', async () => {
  const [{ id }] = (await agents()) as [{ id: string }]
  const booted = await guest.booted()
  await guest.run('systemctl reboot')
  const stopped = await until('the goodbye', async () => {
    const agent = await api('GET', `/v1/agents/${id}`)
    return agent.state === 'stopped' ? agent : null
  })
  expect(stopped.stop_reason).toBe('reboot')
  await guest.booted(booted)
  await until('a report', async () => (await api('GET', `/v1/agents/${id}`)).state === 'reporting')
}, 180_000)

test('the same command upgrades the agent, without another enrolment', async () => {
  const before = await agents()
  await on.paste(pasted)
  expect((await agents()).map(({ id }) => id)).toEqual(before.map(({ id }) => id))
  expect(await guest.run('systemctl is-active bailiwick-agent')).toBe('active')
}, 180_000)

test('a revoked agent is not started again', async () => {
  const [{ id }] = (await agents()) as [{ id: string }]
  await api('POST', `/v1/agents/${id}/revoke`)
  await guest.run('systemctl restart bailiwick-agent')
  await until('the end', async () => (await guest.run('systemctl is-failed bailiwick-agent || true')) === 'failed')
  expect(await guest.run('systemctl show -P ExecMainStatus bailiwick-agent')).toBe('78')
  expect(await guest.run('systemctl show -P NRestarts bailiwick-agent')).toBe('0')
}, 180_000)

test('uninstalling it leaves nothing but its log', async () => {
  expect(await traces()).toEqual(expect.arrayContaining(Object.keys(units).map(name => `/etc/systemd/system/${name}`)))
  await on.paste('bailiwick-agent uninstall')
  expect((await traces()).filter(path => !path.startsWith('/var/log/'))).toEqual([])
}, 180_000)

test('the shell agent runs as a service of systemd, and is not started again if it is revoked', async () => {
  const [{ server_id }] = (await agents()) as [{ server_id: string }]
  const { commands } = await api('POST', `/v1/servers/${server_id}/agent`, {})
  const printed = await on.paste(commands.shell_agent)
  expect(printed).toBe(`The hub receives reports of this server: ${on.hub.url}/servers/${server_id}`)
  const agent = (await agents()).find(one => one.state === 'reporting')
  expect(agent).toMatchObject({ server_id, assurance: 'token', allow: [] })
  await api('POST', `/v1/agents/${agent!.id}/revoke`)
  await guest.run('systemctl restart bailiwick-agent-shell')
  await until('the end', async () => (await guest.run('systemctl is-failed bailiwick-agent-shell || true')) === 'failed')
  expect(await guest.run('systemctl show -P ExecMainStatus bailiwick-agent-shell')).toBe('78')
  await guest.run('bailiwick-agent-shell uninstall')
  expect((await traces()).filter(path => !path.startsWith('/var/log/'))).toEqual([])
}, 180_000)
