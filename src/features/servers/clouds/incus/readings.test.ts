import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { bytesOf, coresOf, imageKey, imageValue, instanceOf, serverOf, serversOf, sizeText } from './readings'

const one = '1'.repeat(64)
const row = (more: Record<string, unknown> = {}) => ({
  name: 'web',
  status: 'Running',
  type: 'container',
  location: 'none',
  created_at: '2026-11-27T04:00:00Z',
  config: { 'volatile.uuid': 'u-1', 'volatile.base_image': one, 'volatile.eth0.hwaddr': '10:66:6A:fa:f1:f5' },
  ...more,
})
const read = (more: Record<string, unknown> = {}) => serverOf(instanceOf(row(more)))

test('an instance becomes a server', () => {
  const config = {
    ...row().config,
    'user.bailiwick.server': 'srv_1',
    'user.bailiwick.label.role': 'web',
    'user.bailiwick.label.a.b': 'c',
    [imageKey]: imageValue(one, 'debian/12'),
  }
  const expanded_config = { ...config, 'limits.cpu': '2', 'limits.memory': '4GiB', 'security.protection.delete': 'true' }
  const expanded_devices = { disk: { type: 'disk', path: '/', pool: 'default', size: '40GiB' } }
  expect(read({ type: 'virtual-machine', location: 'node-1', config, expanded_config, expanded_devices })).toEqual({
    ref: 'u-1',
    identity: null,
    name: 'web',
    kind: 'vm',
    status: 'running',
    statusText: 'Running',
    power: 'on',
    location: 'node-1',
    size: null,
    resources: { cores: 2, memoryBytes: 4 * 2 ** 30, diskBytes: 40 * 2 ** 30 },
    image: 'debian/12',
    addresses: [],
    labels: { role: 'web', 'a.b': 'c' },
    protection: { delete: true, rebuild: false },
    backups: null,
    mark: 'srv_1',
  })
})

test('what is not limited or not known is null', () => {
  expect(read({ config: {} })).toMatchObject({
    ref: 'web',
    // A name can be used again.
    identity: row().created_at,
    location: null,
    resources: { cores: null, memoryBytes: null, diskBytes: null },
    image: null,
    labels: {},
    mark: null,
  })
})

test('the name of an image counts only for the image that it was', () => {
  const config = { ...row().config, [imageKey]: imageValue('2'.repeat(64), 'debian/12') }
  expect(read({ config }).image).toBe(one)
})

test.each([
  ['Running', 'running', 'on'],
  ['Ready', 'running', 'on'],
  ['Frozen', 'suspended', 'on'],
  ['Stopped', 'off', 'off'],
  ['Stopping', 'stopping', 'on'],
  ['Starting', 'starting', 'on'],
  ['Error', 'error', 'unknown'],
  ['Hibernated', 'unknown', 'unknown'],
  ['constructor', 'unknown', 'unknown'],
] as const)('the status %s is %s', (status, word, power) => {
  expect(read({ status })).toMatchObject({ status: word, statusText: status, power })
})

test('only global addresses of network devices count, public ones first', () => {
  const address = (text: string, scope = 'global') => ({ family: text.includes(':') ? 'inet6' : 'inet', address: text, scope })
  const network = {
    lo: { hwaddr: '', addresses: [address('127.0.0.1', 'local')] },
    eth0: {
      hwaddr: '10:66:6a:fa:f1:f5',
      addresses: [
        address('fd00:0:0::7'),
        address('10.87.0.184'),
        address('fe80::1266:6aff:fefa:f1f5', 'link'),
        address('2001:470:0:0::1'),
        address('192.88.98.1'),
        address('192.88.98.1'),
        address('nonsense'),
      ],
    },
    docker0: { hwaddr: '02:42:aa:bb:cc:dd', addresses: [address('172.17.0.1')] },
  }
  expect(read({ state: { network } }).addresses).toEqual([
    { address: '192.88.98.1', family: 4, scope: 'public', ptr: null },
    { address: '2001:470::1', family: 6, scope: 'public', ptr: null },
    { address: '10.87.0.184', family: 4, scope: 'private', ptr: null },
    { address: 'fd00::7', family: 6, scope: 'private', ptr: null },
  ])
})

test('a mark belongs to the oldest instance: copies have it too', async () => {
  const marked = (name: string, created_at: string) =>
    instanceOf(row({ name, created_at, config: { 'user.bailiwick.server': 's' } }))
  const servers = await serversOf([
    marked('copy', '2026-11-27T05:00:00Z'),
    marked('original', '2026-11-27T04:00:00Z'),
    marked('copy-2', '2026-11-27T06:00:00Z'),
  ])
  expect(servers.map(one => [one.name, one.mark])).toEqual([
    ['copy', null],
    ['original', 's'],
    ['copy-2', null],
  ])
})

test('other work continues while thousands of instances are converted', async () => {
  const config = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`volatile.key.${at}`, 'value']))
  const instances = Array.from({ length: 20_000 }, () => instanceOf(row({ config })))
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  try {
    expect(await serversOf(instances)).toHaveLength(20_000)
  } finally {
    clearInterval(timer)
  }
  expect(turns).toBeGreaterThan(1)
})

test.each([{ name: '' }, { name: 7 }, { status: undefined }, { config: null }])('%p is an incomplete instance', more => {
  expect(() => instanceOf(row(more))).toThrow('without a name, status, or configuration')
})

test('limits are parsed as the server does', () => {
  const cores = ['2', '0-3', '1,3', '0-1,8-9', '', 'x', '3-1'].map(coresOf)
  expect(cores).toEqual([2, 4, 2, 4, null, null, null])
  const sizes = ['134217728', '128MiB', '2GiB', '2GB', '512kB', '1KiB', '7B', '50%', '', 'x', '9EB'].map(bytesOf)
  const [MiB, GiB] = [2 ** 20, 2 ** 30]
  expect(sizes).toEqual([128 * MiB, 128 * MiB, 2 * GiB, 2e9, 512_000, 1024, 7, null, null, null, null])
})

test('a size is written so that it is read again', () => {
  expect([2 ** 30, 1536 * 2 ** 20, 2e9, 1, 2 ** 40].map(sizeText)).toEqual(['1GiB', '1536MiB', '1953125KiB', '1B', '1TiB'])
  fc.assert(fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), bytes => bytesOf(sizeText(bytes)) === bytes))
})
