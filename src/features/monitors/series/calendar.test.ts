import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { calendarSpans, dayBegins } from './calendar'

const at = (text: string) => Date.parse(text)

test('days are shorter or longer when clocks change', () => {
  const spans = calendarSpans('Europe/Berlin', 'day', at('2026-03-28T12:00:00Z'), at('2026-03-30T12:00:00Z'))
  expect(spans.map(one => [one.name, (one.to - one.from) / 3_600_000])).toEqual([
    ['2026-03-28', 11],
    ['2026-03-29', 23],
    ['2026-03-30', 14],
  ])
  expect(new Date(dayBegins('Europe/Berlin', at('2026-10-26T12:00:00Z'), 1)).toISOString()).toBe('2026-10-24T22:00:00.000Z')
})

test('a day without midnight starts with its first moment', () => {
  // In Beirut the clocks of 2026-03-29 go from 24:00 to 01:00.
  const [day] = calendarSpans('Asia/Beirut', 'day', at('2026-03-29T00:00:00Z'), at('2026-03-29T12:00:00Z'))
  expect(day!.name).toBe('2026-03-29')
  expect(new Date(dayBegins('Asia/Beirut', at('2026-03-29T12:00:00Z'), 0)).toISOString()).toBe('2026-03-28T22:00:00.000Z')
})

test('the spans of a window are contiguous, in any time zone', () => {
  const moment = fc.integer({ min: at('2020-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') })
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Apia', 'Asia/Beirut', 'Australia/Lord_Howe')
  fc.assert(
    fc.property(
      moment,
      fc.integer({ min: 1, max: 90 * 86_400_000 }),
      zone,
      fc.constantFrom('day' as const, 'month' as const),
      (from, span, name, unit) => {
        const spans = calendarSpans(name, unit, from, from + span)
        expect([spans[0]!.from, spans.at(-1)!.to]).toEqual([from, from + span])
        for (const [place, one] of spans.entries()) if (place > 0) expect(one.from).toBe(spans[place - 1]!.to)
        expect(new Set(spans.map(one => one.name)).size).toBe(spans.length)
      },
    ),
  )
})
