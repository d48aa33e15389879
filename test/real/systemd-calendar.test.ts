import { expect, test } from 'bun:test'
import { nextCalendar, parseCalendar, ScheduleError } from '../../src/features/heartbeats/schedule/calendar'

// Compares our calendar events with systemd on generated expressions. The seed is fixed, so the expressions are always the same.

const ITERATIONS = 5
const EXPRESSIONS_PER_BASE = 30

// Half of the times are shortly before a clock change in one of the zones. Some are between the two passes of a repeated hour.
const BASES = [
  '2024-01-01 00:00:00',
  '2024-02-28 23:59:59',
  '2024-12-31 12:34:56',
  '2025-06-15 10:20:30',
  '2027-02-27 03:04:05',
  '2030-09-30 21:00:00',
  '2098-12-31 23:00:00',
  '2199-12-30 00:00:00',
  '2024-03-30 23:30:00',
  '2024-03-31 00:59:59',
  '2024-10-26 23:15:00',
  '2024-10-27 00:20:00',
  '2024-10-27 01:10:00',
  '2024-03-10 06:30:00',
  '2024-11-03 04:50:00',
  '2024-11-03 06:15:00',
  '2024-10-05 14:50:00',
  '2024-04-06 14:45:00',
  '2024-04-25 20:30:00',
  '2024-10-31 20:10:00',
]
const ZONES = [
  '',
  '',
  '',
  ' UTC',
  ' Europe/Paris',
  ' Europe/Paris',
  ' America/New_York',
  ' America/New_York',
  ' Australia/Lord_Howe',
  ' Africa/Cairo',
  ' Asia/Kolkata',
  ' Pacific/Auckland',
]

// `bun run test:real` installs it. Without it, the test fails.
const systemdAnalyze = Bun.which('systemd-analyze') ?? 'systemd-analyze'

test('calendar events occur at the same times as in systemd', () => {
  const random = generator(20260101)
  const differences: string[] = []
  let accepted = 0
  let spelledOutOnly = 0
  for (const base of BASES) {
    const expressions = Array.from({ length: EXPRESSIONS_PER_BASE }, () => anyExpression(random))
    const expected = systemdTimes(expressions, base)
    for (const expression of expressions) {
      const theirs = expected.get(expression) ?? 'rejected'
      if (theirs !== 'rejected') accepted++
      const ours = ourTimes(expression, base)
      if (ours === theirs || !isAfter(theirs, base)) continue
      const plain = spelledOut(expression)
      if (plain !== expression && ours === systemdTimes([plain], base).get(plain)) spelledOutOnly++
      else differences.push(`${expression} after ${base}\n  ours   ${ours}\n  theirs ${theirs}`)
    }
  }
  expect(differences.join('\n')).toBe('')
  // The generator is only useful if it generates mostly valid and some invalid expressions.
  const total = BASES.length * EXPRESSIONS_PER_BASE
  expect(accepted).toBeGreaterThan(total / 2)
  expect(accepted).toBeLessThan(total)
  expect(spelledOutOnly).toBeLessThan(total / 20)
}, 180_000)

function ourTimes(expression: string, base: string): string {
  try {
    const calendar = parseCalendar(expression, 'UTC')
    const found: string[] = []
    let at: number | null = Date.parse(`${base.replace(' ', 'T')}Z`)
    while (found.length < ITERATIONS && at !== null) {
      at = nextCalendar(calendar, at)
      if (at !== null) found.push(new Date(at).toISOString().slice(0, 19).replace('T', ' '))
    }
    return found.join(', ') || 'never'
  } catch (error) {
    if (error instanceof ScheduleError) return 'rejected'
    throw error
  }
}

function systemdTimes(expressions: string[], base: string): Map<string, string> {
  const result = new Map<string, string>()
  const run = Bun.spawnSync(
    [systemdAnalyze, 'calendar', `--iterations=${ITERATIONS}`, `--base-time=${base} UTC`, ...expressions],
    { env: { TZ: 'UTC', LC_ALL: 'C', PATH: '/usr/bin:/bin' } },
  )
  // "Original form" is missing if it equals the normalized form.
  for (const block of run.stdout.toString().split(/\n\n+/)) {
    const form = /^ *(?:Original form|Normalized form): (.*)$/m.exec(block)?.[1]
    if (form === undefined) continue
    const times = [...block.matchAll(/^ *(?:Next elapse|Iter\. #\d+): \w+ ([-\d]+ [:\d]+) UTC$/gm)].map(match => match[1])
    result.set(form, times.join(', ') || 'never')
  }
  return result
}

/** In the second pass of a repeated hour, systemd 252 may return a time in the first pass, which is in the past. */
function isAfter(times: string, base: string): boolean {
  return times === 'rejected' || times === 'never' || times.slice(0, 19) > base
}

/**
 * Rewrites open repetitions (`0/11`) as lists, and ranges of one value (`8..8`) as that value. systemd 252 skips values after an open
 * repetition that overflows at the end of a day, month, or year (`0/11:00` skips midnight on the first of a month), and rejects `8..8`
 * for seconds. According to its manual the rewritten form is equivalent, and it works.
 */
function spelledOut(expression: string): string {
  return expression
    .split(' ')
    .map(word => {
      if (/^[a-z]/i.test(word)) return word
      const dateLimits = [2199, 12, word.includes('~') ? -1 : 31]
      const limits = word.includes(':') ? [23, 59, 59] : dateLimits.slice(word.match(/[-~]/g)!.length > 1 ? 0 : 1)
      return word
        .split(/([-:~])/)
        .map((part, at) => (at % 2 === 1 ? part : listed(part, limits[at / 2]!)))
        .join('')
    })
    .join(' ')
}

function listed(field: string, max: number): string {
  return field
    .split(',')
    .map(item => {
      const [, start, step] = /^(\d+)\/(\d+)$/.exec(item) ?? []
      if (start === undefined || Number(step) === 0) return item.replace(/^(\d+)\.\.\1$/, '$1')
      const values: number[] = []
      if (max < 0) for (let value = Number(start); value >= 1; value -= Number(step)) values.push(value)
      else for (let value = Number(start); value <= max; value += Number(step)) values.push(value)
      return values.join(',')
    })
    .join(',')
}

type Random = (below: number) => number

/** mulberry32, a public-domain generator with 32 bits of state. */
function generator(seed: number): Random {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[random(choices.length)]!
}

function anyExpression(random: Random): string {
  const zone = pick(random, ZONES)
  if (random(12) === 0) {
    const specials = ['minutely', 'hourly', 'daily', 'weekly', 'monthly', 'quarterly', 'semiannually', 'Yearly', 'annually']
    return pick(random, specials) + zone
  }
  const weekdays = random(3) === 0 ? anyWeekdays(random) : ''
  const date = random(2) === 0 ? anyDate(random) : ''
  const time = date === '' || random(2) === 0 ? anyTime(random) : ''
  return [weekdays, date, time].filter(part => part !== '').join(' ') + zone
}

function anyWeekdays(random: Random): string {
  const names = ['Mon', 'tue', 'Wed', 'Thursday', 'FRI', 'Sat', 'Sun', 'monday']
  const item = (): string => pick(random, names) + (random(3) === 0 ? pick(random, ['..', '..', '-']) + pick(random, names) : '')
  return Array.from({ length: 1 + random(3) }, item).join(',') + (random(10) === 0 ? ',' : '')
}

function anyDate(random: Random): string {
  const years = [`${2024 + random(12)}-`, `${2024 + random(4)}..2030-`, '2024/4-', '24-', '2199-', '99-', '1..40/2-']
  const year = pick(random, ['', '', '*-', '*-', ...years])
  const month = random(2) === 0 ? '*' : anySteps(random, 1, 12)
  if (random(4) === 0) return `${year}${month}~${anySteps(random, 1, 12)}`
  return `${year}${month}-${random(3) === 0 ? '*' : anySteps(random, 1, 31)}`
}

function anyTime(random: Random): string {
  const hour = pick(random, ['*', '*', '0', '1', '02', '2', '00..03', '1..2', '3', anySteps(random, 0, 23)])
  const minute = pick(random, ['*', '0', '00', '30', '0/15', '15', '0/30', '5/20', anySteps(random, 0, 59)])
  const seconds = [':00', ':30', ':*', ':0/20', ':0.25', ':1.5..20/2.5', ':7,3', `:${anySteps(random, 0, 59)}`]
  const second = pick(random, ['', '', '', ...seconds])
  return `${hour}:${minute}${second}`
}

function anySteps(random: Random, min: number, max: number): string {
  const value = (): number => min + random(max - min + (random(15) === 0 ? 3 : 1))
  const item = (): string => {
    const start = value()
    const end = random(8) === 0 ? value() : Math.min(max, start + random(max))
    const shape = random(5)
    if (shape < 2) return String(start).padStart(2, '0')
    if (shape === 2) return `${start}..${end}`
    const step = random(random(3) === 0 ? max : 5)
    return shape === 3 ? `${start}/${step}` : `${start}..${end}/${step}`
  }
  return Array.from({ length: random(3) === 0 ? 2 : 1 }, item).join(',')
}
