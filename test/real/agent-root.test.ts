import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { enabledUnits, units } from '../../src/agent/install/units'
import { sha256Hex } from '../../src/core/crypto'
import { newId } from '../../src/core/ids'
import { signCommand, type AgentCommand, type CommandName, type CommandParams } from '../../src/wire/agent-command'
import { publicKeyText } from '../../src/wire/signed'
import { rulesetAllowing } from '../support/host-ruleset'
import { until } from '../support/binary'
import { DebianGuest } from '../support/debian-guest'

// The root half of the agent, as a compiled program on Debian with systemd. Neither agent nor hub run.

const hubKey = generateKeyPairSync('ed25519').privateKey
const agentId = newId('agent')
let guest: DebianGuest
beforeAll(async () => {
  guest = await DebianGuest.start()
  await guest.copy('dist/bailiwick-agent', '/usr/local/bin/bailiwick-agent')
  await guest.run('useradd --system --user-group --no-create-home bailiwick-agent')
  const pinned = { agent_id: agentId, hub_key: publicKeyText(hubKey) }
  const files = {
    ...Object.fromEntries(Object.entries(units).map(([name, text]) => [`/etc/systemd/system/${name}`, text])),
    '/etc/systemd/system/worker.service': '[Service]\nExecStart=/bin/sleep infinity\n',
    '/etc/bailiwick-agent/agent.conf': 'hub = https://hub.example.com\nallow = reboot restart:worker.service firewall\n',
    '/etc/bailiwick-agent/hub.json': JSON.stringify(pinned),
  }
  for (const [path, text] of Object.entries(files)) await guest.write(path, text)
  // The agent itself is not needed.
  const enabled = enabledUnits.filter(name => name !== 'bailiwick-agent.service').join(' ')
  await guest.run(`systemctl daemon-reload; systemctl enable --quiet ${enabled}; systemctl start ${enabled} worker.service`)
}, 240_000)
afterAll(async () => {
  await guest?.stop()
}, 180_000)

/** Gives the root half a command, as the agent does, and waits for the result. */
async function obey<Name extends CommandName>(
  name: Name,
  params: CommandParams[Name],
  key = hubKey,
): Promise<{ outcome: string; detail: string | null; output: string | null }> {
  const now = Date.now()
  const command = {
    ...{ id: newId('cmd'), agent_id: agentId, name, params, issued_at: now, expires_at: now + 60_000 },
    requested_by: { type: 'user', id: 'usr_1', name: 'Alice' },
  } as AgentCommand
  await guest.write(`/tmp/${command.id}.json`, JSON.stringify({ ...signCommand(key, command), clock_offset_ms: 0 }))
  const own = 'bailiwick-agent -g bailiwick-agent -m 700'
  await guest.run(
    `install -d -o ${own} /run/bailiwick-agent /run/bailiwick-agent/orders; mv /tmp/${command.id}.json /run/bailiwick-agent/orders/`,
  )
  const text = await until(`the result of ${name}`, async () =>
    guest.run(`cat /run/bailiwick-agent-root/results/${command.id}.json 2>/dev/null || true`),
  )
  const { outcome, detail, output } = JSON.parse(text)
  return { outcome, detail, output }
}

const rulesetOf = (...ports: string[]) => rulesetAllowing(ports, 'eth0')
const apply = (ruleset: string, seconds: number) =>
  obey('firewall_apply', { ruleset, digest: sha256Hex(ruleset), revert_after_seconds: seconds })
/** The ports that the table allows; null without a table. */
async function allowed(): Promise<string | null> {
  const listed = await guest.run('nft list table inet bailiwick 2>/dev/null || true')
  return listed === '' ? null : [...listed.matchAll(/^\t\tmeta nfproto ipv4 tcp dport (\d+)/gm)].map(one => one[1]).join(' ')
}
const done = { outcome: 'done', detail: null, output: null }

test('a unit is restarted, and a forged command is refused', async () => {
  const pid = () => guest.run('systemctl show -p MainPID worker.service')
  const before = await pid()
  expect(await obey('restart_unit', { unit: 'worker.service' })).toMatchObject({ outcome: 'done', output: 'active' })
  const after = await pid()
  expect(after).not.toBe(before)
  const forged = await obey('restart_unit', { unit: 'worker.service' }, generateKeyPairSync('ed25519').privateKey)
  expect(forged).toMatchObject({ outcome: 'refused', detail: 'The command was not signed by the hub.' })
  expect(await obey('restart_unit', { unit: 'dbus.service' })).toMatchObject({ outcome: 'refused' })
  expect(await pid()).toBe(after)
  const outcomes = async (log: string) =>
    (await guest.run(`cat /var/log/bailiwick-agent-root/${log}.log`)).split('\n').map(line => line.split(' | ')[4])
  expect([await outcomes('commands'), await outcomes('refused')]).toEqual([
    ['started', 'done'],
    ['refused', 'refused'],
  ])
  // The agent can read results, but not write there.
  expect(
    await guest.run(
      'stat -c "%U:%G %a" /run/bailiwick-agent-root/results; stat -c "%U:%G %a" /run/bailiwick-agent-root/results/*',
    ),
  ).toBe(`root:root 755\n${Array(3).fill('root:bailiwick-agent 640').join('\n')}`)
}, 180_000)

test('rules that drop everything are gone in time, also after a restart, and confirmed ones are loaded before the network', async () => {
  expect(await apply(rulesetOf(), 3)).toEqual(done)
  expect(await allowed()).toBe('')
  await until('the table is removed', async () => (await allowed()) === null)

  expect(await apply(rulesetOf('443'), 60)).toEqual(done)
  expect(await obey('firewall_confirm', { digest: sha256Hex(rulesetOf('443')) })).toEqual(done)
  expect(await guest.run('systemctl list-timers --no-legend "bailiwick-agent-firewall-revert-*"')).toBe('')
  expect(await apply(rulesetOf(), 600)).toEqual(done)
  expect(await allowed()).toBe('')

  const booted = await guest.booted()
  expect(await obey('reboot', {})).toEqual(done)
  const again = await guest.booted(booted)
  expect(await allowed()).toBe('443')
  const order = await guest.run(
    'systemctl show -p ActiveEnterTimestampMonotonic --value bailiwick-agent-firewall.service; systemctl is-active network-pre.target; systemctl show -p ActiveEnterTimestampMonotonic --value network-pre.target',
  )
  const [loaded, state, network] = order.split('\n')
  expect([state, Number(loaded) < Number(network)]).toEqual(['active', true])
  // Someone reads what the table has counted.
  await guest.run('systemctl start bailiwick-agent-firewall-watch.service')
  const { nftables } = JSON.parse(await guest.run('cat /run/bailiwick-agent-root/firewall-table.json'))
  expect(nftables.map((one: any) => one.rule?.comment)).toContain('fw_01k3zd5s7t9v1w3x5y7z9a1b3c.p443')
  await guest.run('nft delete table inet bailiwick; systemctl start bailiwick-agent-firewall-watch.service')
  expect(await guest.run('cat /run/bailiwick-agent-root/firewall-table.json')).toBe('')
  // It rebooted once.
  expect(await obey('restart_unit', { unit: 'worker.service' })).toMatchObject({ outcome: 'done' })
  expect(await guest.booted()).toBe(again)
}, 180_000)

test('if the server loses power between a key and its certificate, both are restored after the start, and their service runs again', async () => {
  await guest.write(
    '/etc/systemd/system/tls.service',
    "[Service]\nExecStart=/bin/sh -c 'cmp /etc/tls/web.key /etc/tls/web.pem && exec sleep infinity'\n[Install]\nWantedBy=multi-user.target\n",
  )
  const stored = ['web.key', 'web.pem'].map(name => ({
    ...{ path: `/etc/tls/${name}`, content: Buffer.from('old').toString('base64'), mode: 0o600, owner: { uid: 0, gid: 0 } },
    replacedBy: sha256Hex('new'),
  }))
  const previous = '/var/lib/bailiwick-agent-root/certificates/web/previous.json'
  await guest.write(previous, JSON.stringify({ files: stored, running: 'tls.service' }))
  await guest.run(`mkdir /etc/tls; printf old >/etc/tls/web.pem; printf new >/etc/tls/web.key; systemctl enable --quiet tls.service
    echo 'install.web = certificate=/etc/tls/web.pem key=/etc/tls/web.key restart=tls.service' >>/etc/bailiwick-agent/agent.conf`)
  await guest.cutPower()
  await until('the service runs', async () => (await guest.run('systemctl is-active tls.service || true')) === 'active', 60_000)
  expect(await guest.run(`cat /etc/tls/*; test ! -e ${previous}`)).toBe('oldold')
  // The agent is not there, and the timer has nothing to do the next time.
  const starts = () => guest.run('journalctl -q -u bailiwick-agent-root.service -b | grep -c Starting || true')
  expect(await starts()).toBe('1')
  await guest.run('systemctl start bailiwick-agent-root.service')
  expect(await starts()).toBe('1')
}, 180_000)
