import { expect, test } from 'bun:test'
import { MachineFiles } from '../../../test/support/machine-files'
import type { MeasuredMinute } from './minutes'
import { Moments } from './moments'
import { Root } from './root'

const minuteMs = 60_000
const start = Date.parse('2026-11-27T03:12:00Z')

/** A minute with these averages. */
const minute = (values: Record<string, number | null>): MeasuredMinute => ({
  columns: Object.keys(values),
  row: [start, 6, Object.values(values), Object.values(values)],
})
const busy = minute({
  'cpu.used_percent': 80.1,
  'memory.used_bytes': 9,
  'memory.available_bytes': 1,
  'pressure.io_full_percent': 1,
})

/** `/proc/PID/stat`: ticks of the user and the system, start, and pages of memory. */
const stat = (name: string, user: number, system: number, startedAt: number, pages: number) =>
  `1 (${name}) S 0 0 0 0 -1 0 0 0 0 0 ${user} ${system} 0 0 20 0 1 0 ${startedAt} 99999 ${pages} 0 0`

function scene(withCommands = false) {
  const machine = new MachineFiles()
  machine.write({ 'proc/stat': 'cpu  1 2\ncpu0 1\ncpu1 1\n', 'etc/passwd': `me:x:${process.getuid!()}:0\n` })
  let seconds = 100
  const moments = new Moments(new Root(machine.folder), { withCommands, pageBytes: 4096, seconds: () => (seconds += 10) })
  return { machine, moments, [Symbol.dispose]: () => machine[Symbol.dispose]() }
}

test('processes are read in a busy moment, at most every five minutes', () => {
  using here = scene()
  const { machine, moments } = here
  machine.write({ 'proc/7/stat': stat('mysqld (x) y', 1000, 0, 5, 100), 'proc/8/stat': stat('idle', 10, 10, 6, 900) })
  for (const calm of [
    minute({}),
    minute({ 'cpu.used_percent': 80 }),
    minute({ 'memory.used_bytes': 9, 'memory.available_bytes': 1 }),
  ])
    expect([moments.follow(calm, start), moments.follow(null, start)]).toEqual([null, null])
  expect(moments.follow(busy, start)).toBeNull()
  machine.write({ 'proc/7/stat': stat('mysqld (x) y', 1700, 800, 5, 100), 'proc/9/stat': stat('new', 100, 0, 99, 0) })
  expect(moments.follow(null, start + 10_000)).toEqual({
    ...{ at: start, causes: ['cpu'], cpu_percent: 80.1, memory_percent: 90, io_full_percent: 1 },
    processes: [
      { name: 'mysqld (x) y', user: 'me', cpu_percent: 75, memory_bytes: 409_600, command: null },
      { name: 'new', user: 'me', cpu_percent: 5, memory_bytes: 0, command: null },
      { name: 'idle', user: 'me', cpu_percent: 0, memory_bytes: 3_686_400, command: null },
    ],
  })
  for (const later of [minuteMs, 5 * minuteMs - 1]) {
    expect(moments.follow(busy, start + later)).toBeNull()
    expect(moments.follow(null, start + later)).toBeNull()
  }
  moments.follow(busy, start + 5 * minuteMs)
  expect(moments.follow(null, start + 5 * minuteMs)).toMatchObject({ at: start + 5 * minuteMs })
  // The clock was set back.
  moments.follow(busy, start)
  expect(moments.follow(null, start)).toMatchObject({ at: start })
})

test.each([
  [{ 'memory.used_bytes': 91, 'memory.available_bytes': 9 }, ['memory']],
  [{ 'pressure.io_full_percent': 20.1 }, ['io']],
  [{ 'cpu.used_percent': 99, 'pressure.io_full_percent': 21, 'memory.used_bytes': null }, ['cpu', 'io']],
] as const)('%j is a busy moment', (values, causes) => {
  using here = scene()
  here.moments.follow(minute(values), start)
  expect(here.moments.follow(null, start)).toMatchObject({ causes: [...causes], processes: [] })
})

test('five processes have the most CPU time, five the most memory, and arguments are only read if allowed', () => {
  using here = scene(true)
  const { machine, moments } = here
  const write = (ticks: number) => {
    for (let id = 1; id <= 20; id++)
      machine.write({
        [`proc/${id}/stat`]: stat(`p${id}`, ticks * id, 0, 1, 100 - id),
        [`proc/${id}/cmdline`]: `p${id}\0--password\0secret\0`,
      })
  }
  write(0)
  moments.follow(busy, start)
  // One that ended in the meantime, and one whose number was given to another process.
  machine.remove('proc/20')
  write(1)
  machine.write({ 'proc/19/stat': stat('other', 1, 0, 7, 0), 'proc/18/stat': 'broken', 'proc/17/stat': '' })
  const { processes } = moments.follow(null, start)!
  expect(processes.map(one => one.name)).toEqual(['p20', 'p16', 'p15', 'p14', 'p13', 'p5', 'p4', 'p3', 'p2', 'p1'])
  expect(processes[0]!.command).toBe('p20 --password secret')
})
