import { expect, test } from 'bun:test'
import { MachineFiles } from '../../../test/support/machine-files'
import { Root } from './root'
import { countProcesses } from './watched-processes'

test('processes are counted by the first 15 bytes of their names, which the kernel keeps', () => {
  using machine = new MachineFiles()
  const problems: string[] = []
  const count = (...names: string[]) => countProcesses(new Root(machine.folder), names, one => problems.push(one))
  expect(count()).toEqual([])
  expect([count('nginx'), problems]).toEqual([null, [expect.stringContaining('/proc hides those of other users')]])
  machine.write({
    'proc/1/comm': 'systemd\n',
    'proc/20/comm': 'nginx\n',
    'proc/21/comm': 'nginx\n',
    'proc/22/comm': 'systemd-resolve\n',
    'proc/self/comm': 'nginx\n',
    // It has ended in the meantime.
    'proc/23/stat': '',
  })
  expect(count('nginx', 'systemd-resolved', 'redis-server')).toEqual([
    { name: 'nginx', count: 2 },
    { name: 'systemd-resolved', count: 1 },
    { name: 'redis-server', count: 0 },
  ])
})
