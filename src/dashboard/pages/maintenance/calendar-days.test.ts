import { afterEach, expect, test } from 'bun:test'
import { setTimePreferences } from '../../parts/timezone'
import { barsOf, dayFrom, daysShown, dayStart, dayText, dayOfMonth, plusMonths } from './calendar-days'

afterEach(() => setTimePreferences({ timezone: null, hour_cycle: 'auto' }))

const today = new Date(2026, 10, 22)

test('a month is shown in whole weeks starting on Monday', () => {
  const days = daysShown('month', today)
  expect([days.length % 7, dayText(days[0]!), dayText(days.at(-1)!)]).toEqual([0, '2026-10-26', '2026-12-06'])
  expect(daysShown('week', today).map(dayText).slice(0, 2)).toEqual(['2026-11-16', '2026-11-17'])
})

test.each([
  // The clocks change at midnight on the first Sunday of September in Chile, and on the last Sunday of September in New Zealand.
  ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
  ['Pacific/Auckland', '2026-09-28', '2026-09-27T11:00:00.000Z'],
  ['Asia/Kathmandu', '2026-09-01', '2026-08-31T18:15:00.000Z'],
])('days follow the time zone %s', (timezone, text, start) => {
  setTimePreferences({ timezone, hour_cycle: 'auto' })
  const day = dayFrom(text, today)
  expect([dayText(day), dayOfMonth(day)]).toEqual([text, Number(text.slice(-2))])
  expect(day.toISOString()).toBe(start)
  expect(dayStart(new Date(day.getTime() + 20 * 3_600_000))).toEqual(day)
  const month = daysShown('month', day).map(dayText)
  expect([month.length, month[0], month.at(-1), new Set(month).size]).toEqual([35, '2026-08-31', '2026-10-04', 35])
  expect(dayText(plusMonths(day, 4))).toBe('2027-01-01')
})

test('a day is parsed from the URL, and defaults to today', () => {
  expect(dayText(dayFrom('2026-02-03', today))).toBe('2026-02-03')
  expect(dayFrom('soon', today)).toEqual(today)
})

test('overlapping items get separate lanes, and free lanes are reused', () => {
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
