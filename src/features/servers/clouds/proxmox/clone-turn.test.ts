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
