import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { MachineFiles } from '../../../test/support/machine-files'
import { Root } from './root'
import { listening, OpenPorts, storeSocketProcesses } from './sockets'

/** A line of `/proc/net/tcp` and the like. */
const line = (local: string, state: string, { uid = 0, inode = 1 } = {}) =>
  `   0: ${local} ${'0'.repeat(local.length - 5)}:0000 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 ${inode} 1 0000 100 0 0 10 0`
const file = (...lines: string[]) => ['  sl  local_address rem_address   st …', ...lines, ''].join('\n')
const unexpected = (sentence: string) => {
  throw new Error(sentence)
}

test('listening sockets, each with its user, and its program where that can be seen', () => {
  using machine = new MachineFiles()
  const root = new Root(machine.folder)
  const ports = new OpenPorts(root)
  expect(ports.read(unexpected)).toBeNull()
  machine.write({
    'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0\npostgres:x:101:110::\nbroken\n',
    'proc/1/net/tcp': file(
      line('00000000:0016', '0A', { inode: 1594 }),
      line('0100007F:1538', '0A', { uid: 101, inode: 77 }),
      // Of several workers on the same port, one is enough.
      line('00000000:0016', '0A', { inode: 1595 }),
      line('1400000A:0016', '01', { inode: 9 }),
      line('00000000:1111', '0A', { inode: 10 }),
    ),
    'proc/1/net/tcp6': file(
      line('B80D0120000000000000000001000000:01BB', '0A', { uid: 33, inode: 5 }),
      line('00000000000000000000000000000000:0016', '0A'),
    ),
    'proc/77/comm': 'postgres\n',
    'proc/77/fd/3': '→ socket:[77]',
    'proc/78/comm': 'other\n',
    'proc/78/fd/3': '→ socket:[9]',
  })
  expect(ports.read(unexpected)).toEqual([
    { protocol: 'tcp', address: '0.0.0.0', port: 22, process: null, user: 'root' },
    { protocol: 'tcp', address: '::', port: 22, process: null, user: 'root' },
    { protocol: 'tcp', address: '2001:db8::1', port: 443, process: null, user: null },
    { protocol: 'tcp', address: '127.0.0.1', port: 5432, process: 'postgres', user: 'postgres' },
  ])
  expect(listening(root)).toBe(5)
})

test('programs of other users are those that root has stored since the system started', () => {
  using machine = new MachineFiles()
  const root = new Root(machine.folder)
  const stored = join(machine.folder, 'processes.json')
  machine.write({
    'proc/sys/kernel/random/boot_id': 'one\n',
    'proc/1/net/tcp': file(line('00000000:0016', '0A', { inode: 22 }), line('00000000:0050', '0A', { inode: 80 })),
    'proc/1/net/udp': file(line('00000000:0035', '07', { inode: 53 })),
    'proc/7/comm': 'sshd\n',
    'proc/7/fd/3': '→ socket:[22]',
    'proc/8/comm': 'unbound\n',
    'proc/8/fd/3': '→ socket:[53]',
    'proc/9/comm': 'nginx\n',
    'proc/9/fd/3': '→ socket:[80]',
  })
  const ports = new OpenPorts(root, undefined, stored)
  const names = () => ports.read(unexpected)?.map(one => `${one.port} ${one.process}`)
  storeSocketProcesses(root, stored)
  // The agent sees only its own.
  for (const id of [7, 8]) machine.remove(`proc/${id}/fd`)
  expect(names()).toEqual(['22 sshd', '53 unbound', '80 nginx'])
  // The numbers are those of other sockets after a restart.
  machine.write({ 'proc/sys/kernel/random/boot_id': 'two\n', 'proc/1/net/tcp': file(line('00000000:0016', '0A', { inode: 80 })) })
  machine.remove('proc/9/fd')
  expect(names()).toEqual(['22 null', '53 null'])
  machine.write({ 'processes.json': 'not JSON' })
  expect(names()).toEqual(['22 null', '53 null'])
})

test('UDP sockets with a port of clients are reported once they stay open', () => {
  using machine = new MachineFiles()
  let seconds = 100
  const ports = new OpenPorts(new Root(machine.folder), () => seconds)
  const found = () => ports.read(unexpected)?.map(one => `${one.address} ${one.port}`)
  const server = line('00000000:0035', '07', { inode: 1 })
  const [tunnel, query] = [line('00000000:CA6C', '07', { inode: 2 }), line('00000000:CA6D', '07', { inode: 3 })]
  const connected = line('0100007F:0036', '01', { inode: 4 })
  machine.write({ 'proc/1/net/tcp': file(), 'proc/1/net/udp': file(server, tunnel, query, connected) })
  // Which of them are servers is not known yet.
  expect(found()).toBeUndefined()
  seconds += 29
  expect(found()).toBeUndefined()
  seconds += 1
  machine.write({ 'proc/1/net/udp': file(connected, tunnel, server, line('00000000:CA6D', '07', { inode: 5 })) })
  expect(found()).toEqual(['0.0.0.0 53', '0.0.0.0 51820'])
  // A reading soon afterwards doesn’t take clients for servers.
  seconds += 1
  expect(found()).toEqual(['0.0.0.0 53', '0.0.0.0 51820'])
  // The server was restarted.
  machine.write({ 'proc/1/net/udp': file(server, line('00000000:CA6C', '07', { inode: 9 })) })
  expect(found()).toEqual(['0.0.0.0 53', '0.0.0.0 51820'])
  machine.write({ 'proc/sys/net/ipv4/ip_local_port_range': '60000\t60999\n', 'proc/1/net/udp': file(query) })
  expect(found()).toEqual(['0.0.0.0 51821'])
})

test('a problem says how many sockets are left out', () => {
  using machine = new MachineFiles()
  const lines = Array.from({ length: 250 }, (_, at) =>
    line(`00000000:${(1000 + at).toString(16).padStart(4, '0').toUpperCase()}`, '0A'),
  )
  machine.write({ 'proc/1/net/tcp': file(...lines) })
  const problems: string[] = []
  expect(new OpenPorts(new Root(machine.folder)).read(one => problems.push(one))).toHaveLength(200)
  expect(problems).toEqual(['Only 200 of 250 listening sockets are reported.'])
})
