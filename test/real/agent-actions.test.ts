import { constants, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { version } from '../../src/core/version'
import { program, until } from '../support/binary'
import { HubOfGuest } from '../support/hub-of-guest'

// Actions, firewalls, and updates through an installed agent, from the API of the hub to Debian with systemd.

let on: HubOfGuest
/** The folder of the hub’s program, from which it takes the agents that it gives out. */
let programs: string
let guest: HubOfGuest['guest']
let server: string
beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'bailiwick-programs-'))
  copyFileSync(program('bailiwick'), join(programs, 'bailiwick'), constants.COPYFILE_FICLONE)
  copyFileSync(program('bailiwick-agent'), join(programs, 'bailiwick-agent'), constants.COPYFILE_FICLONE)
  on = await HubOfGuest.start(join(programs, 'bailiwick'))
  guest = on.guest
  await guest.write('/etc/systemd/system/worker.service', '[Service]\nExecStart=/bin/sleep infinity\n')
  await guest.run('systemctl daemon-reload; systemctl start worker.service')
  const { commands } = await on.api('POST', '/v1/agents', { allow: ['reboot', 'firewall', 'restart:worker.service', 'update'] })
  await on.paste(commands.curl)
  server = (await on.api('GET', '/v1/servers')).data[0].id
}, 240_000)
afterAll(async () => {
  await on?.stop()
  rmSync(programs, { recursive: true })
}, 180_000)

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
    180_000,
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

  await guest.run('systemctl kill --signal=KILL worker.service; while systemctl is-active worker.service; do :; done')
  expect((await act('collect')).status).toBe('success')
  const [entry] = await until('the journal of the server', async () => {
    const { data } = await api('GET', `/v1/servers/${server}/journal?kind=unit.failed`)
    return data.length > 0 && data
  })
  expect(entry).toMatchObject({ name: 'worker.service', moment: null })
  await guest.run('systemctl restart worker.service')
}, 180_000)

test('a certificate that was renewed on disk, where only root can read it, is reported at once, until nginx was reloaded', async () => {
  // The program of this machine, which has the same system.
  await guest.copy('/usr/sbin/nginx', '/usr/sbin/nginx')
  const live = '/etc/letsencrypt/live/shop.example.com'
  await guest.write(
    '/etc/nginx/nginx.conf',
    `events {} http { access_log off; server { listen 443 ssl; server_name shop.example.com; ssl_certificate ${live}/fullchain.pem; ssl_certificate_key ${live}/privkey.pem; } }`,
  )
  await guest.write(
    '/etc/systemd/system/nginx.service',
    "[Service]\nExecStart=/usr/sbin/nginx -g 'daemon off;'\nExecReload=/bin/kill -HUP $MAINPID\n",
  )
  /** As Certbot does it. */
  const renew = (number: number, days: number) =>
    guest.run(`
      archive=/etc/letsencrypt/archive/shop.example.com; mkdir -p $archive ${live}; chmod 700 /etc/letsencrypt/live /etc/letsencrypt/archive
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days ${days} -subj /O=Test/CN=shop.example.com \
        -addext subjectAltName=DNS:shop.example.com -keyout $archive/privkey${number}.pem -out $archive/fullchain${number}.pem 2>/dev/null
      for name in privkey fullchain; do ln -sf ../../archive/shop.example.com/"$name"${number}.pem ${live}/$name.pem; done`)
  await renew(1, 30)
  // The port of nginx is a change only if others were reported before.
  const inventory = `/v1/servers/${server}/inventory`
  await until('the open ports', async () => (await api('GET', inventory)).sockets.items !== null, 120_000)
  await guest.run('mkdir -p /var/log/nginx /var/lib/nginx; systemctl daemon-reload; systemctl start nginx.service')
  const found = async (isNotServed: boolean) => {
    expect((await act('collect')).status).toBe('success')
    const reported = async () => {
      const { files, served } = await api('GET', `/v1/servers/${server}/certificates`)
      const shop = served.filter((one: any) => one.port === 443)
      return shop.length === 2 && shop.every((one: any) => one.on_disk_not_served === isNotServed) && { files, shop }
    }
    return await until('the certificates are reported', reported, 60_000)
  }
  const { files, shop } = await found(false)
  const changes = await until('the port of nginx', async () => {
    const { data } = await api('GET', `/v1/servers/${server}/inventory/changes?kind=port`)
    return data.length > 0 && data
  })
  expect(changes[0]).toMatchObject({ change: 'added', name: '0.0.0.0:443/tcp', after: { user: 'root' } })
  expect(files).toMatchObject([
    {
      ...{ path: `${live}/fullchain.pem`, kind: 'certbot', owner: 'root', references: ['nginx: shop.example.com'], error: null },
      ...{ key: { path: `${live}/privkey.pem`, mode: '0600', owner: 'root', matches: true } },
    },
  ])
  expect(shop).toMatchObject([null, 'shop.example.com'].map(sni => ({ process: 'nginx', sni, chain: files[0].chain })))
  await renew(2, 90)
  const after = await found(true)
  expect(after.shop.map((one: any) => [one.chain, one.newer_file.path])).toEqual(
    shop.map(() => [files[0].chain, `${live}/fullchain.pem`]),
  )
  await guest.run('systemctl reload nginx.service')
  expect((await found(false)).shop[0].chain).toEqual(after.files[0].chain)
  const stored = await guest.run('cat /var/lib/bailiwick-agent-root/certificates.json')
  expect([stored.includes('shop.example.com'), stored.includes('PRIVATE')]).toEqual([true, false])
}, 240_000)

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
}, 180_000)

const before = '0.0.9'
const agent = async () => (await api('GET', '/v1/agents')).data[0]
const linked = async () => (await guest.run('readlink /usr/local/bin/bailiwick-agent')).split('/').at(-2)
/** The hub gives out this script as its version of the agent. @param run what it does as the service */
const offer = (run: string) =>
  writeFileSync(join(programs, 'bailiwick-agent'), `#!/bin/sh\n[ "$1" != --version ] || { echo ${version}; exit; }\n${run}\n`)
/** Updates the agent. @param seconds how long the version before waits for a report @param during called when the new one was started */
async function update(seconds: number, during?: () => Promise<void>): Promise<any> {
  await guest.write(
    '/etc/systemd/system/bailiwick-agent-update.service.d/test.conf',
    `[Service]\nEnvironment=REPORT_SECONDS=${seconds}\n`,
  )
  await guest.run('systemctl daemon-reload')
  const started = await api('POST', `/v1/servers/${server}/actions`, { action: 'update_agent' })
  if (during) await until('the new version is started', async () => (await linked()) === version)
  await during?.()
  return await ended(started)
}

test('after an update to a version that does not report, or a power cut, the previous version runs again', async () => {
  // A version from before, which waits for a report as long as the test says, instead of two minutes.
  const define = ['--define', `BUILD_VERSION="${before}"`, '--define', 'BUILD_REPORT_SECONDS=process.env.REPORT_SECONDS']
  const build = ['src/bin/build.ts', '--program', 'bailiwick-agent', '--outdir', join(programs, 'before')]
  const { success, stderr } = Bun.spawnSync([process.execPath, ...build, ...define])
  if (!success) throw new Error(String(stderr))
  const folder = `/usr/local/lib/bailiwick-agent/${before}`
  await guest.copy(join(programs, 'before', 'bailiwick-agent'), `${folder}/bailiwick-agent`)
  await guest.run(`ln -sfn ${folder}/bailiwick-agent /usr/local/bin/bailiwick-agent; rm -r ${folder}/../${version}`)
  await guest.run('systemctl restart bailiwick-agent')
  await until('a report', async () => (await agent()).version === before)

  const unheard = new RegExp(`did not receive a report of version ${version} within 3 seconds`)
  for (const [run, reason, seconds, during] of [
    ['exit 1', unheard, 3],
    ['exec sleep infinity', unheard, 3],
    ['exec sleep infinity', /The server restarted before version/, 300, () => guest.cutPower()],
  ] as const) {
    offer(run)
    const { status, error } = await update(seconds, during)
    expect([status, error.detail]).toEqual(['error', expect.stringMatching(reason)])
    expect(await agent()).toMatchObject({ version: before, update: { state: 'rolled_back', version, available: version } })
    expect(await linked()).toBe(before)
    await until('it reports', async () => (await agent()).state === 'reporting')
    expect(await guest.run('ls /usr/local/lib/bailiwick-agent')).toBe(`${before}\nprevious`)
  }
}, 240_000)

test('an update to a version that reports is kept, also after a power cut', async () => {
  copyFileSync(program('bailiwick-agent'), join(programs, 'bailiwick-agent'), constants.COPYFILE_FICLONE)
  expect(await update(300)).toMatchObject({ status: 'success', result: { version } })
  expect(await agent()).toMatchObject({ version, update: { state: 'updated', available: null } })
  await until('the check has ended', async () =>
    /"updated"/.test(await guest.run('cat /var/lib/bailiwick-agent-root/update.json')),
  )
  await guest.cutPower()
  await until('a report', async () => (await agent()).state === 'reporting')
  expect([await linked(), (await agent()).version]).toEqual([version, version])
  expect(await guest.run('ls /usr/local/lib/bailiwick-agent; ls -A /var/lib/bailiwick-agent | grep download || true')).toBe(
    `${before}\n${version}\nprevious`,
  )
}, 240_000)
