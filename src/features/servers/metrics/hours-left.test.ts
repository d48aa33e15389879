import { expect, test } from 'bun:test'
import { hoursLeft } from './hours-left'

const hourMs = 3_600_000
/** A day in which the use has these values, one each hour. */
const points = (valueAt: (hour: number) => number, hours = 24) =>
  Array.from({ length: hours + 1 }, (_, hour) => ({ at: hour * hourMs, bytes: valueAt(hour) }))

test('a file system is full when the line through its use reaches its size', () => {
  expect(
    hoursLeft(
      points(hour => 100 + 10 * hour),
      400,
    ),
  ).toBeCloseTo(6)
  // Logs that are rotated each hour don’t hide that it fills.
  expect(
    hoursLeft(
      points(hour => 100 + 10 * hour + (hour % 2) * 5),
      400,
    ),
  ).toBeCloseTo(6, 0)
  expect(
    hoursLeft(
      points(() => 500),
      400,
    ),
  ).toBe(8760)
  expect(
    hoursLeft(
      points(hour => 500 - hour),
      600,
    ),
  ).toBe(8760)
  expect(
    hoursLeft(
      points(hour => hour / 1000),
      1000,
    ),
  ).toBe(8760)
  expect(
    hoursLeft(
      points(hour => 100 * hour),
      400,
    ),
  ).toBe(0)
})

test('a few hours say nothing', () => {
  expect(hoursLeft([], 400)).toBeNull()
  expect(
    hoursLeft(
      points(hour => 10 * hour, 5),
      400,
    ),
  ).toBeNull()
  expect(
    hoursLeft(
      points(hour => 10 * hour, 6),
      400,
    ),
  ).toBeCloseTo(34)
})
