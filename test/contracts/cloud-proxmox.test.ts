import { afterEach, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mayHaveApplied } from '../../src/adapters/failure'
import { proxmox } from '../../src/features/servers/clouds/proxmox/proxmox'
import { blockingRules, ruleChanges } from '../../src/features/servers/firewalls/rules'
import type { Problem } from '../../src/core/problem'
import {
  CloudError,
  type Cloud,
  type CloudServer,
  type Operation,
  type ServerCommand,
  type ServerOrder,
  type Started,
} from '../../src/features/servers/clouds/cloud'
import { cloudContract, detached } from '../support/clouds/cloud-contract'
import { allPrivileges, ProxmoxCloud } from '../support/clouds/proxmox-cloud'
import { bytesOf } from '../support/clouds/proxmox-guests'
import { opened, proxmoxUnderTest, publicKey, template } from '../support/clouds/proxmox-under-test'
import { ManualClock } from '../support/manual-clock'
import { pluginContext } from '../support/plugin-context'
import { generator } from '../support/random'

cloudContract('Proxmox', async () => proxmoxUnderTest(await new ProxmoxCloud().start()))

const gib = 2 ** 30
const doubles: ProxmoxCloud[] = []
afterEach(() => {
  for (const one of doubles.splice(0)) one.stop()
})

/** A cluster of two nodes with templates: 9002 is on shared storage, 9003 is a container. */
async function cluster(tls?: { cert: string; key: string }) {
  const double = await new ProxmoxCloud(tls).start()
  doubles.push(double)
  double.nodes.set('pve2', { online: true })
  template(double, 9000, 'debian-12')
  template(double, 9002, 'shared-debian').config.scsi0 = 'ceph:base-9002-disk-0,size=8G'
  double.guest(9003, 'alpine', { type: 'lxc', template: true })
  return double
}

const order = (more: Partial<ServerOrder> = {}): ServerOrder => ({
  ...{ mark: 'srv_1', name: 'web-1', ref: '100', location: null, size: { cores: 2, memoryBytes: 3 * gib, diskBytes: 20 * gib } },
  ...{ image: '9000', sshKeys: [{ name: 'a', publicKey }], userData: null, labels: {}, networks: [] },
  ...{ enableIpv4: true, enableIpv6: true, backups: false, start: true },
  ...more,
})

test('a deletion leaves alone another guest that uses the VMID again', async () => {
  const double = await cluster()
  const cloud = opened(double)
  await finish(cloud, await cloud.start(null, { verb: 'provision', order: order() }))
  const started = await cloud.start('100', { verb: 'delete' })
  // The hub was stopped when the guest was deleted, and restarts with the operation as it was before.
  await finish(cloud, started)
  expect(double.guests.has(100)).toBe(false)
  await finish(cloud, await cloud.start(null, { verb: 'provision', order: order({ mark: 'srv_2', name: 'web-2' }) }))
  await finish(opened(double), started)
  expect((await cloud.get('100'))?.mark).toBe('srv_2')
  double.guests.get(100)!.lock = 'clone'
  await finish(opened(double), started)
  expect(double.guests.has(100)).toBe(true)
})

test('on ZFS, only the newest snapshot can be restored, so newer ones are reported', async () => {
  const double = await cluster()
  const cloud = opened(double)
  await finish(cloud, await cloud.start(null, { verb: 'provision', order: order() }))
  for (const mark of ['snap_a', 'snap_b'])
    await finish(
      cloud,
      await cloud.start('100', { verb: 'snapshot', order: { mark, name: mark, includesMemory: false, labels: {} } }),
    )
  // They are created in the same second.
  double.guests.get(100)!.snapshots.forEach((one, at) => (one.snaptime = 1_700_000_000 + at))
  expect(await cloud.newerSnapshots!('100/snap_a')).toBeNull()
  double.storages.set('local-lvm', { shared: false, type: 'zfspool' })
  expect((await cloud.newerSnapshots!('100/snap_a'))!.map(one => one.name)).toEqual(['snap_b'])
  expect(await cloud.newerSnapshots!('100/snap_b')).toEqual([])
  expect(await cloud.newerSnapshots!('999/snap_b')).toBeNull()
})

/** Polls until the end, each time as after a restart. Failed polls are repeated. */
async function finish(cloud: Cloud, started: Started): Promise<void> {
  let operation: Operation | null = started.state === 'running' ? started.operation : null
  for (let polls = 0; operation; polls++) {
    if (polls > 2000) throw new Error('The operation never ended.')
    const polled = await cloud.poll(JSON.parse(JSON.stringify(operation)))
    if (polled.state === 'gone') throw new Error('The operation is gone.')
    operation = polled.state === 'running' ? polled.operation : null
    if (operation) await Bun.sleep(1)
  }
}
const run = async (cloud: Cloud, ref: string | null, command: ServerCommand) => finish(cloud, await cloud.start(ref, command))
const provision = (cloud: Cloud, more: Partial<ServerOrder> = {}) => run(cloud, null, { verb: 'provision', order: order(more) })

async function errorOf(call: Promise<unknown>): Promise<CloudError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof CloudError)) throw new Error(`not a CloudError: ${Bun.inspect(error)}`)
  return error
}
const failureOf = async (call: Promise<unknown>) => (await errorOf(call)).failure

/** Creates a server as the hub does: commits a ref, looks before each attempt, adopts what has the mark, or takes another ref. */
async function create(cloud: Cloud, more: Partial<ServerOrder>): Promise<string> {
  let ref: string | null = null
  for (let attempts = 0; attempts < 500; attempts++) {
    try {
      ref ??= await cloud.reserveRef!()
      const wanted = order({ ...more, ref })
      const found: CloudServer | null = attempts === 0 ? null : await cloud.find(wanted)
      if (found && found.mark !== wanted.mark) ref = null
      else {
        const continued = found && (await cloud.continueProvision!(found.ref, wanted))
        await finish(cloud, continued ?? (await cloud.start(null, { verb: 'provision', order: wanted })))
        return ref
      }
    } catch (error) {
      if (!(error instanceof CloudError)) throw error
      if (error.failure === 'already_exists') ref = null
      await Bun.sleep(2)
    }
  }
  throw new Error('The server was not created.')
}

/** Each server exists once, as ordered, and nothing else does. */
function expectEach(double: ProxmoxCloud, count: number): void {
  const created = [...double.guests.values()].filter(one => !one.template)
  const marks = created.map(one => /^bailiwick (srv_\d+) (\d+)\n/.exec(one.config.description!)!.slice(1))
  expect(marks.map(([, vmid]) => Number(vmid))).toEqual(created.map(one => one.vmid))
  expect(new Set(marks.map(([mark]) => mark)).size).toBe(count)
  expect(created).toHaveLength(count)
  for (const { config, status, lock } of created) {
    expect([config.cores, config.sockets, config.memory, config.tags, status, lock]).toEqual([
      '2',
      '1',
      '3072',
      'bailiwick',
      'running',
      null,
    ])
    expect(config.description).not.toContain('unfinished')
    expect(bytesOf(/size=(\w+)/.exec(config.scsi0!)![1]!)).toBe(20 * gib)
  }
}

describe('creating servers at Proxmox', () => {
  test.each(['call', 'task'] as const)(
    '50 clones at once from two hubs, with lock time-outs of the %s and VMIDs that are handed out twice',
    async cloneLock => {
      const double = await cluster()
      double.cloneLock = cloneLock
      double.tasks.durationMs = 3
      const hubs = [opened(double), opened(double, { url: double.address.replace('127.0.0.1', 'localhost') })]
      await Promise.all(
        Array.from({ length: 50 }, (_, place) => create(hubs[place % 2]!, { mark: `srv_${place}`, name: `web-${place}` })),
      )
      expectEach(double, 50)
      expect(double.tasks.all.filter(one => one.type === 'qmstart')).toHaveLength(50)
    },
    180_000,
  )

  test('one hub runs one clone at a time, and proposes no VMID twice', async () => {
    const double = await cluster()
    double.tasks.durationMs = 2
    const cloud = opened(double)
    const refs = await Promise.all(Array.from({ length: 5 }, () => cloud.reserveRef!()))
    expect(refs.toSorted()).toEqual(['100', '101', '102', '103', '104'])
    await Promise.all(refs.map((ref, place) => provision(cloud, { ref, mark: `srv_${place}`, name: `web-${place}` })))
    expectEach(double, 5)
    const clones = double.requests.filter(one => one.path.endsWith('/clone'))
    expect(clones).toHaveLength(5)
  })

  test('looking for a clone reads no configurations of guests that can’t be it', async () => {
    const double = await cluster()
    for (let vmid = 200; vmid < 230; vmid++) double.guest(vmid, `other-${vmid}`)
    const cloud = opened(double)
    const read = async (wanted: Pick<ServerOrder, 'mark' | 'name' | 'ref'>) => {
      const before = double.requests.length
      const found = await cloud.find(wanted)
      const configs = double.requests.slice(before).filter(one => one.path.endsWith('/config'))
      return [found?.ref ?? null, configs.length]
    }
    expect(await read(order())).toEqual([null, 0])
    await provision(cloud)
    double.guests.get(100)!.config.name = 'renamed'
    // The one that is found is read again.
    expect(await read(order())).toEqual(['100', 2])
    // Without its VMID, it can be any of them.
    expect(await read({ ...order(), name: 'absent', ref: null })).toEqual(['100', 31])
  })

  test('two callers with the same VMID: one gets it, the other one learns whose it is', async () => {
    const double = await cluster()
    const [one, other] = [opened(double), opened(double, { url: double.address.replace('127.0.0.1', 'localhost') })]
    const ref = await one.reserveRef!()
    expect(await other.reserveRef!()).toBe(ref)
    await provision(one, { ref })
    const late = order({ ref, mark: 'srv_2', name: 'web-2' })
    expect(await failureOf(other.start(null, { verb: 'provision', order: late }))).toBe('already_exists')
    expect(await other.find(late)).toMatchObject({ ref, mark: 'srv_1' })
    // Its call is sent after it looked for guests, and before it could see that one was created.
    double.fault = ({ method, path }) => {
      if (method === 'POST' && path.endsWith('/clone')) double.guest(300, 'taken')
      return null
    }
    expect(await failureOf(other.start(null, { verb: 'provision', order: { ...late, ref: '300' } }))).toBe('already_exists')
  })

  test.each([1, 2, 3])(
    'each server is created once, whatever responses are lost (%d)',
    async seed => {
      const double = await cluster()
      const random = generator(seed)
      double.tasks.durationMs = 2
      double.fault = ({ method }) =>
        method === 'GET' ? (random(40) === 0 ? 'dropped' : null) : (['lost', 'dropped', 'html', null] as const)[random(4)]
      const cloud = opened(double)
      await Promise.all(Array.from({ length: 12 }, (_, place) => create(cloud, { mark: `srv_${place}`, name: `web-${place}` })))
      double.tasks.settle(true)
      expectEach(double, 12)
    },
    180_000,
  )

  test('a creation that was interrupted is continued at each step', async () => {
    const double = await cluster()
    double.tasks.durationMs = Infinity
    const cloud = opened(double)
    const wanted = order()
    await cloud.start(null, { verb: 'provision', order: wanted })
    // While it is being cloned, nobody can know whose clone it is.
    expect(await errorOf(cloud.find(wanted))).toMatchObject({ failure: 'locked', ambiguous: false })
    const waiting = await cloud.continueProvision!('100', wanted)
    expect(waiting).toMatchObject({ state: 'running' })
    double.tasks.settle(true)
    expect(await cloud.find(wanted)).toMatchObject({ ref: '100', mark: 'srv_1', status: 'off', image: '9000' })
    for (let step = 0; step < 3; step++) {
      await cloud.continueProvision!('100', wanted)
      double.tasks.settle(true)
    }
    expect(await cloud.continueProvision!('100', wanted)).toEqual({ state: 'done', ref: '100' })
    expect(double.tasks.all.map(one => one.type)).toEqual(['qmclone', 'qmresize', 'qmstart'])
    expect(double.guests.get(100)!.config).toMatchObject({ cores: '2', memory: '3072', tags: 'bailiwick' })
    // What people change later stays.
    Object.assign(double.guests.get(100)!.config, { cores: '8', tags: 'bailiwick;db' })
    expect(await cloud.continueProvision!('100', wanted)).toMatchObject({ state: 'done' })
    expect(double.guests.get(100)!.config).toMatchObject({ cores: '8', tags: 'bailiwick;db' })
  })

  test('a clone whose task vanished is continued, and one that failed is an error', async () => {
    const double = await cluster()
    const cloud = opened(double)
    double.tasks.durationMs = Infinity
    const started = await cloud.start(null, { verb: 'provision', order: order() })
    double.tasks.forget()
    double.tasks.durationMs = 0
    await finish(cloud, started)
    expect((await cloud.get('100'))?.status).toBe('running')
    double.tasks.fault = one => (one.type === 'qmclone' ? 'clone failed: lvcreate: no space left on device' : null)
    const full = await errorOf(provision(cloud, { ref: '101', name: 'web-2', mark: 'srv_2' }))
    expect([full.failure, mayHaveApplied(full)]).toEqual(['quota', false])
    expect(await cloud.get('101')).toBeNull()
  })

  test('everything that was ordered arrives at the guest', async () => {
    const double = await cluster()
    double.pools.add('lab')
    const cloud = opened(double, { pool: 'lab', storage: 'ceph', bridge: 'vmbr1' })
    const keys = [publicKey, 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ== ünïcode + plus@example'].map((one, place) => ({
      name: `${place}`,
      publicKey: one,
    }))
    await provision(cloud, { sshKeys: keys, labels: { role: 'web', Env: 'x.Y-z_1' } })
    const { config, pool } = double.guests.get(100)!
    expect(decodeURIComponent(config.sshkeys!).split('\n')).toEqual(keys.map(one => one.publicKey))
    expect(config).toMatchObject({ name: 'web-1', ipconfig0: 'ip=dhcp,ip6=auto', tags: 'bailiwick' })
    expect(config.scsi0).toBe('ceph:vm-100-disk-0,size=20G')
    expect(config.net0).toMatch(/^virtio=BC:24:11:[0-9A-F:]{8},firewall=1,bridge=vmbr1$/)
    expect(pool).toBe('lab')
    expect(config.description).toBe('bailiwick srv_1 100\nimage 9000\nlabel role=web\nlabel Env=x.Y-z_1\n')
    expect(await cloud.get('100')).toMatchObject({ labels: { role: 'web', Env: 'x.Y-z_1' }, location: 'pve1', kind: 'vm' })
    await provision(cloud, { ref: '101', name: 'web-2', mark: 'srv_2', networks: ['vmbr0', 'vmbr1'], enableIpv6: false })
    expect(double.guests.get(101)!.config).toMatchObject({ net1: 'model=virtio,bridge=vmbr1', ipconfig0: 'ip=dhcp' })
  })

  test('a VMID that others take while a clone waits for its turn is replaced', async () => {
    const double = await cluster()
    double.tasks.durationMs = Infinity
    const cloud = opened(double)
    const first = await cloud.start(null, { verb: 'provision', order: order({ ref: await cloud.reserveRef!() }) })
    const late = order({ ref: await cloud.reserveRef!(), mark: 'srv_2', name: 'web-2' })
    const second = await cloud.start(null, { verb: 'provision', order: late })
    expect([first.ref, second.ref]).toEqual(['100', '101'])
    if (second.state !== 'running') throw new Error('The clone should wait.')
    // It is the next one, so it looks again soon however long it has waited.
    expect(await cloud.poll(second.operation)).toMatchObject({ state: 'running', ref: '101', againMs: 2000 })
    double.guest(101, 'taken')
    double.tasks.durationMs = 0
    double.tasks.settle(true)
    await finish(cloud, first)
    const moved = await cloud.poll(second.operation)
    expect(moved).toMatchObject({ state: 'running', ref: '102' })
    expect(double.guests.has(102)).toBe(false)
    await finish(cloud, moved as Started)
    expect(await cloud.get('102')).toMatchObject({ mark: 'srv_2', name: 'web-2', status: 'running' })
    expect(double.guests.get(101)!.config.description).toBeUndefined()
  })

  test('a VMID whose other guest is deleted while a clone looks at it can be used', async () => {
    const double = await cluster()
    double.tasks.durationMs = Infinity
    const cloud = opened(double)
    const first = await cloud.start(null, { verb: 'provision', order: order({ ref: await cloud.reserveRef!() }) })
    const late = order({ ref: await cloud.reserveRef!(), mark: 'srv_2', name: 'web-2' })
    const second = await cloud.start(null, { verb: 'provision', order: late })
    if (second.state !== 'running') throw new Error('The clone should wait.')
    double.guest(101, 'taken')
    double.tasks.durationMs = 0
    double.tasks.settle(true)
    await finish(cloud, first)
    let isListed = false
    double.fault = ({ path }) => {
      if (path === '/nodes/pve1/qemu/101/config') isListed = double.guests.delete(101)
      return null
    }
    const waiting = await cloud.poll(second.operation)
    expect([isListed, waiting]).toEqual([true, expect.objectContaining({ state: 'running', ref: '101' })])
    double.fault = () => null
    await finish(cloud, waiting as Started)
    expect(await cloud.get('101')).toMatchObject({ mark: 'srv_2', name: 'web-2', status: 'running' })
  })

  test('on another node only from a template on shared storage', async () => {
    const double = await cluster()
    const cloud = opened(double)
    const local = await errorOf(cloud.start(null, { verb: 'provision', order: order({ location: 'pve2' }) }))
    expect([local.failure, local.message]).toEqual([
      'invalid',
      expect.stringContaining("can't clone VM to node 'pve2' (VM uses local storage)"),
    ])
    await provision(cloud, { location: 'pve2', image: '9002' })
    expect(await cloud.get('100')).toMatchObject({ location: 'pve2', status: 'running' })
  })

  test('what a clone would ignore is refused before', async () => {
    const double = await cluster()
    double.guest(9004, 'plain', { template: true })
    const cloud = opened(double)
    const refused = async (more: Partial<ServerOrder>) => {
      const { failure, message } = await errorOf(cloud.start(null, { verb: 'provision', order: order(more) }))
      return [failure, message]
    }
    expect(await refused({ image: '9004' })).toEqual(['invalid', expect.stringContaining('no cloud-init drive')])
    expect(await refused({ image: '9003' })).toEqual(['invalid', expect.stringContaining('SSH keys')])
    const small = { cores: 1, memoryBytes: gib, diskBytes: 4 * gib }
    expect(await refused({ size: small })).toEqual(['invalid', expect.stringContaining('at least 8 GiB')])
    expect(double.tasks.all).toEqual([])
  })
})

describe('reading from Proxmox', () => {
  test('containers', async () => {
    const double = await cluster()
    const cloud = opened(double)
    await provision(cloud, { image: '9003', sshKeys: [] })
    // A copy, because toMatchObject writes its matchers into what it compares.
    expect({ ...double.guests.get(100)!.config }).toMatchObject({
      ...{ hostname: 'web-1', cores: '2', memory: '3072', rootfs: 'local-lvm:vm-100-disk-0,size=20G' },
      net0: expect.stringMatching(/^name=eth0,bridge=vmbr0,hwaddr=[0-9A-F:]+,type=veth,ip=dhcp,ip6=auto$/),
    })
    expect(await cloud.get('100')).toMatchObject({
      ...{
        kind: 'container',
        status: 'running',
        mark: 'srv_1',
        resources: { cores: 2, memoryBytes: 3 * gib, diskBytes: 20 * gib },
      },
      addresses: [{ address: '10.0.0.100', family: 4, scope: 'private', ptr: null }],
    })
    await run(cloud, '100', { verb: 'power_cycle' })
    expect(double.tasks.all.slice(-2).map(one => one.type)).toEqual(['vzstop', 'vzstart'])
    await run(cloud, '100', { verb: 'reboot' })
    expect(await failureOf(cloud.start('100', { verb: 'suspend' }))).toBe('refused')
    await run(cloud, '100', { verb: 'rename', name: 'db-1' })
    await run(cloud, '100', { verb: 'set_protection', protection: { delete: true, rebuild: false } })
    expect(await failureOf(cloud.start('100', { verb: 'delete' }))).toBe('protected')
    expect(await cloud.get('100')).toMatchObject({ name: 'db-1', status: 'running', protection: { delete: true } })
    await run(cloud, '100', { verb: 'set_protection', protection: { delete: false, rebuild: false } })
    await run(cloud, '100', { verb: 'shutdown', timeoutSeconds: 30, thenForce: false })
    const size = { cores: 4, memoryBytes: gib, diskBytes: 30 * gib }
    await run(cloud, '100', { verb: 'resize', size, upgradeDisk: true })
    expect((await cloud.get('100'))?.resources).toEqual(size)
    await run(cloud, '100', { verb: 'power_on' })
    await run(cloud, '100', { verb: 'delete' })
    expect(double.guests.has(100)).toBe(false)
  })

  test('waits for a snapshot that another request is creating', async () => {
    const double = await cluster()
    const cloud = opened(double)
    await provision(cloud)
    const ref = '100'
    const { snapshots } = double.guests.get(100)!
    const order = { mark: 'snap_1', name: 'before the update', includesMemory: false, labels: {} }
    await run(cloud, ref, { verb: 'snapshot', order })
    snapshots[0]!.snapstate = 'prepare'
    expect(await cloud.snapshots!.find(order, ref)).toMatchObject({ status: 'creating', createdAt: null })
    const started = await cloud.start(ref, { verb: 'snapshot', order })
    if (started.state !== 'running') throw new Error('does not wait')
    expect(await cloud.poll(started.operation)).toMatchObject({ state: 'running' })
    delete snapshots[0]!.snapstate
    expect(await cloud.poll(started.operation)).toMatchObject({ state: 'done' })
    expect(await cloud.snapshots!.find(order, ref)).toMatchObject({ status: 'available' })
  })

  test('of 200 guests is cheap, and sees what changes', async () => {
    const double = await cluster()
    for (let vmid = 100; vmid < 300; vmid++) {
      const config = { net0: `virtio=BC:24:11:AA:00:${(vmid - 100).toString(16).padStart(2, '0').toUpperCase()},bridge=vmbr0` }
      double.guest(vmid, `web-${vmid}`, {
        status: 'running',
        addresses: [{ family: 4, address: `203.0.113.${vmid - 50}` }],
        config,
      })
    }
    const clock = new ManualClock()
    const settings = { url: double.address, token_id: double.tokenId, token_secret: double.secret }
    const cloud = proxmox.open(settings, { ...pluginContext(), clock })
    const read = async () => {
      const before = double.requests.length
      const { servers } = await cloud.list()
      expect(servers).toHaveLength(200)
      return { servers, requests: double.requests.length - before }
    }
    const first = await read()
    expect(first.requests).toBe(401)
    expect(first.servers[7]).toMatchObject({ ref: '107', addresses: [{ address: '203.0.113.57', family: 4, scope: 'public' }] })
    expect((await read()).requests).toBe(1)
    // Those that are not listed are confirmed with one request.
    const counted = double.requests.length
    expect(await cloud.getMany!(['900', '901', '902'])).toEqual([null, null, null])
    expect(double.requests.length - counted).toBe(1)
    clock.advance(30_000)
    Object.assign(double.guests.get(120)!.config, { name: 'renamed', tags: 'prod', protection: '1' })
    double.guests.get(121)!.node = 'pve2'
    double.guests.delete(122)
    double.guest(322, 'new', { status: 'running' })
    const changed = await read()
    // The list, and the configuration of the three, and the addresses of the new one.
    expect(changed.requests).toBe(5)
    const of = (ref: string) => changed.servers.find(one => one.ref === ref)
    expect(of('120')).toMatchObject({ name: 'renamed', labels: { prod: 'true' }, protection: { delete: true } })
    expect([of('121')?.location, of('122'), of('322')?.name]).toEqual(['pve2', undefined, 'new'])
    clock.advance(6 * 60_000)
    for (let readings = 0; readings < 10; readings++) expect((await read()).requests).toBeLessThanOrEqual(21)
  })

  test('a node that is offline leaves its guests unknown, with what is known of them', async () => {
    const double = await cluster()
    double.guest(150, 'db', {
      node: 'pve2',
      status: 'running',
      config: { description: 'bailiwick srv_db 150\nlabel a=b\n', protection: '1' },
    })
    const cloud = opened(double)
    const before = (await cloud.list()).servers[0]!
    expect(before).toMatchObject({ status: 'running', mark: 'srv_db', labels: { a: 'b' }, protection: { delete: true } })
    double.nodes.get('pve2')!.online = false
    const unknown = { status: 'unknown', statusText: 'unknown', power: 'unknown' } as const
    const { servers } = await cloud.list()
    expect(servers).toEqual([{ ...before, ...unknown, name: expect.any(String) }])
    expect(await cloud.get('150')).toEqual(servers[0]!)
    // After a restart, nothing is known but that it exists.
    const restarted = opened(double, { url: double.address.replace('127.0.0.1', 'localhost') })
    expect((await restarted.list()).servers).toMatchObject([{ ref: '150', ...unknown, location: 'pve2', mark: null }])
    const unreached = await errorOf(cloud.start('150', { verb: 'power_on' }))
    expect([unreached.failure, mayHaveApplied(unreached)]).toEqual(['unreachable', false])
    expect((await cloud.check()).warnings).toEqual(['The node pve2 is offline.'])
    double.nodes.get('pve2')!.online = true
    expect((await cloud.list()).servers).toEqual([before])
  })

  test('statistics of 10 seconds ago do not undo what was done', async () => {
    const double = await cluster()
    const cloud = opened(double)
    double.guest(150, 'db')
    double.statsLag = true
    double.collectStats()
    const status = async () => (await cloud.list()).servers.map(one => [one.name, one.status])
    expect(await status()).toEqual([['db', 'off']])
    await run(cloud, '150', { verb: 'power_on' })
    await run(cloud, '150', { verb: 'rename', name: 'db-1' })
    expect(await status()).toEqual([['db-1', 'running']])
    // Those that have no statistics yet.
    double.guest(151, 'new', { status: 'running' })
    expect(await status()).toEqual([
      ['db-1', 'running'],
      ['new', 'running'],
    ])
  })

  test('a clone that a person makes of a server is another server', async () => {
    const double = await cluster()
    const cloud = opened(double)
    await provision(cloud)
    const { config } = double.guests.get(100)!
    double.guest(200, 'copy', { config: { ...config, name: 'copy' } })
    expect((await cloud.list()).servers.map(one => [one.ref, one.mark])).toEqual([
      ['100', 'srv_1'],
      ['200', null],
    ])
    expect(await cloud.find(order({ ref: null, name: 'renamed' }))).toMatchObject({ ref: '100' })
  })
})

describe('the privileges of the token', () => {
  test.each(Object.entries(allPrivileges).flatMap(([path, all]) => all.map(one => [one, path] as const)))(
    'a check reports that %s is missing on %s',
    async (privilege, path) => {
      const double = await cluster()
      double.privileges[path] = double.privileges[path]!.filter(one => one !== privilege)
      if (privilege === 'VM.Audit') {
        expect(await failureOf(opened(double).list())).toBe('unauthorized')
        expect((await errorOf(opened(double).list())).message).toContain('VM.Audit on /vms')
      }
      const { warnings } = await opened(double).check()
      const optional = privilege === 'Datastore.Audit'
      const missing = warnings.filter(one => one.startsWith('The API token lacks'))
      expect(missing).toHaveLength(optional ? 0 : 1)
      if (!optional) expect(missing[0]).toStartWith(`The API token lacks ${privilege} on ${path}`)
    },
  )

  test('those of a pool suffice for its guests', async () => {
    const double = await cluster()
    double.pools.add('lab')
    double.privileges = { '/pool/lab': allPrivileges['/vms'], '/storage/ceph': ['Datastore.AllocateSpace'], '/sdn': ['SDN.Use'] }
    for (const one of double.guests.values()) if (one.template) one.pool = 'lab'
    const cloud = opened(double, { pool: 'lab', storage: 'ceph' })
    expect((await cloud.check()).warnings).toEqual([])
    await provision(cloud)
    expect(await cloud.get('100')).toMatchObject({ status: 'running' })
    double.privileges['/pool/lab'] = ['VM.Audit']
    const denied = await errorOf(cloud.start('100', { verb: 'power_off' }))
    expect([denied.failure, denied.message]).toEqual([
      'unauthorized',
      'The API token lacks a privilege: Permission check failed (/vms/100, VM.PowerMgmt)',
    ])
  })
})

describe('errors of Proxmox', () => {
  test('older versions have the message only in the status line', async () => {
    const double = await cluster()
    double.silentBodies = true
    const cloud = opened(double)
    double.guest(150, 'db', { config: { protection: '0' } })
    double.guests.get(150)!.lock = 'backup'
    const locked = await errorOf(run(cloud, '150', { verb: 'rename', name: 'db-1' }))
    expect([locked.failure, mayHaveApplied(locked)]).toEqual(['locked', false])
    double.privileges['/vms'] = ['VM.Audit']
    expect((await errorOf(cloud.start('150', { verb: 'power_on' }))).message).toContain('(/vms/150, VM.PowerMgmt)')
  })

  test.each<[name: string, raw: { status: number; body: string }, failure: string, mayHave: boolean]>([
    ['a node that was not reached', { status: 595, body: '' }, 'unreachable', false],
    ['a node that did not respond', { status: 596, body: '' }, 'unreachable', true],
    ['no task', { status: 200, body: '{"data":null}' }, 'invalid_response', true],
    ['an error without words', { status: 500, body: '{"data":null}' }, 'refused', true],
    ['an unknown refusal', { status: 500, body: '{"data":null,"message":"storage is in maintenance"}' }, 'refused', false],
    ['an old version', { status: 501, body: '{"data":null}' }, 'refused', false],
  ])('%s', async (_, raw, failure, mayHave) => {
    const double = await cluster()
    double.guest(150, 'db')
    double.fault = ({ method }) => (method === 'GET' ? null : { raw })
    const error = await errorOf(opened(double).start('150', { verb: 'power_on' }))
    expect([error.failure, mayHaveApplied(error)]).toEqual([failure, mayHave] as unknown as [typeof error.failure, boolean])
  })

  test('a task that failed because of a lock is repeated', async () => {
    const double = await cluster()
    Object.assign(double.guest(150, 'db'), { lock: 'backup' })
    const cloud = opened(double)
    const started = await cloud.start('150', { verb: 'power_on' })
    if (started.state !== 'running') throw new Error('It should be running.')
    const [once, twice] = [await cloud.poll(started.operation), await cloud.poll(started.operation)]
    expect([once.state, twice.state]).toEqual(['running', 'running'])
    double.guests.get(150)!.lock = null
    await finish(cloud, twice as Started)
    expect(await cloud.get('150')).toMatchObject({ status: 'running' })
    expect(double.tasks.all.map(one => one.exitstatus)).toEqual(['VM is locked (backup)', 'OK'])
  })

  test('a shutdown that the guest ignores fails after its time, or is forced', async () => {
    const double = await cluster()
    double.guest(150, 'db', { status: 'running', ignoresShutdown: true })
    const cloud = opened(double)
    const shutdown = (thenForce: boolean) => run(cloud, '150', { verb: 'shutdown', timeoutSeconds: 5, thenForce })
    expect(await errorOf(shutdown(false))).toMatchObject({ failure: 'refused', ambiguous: false })
    await shutdown(true)
    expect(await cloud.get('150')).toMatchObject({ status: 'off' })
    expect(double.requests.filter(one => one.path.endsWith('/shutdown')).map(one => one.text)).toEqual([
      'timeout=5&forceStop=0',
      'timeout=5&forceStop=1',
    ])
  })
})

describe('a self-signed certificate', () => {
  const tls = {
    cert: readFileSync('test/fixtures/tls/self-signed.pem', 'utf8'),
    key: readFileSync('test/fixtures/tls/self-signed.key', 'utf8'),
  }

  test('is accepted by its fingerprint only', async () => {
    const double = await cluster(tls)
    const fingerprint = new X509Certificate(tls.cert).fingerprint256
    const cloud = opened(double, { fingerprint })
    expect((await cloud.check()).warnings).toEqual([])
    await provision(cloud)
    expect(await cloud.get('100')).toMatchObject({ status: 'running' })
    const seen = fingerprint.replaceAll(':', '').toLowerCase()
    const other = await errorOf(opened(double, { fingerprint: 'ab'.repeat(32) }).list())
    expect([other.failure, other.message]).toEqual(['unreachable', expect.stringContaining(seen)])
    expect(await failureOf(opened(double).list())).toBe('unreachable')
    const untrusted = await errorOf(opened(double).check())
    expect([untrusted.failure, untrusted.message]).toEqual(['unreachable', expect.stringContaining(`fingerprint is ${seen}`)])
  })
})

test('settings are validated', () => {
  const problems = (settings: object) => {
    try {
      proxmox.validate!({ url: 'https://pve.example:8006', token_id: 'a@pve!b', token_secret: 's', ...settings })
      return []
    } catch (error) {
      return (error as Problem).extras.errors!.map(one => one.pointer)
    }
  }
  expect(problems({})).toEqual([])
  expect(
    problems({ fingerprint: new X509Certificate(readFileSync('test/fixtures/tls/self-signed.pem')).fingerprint256 }),
  ).toEqual([])
  expect(problems({ url: 'http://pve.example:8006', fingerprint: 'AB:CD' })).toEqual(['#/settings/url', '#/settings/fingerprint'])
  for (const url of ['https://pve.example:8006/api2/json', 'https://root@pve.example', 'pve.example'])
    expect(problems({ url })).toEqual(['#/settings/url'])
})

test('the firewall of a guest is applied without touching rules of others, with warnings if it has no effect', async () => {
  const double = await cluster()
  const guest = double.guest(300, 'web')
  const bare = double.guest(301, 'bare', { config: { net0: 'virtio=BC:24:11:AA:00:02,bridge=vmbr0' } })
  const cloud = opened(double)
  const own = { type: 'in', action: 'ACCEPT', enable: '1', proto: 'tcp', dport: '8006', comment: 'mine' }
  double.firewallOf(guest).rules.push(own)
  double.isFiltering = false
  const id = 'fw_00000000000000000000000001'
  const rule = { id: 'r1', direction: 'in' as const, protocol: 'tcp' as const, ports: ['443'], networks: ['0.0.0.0/0'] }
  const firewall = { id, name: 'web', rules: [rule], refs: ['300'], detach: [detached('301')] }
  const warnings = async (refs: string[]) =>
    (await cloud.setFirewall!({ ...firewall, refs, detach: [] })).warnings.map(one => one.detail)
  // Without Sys.Audit, nobody can tell whether the datacenter filters.
  expect(await warnings(['300'])).toEqual([])
  double.privileges = { ...double.privileges, '/': ['Sys.Audit'] }
  expect(await warnings(['300'])).toEqual([expect.stringContaining('The firewall of the datacenter is off')])
  double.isFiltering = true
  expect(await warnings(['300', '301'])).toEqual([expect.stringContaining('network interface net0 is off')])
  expect(double.firewallOf(guest).rules).toHaveLength(2)
  // Long lists become several rules.
  const networks = Array.from({ length: 100 }, (_, at) => `198.51.100.${at}/32`)
  await cloud.setFirewall!({ ...firewall, rules: [{ ...rule, networks }] })
  expect(double.firewallOf(bare).rules).toEqual([])
  expect(double.firewallOf(guest).rules.length).toBeGreaterThan(4)
  const [reading] = (await cloud.readFirewalls!([firewall])).firewalls
  expect(ruleChanges([{ ...rule, networks }], reading!.rules)).toEqual({ added: [], removed: [] })
  await cloud.removeFirewall!(id, [detached('300')])
  expect(double.firewallOf(guest).rules).toEqual([own])
  // With rules of its own, the guest may have dropped all other packets before.
  expect(double.firewallOf(guest).options).toMatchObject({ enable: 1, policy_in: 'DROP' })
})

test('a network interface that was filtered is filtered again, and others are left as they are', async () => {
  const double = await cluster()
  const guests = [double.guest(300, 'web'), double.guest(301, 'box', { type: 'lxc' })]
  const cloud = opened(double)
  const firewall = { id: 'fw_00000000000000000000000001', name: 'web', rules: [], refs: ['300', '301'], detach: [] }
  const options = () => guests.map(one => one.config.net0)
  const bare = ['virtio=BC:24:11:AA:00:01,bridge=vmbr0,firewall=0', 'name=eth0,bridge=vmbr0,type=veth']
  const restore = () => guests.forEach((one, at) => (one.config.net0 = bare[at]!))
  restore()
  const off = expect.stringContaining('network interface net0 is off')
  const warning = { detail: off }
  expect(await cloud.setFirewall!(firewall)).toMatchObject({ refused: [], warnings: [warning, warning] })
  expect(options()).toEqual(bare)
  const effectiveOn = firewall.refs
  expect(await cloud.setFirewall!({ ...firewall, effectiveOn })).toMatchObject({ refused: [], warnings: [] })
  expect(options()).toEqual(['virtio=BC:24:11:AA:00:01,bridge=vmbr0,firewall=1', 'name=eth0,bridge=vmbr0,type=veth,firewall=1'])
  // A running guest that can’t be changed until it is switched off.
  restore()
  Object.assign(guests[0]!, { status: 'running', pending: {} })
  expect(await cloud.setFirewall!({ ...firewall, effectiveOn })).toMatchObject({
    refused: [{ ref: '300', detail: off }],
    warnings: [],
  })
})

test('a guest that a firewall is removed from accepts packets again, even if no rule was left', async () => {
  const double = await cluster()
  const { options, rules } = double.firewallOf(double.guest(300, 'web'))
  const cloud = opened(double)
  const id = 'fw_00000000000000000000000001'
  await cloud.setFirewall!({ id, name: 'web', rules: [], refs: ['300'], detach: [] })
  expect([options.policy_in, rules]).toEqual(['DROP', []])
  // A deleted guest had the same VMID.
  await cloud.setFirewall!({ id, name: 'web', rules: [], refs: ['300'], detach: [detached('300')] })
  expect(options.policy_in).toBe('DROP')
  double.fault = ({ method }) => (method === 'PUT' ? 'dropped' : null)
  expect(await failureOf(cloud.removeFirewall!(id, [detached('300')]))).toBe('unreachable')
  double.fault = () => null
  await cloud.removeFirewall!(id, [detached('300')])
  expect([options.policy_in, options.policy_out]).toEqual(['ACCEPT', 'ACCEPT'])
})

test('nothing is dropped while rules are removed that passes before and after', async () => {
  const double = await cluster()
  const guest = double.guest(300, 'web')
  const { options, rules } = double.firewallOf(guest)
  const cloud = opened(double)
  const rule = { direction: 'in' as const, protocol: 'tcp' as const, networks: ['0.0.0.0/0'] }
  const kept = ['22', '443'].map(port => ({ ...rule, id: `r${port}`, ports: [port] }))
  const out = { ...rule, id: 'out', direction: 'out' as const, ports: ['443'] }
  const firewall = { id: 'fw_00000000000000000000000001', name: 'web', rules: [...kept, out], refs: ['300'], detach: [] }
  await cloud.setFirewall!(firewall)
  expect(options).toMatchObject({ policy_in: 'DROP', policy_out: 'DROP' })
  const passing: boolean[] = []
  double.fault = () => {
    const packet = { protocol: 'tcp', port: 443, address: '192.0.2.1' } as const
    passing.push((['in', 'out'] as const).every(direction => double.isAllowed(guest, { ...packet, direction })))
    return null
  }
  await cloud.setFirewall!({ ...firewall, rules: kept })
  expect([options.policy_in, options.policy_out, rules.length]).toEqual(['DROP', 'ACCEPT', 2])
  await cloud.removeFirewall!(firewall.id, [detached('300')])
  expect([options.policy_in, rules, new Set(passing)]).toEqual(['ACCEPT', [], new Set([true])])
})

test('rules that others add meanwhile are not deleted in place of ours', async () => {
  const double = await cluster()
  const firewall = double.firewallOf(double.guest(300, 'web'))
  const cloud = opened(double)
  const id = 'fw_00000000000000000000000001'
  const rule = { id: 'r1', direction: 'in' as const, protocol: 'tcp' as const, ports: ['443'], networks: ['0.0.0.0/0'] }
  await cloud.setFirewall!({ id, name: 'web', rules: [rule], refs: ['300'], detach: [] })
  const others = { type: 'in', action: 'DROP', enable: '1', comment: 'mine' }
  // New rules come first.
  double.fault = ({ method }) => {
    if (method === 'DELETE' && !firewall.rules.includes(others)) firewall.rules.unshift(others)
    return null
  }
  await cloud.removeFirewall!(id, [detached('300')])
  expect(firewall.rules).toEqual([others])
})

test('a guest keeps dropping packets as long as it has another firewall, even one without rules', async () => {
  const double = await cluster()
  const { options } = double.firewallOf(double.guest(300, 'web'))
  const cloud = opened(double)
  const [one, other] = ['fw_00000000000000000000000001', 'fw_00000000000000000000000002']
  const rule = { id: 'r1', direction: 'in' as const, protocol: 'tcp' as const, ports: ['443'], networks: ['0.0.0.0/0'] }
  await cloud.setFirewall!({ id: one, name: 'web', rules: [rule], refs: ['300'], detach: [] })
  await cloud.setFirewall!({ id: other, name: 'none', rules: [], refs: ['300'], detach: [] })
  await cloud.removeFirewall!(one, [{ ref: '300', hasOthers: true }])
  expect(options).toMatchObject({ enable: 1, policy_in: 'DROP' })
  await cloud.removeFirewall!(other, [detached('300')])
  expect(options.policy_in).toBe('ACCEPT')
})

test('firewalls of guests at an offline node are not read, and those of others are', async () => {
  const double = await cluster()
  double.guest(300, 'near')
  for (const vmid of [301, 302]) Object.assign(double.guest(vmid, 'far'), { node: 'pve2' })
  const cloud = opened(double)
  const firewall = { id: 'fw_00000000000000000000000001', name: 'web', rules: [], refs: ['300', '301', '302'], detach: [] }
  await cloud.setFirewall!(firewall)
  const read = async () => {
    const { firewalls, unread } = await cloud.readFirewalls!([firewall])
    return [firewalls.flatMap(one => one.refs), unread]
  }
  double.nodes.get('pve2')!.online = false
  expect(await read()).toEqual([['300'], ['301', '302']])
  double.nodes.get('pve2')!.online = true
  // The cluster has not noticed yet.
  double.fault = ({ path }) => (path.startsWith('/nodes/pve2/') ? { raw: { status: 595, body: '' } } : null)
  double.requests.length = 0
  expect(await read()).toEqual([['300'], ['301', '302']])
  expect(double.requests.filter(one => one.path.startsWith('/nodes/pve2/'))).toHaveLength(1)
})

test('guests at an offline node keep their firewall, and those of others get it, or are without it', async () => {
  const double = await cluster()
  const [near, far] = [double.guest(300, 'near'), Object.assign(double.guest(301, 'far'), { node: 'pve2' })]
  const cloud = opened(double)
  const rule = { id: 'r1', direction: 'in' as const, protocol: 'tcp' as const, ports: ['443'], networks: ['0.0.0.0/0'] }
  const firewall = { id: 'fw_00000000000000000000000001', name: 'web', rules: [], refs: ['301', '300'], detach: [] }
  const counts = () => [near, far].map(one => double.firewallOf(one).rules.length)
  const unreached = [{ ref: '301', detail: 'The node pve2 is offline.' }]
  double.nodes.get('pve2')!.online = false
  expect(await cloud.setFirewall!({ ...firewall, rules: [rule] })).toMatchObject({ refused: [], unreached })
  expect(counts()).toEqual([1, 0])
  double.nodes.get('pve2')!.online = true
  expect(await cloud.setFirewall!({ ...firewall, rules: [rule] })).toMatchObject({ unreached: [] })
  expect(counts()).toEqual([1, 1])
  // The cluster has not noticed yet.
  double.fault = ({ path }) => (path.startsWith('/nodes/pve2/') ? { raw: { status: 595, body: '' } } : null)
  expect(await cloud.removeFirewall!(firewall.id, [detached('301'), detached('300')])).toEqual({ state: 'applied', unreached })
  expect(counts()).toEqual([0, 1])
})

test('a changed policy of a guest is noticed, and put back', async () => {
  const double = await cluster()
  const { options } = double.firewallOf(double.guest(300, 'web'))
  const cloud = opened(double)
  const rule = { id: 'r1', direction: 'in' as const, protocol: 'tcp' as const, ports: ['443'], networks: ['0.0.0.0/0'] }
  const firewall = { id: 'fw_00000000000000000000000001', name: 'web', rules: [rule], refs: ['300'], detach: [] }
  await cloud.setFirewall!(firewall)
  const changed = async () => (await cloud.readFirewalls!([firewall])).firewalls.map(one => one.changedDefaults)
  Object.assign(options, { policy_in: 'ACCEPT', policy_out: 'DROP' })
  expect(await changed()).toEqual([['in', 'out']])
  await cloud.setFirewall!(firewall)
  expect(await changed()).toEqual([[]])
})

test('blocks are never below rules that allow, and one that was moved there is put back', async () => {
  const double = await cluster()
  const guest = double.guest(300, 'web')
  const firewall = double.firewallOf(guest)
  const cloud = opened(double)
  const rule = { id: 'r1', direction: 'in' as const, protocol: 'tcp' as const, ports: ['443'], networks: ['0.0.0.0/0'] }
  const blocks = blockingRules(['10.0.0.0/8'])
  const [one, other] = ['fw_00000000000000000000000001', 'fw_00000000000000000000000002'].map(id => ({
    ...{ id, name: 'web', refs: ['300'], detach: [] },
  }))
  const reaches = (port: number) => double.isAllowed(guest, { direction: 'in', protocol: 'tcp', port, address: '10.1.2.3' })
  await cloud.setFirewall!({ ...one!, rules: [rule] })
  await cloud.setFirewall!({ ...other!, rules: blocks })
  expect(reaches(443)).toBe(false)
  // At no time while rules are added.
  const seen: boolean[] = []
  double.fault = ({ method }) => {
    if (method !== 'GET') seen.push(reaches(443), reaches(80))
    return null
  }
  await cloud.setFirewall!({ ...one!, rules: [rule, { ...rule, id: 'r2', ports: ['80'] }] })
  double.fault = () => null
  expect([new Set([...seen, reaches(443), reaches(80)]), firewall.rules.map(({ action, enable }) => [action, enable])]).toEqual([
    new Set([false]),
    [
      ['DROP', '1'],
      ['ACCEPT', '1'],
      ['ACCEPT', '1'],
    ],
  ])
  firewall.rules.push(firewall.rules.shift()!)
  const read = async () => (await cloud.readFirewalls!([{ id: other!.id, refs: ['300'] }])).firewalls[0]!.rules.length
  expect([await read(), reaches(443)]).toEqual([0, true])
  await cloud.setFirewall!({ ...other!, rules: blocks })
  expect([await read(), reaches(443), firewall.rules.length]).toEqual([1, false, 3])
})
