import { expect, test } from 'bun:test'
import { MachineFiles } from '../../../test/support/machine-files'
import { Root } from './root'
import { bootedBeforeStart } from './uptime'

test('a container has not been running for longer than its first process', () => {
  using machine = new MachineFiles()
  const root = new Root(machine.folder)
  // Without the first process, the time from the boot of the kernel.
  const kernel = bootedBeforeStart(root)
  expect(kernel).toBeWithin(0, parseFloat(new Root().text('proc/uptime')!) + 1)
  machine.write({ 'proc/1/stat': `1 (a) b) S ${Array(18).fill(0).join(' ')} 5000 0 0\n` })
  expect(bootedBeforeStart(root)).toBeCloseTo(kernel - 50)
})
