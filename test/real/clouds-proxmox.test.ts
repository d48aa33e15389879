import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ServerCommand } from '../../src/features/servers/clouds/cloud'
import { ProxmoxCloud } from '../support/clouds/proxmox-cloud'
import { opened, publicKey, template } from '../support/clouds/proxmox-under-test'
import { runDnsClient } from '../support/python-packages'

// The double of Proxmox is driven by proxmoxer, which sees what the adapter creates, and the other way around.

describe('the double of Proxmox', () => {
  const read = (file: string) => readFileSync(`test/fixtures/tls/${file}`, 'utf8')
  const double = new ProxmoxCloud({ cert: read('loopback.pem'), key: read('loopback.key') })
  beforeAll(async () => {
    await double.start()
    template(double, 9000, 'debian-12')
    double.guest(9003, 'alpine', { type: 'lxc', template: true })
  })
  afterAll(() => double.stop())

  test('works with proxmoxer', async () => {
    const cloud = opened(double, { fingerprint: new X509Certificate(read('loopback.pem')).fingerprint256 })
    const run = async (ref: string | null, command: ServerCommand) => {
      const started = await cloud.start(ref, command)
      for (let operation = started.state === 'running' ? started.operation : null; operation;) {
        const polled = await cloud.poll(operation)
        operation = polled.state === 'running' ? polled.operation : null
      }
    }
    const size = { cores: 2, memoryBytes: 2 ** 31, diskBytes: 10 * 2 ** 30 }
    const order = {
      ...{ mark: 'srv_1', name: 'by-adapter', ref: '100', location: null, size, image: '9000', userData: null, networks: [] },
      ...{
        sshKeys: [{ name: 'a', publicKey }],
        labels: { role: 'web' },
        enableIpv4: true,
        enableIpv6: true,
        backups: false,
        start: true,
      },
    }
    await run(null, { verb: 'provision', order })
    const [user, name] = double.tokenId.split('!') as [string, string]
    const script = resolve('test/real/cloud-clients/proxmox_guests.py')
    const args = [new URL(double.url).host, user, name, double.secret, resolve('test/fixtures/tls/ca.pem'), '100']
    expect(JSON.parse(await runDnsClient(['python', script, ...args], {}))).toEqual({
      version: '9.1.4',
      before: [[100, 'qemu', 'by-adapter', 'running']],
      description: 'bailiwick srv_1 100\nimage 9000\nlabel role=web\n',
      interfaces: ['lo', 'eth0'],
      tasks: Array.from({ length: 11 }, () => 'OK'),
      running: ['running', 'running', 4, 12],
      addresses: ['127.0.0.1', '10.0.0.102'],
      log: 'TASK OK',
      history: [
        ['qmstart', 'VM 101 already running'],
        ['qmstart', 'OK'],
        ['qmshutdown', 'OK'],
      ],
      failures: [
        [400, ['colour', 'cores']],
        [500, 'unable to create VM 101: config file already exists'],
        [500, "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist"],
        [500, 'VM 101 is running - destroy failed'],
        [500, expect.stringContaining("hostname lookup 'pve9' failed")],
        [501, "Method 'GET /version/nothing' not implemented"],
        [401, 'invalid token value!'],
      ],
      privileges: ['VM.Allocate', 'VM.Audit'],
      nodes: [['pve1', 'online']],
      storages: ['ceph', 'local-lvm'],
      bridges: ['vmbr0', 'vmbr1'],
      guests: [100, 101, 9000],
      after: [
        [100, 'qemu', 'by-adapter', 'running'],
        [101, 'qemu', 'by-proxmoxer', 'running'],
        [102, 'lxc', 'container', 'stopped'],
      ],
    })
    expect((await cloud.list()).servers.find(one => one.ref === '101')).toMatchObject({
      ...{ name: 'by-proxmoxer', status: 'running', mark: null, labels: { web: 'true', prod: 'true' } },
      resources: { cores: 4, memoryBytes: 4 * 2 ** 30, diskBytes: 12 * 2 ** 30 },
    })
    await run('101', { verb: 'delete' })
    expect(double.guests.has(101)).toBe(false)
  }, 180_000)
})
