/** Weekdays in recurrence rules (RFC 5545 section 3.3.10), starting with Monday. */
export const ruleDays = [
  ['MO', 'Mon'],
  ['TU', 'Tue'],
  ['WE', 'Wed'],
  ['TH', 'Thu'],
  ['FR', 'Fri'],
  ['SA', 'Sat'],
  ['SU', 'Sun'],
] as const

interface Weekly {
  days: string[]
  /** Interval in weeks. */
  every: number
}

/** Returns the rule for a set of weekdays. */
export function weeklyRule({ days, every }: Weekly): string {
  const inOrder = ruleDays.map(([day]) => day).filter(day => days.includes(day))
  return [
    'FREQ=WEEKLY',
    ...(every > 1 ? [`INTERVAL=${every}`] : []),
    ...(inOrder.length > 0 ? [`BYDAY=${inOrder.join(',')}`] : []),
  ].join(';')
}

/** Parses a rule that only sets weekdays and an interval. Returns null for any other rule. */
export function weeklyOf(rule: string): Weekly | null {
  const parts = new Map(
    rule
      .replace(/^RRULE:/, '')
      .split(';')
      .map(part => part.split('=') as [string, string]),
  )
  const { FREQ: frequency, INTERVAL: interval = '1', BYDAY: days = '', ...rest } = Object.fromEntries(parts)
  const listed = days === '' ? [] : days.split(',')
  const isPlain =
    frequency === 'WEEKLY' && Object.keys(rest).length === 0 && listed.every(day => ruleDays.some(([one]) => one === day))
  return isPlain ? { days: listed, every: Number(interval) } : null
}

/** Describes the recurrence of a window briefly. */
export function recurrenceText(window: { kind: string; rrule: string | null; cron: string | null }): string {
  if (window.kind === 'once') return 'once'
  if (window.kind === 'cron') return `cron ${window.cron}`
  const weekly = weeklyOf(window.rrule!)
  if (!weekly) return window.rrule!
  const names = ruleDays.filter(([day]) => weekly.days.includes(day)).map(([, name]) => name)
  const weeks = weekly.every === 1 ? 'every week' : `every ${weekly.every} weeks`
  return names.length === 0 ? weeks : `${weeks} on ${names.join(', ')}`
}
