import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { MachineFiles } from '../../../test/support/machine-files'
import type { ReportParts } from '../machine'
import { Troubles } from './troubles'

const start = Date.parse('2026-11-27T03:12:00Z')
const minuteMs = 60_000
const unit = (name: string, state: string) => ({ name, state, sub_state: state, watched: false })
const container = (name: string, changed: object = {}) => ({
  ...{ name, image: 'shop', state: 'running', health: null, restarts: 0, exit_code: null },
  ...changed,
})
const disk = { device: '/dev/sda', model: null, serial: null, failing: true, warnings: ['It wears out.'], error: null }

function scene() {
  const files = new MachineFiles()
  const open = () => {
    const troubles = new Troubles(join(files.folder, 'troubles.json'))
    return (parts: ReportParts, at = start) =>
      troubles.follow(parts, at).map(one => [one.kind, one.name, one.detail].filter(Boolean).join(' '))
  }
  return { open, files, [Symbol.dispose]: () => files[Symbol.dispose]() }
}

test('what starts to fail is an event, what was failing before is not', () => {
  using here = scene()
  const follow = here.open()
  expect(follow({ units: [unit('a', 'failed')] })).toEqual([])
  // Containers are known for the first time.
  expect(follow({ units: [unit('a', 'failed'), unit('b', 'failed')], containers: [container('x', { state: 'dead' })] })).toEqual([
    'unit.failed b',
  ])
  // What can’t be read now is as it was.
  expect(follow({})).toEqual([])
  expect(
    follow({
      containers: [
        ...[container('x', { state: 'dead' }), container('y', { state: 'exited', exit_code: 1 })],
        ...[container('ended', { state: 'exited', exit_code: 0 }), container('z', { health: 'unhealthy' })],
      ],
      disks: [],
      arrays: [],
    }),
  ).toEqual(['container.died y exit code 1', 'container.unhealthy z'])
  expect(follow({ disks: [disk], arrays: [{ name: 'md0', kind: 'md', state: 'active', degraded: true }] })).toEqual([
    'disk.failing /dev/sda It wears out.',
    'array.degraded md0 active',
  ])
})

test('after a restart of the agent, only what failed in the meantime is an event', () => {
  using here = scene()
  here.open()({ units: [unit('a', 'failed')], containers: [] })
  expect(here.open()({ units: [unit('a', 'failed'), unit('boot', 'failed')] })).toEqual(['unit.failed boot'])
  here.files.write({ 'troubles.json': '{"units":7,"containers":' })
  expect(here.open()({ units: [unit('c', 'failed')] })).toEqual([])
})

test('containers that restart, at most every ten minutes', () => {
  using here = scene()
  const follow = here.open()
  const restarted = (restarts: number, at: number) => follow({ containers: [container('x', { restarts })] }, start + at)
  expect(restarted(3, 0)).toEqual([])
  expect(restarted(4, 0)).toEqual(['container.restarting x restarted 4 times'])
  expect(restarted(9, 10 * minuteMs - 1)).toEqual([])
  expect(restarted(9, 10 * minuteMs)).toEqual([])
  expect(restarted(10, 10 * minuteMs)).toEqual(['container.restarting x restarted 10 times'])
  expect(follow({ containers: [container('x', { restarts: null, state: 'restarting' })] }, start + 30 * minuteMs)).toEqual([
    'container.restarting x',
  ])
})
