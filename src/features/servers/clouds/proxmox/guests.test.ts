import { expect, test } from 'bun:test'
import { inventoryOf, refreshed, serverOf } from './guests'
import { interfaceAddresses } from './known-guests'

const node = { type: 'node', node: 'pve1', status: 'online' }
const row = {
  type: 'qemu',
  vmid: 100,
  node: 'pve1',
  status: 'running',
  name: 'web-1',
  maxcpu: 2,
  maxmem: 2 ** 31,
  maxdisk: 2 ** 33,
}
const read = (...rows: object[]) => inventoryOf([node, ...rows]).guests
const shown = (more: object) => {
  const { status, power, statusText } = serverOf(read({ ...row, ...more })[0]!, {}, [])
  return [status, power, statusText]
}

test('rows that are not as expected make the list incomplete, and numbers out of range are unknown', () => {
  for (const wrong of [{ vmid: undefined }, { vmid: '100' }, { node: null }, { status: 7 }])
    expect(() => read(row, { ...row, ...wrong })).toThrow('incomplete')
  for (const data of [null, {}, ['x'], 'x']) expect(() => inventoryOf(data)).toThrow('has no list')
  expect(() => inventoryOf([row, { ...node, status: 'unknown' }])).toThrow('no node as online')
  const [odd] = read({ ...row, name: 7, maxcpu: -1, maxmem: 1e300, maxdisk: 'x', tags: ['a'], lock: 1 })
  expect(odd).toMatchObject({ name: null, cores: null, memoryBytes: null, diskBytes: null, tags: [], lock: null })
  expect(read({ ...row, type: 'openvz' }, { ...row, type: undefined })).toEqual([])
})

test('statuses and locks', () => {
  expect(shown({})).toEqual(['running', 'on', 'running'])
  expect(shown({ status: 'stopped' })).toEqual(['off', 'off', 'stopped'])
  expect(shown({ status: 'paused' })).toEqual(['suspended', 'on', 'paused'])
  expect(shown({ status: 'prelaunch' })).toEqual(['starting', 'on', 'prelaunch'])
  expect(shown({ status: 'io-error' })).toEqual(['error', 'on', 'io-error'])
  expect(shown({ status: 'unknown' })).toEqual(['unknown', 'unknown', 'unknown'])
  expect(shown({ status: 'constructor' })).toEqual(['unknown', 'unknown', 'constructor'])
  expect(shown({ lock: 'backup' })).toEqual(['running', 'on', 'running (backup)'])
  expect(shown({ lock: 'migrate' })).toEqual(['migrating', 'on', 'running (migrate)'])
  expect(shown({ status: 'stopped', lock: 'clone' })).toEqual(['provisioning', 'off', 'stopped (clone)'])
  expect(shown({ status: 'stopped', lock: 'suspended' })).toEqual(['suspended', 'off', 'stopped (suspended)'])
})

test('the current status of a guest', () => {
  const [guest] = read(row)
  const status = (data: object) => refreshed(guest!, data).status
  expect(status({ status: 'running', qmpstatus: 'paused' })).toBe('paused')
  expect(status({ status: 'stopped', qmpstatus: 'stopped' })).toBe('stopped')
  expect(status({ status: 'running' })).toBe('running')
  expect(() => refreshed(guest!, [])).toThrow('no status')
})

test('tags are labels, unless they can’t be', () => {
  const tagged = serverOf(read({ ...row, tags: 'bailiwick;prod;a+b;Web' })[0]!, {}, [])
  expect(tagged.labels).toEqual({ prod: 'true', Web: 'true' })
})

test('addresses are those of the devices of the guest, public ones first', () => {
  const own = { 'hardware-address': 'BC:24:11:00:00:0A' }
  const address = (text: unknown) => ({ 'ip-address': text, 'ip-address-type': 'ipv4', prefix: 24 })
  const interfaces = [
    { name: 'lo', 'hardware-address': '00:00:00:00:00:00', 'ip-addresses': [address('127.0.0.1')] },
    { name: 'docker0', 'hardware-address': '02:42:00:00:00:01', 'ip-addresses': [address('172.17.0.1')] },
    { name: 'eth0', ...own, 'ip-addresses': ['10.0.0.5', '203.0.113.7', 'fe80::1', '2a01:4f8::0005', 'x', 7].map(address) },
    { name: 'eth0.7', ...own },
    { name: 'veth', hwaddr: 'bc:24:11:00:00:0a', inet: '10.0.0.6/24', inet6: '2a01:4f8::6/64' },
    null,
  ]
  const found = interfaceAddresses(interfaces, new Set(['bc:24:11:00:00:0a']))
  expect(found.map(one => [one.address, one.family, one.scope])).toEqual([
    ['203.0.113.7', 4, 'public'],
    ['2a01:4f8::5', 6, 'public'],
    ['2a01:4f8::6', 6, 'public'],
    ['10.0.0.5', 4, 'private'],
    ['10.0.0.6', 4, 'private'],
  ])
  expect(interfaceAddresses({ result: [] }, new Set())).toEqual([])
})
