import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readProcesses } from '../../src/agent/sample/busy-processes'
import { Root } from '../../src/agent/sample/root'
import { Sampler } from '../../src/agent/sample/sampler'
import { NetworkNamespace } from '../support/network-namespace'

// The agent must report what the tools of the system report over the same time.

const start = Date.parse('2026-11-27T10:00:00Z')
const loadMs = 6000
const device = 'agentreal0'

let other: NetworkNamespace
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-sampler-'))
  other = await NetworkNamespace.create()
  output('ip', 'link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', other.pid)
  output('ip', 'address', 'add', '10.99.87.1/24', 'dev', device)
  output('ip', 'link', 'set', device, 'up')
  other.run('ip address add 10.99.87.2/24 dev eth0; ip link set eth0 up')
  // Interfaces without any traffic are not measured.
  output('ping', '-c', '1', '10.99.87.2')
})
afterAll(async () => {
  await other?.end()
  rmSync(folder, { recursive: true, force: true })
})

function output(...args: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(args, { env: { ...process.env, LC_ALL: 'C' } })
  if (!success) throw new Error(`${args.join(' ')}: ${stderr}`)
  return stdout.toString()
}

/** What vmstat, free, df, and ip report now. */
function reported() {
  const cpu = Object.fromEntries(
    [...output('vmstat', '-s').matchAll(/^\s*(\d+) (.+) cpu ticks$/gm)].map(([, count, kind]) => [kind!, Number(count)]),
  )
  const disks = new Map(
    output('vmstat', '-d')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .map(([name, , , read, , , , written]) => [name!, { read: Number(read) * 512, written: Number(written) * 512 }]),
  )
  const [link] = JSON.parse(output('ip', '-s', '-j', 'link', 'show', 'dev', device))
  const [, total, used, , , cached, available] = /^Mem:(.*)$/m.exec(output('free', '-b'))![1]!.split(/\s+/).map(Number)
  const [, size, filled, inodes, usedInodes] = output('df', '-B1', '--output=target,size,used,itotal,iused', '/')
    .split('\n')[1]!
    .split(/\s+/)
    .map(Number)
  return {
    cpu,
    disks,
    link: link.stats64,
    memory: { total: total!, used: used!, cached: cached!, available: available! },
    root: { size: size!, filled: filled!, inodes: inodes!, usedInodes: usedInodes! },
  }
}
type Reported = ReturnType<typeof reported>

/** Uses CPU time, a disk, and the network for some seconds. */
async function load(): Promise<void> {
  const seconds = loadMs / 1000
  const send = `import socket, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.time() + ${seconds}
while time.time() < end:
    sender.sendto(bytes(1200), ('10.99.87.2', 9))
    time.sleep(0.0005)`
  const started = [
    ['timeout', `${seconds / 2}`, 'sh', '-c', 'while :; do :; done'],
    ['dd', 'if=/dev/zero', `of=${join(folder, 'file')}`, 'bs=1M', 'count=64', 'conv=fdatasync'],
    ['python3', '-c', send],
  ].map(args => Bun.spawn(args, { stdout: 'ignore', stderr: 'ignore' }))
  await Promise.all(started.map(one => one.exited))
}

test('the figures are those of vmstat, free, df, and ip', async () => {
  let seconds = 0
  const sampler = new Sampler(undefined, null, true, () => (seconds = performance.now() / 1000))
  const first = reported()
  await sampler.sample(start)
  const startedAt = seconds
  const second = reported()
  await load()
  const third = reported()
  await sampler.sample(start + 60_000)
  const fourth = reported()

  const value = (column: string) => sampler.latest.get(column)!
  /** What was counted between the samples is what the tools counted between them at least, and around them at most. */
  const expectCount = (column: string, count: (one: Reported) => number) => {
    const counted = value(column) * (seconds - startedAt)
    const [least, most] = [count(third) - count(second), count(fourth) - count(first)]
    expect([column, counted >= least * 0.98 - 1 && counted <= most * 1.02 + 1, { least, counted, most }]).toEqual([
      column,
      true,
      expect.anything(),
    ])
    return least
  }
  expect(expectCount(`network.sent_bytes_per_second:${device}`, one => one.link.tx.bytes)).toBeGreaterThan(500_000)
  expectCount(`network.sent_packets_per_second:${device}`, one => one.link.tx.packets)
  expectCount(`network.received_bytes_per_second:${device}`, one => one.link.rx.bytes)
  const disks = [...sampler.latest.keys()]
    .filter(column => column.startsWith('disk.busy_percent:'))
    .map(column => column.split(':')[1]!)
  const written = disks.map(disk => {
    expectCount(`disk.read_bytes_per_second:${disk}`, one => one.disks.get(disk)!.read)
    return expectCount(`disk.write_bytes_per_second:${disk}`, one => one.disks.get(disk)!.written)
  })
  expect(Math.max(...written)).toBeGreaterThan(50_000_000)

  const increase = (kind: string) => fourth.cpu[kind]! - first.cpu[kind]!
  const total = Object.keys(first.cpu)
    .filter(kind => !kind.includes('guest'))
    .reduce((sum, kind) => sum + increase(kind), 0)
  const share = (...kinds: string[]) => (100 * kinds.reduce((sum, kind) => sum + increase(kind), 0)) / total
  const expectShare = (column: string, expected: number) =>
    expect([column, Math.abs(value(column) - expected) <= 2, value(column), expected]).toEqual([
      column,
      true,
      expect.anything(),
      expected,
    ])
  expectShare('cpu.user_percent', share('non-nice user', 'nice user'))
  expectShare('cpu.system_percent', share('system', 'IRQ', 'softirq'))
  expectShare('cpu.iowait_percent', share('IO-wait'))
  expectShare('cpu.steal_percent', share('stolen'))
  expectShare('cpu.used_percent', 100 - share('idle', 'IO-wait'))

  const expectNear = (column: string, before: number, after: number, scale: number) => {
    const [low, high] = [Math.min(before, after) - 0.02 * scale, Math.max(before, after) + 0.02 * scale]
    expect([column, value(column) >= low && value(column) <= high, value(column), low, high]).toEqual([
      column,
      true,
      ...[value(column), low, high],
    ])
  }
  for (const [column, of] of [
    ['memory.used_bytes', 'used'],
    ['memory.available_bytes', 'available'],
    ['memory.cached_bytes', 'cached'],
  ] as const)
    expectNear(column, third.memory[of], fourth.memory[of], third.memory.total)
  expect(value('filesystem.size_bytes:/')).toBe(fourth.root.size)
  expectNear('filesystem.used_bytes:/', third.root.filled, fourth.root.filled, fourth.root.filled)
  expectNear(
    'filesystem.inodes_used_percent:/',
    ...([third, fourth].map(({ root }) => (100 * root.usedInodes) / root.inodes) as [number, number]),
    100,
  )
  expect(value('processes.count')).toBeGreaterThan(5)
}, 180_000)

test('what a process has used is what ps and the process itself report', () => {
  const { user, system } = process.cpuUsage()
  const own = readProcesses(new Root(), 0, 4096).byId.get(String(process.pid))!
  const after = process.cpuUsage()
  const [rss, name] = output('ps', '-o', 'rss=,comm=', '-p', String(process.pid)).trim().split(/\s+/)
  expect([own.name, Math.abs(own.bytes / (Number(rss) * 1024) - 1) < 0.2]).toEqual([name!, true])
  // The kernel counts in hundredths of a second, which it rounds.
  expect(own.ticks).toBeGreaterThanOrEqual((user + system) / 10_000 - 2)
  expect(own.ticks).toBeLessThanOrEqual((after.user + after.system) / 10_000 + 2)
})

test('a mount that hangs delays a sample by two seconds once, and everything else is measured', async () => {
  const path = mkdtempSync(join(folder, 'hanging-'))
  const mount = Bun.spawn(['python3', 'test/support/hanging_mount.py', path], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  try {
    await mount.stdout.getReader().read()
    const sampler = new Sampler()
    const took = async (at: number) => {
      const before = performance.now()
      await sampler.sample(start + at)
      return performance.now() - before
    }
    expect(await took(0)).toBeWithin(1900, 4000)
    expect(await took(10_000)).toBeLessThan(1000)
    expect(sampler.problems).toEqual([
      `The file system at ${path} doesn’t respond. Network file systems are not measured until it does.`,
    ])
    expect([...sampler.latest.keys()]).toContain('filesystem.used_bytes:/')
    expect([...sampler.latest.keys()]).toContain('cpu.used_percent')
    // Files can still be read, and names looked up, in other threads.
    expect(await Bun.file('/proc/version').text()).toContain('Linux')
  } finally {
    mount.stdin.end()
    await mount.exited
  }
}, 180_000)

test('ten minutes of samples without the JIT take less than 0.05 % of a CPU', () => {
  const { stdout } = Bun.spawnSync([process.execPath, 'test/support/sampler-cost.ts'], {
    env: { ...process.env, BUN_JSC_useJIT: '0' },
  })
  const { cpuMs, ownBytes } = JSON.parse(stdout.toString())
  expect(cpuMs).toBeLessThan(5)
  expect(ownBytes).toBeLessThan(8_000_000)
}, 180_000)
