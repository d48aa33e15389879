import { afterAll, beforeAll, expect, test } from 'bun:test'
import { volumeDevices } from '../../src/features/servers/clouds/incus/orders'
import { cloudContract, detached } from '../support/clouds/cloud-contract'
import { IncusDouble } from '../support/clouds/incus-double'
import { incusDoubleUnderTest } from '../support/clouds/incus-double-under-test'

const double = new IncusDouble()
beforeAll(() => double.start())
afterAll(() => double.stop())

cloudContract('a double of Incus', async () => incusDoubleUnderTest(double))

const firewall = { id: 'fw_00000000000000000000000001', name: 'web', rules: [], detach: [] }

/** A running server of the double with the firewall. */
async function filtered(name: string) {
  const instance = double.create(name)
  instance.status = 'Running'
  const refs = [instance.config['volatile.uuid']!]
  const { cloud } = incusDoubleUnderTest(double)
  await cloud.setFirewall!({ ...firewall, refs })
  return { instance, refs, cloud }
}

test('a changed default of a network interface is noticed, and put back', async () => {
  const { instance, refs, cloud } = await filtered('changed')
  const changed = async () =>
    (await cloud.readFirewalls!([{ id: firewall.id, refs }])).firewalls.map(one => [one.refs, one.changedDefaults])
  const key = (way: string) => `security.acls.default.${way}.action`
  const defaults = () => [instance.devices.eth0![key('ingress')], instance.devices.eth0![key('egress')]]
  expect(await changed()).toEqual([[refs, []]])
  for (const [way, value, direction] of [
    ['ingress', 'allow', 'in'],
    ['egress', 'drop', 'out'],
  ] as const) {
    instance.devices.eth0![key(way)] = value
    expect(await changed()).toEqual([[refs, [direction]]])
    await cloud.setFirewall!({ ...firewall, refs })
    expect([await changed(), defaults()]).toEqual([[[refs, []]], ['drop', 'allow']])
  }
  // A server without the ACL has no firewall.
  delete instance.devices.eth0!['security.acls']
  expect(await changed()).toEqual([[[], []]])
  double.remove(instance)
})

test('an instance whose state can’t be read is listed, with what is known of it and its snapshots', async () => {
  const [stopping, other] = [double.create('stopping', { 'user.bailiwick.server': 'srv_stopping' }), double.create('other')]
  for (const one of [stopping, other]) one.status = 'Running'
  stopping.isUnreadable = true
  const { cloud } = incusDoubleUnderTest(double)
  const { servers } = await cloud.list()
  expect(servers.map(one => [one.ref, one.mark, one.status, one.power])).toEqual([
    [stopping.config['volatile.uuid']!, 'srv_stopping', 'error', 'unknown'],
    [other.config['volatile.uuid']!, null, 'running', 'on'],
  ])
  for (const { snapshots } of [stopping, other])
    snapshots.push({ name: 'before', created_at: new Date(0).toISOString(), stateful: false, size: 1, devices: {} })
  const refs = (await cloud.snapshots!.list()).map(one => one.ref)
  expect(refs).toEqual([stopping, other].map(one => `${one.config['volatile.uuid']}/before`))
  for (const one of [stopping, other]) double.remove(one)
})

test('outgoing packets pass by default before the last rule about them is removed', async () => {
  const { instance, refs, cloud } = await filtered('sending')
  const out = { id: 'out', direction: 'out' as const, protocol: 'tcp' as const, ports: ['443'], networks: ['0.0.0.0/0'] }
  await cloud.setFirewall!({ ...firewall, refs, rules: [out] })
  const key = 'security.acls.default.egress.action'
  const acl = () => double.acls.get(instance.devices.eth0!['security.acls']!)!
  expect([instance.devices.eth0![key], acl().egress.length]).toEqual(['drop', 1])
  const isCut = () => instance.devices.eth0![key] === 'drop' && acl().egress.length === 0
  const cut: boolean[] = []
  double.fault = () => {
    cut.push(isCut())
    return null
  }
  await cloud.setFirewall!({ ...firewall, refs })
  double.fault = () => null
  expect([instance.devices.eth0![key], acl().egress.length, new Set(cut)]).toEqual(['allow', 0, new Set([false])])
  double.remove(instance)
})

test('volumes that are attached and detached while servers are listed stay so', async () => {
  const { instance, refs, cloud } = await filtered('volumes')
  const added = { type: 'disk', pool: 'default', source: 'added', path: '/mnt/added' }
  instance.devices = { removed: { ...added, source: 'removed' } }
  double.fault = ({ path }) => {
    // Networks are listed after servers.
    if (path === '/networks') instance.devices = { ...instance.devices, added }
    if (path === '/networks') delete instance.devices.removed
    return null
  }
  await cloud.setFirewall!({ ...firewall, refs })
  expect(instance.devices).toEqual({ added, eth0: expect.objectContaining({ 'security.acls': expect.any(String) }) })
  double.fault = ({ path }) => {
    if (path === '/networks') delete instance.devices.added
    return null
  }
  await cloud.removeFirewall!(firewall.id, refs.map(detached))
  expect(Object.keys(instance.devices)).toEqual(['eth0'])
  double.fault = () => null
  double.remove(instance)
})

test('devices that others changed meanwhile are read again once', async () => {
  const { instance, refs, cloud } = await filtered('raced')
  delete instance.devices.eth0
  const added = { type: 'disk', pool: 'default', source: 'added', path: '/mnt/added' }
  let [races, count] = [1, 0]
  double.fault = ({ method, path }) => {
    if (method !== 'GET' && path === '/instances/raced' && races-- > 0)
      instance.devices = { ...instance.devices, [`added-${++count}`]: added }
    return null
  }
  await cloud.setFirewall!({ ...firewall, refs })
  expect(Object.keys(instance.devices).toSorted()).toEqual(['added-1', 'eth0'])
  const volumes = cloud.volumes!
  const order = { mark: 'vol_raced', name: 'raced', sizeBytes: 2 ** 24, location: null, format: null, labels: {} }
  await volumes.start(null, { verb: 'create', order })
  races = 1
  await volumes.start('default/raced', { verb: 'attach', serverRef: refs[0]!, mountPath: '/mnt/raced' })
  races = 2
  const failure = await volumes.start('default/raced', { verb: 'detach' }).catch(error => error.failure)
  double.fault = () => null
  expect(Object.keys(instance.devices).toSorted()).toEqual(['added-1', 'added-2', 'added-3', 'added-4', 'bw-raced', 'eth0'])
  expect(failure).toBe('locked')
  double.remove(instance)
})

test('a volume does not replace another device of its server', async () => {
  const instance = double.create('full', {}, { 'bw-data': { type: 'disk', pool: 'other', source: 'data', path: '/srv' } })
  const serverRef = instance.config['volatile.uuid']!
  const { cloud } = incusDoubleUnderTest(double)
  const volumes = cloud.volumes!
  for (const name of ['data', 'more']) {
    const order = { mark: `vol_${name}`, name, sizeBytes: 2 ** 24, location: null, format: null, labels: {} }
    await volumes.start(null, { verb: 'create', order })
  }
  const attach = (name: string, mountPath: string | null) =>
    volumes.start(`default/${name}`, { verb: 'attach', serverRef, mountPath }).catch(error => error.failure)
  expect([await attach('data', '/mnt/data'), await attach('more', '/srv')]).toEqual(['invalid', 'invalid'])
  expect(Object.keys(instance.devices)).toEqual(['bw-data'])
  expect(await attach('more', null)).toEqual({ state: 'done' })
  expect(instance.devices['bw-more']).toEqual({ type: 'disk', pool: 'default', source: 'more', path: '/mnt/more' })
  double.remove(instance)
})

test('volumes of the same name can’t be ordered for one server', () => {
  const refs = ['default/data', 'other/data'].map(ref => ({ ref }))
  expect(() => volumeDevices(refs, {})).toThrow('bw-data')
  expect(Object.keys(volumeDevices(refs.slice(0, 1), {}))).toEqual(['bw-data'])
})

test('an operation that can’t be read while the server forgets it is read again', async () => {
  const { instance, refs, cloud } = await filtered('forgotten')
  double.fault = ({ path }) =>
    path.startsWith('/operations/') ? { status: 500, code: 'Missing event connection with target cluster member' } : null
  const started = await cloud.start(refs[0]!, { verb: 'power_off' })
  if (started.state !== 'running') throw new Error('It should not be known whether it has ended.')
  expect(await cloud.poll(started.operation).catch(error => error.failure)).toBe('unreachable')
  double.operations = []
  double.fault = () => null
  expect(await cloud.poll(started.operation)).toEqual({ state: 'gone' })
  expect((await cloud.get(refs[0]!))?.status).toBe('off')
  double.remove(instance)
})

test('a server that can’t be read while it starts is read again', async () => {
  const { cloud } = incusDoubleUnderTest(double)
  double.fault = () => ({ status: 500, code: "Invalid PID '\0'" })
  expect(await cloud.list().catch(error => error.failure)).toBe('incomplete')
  double.fault = () => null
})

test('a creation that a busy server accepted is not sent again, so that it can’t be carried out after the server was deleted', async () => {
  const { cloud, offer } = incusDoubleUnderTest(double)
  const command = {
    verb: 'provision',
    order: {
      ...{ mark: 'srv_queued', name: 'queued', ref: null, location: null, size: offer.size, image: offer.image, sshKeys: [] },
      ...{ userData: null, labels: {}, networks: [], enableIpv4: true, enableIpv6: true, backups: false, start: false },
    },
  } as const
  double.queue = []
  const started = async () => {
    const { state, ...rest } = await cloud.start(null, command)
    return state === 'running' && 'operation' in rest ? rest.operation : null
  }
  const operation = await started()
  // As after a crash before the id of the operation was stored.
  expect([double.queue.length, await started()]).toEqual([1, operation])
  const found = double.create('queued', { 'user.bailiwick.server': 'srv_queued' })
  // It can't be started before its creation has ended.
  const continued = await cloud.continueProvision!(found.config['volatile.uuid']!, { ...command.order, start: true })
  expect(continued).toEqual({ state: 'running', operation: { ...operation!, next: 'start' } })
  double.remove(found)
  double.queue.pop()!()
  double.queue = null
  expect(await cloud.poll(operation!)).toEqual({ state: 'done', ref: double.named('queued')!.config['volatile.uuid']! })
  double.remove(double.named('queued')!)
})
