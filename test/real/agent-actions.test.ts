import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/binary'
import { HubOfGuest } from '../support/hub-of-guest'

// Actions and firewalls through an installed agent, from the API of the hub to Debian with systemd.

let on: HubOfGuest
let guest: HubOfGuest['guest']
let server: string
beforeAll(async () => {
  on = await HubOfGuest.start()
  guest = on.guest
  await guest.write('/etc/systemd/system/worker.service', '[Service]\nExecStart=/bin/sleep infinity\n')
  await guest.run('systemctl daemon-reload; systemctl start worker.service')
  const { commands } = await on.api('POST', '/v1/agents', { allow: ['reboot', 'firewall', 'restart:worker.service'] })
  await on.paste(commands.curl)
  server = (await on.api('GET', '/v1/servers')).data[0].id
}, 240_000)
afterAll(() => on?.stop(), 60_000)

const api = (method: string, path: string, body?: unknown) => on.api(method, path, body)
/** Waits for an action. */
async function ended(started: any): Promise<any> {
  if (!started.id) throw new Error(JSON.stringify(started))
  return await until(
    'the end of the action',
    async () => {
      const action = await api('GET', `/v1/actions/${started.id}`)
      return action.finished_at !== null && action
    },
    60_000,
  )
}
const act = async (action: string, params = {}) =>
  await ended(await api('POST', `/v1/servers/${server}/actions`, { action, params }))

test('a unit is restarted within seconds', async () => {
  const pid = () => guest.run('systemctl show -P MainPID worker.service')
  const before = await pid()
  const began = performance.now()
  expect(await act('restart_unit', { unit: 'worker.service' })).toMatchObject({ status: 'success', result: { output: 'active' } })
  expect(performance.now() - began).toBeLessThan(5000)
  expect(await pid()).not.toBe(before)
  expect((await act('collect')).status).toBe('success')
  const log = await guest.run('cat /var/log/bailiwick-agent/commands.log')
  expect(
    log.split('\n').map(line =>
      line
        .split(' | ')
        .slice(2, 5)
        .filter((_, at) => at !== 1),
    ),
  ).toEqual(['restart_unit worker.service', 'collect'].flatMap(name => ['started', 'done'].map(result => [name, result])))
}, 60_000)

test('a firewall is enforced by the agent, and stays after the server restarted once', async () => {
  const ssh = { id: 'ssh', direction: 'in', protocol: 'tcp', ports: ['22'], sources: ['198.51.100.0/24'] }
  // This machine keeps its access.
  const own = { id: 'own', direction: 'in', protocol: 'any', ports: [], sources: ['10.128.0.0/9'] }
  const firewall = await api('POST', '/v1/firewalls', { name: 'web', rules: [ssh, own] })
  const attached = await api('POST', `/v1/firewalls/${firewall.id}/attach`, { server_ids: [server] })
  expect(await ended(attached)).toMatchObject({ status: 'success' })
  const table = () => guest.run('nft list table inet bailiwick')
  expect(await table()).toContain(`tcp dport 22 counter packets 0 bytes 0 accept comment "${firewall.id}.ssh"`)
  await until('the rules are confirmed', () =>
    guest.run('test ! -e /run/bailiwick-agent-root/firewall-pending.json && echo yes || true'),
  )

  const booted = await guest.booted()
  expect((await act('reboot')).status).toBe('success')
  const again = await guest.booted(booted)
  expect(await table()).toContain('tcp dport 22')
  expect(await api('GET', `/v1/servers/${server}`)).toMatchObject({ status: 'running', health: 'up' })
  expect((await api('GET', `/v1/firewalls/${firewall.id}`)).attached[0]).toMatchObject({ state: 'applied', error: null })
  expect(await guest.booted()).toBe(again)
}, 120_000)
