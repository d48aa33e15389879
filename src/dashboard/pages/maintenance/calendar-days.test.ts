import { expect, test } from 'bun:test'
import { barsOf, dayFrom, daysShown, dayText } from './calendar-days'

const today = new Date(2026, 10, 22)

test('a month is shown in whole weeks from Monday on', () => {
  const days = daysShown('month', today)
  expect([days.length % 7, dayText(days[0]!), dayText(days.at(-1)!)]).toEqual([0, '2026-10-26', '2026-12-06'])
  expect(daysShown('week', today).map(dayText).slice(0, 2)).toEqual(['2026-11-16', '2026-11-17'])
})

test('a day is read from the address, and today taken for what is none', () => {
  expect(dayText(dayFrom('2026-02-03', today))).toBe('2026-02-03')
  expect(dayFrom('soon', today)).toEqual(today)
})

test('what overlaps gets a line of its own, and a line is used again', () => {
  const days = daysShown('week', today)
  const at = (day: number, hour: number) => new Date(2026, 10, 16 + day, hour).getTime()
  const bars = barsOf(days, [
    { name: 'long', from: at(-3, 0), to: at(2, 6) },
    { name: 'short', from: at(1, 10), to: at(1, 11) },
    { name: 'later', from: at(4, 22), to: at(5, 2) },
    { name: 'before', from: at(-3, 0), to: at(0, 0) },
  ])
  expect(bars.map(({ item, first, last, lane }) => [item.name, first, last, lane])).toEqual([
    ['long', 0, 2, 0],
    ['short', 1, 1, 1],
    ['later', 4, 5, 0],
  ])
})
