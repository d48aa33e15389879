import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { readFileSync, statSync, utimesSync } from 'node:fs'
import { confirmedFile, firewallState, tableFile } from '../../src/agent/root/firewall'
import type { System } from '../../src/agent/root/system'
import { sha256Hex } from '../../src/core/crypto'
import { noRuleset } from '../../src/features/servers/firewalls/host-ruleset'
import type { CommandName, CommandParams } from '../../src/wire/agent-command'
import { rulesetAllowing } from '../support/host-ruleset'
import { AgentFolder } from '../support/agent-folder'
import { ManualClock } from '../support/manual-clock'
import { NetworkNamespace } from '../support/network-namespace'
import { gateways, PacketProber } from '../support/packet-prober'

let network: NetworkNamespace
let prober: PacketProber
beforeAll(async () => {
  network = await NetworkNamespace.create()
  prober = await PacketProber.start(network.pid)
  network.run('echo 0 > /proc/sys/net/ipv4/icmp_ratemask; echo > /proc/sys/net/ipv6/icmp/ratemask')
}, 180_000)
afterAll(async () => {
  await prober?.stop()
  await network?.end()
})

let clock: ManualClock
let here: AgentFolder
beforeEach(() => {
  clock = new ManualClock()
  here = new AgentFolder(clock.now)
})
afterEach(() => {
  network.run('nft flush ruleset')
  here[Symbol.dispose]()
})

/** A host whose network is the namespace. Its timers need neither the agent nor the root half. */
class Host implements System {
  readonly timers = new Map<string, { cancel(): void }>()
  async run(args: string[], { input = '' } = {}) {
    const { success, stdout, stderr } = Bun.spawnSync(['nsenter', '-t', network.pid, '-n', ...args], {
      stdin: new TextEncoder().encode(input),
    })
    return { isSuccess: success, output: `${stdout}${stderr}`.trim() }
  }
  async startTimer(name: string, seconds: number, args: string[]) {
    if (this.timers.has(name)) return { isSuccess: false, output: `${name} exists already.` }
    const fire = () => {
      this.timers.delete(name)
      void this.run(args)
    }
    this.timers.set(name, clock.after(seconds * 1000, fire))
    return { isSuccess: true, output: '' }
  }
  async stopTimer(name: string) {
    this.timers.get(name)?.cancel()
    this.timers.delete(name)
  }
  /** What remains is on disk. */
  restart() {
    for (const timer of this.timers.values()) timer.cancel()
    this.timers.clear()
    network.run(`nft flush ruleset; rm -f ${here.folders.runtime}/*.json; nft -f ${confirmedFile(here.folders)}`)
  }
}

const rulesetOf = (...ports: string[]) => rulesetAllowing(ports, 'probes')

/** The ports among 22, 80, and 443 that answer, over IPv4 and IPv6. */
async function open(...expected: number[]): Promise<number[]> {
  const ports = [22, 80, 443]
  const packets = ['192.0.2.7', '2001:db8::1'].flatMap(address =>
    ports.map(port => ({ protocol: 'tcp' as const, address, port })),
  )
  const found = await prober.answered(packets, gateways, ({ port }) => expected.includes(port!))
  expect(found.slice(0, 3)).toEqual(found.slice(3))
  return ports.filter((_, at) => found[at])
}

async function obey<Name extends CommandName>(host: Host, name: Name, params: CommandParams[Name]): Promise<string | null> {
  const command = here.command(name, params)
  here.order(command.id, here.sign(command))
  await here.obey(host)
  const { outcome, detail } = here.result(command.id)!
  return outcome === 'done' ? null : detail
}
const apply = (host: Host, ruleset: string, seconds = 60, digest = sha256Hex(ruleset)) =>
  obey(host, 'firewall_apply', { ruleset, digest, revert_after_seconds: seconds })
const confirm = (host: Host, ruleset: string) => obey(host, 'firewall_confirm', { digest: sha256Hex(ruleset) })

test('rules are in effect at once, and stay once they are confirmed, also after a restart', async () => {
  const host = new Host()
  expect(await open(22, 80, 443)).toEqual([22, 80, 443])
  expect(firewallState(here.folders)).toBeUndefined()
  expect(await apply(host, rulesetOf('443'))).toBeNull()
  expect(await open(443)).toEqual([443])
  expect(firewallState(here.folders)).toEqual({ digest: sha256Hex(rulesetOf('443')), confirmed: false })
  expect(await confirm(host, rulesetOf('443'))).toBeNull()
  await clock.advance(120_000)
  expect(await open(443)).toEqual([443])
  host.restart()
  expect(await open(443)).toEqual([443])
  expect(firewallState(here.folders)).toEqual({ digest: sha256Hex(rulesetOf('443')), confirmed: true })
  expect(host.timers.size).toBe(0)
}, 180_000)

test('rules that nobody confirms are restored by the host alone', async () => {
  const host = new Host()
  await apply(host, rulesetOf('22'))
  await confirm(host, rulesetOf('22'))
  // It drops everything.
  expect(await apply(host, rulesetOf(), 10)).toBeNull()
  expect(await open()).toEqual([])
  await clock.advance(9_900)
  expect(await open()).toEqual([])
  await clock.advance(200)
  expect(await open(22)).toEqual([22])
  expect(firewallState(here.folders)).toEqual({ digest: sha256Hex(rulesetOf('22')), confirmed: true })
  expect(await confirm(host, rulesetOf())).toBe('Another rule set is in effect.')

  expect(await apply(host, rulesetOf(), 600)).toBeNull()
  host.restart()
  expect(await open(22)).toEqual([22])
}, 180_000)

test('the first rules are removed if nobody confirms them', async () => {
  const host = new Host()
  await apply(host, rulesetOf('443'), 10)
  await clock.advance(10_100)
  expect(await open(22, 80, 443)).toEqual([22, 80, 443])
  expect(network.run('nft list tables').trim()).toBe('')
}, 180_000)

test('a change before the last one was confirmed goes back to what was confirmed', async () => {
  const host = new Host()
  await apply(host, rulesetOf('22'))
  await confirm(host, rulesetOf('22'))
  await apply(host, rulesetOf('80'), 10)
  await apply(host, rulesetOf('443'), 20)
  await clock.advance(10_100)
  expect(await open(443)).toEqual([443])
  await clock.advance(10_000)
  expect([await open(22), host.timers.size]).toEqual([[22], 0])
}, 180_000)

test('a confirmation while the timer restores the previous rules keeps the new ones', async () => {
  const host = new Host()
  await apply(host, rulesetOf('22'))
  await confirm(host, rulesetOf('22'))
  await apply(host, rulesetOf('443'), 10)
  // The timer read the file before it was replaced, and is stopped before it removes the other one.
  host.stopTimer = async name => {
    network.run('nft -f -', rulesetOf('22'))
    await Host.prototype.stopTimer.call(host, name)
  }
  expect(await confirm(host, rulesetOf('443'))).toBeNull()
  expect(await open(443)).toEqual([443])
  expect(firewallState(here.folders)).toEqual({ digest: sha256Hex(rulesetOf('443')), confirmed: true })
}, 180_000)

test('what nft refuses changes nothing, and what is in effect is still restored in time', async () => {
  const host = new Host()
  await apply(host, rulesetOf('80'), 20)
  const wrong = rulesetOf('80').replace('ct state', 'ct nonsense')
  expect(await apply(host, wrong, 10)).toContain('syntax error')
  expect(await open(80)).toEqual([80])
  expect(firewallState(here.folders)?.digest).toBe(sha256Hex(rulesetOf('80')))
  await clock.advance(20_100)
  expect([await open(22, 80, 443), host.timers.size]).toEqual([[22, 80, 443], 0])
}, 180_000)

test('rule sets that change anything else are refused', async () => {
  const host = new Host()
  network.run('nft add table inet other')
  const inside = (line: string) => rulesetOf('80').replace('  chain in {\n', `${line}\n  chain in {\n`)
  for (const text of [
    `flush ruleset\n${rulesetOf('80')}`,
    `${rulesetOf('80')}delete table inet other\n`,
    rulesetOf('80').replaceAll('inet bailiwick', 'inet other'),
    inside('  }\n  delete table inet other\n  table inet bailiwick {'),
    inside('  # {\n  }\n  delete table inet other\n  table inet bailiwick {'),
    inside('  };delete table inet other;table inet bailiwick {'),
    inside('  } delete table inet other; table inet bailiwick {'),
    inside('  chain out { type filter hook output priority 0; policy drop; }'),
    inside('  include "/etc/shadow"'),
    inside('  define x = "{'),
  ])
    expect(await apply(host, text)).toContain('changes more than the table')
  expect(await apply(host, rulesetOf('80'), 60, sha256Hex('other'))).toContain('does not match its digest')
  expect(network.run('nft list tables').trim()).toBe('table inet other')
  expect(host.timers.size).toBe(0)
})

test('the removal of all firewalls is confirmed like any change', async () => {
  const host = new Host()
  await apply(host, rulesetOf('22'))
  await confirm(host, rulesetOf('22'))
  await apply(host, noRuleset, 10)
  expect(await open(22, 80, 443)).toEqual([22, 80, 443])
  await clock.advance(10_100)
  expect(await open(22)).toEqual([22])
  await apply(host, noRuleset)
  await confirm(host, noRuleset)
  host.restart()
  expect(await open(22, 80, 443)).toEqual([22, 80, 443])
  expect(readFileSync(confirmedFile(here.folders), 'utf8')).toBe(noRuleset)
}, 180_000)

test('packets are reported by the comments of rules, and a table that something else removed', async () => {
  const host = new Host()
  await apply(host, rulesetOf('80', '443'))
  await confirm(host, rulesetOf('80', '443'))
  const list = () => {
    // As the unit does, after the change.
    network.run(`nft --json --terse list table inet bailiwick >${tableFile(here.folders)} 2>/dev/null || true`)
    const { mtimeMs } = statSync(confirmedFile(here.folders))
    utimesSync(tableFile(here.folders), mtimeMs / 1000 + 1, mtimeMs / 1000 + 1)
  }
  const digest = sha256Hex(rulesetOf('80', '443'))
  expect(firewallState(here.folders)).toEqual({ digest, confirmed: true })
  list()
  const zero = firewallState(here.folders)!.counters!
  expect(
    Object.keys(zero)
      .map(one => one.split('.').at(-1)!)
      .sort(),
  ).toEqual(['default', 'p443', 'p80'])
  await open(80, 443)
  list()
  const { counters } = firewallState(here.folders)!
  for (const name of Object.keys(zero)) expect(counters![name]!).toBeGreaterThan(zero[name]!)
  network.run('nft delete table inet bailiwick')
  list()
  expect(firewallState(here.folders)).toEqual({ digest: null, confirmed: true })
  // What was listed before a change says nothing about it.
  await apply(host, rulesetOf('22'))
  const { mtimeMs } = statSync(tableFile(here.folders))
  utimesSync(`${here.folders.runtime}/firewall-pending.json`, mtimeMs / 1000 + 1, mtimeMs / 1000 + 1)
  expect(firewallState(here.folders)).toEqual({ digest: sha256Hex(rulesetOf('22')), confirmed: false })
}, 180_000)
