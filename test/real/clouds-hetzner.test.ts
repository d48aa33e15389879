import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import type { Cloud, ServerOrder } from '../../src/features/servers/clouds/cloud'
import { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { isAllowed } from '../support/clouds/hetzner-firewalls'
import { opened, publicKey } from '../support/clouds/hetzner-under-test'
import { runDnsClient } from '../support/python-packages'

// The double of Hetzner Cloud is driven by the official clients, which see what the adapter creates, and the other way around.

describe('the double of Hetzner Cloud', () => {
  const double = new HetznerCloudDouble()
  let cloud: Cloud
  beforeAll(async () => {
    await double.start()
    double.stock('cx22', 'hel1', false)
    cloud = opened(double)
  })
  afterAll(() => double.stop())

  const provision = async (name: string, more: Partial<ServerOrder> = {}) => {
    const order: ServerOrder = {
      ...{ mark: `srv_${name}`, name, ref: null, location: 'fsn1', size: { slug: 'cx22' }, image: 'debian-12', start: true },
      ...{ sshKeys: [{ name: 'adapter', publicKey }], userData: null, labels: { role: 'web' }, networks: [] },
      ...{ enableIpv4: true, enableIpv6: true, backups: true },
      ...more,
    }
    const started = await cloud.start(null, { verb: 'provision', order })
    for (let operation = started.state === 'running' ? started.operation : null; operation;) {
      const polled = await cloud.poll(operation)
      operation = polled.state === 'running' ? polled.operation : null
    }
    return double.serverNamed(name)!
  }
  /** Runs the command line. Returns its output, also if it fails. */
  const hcloud = async (...args: string[]): Promise<string> => {
    const run = Bun.spawn(['hcloud', '--poll-interval', '20ms', ...args], {
      env: { PATH: process.env.PATH, HOME: '/nonexistent', HCLOUD_ENDPOINT: double.url, HCLOUD_TOKEN: double.token },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: 120_000,
    })
    const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
    return code === 0 ? out : `exit code ${code}: ${err.trim()}`
  }
  const json = async (...args: string[]) => JSON.parse(await hcloud(...args, '--output', 'json'))
  /** What the clients send although the API description doesn’t have it. Older versions of the API knew it. */
  const newOffences = () =>
    double.offences
      .splice(0)
      .filter(one => !/^GET \/server_types\?.*: query parameter sort is unknown$/.test(one))
      .filter(one => !/^GET \/actions\?.*: query parameter page is unknown$/.test(one))

  test('works with the official Python client', async () => {
    const there = await provision('adapter-1')
    const key = publicKey.replace('R2mX', 'R2mY')
    const script = resolve('test/real/cloud-clients/hetzner_servers.py')
    const seen = JSON.parse(await runDnsClient(['python', script, double.url, double.token, key, there.name], {}))
    expect(seen).toEqual({
      read: {
        ...{ id: there.id, status: 'running', type: 'cx22', location: 'fsn1', image: 'debian-12' },
        labels: { role: 'web', bailiwick: 'srv_adapter-1' },
        ipv4: there.ipv4!.ip,
        backups: true,
        commands: ['create_server', 'start_server', 'enable_backup'],
      },
      statuses: ['running', 'off', 'running', 'running', 'running', 'off'],
      failures: [
        ...['unauthorized', 'not_found', 'protected', 'server_not_stopped', 'uniqueness_error'],
        ...['invalid_input', 'uniqueness_error'],
      ],
      server: [
        ...['python-2', 'cx32', 'ubuntu-24.04', { made: 'python', changed: 'yes' }],
        ...[{ delete: true, rebuild: true }, true],
      ],
      selected: ['python-2'],
      images: ['by Python'],
      types: ['cax11', 'ccx13', 'cpx11', 'cx11', 'cx22', 'cx32', 'cx42'],
      stock: [
        ['fsn1', true],
        ['nbg1', true],
        ['hel1', false],
      ],
      locations: ['fsn1', 'nbg1', 'hel1', 'ash'],
      finished: ['success', 'success'],
    })
    expect(double.serverNamed('python-2')).toBeUndefined()
    expect(newOffences()).toEqual([])
  }, 180_000)

  test('works with the official command line', async () => {
    const there = await provision('adapter-2')
    expect(await json('server', 'describe', 'adapter-2')).toMatchObject({
      ...{ id: there.id, status: 'running', labels: { role: 'web', bailiwick: 'srv_adapter-2' } },
      ...{ server_type: { name: 'cx22' }, image: { name: 'debian-12' }, public_net: { ipv4: { ip: there.ipv4!.ip } } },
    })
    await hcloud('ssh-key', 'create', '--name', 'cli', '--public-key', publicKey.replace('R2mX', 'R2mZ'))
    await hcloud('network', 'create', '--name', 'backend', '--ip-range', '10.0.0.0/16')
    await hcloud(
      'network',
      'add-subnet',
      'backend',
      '--type',
      'cloud',
      '--network-zone',
      'eu-central',
      '--ip-range',
      '10.0.1.0/24',
    )
    const created = await hcloud(
      ...['server', 'create', '--name', 'cli-1', '--type', 'cx22', '--image', 'debian-12', '--location', 'nbg1'],
      ...['--ssh-key', 'cli', '--network', 'backend', '--label', 'made=cli'],
    )
    expect(created).toContain('Private Networks:\n\t- 10.0.1.2 (backend)')
    const made = await cloud.find({ mark: 'srv_none', name: 'cli-1', ref: null })
    expect(made).toMatchObject({ status: 'running', location: 'nbg1', size: 'cx22', labels: { made: 'cli' }, mark: null })
    expect(made!.addresses.map(one => one.scope)).toEqual(['public', 'public', 'private'])

    const id = made!.ref
    const commands: [string[], string][] = [
      [['server', 'poweroff', 'cli-1'], `Server ${id} stopped`],
      [['server', 'change-type', 'cli-1', 'cx32'], `Server ${id} changed to type cx32`],
      [['server', 'poweron', 'cli-1'], `Server ${id} started`],
      [['server', 'reboot', 'cli-1'], `Server ${id} rebooted`],
      [['server', 'reset', 'cli-1'], `Server ${id} reset`],
      [['server', 'shutdown', 'cli-1'], `Server ${id} shut down`],
      [['server', 'rebuild', 'cli-1', '--image', 'ubuntu-24.04'], `Server ${id} rebuilt with image ubuntu-24.04`],
      [['server', 'update', 'cli-1', '--name', 'cli-2'], 'Server cli-1 updated'],
      [['server', 'add-label', 'cli-2', 'changed=yes'], `Label changed added to server ${id}`],
      [['server', 'enable-backup', 'cli-2'], `Backup enabled for server ${id}`],
      [['server', 'enable-rescue', 'cli-2', '--ssh-key', 'cli'], `Rescue enabled for server ${id}`],
      [['server', 'create-image', 'cli-2', '--type', 'snapshot', '--description', 'by the command line'], 'created from server'],
      [['server', 'enable-protection', 'cli-2', 'delete', 'rebuild'], `Resource protection enabled for server ${id}`],
      [['server', 'delete', 'cli-2'], 'server is protected (protected)'],
      [['server', 'create', '--name', 'cli-2', '--type', 'cx22', '--image', 'debian-12'], '(uniqueness_error)'],
    ]
    for (const [args, expected] of commands)
      expect([args, await hcloud(...args)]).toEqual([args, expect.stringContaining(expected)])
    expect(await cloud.get(id)).toMatchObject({
      ...{ name: 'cli-2', size: 'cx32', image: 'ubuntu-24.04', labels: { made: 'cli', changed: 'yes' }, backups: true },
      protection: { delete: true, rebuild: true },
    })
    expect((await json('image', 'list', '--type', 'snapshot')).map((one: any) => one.description)).toContain(
      'by the command line',
    )
    expect((await json('server', 'list', '--selector', 'role=web,!made')).map((one: any) => one.name)).toContain('adapter-2')
    expect((await json('server-type', 'list')).length).toBe(7)
    expect((await json('location', 'list')).map((one: any) => one.name)).toEqual(['fsn1', 'nbg1', 'hel1', 'ash'])
    expect((await json('primary-ip', 'list')).map((one: any) => one.ip)).toContain(there.ipv4!.ip)

    await hcloud('server', 'disable-protection', 'cli-2', 'delete', 'rebuild')
    expect(await hcloud('server', 'delete', 'cli-2')).toContain('Server cli-2 deleted')
    expect(await cloud.get(id)).toBeNull()
    expect(newOffences()).toEqual([])
  }, 180_000)

  test('works with the official Python client for volumes and firewalls', async () => {
    const there = await provision('adapter-3')
    const script = resolve('test/real/cloud-clients/hetzner_volumes_firewalls.py')
    const seen = JSON.parse(await runDnsClient(['python', script, double.url, double.token, there.name], {}))
    expect(seen).toEqual({
      attached: ['available', true, 'ext4', 'fsn1'],
      device: '/dev/disk/by-id/scsi-0HC_Volume_',
      volumes: [['data-2', 20, null]],
      rules: [
        ['tcp', '22', ['192.0.2.0/24', '2001:db8::/32'], 'SSH'],
        ['tcp', '8000-8010', ['0.0.0.0/0'], null],
      ],
      applied: [true],
      on_server: ['applied'],
      // Another test created the second server with this label.
      selected: [['label_selector', [...double.project.servers.values()].filter(one => one.labels.role === 'web').length]],
      failures: [
        ...['invalid_input', 'volume_already_attached', 'resource_in_use', 'invalid_input', 'uniqueness_error', 'protected'],
        ...['invalid_input', 'invalid_input', 'invalid_input', 'firewall_already_applied', 'resource_in_use', 'uniqueness_error'],
        'firewall_managed_by_label_selector',
      ],
    })
    const passes = (port: number, address: string) =>
      isAllowed(double.project, there, { direction: 'in', protocol: 'tcp', port, address })
    expect([
      passes(22, '192.0.2.7'),
      passes(22, '198.51.100.7'),
      passes(8005, '198.51.100.7'),
      passes(8011, '192.0.2.7'),
    ]).toEqual([...[true, false, true, false]])
    expect(newOffences()).toEqual([])
  }, 180_000)

  test('works with the official command line for volumes and firewalls', async () => {
    const there = await provision('adapter-4', { labels: { role: 'database' } })
    const run = async (...args: string[]) => [args, await hcloud(...args)]
    const volume = ['volume', 'create', '--name', 'cli-data', '--size', '10', '--server', 'adapter-4', '--format', 'xfs']
    expect(await hcloud(...volume)).toMatch(/^Volume \d+ created/m)
    expect(await json('volume', 'describe', 'cli-data')).toMatchObject({
      size: 10,
      server: there.id,
      status: 'available',
    })
    const commands: [string[], string][] = [
      [['volume', 'resize', 'cli-data', '--size', '12'], 'resized'],
      [['volume', 'resize', 'cli-data', '--size', '11'], '(invalid_input)'],
      [['volume', 'detach', 'cli-data'], 'detached'],
      [['volume', 'attach', 'cli-data', '--server', 'adapter-4'], 'attached'],
      [['volume', 'delete', 'cli-data'], '(resource_in_use)'],
      [['volume', 'detach', 'cli-data'], 'detached'],
      [['volume', 'enable-protection', 'cli-data', 'delete'], 'protection enabled'],
      [['volume', 'delete', 'cli-data'], '(protected)'],
      [['volume', 'disable-protection', 'cli-data', 'delete'], 'protection disabled'],
      [['volume', 'delete', 'cli-data'], 'deleted'],
      [['firewall', 'create', '--name', 'cli-fw'], 'created'],
      [
        [
          'firewall',
          'add-rule',
          'cli-fw',
          '--direction',
          'in',
          '--protocol',
          'tcp',
          '--port',
          '443',
          '--source-ips',
          '0.0.0.0/0',
        ],
        'updated',
      ],
      [['firewall', 'add-rule', 'cli-fw', '--direction', 'in', '--protocol', 'icmp', '--source-ips', '::/0'], 'updated'],
      [['firewall', 'apply-to-resource', 'cli-fw', '--type', 'server', '--server', 'adapter-4'], 'applied'],
      [['firewall', 'delete', 'cli-fw'], '(resource_in_use)'],
    ]
    for (const [args, expected] of commands) expect(await run(...args)).toEqual([args, expect.stringContaining(expected)])
    expect(await json('firewall', 'describe', 'cli-fw')).toMatchObject({
      rules: [
        { direction: 'in', protocol: 'tcp', port: '443', source_ips: ['0.0.0.0/0'] },
        { direction: 'in', protocol: 'icmp', source_ips: ['::/0'] },
      ],
      applied_to: [{ type: 'server', server: { id: there.id } }],
    })
    const removal = ['firewall', 'remove-from-resource', 'cli-fw', '--type', 'server', '--server', 'adapter-4']
    await hcloud(...removal)
    expect((await json('server', 'describe', 'adapter-4')).public_net.firewalls).toEqual([])
    expect(await hcloud('firewall', 'delete', 'cli-fw')).toContain('deleted')
    expect(newOffences()).toEqual([])
  }, 180_000)
})
