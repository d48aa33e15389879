import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { MachineFiles } from '../../../test/support/machine-files'
import { ManualClock } from '../../../test/support/manual-clock'
import { Containers } from './containers'
import { PartsReader } from './parts'
import { Root } from './root'

const start = Date.parse('2026-11-27T10:00:00Z')
const mdstat = (state: string) => ({ 'proc/mdstat': `md0 : active raid1 sda1[0] sdb1[1]\n      1 blocks [2/2] [${state}]\n` })
const disk = { device: '/dev/sda', model: null, serial: null, failing: false, warnings: [], error: null }

test('each part is read at its interval, or all of them when someone asks', async () => {
  using machine = new MachineFiles()
  machine.write({ ...mdstat('UU'), 'etc/hostname': 'one\n' })
  const reader = new PartsReader({
    root: new Root(machine.folder),
    containers: null,
    smartFile: join(machine.folder, 'smart.json'),
  })
  const read = async (at: number, isForced = false) => {
    const { facts, arrays, problems, ...others } = await reader.read(start + at, ['nginx'], isForced)
    expect(problems).toEqual([])
    return [facts!.hostname, arrays!.length, others.disks, others.containers, others.units]
  }
  expect(await read(0)).toEqual(['one', 1, [], [], []])
  machine.write({ 'proc/mdstat': '', 'etc/hostname': 'two\n', 'smart.json': JSON.stringify([{ disk, counts: {} }]) })
  expect(await read(59_999)).toEqual(['one', 1, [], [], []])
  expect(await read(60_000)).toEqual(['one', 0, [], [], []])
  expect(await read(600_000)).toEqual(['two', 0, [disk], [], []])
  machine.write({ 'etc/hostname': 'three\n' })
  expect(await read(600_001, true)).toEqual(['three', 0, [disk], [], []])
  machine.write({ 'etc/hostname': 'four\n' })
  // The clock was set back.
  expect(await read(-3_600_000)).toEqual(['four', 0, [disk], [], []])
  machine.write({ 'smart.json': 'not JSON' })
  expect(await read(0, true)).toEqual(['four', 0, [], [], []])
})

test('a part that takes long is in a later result, and one that fails is a problem', async () => {
  using machine = new MachineFiles()
  const clock = new ManualClock()
  const root = new Root(machine.write(mdstat('UU')).folder)
  const containers = new Containers(root)
  const [listed, reached] = [Promise.withResolvers<never[]>(), Promise.withResolvers<void>()]
  let turns = 0
  containers.read = () => {
    reached.resolve()
    if (turns++ > 0) throw new Error('no list')
    return listed.promise
  }
  const reader = new PartsReader({ root, containers, smartFile: join(machine.folder, 'smart.json'), clock })
  const first = reader.read(start, [], true)
  await reached.promise
  clock.advance(5000)
  const { arrays, ...others } = await first
  expect([arrays!.length, 'containers' in others, reader.isLate]).toEqual([1, false, true])
  listed.resolve([])
  await listed.promise
  expect((await reader.read(start + 1, [])).containers).toEqual([])
  expect([turns, reader.isLate]).toEqual([1, false])
  const { problems, ...last } = await reader.read(start + 60_000, [])
  expect([last.containers, problems]).toEqual([[], ['Some data is missing (containers): no list']])
})
