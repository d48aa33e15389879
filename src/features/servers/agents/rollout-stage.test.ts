import { expect, test } from 'bun:test'
import { nextStage, observedMs } from './rollout-stage'

const fresh = { firstCount: null, restAt: null }
const counts = { waiting: 0, updating: 0, updated: 0, lastAt: null }

test.each([
  [1, 1],
  [20, 1],
  [21, 2],
  [100, 5],
  [1000, 50],
])('of %d agents, %d are updated first, at most ten at once', (waiting, first) => {
  expect(nextStage(fresh, { ...counts, waiting }, 0)).toEqual({ firstCount: first, restAt: null, room: Math.min(first, 10) })
})

test('the others follow an hour after the last of the first ones', () => {
  const first = { firstCount: 2, restAt: null }
  const stage = (some: object, now = 0, of: { firstCount: number | null; restAt: number | null } = first) =>
    nextStage(of, { ...counts, waiting: 30, ...some }, now)
  expect(stage({ updating: 1 })).toMatchObject({ restAt: null, room: 1 })
  expect(stage({ updating: 1, updated: 1, lastAt: 5 })).toMatchObject({ restAt: null, room: 0 })
  expect(stage({ updated: 2, lastAt: 5 }, 10)).toMatchObject({ restAt: 5 + observedMs, room: 0 })
  const observed = { firstCount: 2, restAt: 5 + observedMs }
  expect(stage({ updated: 2, lastAt: 5 }, 4 + observedMs, observed).room).toBe(0)
  expect(stage({ updated: 2, lastAt: 5 }, 5 + observedMs, observed).room).toBe(10)
  expect(stage({ updated: 6, updating: 7, lastAt: 9 }, 9 + observedMs, observed).room).toBe(3)
})

test('none is updated if more than planned were updated first', () => {
  expect(nextStage({ firstCount: 1, restAt: null }, { ...counts, waiting: 3, updated: 1, updating: 2, lastAt: 1 }, 2).room).toBe(
    0,
  )
})
