import { afterAll, beforeAll, expect, test } from 'bun:test'
import { shellAgent } from '../../src/features/servers/agents/shell/shell-agent'
import { until } from '../support/binary'
import { BusyboxGuest } from '../support/busybox-guest'
import { HubOfGuest } from '../support/hub-of-guest'

// The command for routers and small boards, in a guest in which there is nothing but BusyBox.

let on: HubOfGuest<BusyboxGuest>
beforeAll(async () => {
  const guest = await BusyboxGuest.start()
  // Its own file system is in memory.
  await guest.mount('/usr', '/data')
  on = await HubOfGuest.of(guest)
}, 180_000)
afterAll(() => on?.stop(), 60_000)

const program = '/usr/bin/bailiwick-agent-shell'
const folders = { run: '/var/run/bailiwick-agent-shell', spool: '/var/lib/bailiwick-agent-shell' }
const agents = async () => (await on.api('GET', '/v1/agents')).data as Record<string, any>[]
const start = () => on.guest.run(`setsid ${program} run </dev/null >/tmp/log 2>&1 &`)
const pid = () => on.guest.run(`cat ${folders.run}/pid`)
const stopAgent = async () => {
  const own = await pid()
  await on.guest.run(`kill ${own}`)
  await until('the end', async () => (await on.guest.run(`[ -d /proc/${own} ] || echo ended`)) === 'ended', 60_000)
}
const traces = () => on.guest.run("find / -xdev -name '*bailiwick*' -not -path '/proc/*' -not -path '/sys/*' -not -path '/tmp/*'")
let command: string

test('shellcheck finds nothing in the script', async () => {
  const run = Bun.spawn(['shellcheck', '--shell=sh', '--exclude=SC1112', '-'], {
    stdin: new Blob([shellAgent(null)]),
    stdout: 'pipe',
  })
  expect([await new Response(run.stdout).text(), await run.exited]).toEqual(['', 0])
}, 180_000)

test('a key that does not exist, or a script that was replaced: one sentence, and nothing is left behind', async () => {
  ;({
    commands: { shell_agent: command },
  } = await on.api('POST', '/v1/agents', {}))
  const refused = await on.paste(`${command.replace(/bw_enrol_\S+/, `bw_enrol_${'0'.repeat(36)}`)} || true`)
  expect(refused).toMatch(/^bailiwick-agent: The hub responded with status 401: [^\n]+$/)
  const replaced = await on.paste(`${command.replace(/echo "\w{64}/, `echo "${'0'.repeat(64)}`)} || true`)
  expect(replaced).toBe('sha256sum: WARNING: 1 of 1 computed checksums did NOT match')
  expect(await traces()).toBe('')
}, 180_000)

test('the command enrolls the guest, which reports with little memory', async () => {
  expect(await on.paste(command)).toMatch(/^Enrolled as agent_\w+\. This system has no service manager that is known: /)
  await start()
  const agent = await until('a report', async () => (await agents()).find(one => one.last_report_at !== null), 30_000)
  expect(agent).toMatchObject({ state: 'reporting', assurance: 'token', allow: [], name: 'guest' })
  await until('the second sample', async () => /^[2-9] /.test(await on.guest.run(`cat ${folders.run}/sums || true`)), 60_000)
  // Between two samples.
  const kilobytes = await until('a moment of rest', async () => {
    const own = await pid()
    const found = await on.guest.run(
      `for file in /proc/[0-9]*/status; do grep -Eq "^P?Pid:.${own}$" $file 2>/dev/null && grep VmRSS $file; done; true`,
    )
    const sizes = [...found.matchAll(/(\d+) kB/g)].map(one => Number(one[1]))
    return sizes.length === 1 && sizes[0]
  })
  expect(kilobytes).toBeLessThan(3 * 1024)
}, 180_000)

test('what was measured while the hub was away arrives later, with the right figures', async () => {
  const startHub = await on.stopHub()
  const [kilobytes, used] = (
    await on.guest.run("awk '$1 == \"MemTotal:\" { print $2 }' /proc/meminfo; df -kP /data | awk 'NR == 2 { print $3 }'")
  )
    .split('\n')
    .map(Number)
  await stopAgent()
  expect(await on.guest.run('cat /tmp/log')).toContain('The last report was not received.')
  const stored = await on.guest.run(`tail -n +2 ${folders.spool}/current | cut -d ' ' -f 1`)
  const minutes = stored.split('\n').map(at => Math.floor(Number(at) / 60_000) * 60_000)
  await startHub()
  await start()
  const [{ id, server_id }] = (await agents()) as [{ id: string; server_id: string }]
  await until('the stored minutes', async () => (await on.guest.run(`ls ${folders.spool}`)) === '', 60_000)
  expect(await on.api('GET', `/v1/agents/${id}`)).toMatchObject({ dropped: 0 })
  const from = new Date(minutes[0]!).toISOString()
  const path = `/v1/servers/${server_id}/metrics?type=cpu,memory,swap,load,network,filesystem&from=${from}&step=60&source=agent`
  const { series } = (await on.api('GET', path)) as { series: { name: string; device: string | null; avg: (number | null)[] }[] }
  const first = new Map(
    series.map(({ name, device, avg }) => [device === null ? name : `${name}:${device}`, avg.find(one => one !== null)]),
  )
  for (const name of ['cpu.used_percent', 'load.1', 'swap.size_bytes', 'network.received_bytes_per_second:eth0'])
    expect([name, first.get(name)]).toEqual([name, expect.any(Number)])
  const total = first.get('memory.used_bytes')! + first.get('memory.available_bytes')!
  expect(total / 1024 / kilobytes!).toBeCloseTo(1, 2)
  expect(first.get('filesystem.used_bytes:/data')! / 1024 / used!).toBeCloseTo(1, 1)
}, 180_000)

test('init of BusyBox starts it, also after it was killed', async () => {
  await stopAgent()
  await on.guest.run(`
    sed '/^while/,$d' /sbin/init >/etc/start
    chmod 755 /etc/start
    ln -sf /bin/busybox /sbin/init
    printf '::sysinit:/etc/start\\n::respawn:/bin/sleep 3600\\n' >/etc/inittab`)
  await on.guest.restart()
  const installed = await on.guest.run(`${program} install --hub ${on.hub.url} 2>&1`)
  const [{ server_id }] = (await agents()) as [{ server_id: string }]
  expect(installed).toBe(`The hub receives reports of this server: ${on.hub.url}/servers/${server_id}`)
  const log = await on.guest.run('cat /var/log/bailiwick-agent-shell.log')
  await on.guest.run(`kill -9 ${await pid()}`)
  await until('another run', async () => (await on.guest.run('cat /var/log/bailiwick-agent-shell.log')) !== log, 30_000)
}, 180_000)

test('uninstalling it leaves nothing but the log', async () => {
  await on.guest.run(`${program} uninstall`)
  expect(await traces()).toBe('/var/log/bailiwick-agent-shell.log')
  expect(await on.guest.run('grep -c respawn /etc/inittab')).toBe('1')
  expect(await agents()).toMatchObject([{ state: 'stopped', stop_reason: 'stop' }])
}, 180_000)
