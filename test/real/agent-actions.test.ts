import { constants, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { version } from '../../src/core/version'
import { programMark } from '../../src/wire/agent-version'
import { program, until } from '../support/binary'
import { HubOfGuest } from '../support/hub-of-guest'
import { startPebble } from '../support/pebble'

// Actions, incidents, firewalls, and updates through an installed agent, from the API of the hub to Debian with systemd.

let on: HubOfGuest
/** The folder of the hub’s program, from which it takes the agents that it serves. */
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
  await guest.run(`mkdir -p /var/log/nginx /var/lib/nginx; systemctl daemon-reload; systemctl start nginx.service
    while ! grep -q ':01BB 00000000:0000 0A' /proc/net/tcp; do :; done`)
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

/** Waits until the ended action of a managed certificate is known. */
const issuedAt = async (id: string) => {
  const action = await ended({ id: (await api('GET', `/v1/managed-certificates/${id}`)).action_id })
  expect(action).toMatchObject({ status: 'success', error: null })
  return await api('GET', `/v1/managed-certificates/${id}`)
}
/** SHA-256 of the certificate that nginx presents. */
const presented = async () =>
  (
    await guest.run(
      'openssl s_client -connect 127.0.0.1:443 -servername www.agent.test </dev/null 2>/dev/null | openssl x509 -noout -fingerprint -sha256',
    )
  )
    .replace(/.*=|:/g, '')
    .toLowerCase()

test('the agent creates the key of a certificate, and installs it; one that is not loaded is found, until nginx is reloaded', async () => {
  await using pebble = await startPebble({ dnsPort: on.hub.dnsPort })
  const directory = { directory_url: pebble.directoryUrl, ca_pem: pebble.ca, terms_agreed: true }
  const account = (await api('POST', '/v1/acme-accounts', { name: 'Pebble', ...directory })).id
  await api('POST', '/v1/dns/zones', { name: 'agent.test' })
  const agentOf = async () => (await api('GET', `/v1/agents?server_id=${server}`)).data[0]
  const profile = (load: string) =>
    guest.run(`sed -i /^install/d /etc/bailiwick-agent/agent.conf
      echo 'install.web = certificate=/etc/nginx/tls/web.pem key=/etc/nginx/tls/web.key owner=root:www-data mode=0640 ${load}' >> /etc/bailiwick-agent/agent.conf`)
  const create = () =>
    api('POST', '/v1/managed-certificates', {
      ...{ names: ['www.agent.test'], acme_account_id: account, key: { mode: 'agent' } },
      deliver: { server_id: server, install_profile: 'web' },
    })
  expect(await create()).toMatchObject({ code: 'conflict', errors: [{ pointer: '#/deliver/server_id' }] })
  await profile('reload=nginx.service')
  await guest.run('mkdir /etc/nginx/tls; systemctl restart bailiwick-agent')
  await until('the permission is known', async () => (await agentOf()).allow.includes('certificates:web'))

  const { id } = await create()
  const first = await issuedAt(id)
  expect(first.deliver.installed_at).not.toBeNull()
  expect(await guest.run('stat -c "%U:%G %a %n" /etc/nginx/tls/*; ls /var/lib/bailiwick-agent-root/certificates/web')).toBe(
    'root:www-data 640 /etc/nginx/tls/web.key\nroot:www-data 644 /etc/nginx/tls/web.pem',
  )
  await guest.write(
    '/etc/nginx/nginx.conf',
    'events {} http { access_log off; server { listen 443 ssl; server_name www.agent.test; ssl_certificate /etc/nginx/tls/web.pem; ssl_certificate_key /etc/nginx/tls/web.key; } }',
  )
  await guest.run('systemctl restart nginx.service')
  const fingerprint = async (view: any) => (await api('GET', `/v1/certificates/${view.certificate_id}`)).fingerprint_sha256
  await until('nginx presents it', async () => (await presented()) === (await fingerprint(first)))

  const renew = async () => {
    expect((await api('POST', `/v1/managed-certificates/${id}/renew`, { force: true })).type).toBe('certificate.issue')
    return await fingerprint(await issuedAt(id))
  }
  const key = () => guest.run('sha256sum /etc/nginx/tls/web.key')
  const before = await key()
  const second = await renew()
  expect(await key()).not.toBe(before)
  await until('nginx presents the new one', async () => (await presented()) === second)
  // The agent reports it by itself.
  const served = async () =>
    (await api('GET', `/v1/servers/${server}/certificates`)).served.filter((one: any) => one.port === 443)
  const isServed = async (sha256: string) =>
    (await served()).some((one: any) => one.chain[0] === sha256 && !one.on_disk_not_served)
  await until('it is reported', () => isServed(second), 60_000)

  await profile('reload=none')
  const third = await renew()
  expect(await presented()).toBe(second)
  expect((await act('collect')).status).toBe('success')
  await until('it is reported', async () => (await served()).every((one: any) => one.on_disk_not_served), 60_000)
  const gaps = async () => (await api('GET', '/v1/certificate-gaps?kind=stale_on_disk')).data
  expect(await gaps()).toEqual([])
  await until('the file is in the inventory', async () => {
    const [{ presences }] = (await api('GET', `/v1/certificates?sha256=${third}`)).data
    return presences.some((one: any) => one.kind === 'file')
  })
  // As if it had been there for that long.
  await on.execute("update certificate_presences set first_seen_at = first_seen_at - 900000 where kind = 'file'")
  const isReported = async (status: string) => {
    expect((await act('collect')).status).toBe('success')
    const found = async () => {
      // Gaps are worked out half a minute after a change, so that many changes cause one run.
      await on.execute("update jobs set run_at = 0 where kind = 'certificates.gaps'")
      await Bun.sleep(500)
      return (await gaps()).find((one: any) => one.status === status)
    }
    return await until('the gap', found, 120_000)
  }
  // Something has to change, so that gaps are worked out before the next hour.
  await api('POST', `/v1/dns/zones/${(await api('GET', '/v1/dns/zones?name=agent.test')).data[0].id}/records`, {
    ...{ type: 'A', name: 'www', content: '192.0.2.1' },
  })
  const gap = await isReported('open')
  expect(gap).toMatchObject({ severity: 'high', server_id: server, fix: 'Reload nginx.', name: 'www.agent.test' })
  expect(gap.detail).toMatch(
    /^nginx on .* serves the certificate .* although \/etc\/nginx\/tls\/web\.pem contains a newer one\.$/,
  )
  await guest.run('systemctl reload nginx.service')
  await isReported('resolved')
  expect(await guest.run('grep -rl "PRIVATE KEY" /var/lib/bailiwick-agent /var/log /run/bailiwick-agent* || true')).toBe('')
  expect(on.hub.out() + on.hub.err()).not.toContain('PRIVATE KEY')
}, 400_000)

/** The engine of containers: systemd starts a program for each connection to the socket of Podman, in the folder of Podman’s package. */
const podman = {
  '/etc/systemd/system/podman.socket':
    '[Socket]\nListenStream=/run/podman/podman.sock\nDirectoryMode=0700\nSocketGroup=bailiwick-agent\nSocketMode=0660\nAccept=yes\n',
  '/etc/systemd/system/podman@.service': '[Service]\nExecStart=-/bin/sh /usr/local/lib/podman\nStandardInput=socket\n',
  '/usr/local/lib/podman': `read -r method path rest
while read -r header && [ "$header" != "$(printf '\\r')" ]; do :; done
case $path in */containers/json*) name=list ;; *) name=container ;; esac
printf 'HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n' "$(wc -c <"/srv/$name.json")"
cat "/srv/$name.json"
`,
}
const container = (state: string, status: string) =>
  JSON.stringify([{ Id: 'a'.repeat(64), Names: ['/db'], Image: 'postgres:17', State: state, Status: status }])
/** What smartctl printed about a disk. */
const smart = (passed: boolean) =>
  JSON.stringify({
    smartctl: { version: [7, 3], exit_status: passed ? 0 : 24 },
    ...{ device: { name: '/dev/sda', type: 'sat' }, model_name: 'WDC WD40EFRX-68N32N0', serial_number: 'WD-WCC7K0000001' },
    smart_status: { passed },
  })
const smartctl = `#!/bin/sh
case "$*" in
  *--scan-open*) echo '{"devices":[{"name":"/dev/sda","type":"sat"}]}' ;;
  *) cat /srv/sda.json; grep -q '"exit_status":0' /srv/sda.json || exit 24 ;;
esac
`
const mdstat = (devices: string, present: string) =>
  `Personalities : [raid1]\nmd0 : active raid1 ${devices}\n      976630464 blocks super 1.2 [2/${present}\n\nunused devices: <none>\n`

test('a failed unit, a container that died, a failing disk, and a degraded array open one incident each, and resolve it', async () => {
  const [own] = (await api('GET', '/v1/monitors')).data
  await api('PATCH', `/v1/monitors/${own.id}`, { degraded_if: [] })
  const incidents = async () =>
    ((await api('GET', '/v1/incidents')).data as Record<string, string>[]).map(one => [one.status, one.cause]).toSorted()
  /** Waits until each of these causes has one incident, with this status. */
  const incidentsAre = (status: string, causes: readonly string[]) =>
    until(`that incidents are ${status}`, async () => {
      const found = (await incidents()).filter(one => causes.includes(one[1]!))
      return Bun.deepEquals(
        found,
        causes.map(cause => [status, cause]),
      )
    })
  /** Opens an incident as soon as the condition is true. */
  const monitor = async (condition: string): Promise<string> => {
    const settings = { target: server, name: condition, confirm: 1, recover: 1, degraded_if: [condition] }
    return (await api('POST', '/v1/monitors', settings)).id
  }
  const inventory = () => api('GET', `/v1/servers/${server}/inventory`)
  const reported = (what: string, isSo: (found: any) => boolean) => until(what, async () => isSo(await inventory()), 60_000)
  const expectResults = async (monitors: readonly string[], status: string) => {
    const results = monitors.map(id => api('POST', `/v1/monitors/${id}/check`))
    expect((await Promise.all(results)).map(one => one.result.status)).toEqual(monitors.map(() => status))
  }

  for (const [path, text] of Object.entries(podman)) await guest.write(path, text)
  await guest.write('/etc/systemd/system/bailiwick-agent-disks.service.d/test.conf', '[Unit]\nConditionVirtualization=\n')
  await guest.write('/usr/local/sbin/smartctl', smartctl)
  await guest.write('/srv/container.json', JSON.stringify({ RestartCount: 0, State: { Pid: 0 }, HostConfig: {} }))
  const set = async (list: string, passed: boolean) => {
    await guest.write('/srv/list.json', list)
    await guest.write('/srv/sda.json', smart(passed))
    await guest.run('systemctl start bailiwick-agent-disks.service')
  }
  await guest.run(`chmod 755 /usr/local/sbin/smartctl; echo 'containers = yes' >>/etc/bailiwick-agent/agent.conf
    systemctl daemon-reload; systemctl start podman.socket`)
  await set(container('running', 'Up 2 hours'), true)
  await guest.run('systemctl restart bailiwick-agent')
  const sentence = 'Containers are unknown: /run/podman/podman.sock can’t be opened by the user of the agent.'
  await reported('that the folder of the socket is closed', ({ problems }) => problems.items?.includes(sentence))
  await guest.run('chmod 711 /run/podman')
  expect((await act('collect')).status).toBe('success')
  await reported('the container', ({ containers }) => containers.items?.[0]?.state === 'running')

  const monitors = await Promise.all(['[FAILED_UNITS] > 0', '[CONTAINER].db != running', '[SMART_FAILING] == true'].map(monitor))
  await expectResults(monitors, 'up')
  await guest.run('systemctl kill --signal=KILL worker.service; while systemctl is-active worker.service; do :; done')
  await set(container('exited', 'Exited (137) 2 seconds ago'), false)
  expect((await act('collect')).status).toBe('success')
  await reported('the failures', found => found.disks.items?.[0]?.failing && found.containers.items[0].state === 'exited')
  await expectResults(monitors, 'degraded')
  const causes = [
    'A disk is failing: /dev/sda: The disk reports that it is failing',
    'Container db is exited, not running',
    'Number of failed units is 1, more than 0: worker.service',
  ]
  await incidentsAre('open', causes)
  const kinds = await until('the events', async () => {
    const { data } = await api('GET', `/v1/servers/${server}/journal`)
    const found = new Set((data as { kind: string }[]).map(one => one.kind))
    return found.has('disk.failing') && found.has('container.died') && found
  })
  expect(kinds.has('unit.failed')).toBe(true)

  await guest.run('systemctl restart worker.service')
  await set(container('running', 'Up 2 seconds'), true)
  expect((await act('collect')).status).toBe('success')
  await reported('the end of the failures', found => found.disks.items?.[0]?.failing === false)
  await expectResults(monitors, 'up')
  await incidentsAre('resolved', causes)

  // The kernel of the guest has no arrays, so the agent looks at another file system, in which one is recorded.
  const array = await monitor('[ARRAYS_DEGRADED] > 0')
  await guest.run(`systemctl stop bailiwick-agent; mkdir -p /host/proc; ln -s /proc/* /host/proc/ 2>/dev/null || true
    sed '$a root = /host' /etc/bailiwick-agent/agent.conf >/etc/bailiwick-agent/array.conf`)
  const cause = 'Number of degraded arrays is 1, more than 0: md0'
  for (const [text, status, state] of [
    [mdstat('sdb1[1](F) sda1[0]', '1] [U_]'), 'degraded', 'open'],
    [mdstat('sdb1[1] sda1[0]', '2] [UU]'), 'up', 'resolved'],
  ] as const) {
    await guest.write('/host/proc/mdstat', text)
    await guest.run('bailiwick-agent send-once --config /etc/bailiwick-agent/array.conf')
    await expectResults([array], status)
    await incidentsAre(state, [cause])
  }
  await guest.run('systemctl start bailiwick-agent')
  for (const id of [...monitors, array]) await api('DELETE', `/v1/monitors/${id}`)
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
/** The hub serves this script as its version of the agent. @param run what it does as the service */
const offer = (run: string) =>
  writeFileSync(
    join(programs, 'bailiwick-agent'),
    `#!/bin/sh\n[ "$1" != --version ] || { echo ${version}; exit; }\n# ${programMark}${version}\n${run}\n`,
  )
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

test('after an update to a version that does not report, or a power failure, the previous version runs again', async () => {
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

  const disconnected = new RegExp(`did not receive a report of version ${version} within 3 seconds`)
  for (const [run, reason, seconds, during] of [
    ['exit 1', disconnected, 3],
    ['exec sleep infinity', disconnected, 3],
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

test('an update to a version that reports is kept, also after a power failure', async () => {
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
