import { expect, test } from 'bun:test'
import { CloneTurn } from './clone-turn'

test('one VMID has the turn until it ends or is not renewed', () => {
  const turn = new CloneTurn()
  expect([turn.take(100, 0), turn.take(101, 1), turn.take(100, 80_000), turn.take(101, 100_000)]).toEqual([
    true,
    false,
    true,
    false,
  ])
  turn.end(101)
  expect(turn.take(101, 100_000)).toBe(false)
  turn.end(100)
  expect(turn.take(101, 100_000)).toBe(true)
  expect([turn.take(102, 189_999), turn.take(102, 190_000)]).toEqual([false, true])
})

test('those that wait ask again the earlier, the fewer are before them', () => {
  const turn = new CloneTurn()
  for (let vmid = 100; vmid < 130; vmid++) turn.take(vmid, 0)
  const pauses = (...vmids: number[]) => vmids.map(vmid => turn.pauseMs(vmid))
  expect(pauses(100, 101, 102, 129)).toEqual([null, 2000, 4000, 30_000])
  // Asking again keeps the place.
  turn.take(101, 1000)
  expect(pauses(101, 102)).toEqual([2000, 4000])
  turn.end(100)
  turn.take(101, 2000)
  expect(pauses(101, 102, 103)).toEqual([null, 2000, 4000])
  // Those that don't ask again lose it.
  turn.take(101, 80_000)
  turn.take(103, 91_000)
  expect(pauses(102, 103)).toEqual([null, 2000])
})
