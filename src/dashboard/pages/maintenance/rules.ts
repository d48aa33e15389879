/** Days of the week as recurrence rules name them (RFC 5545 section 3.3.10), Monday first. */
export const ruleDays = [
  ['MO', 'Mon'],
  ['TU', 'Tue'],
  ['WE', 'Wed'],
  ['TH', 'Thu'],
  ['FR', 'Fri'],
  ['SA', 'Sat'],
  ['SU', 'Sun'],
] as const

export interface Weekly {
  days: string[]
  /** Every so many weeks. */
  every: number
}

/** The rule of what comes on some days of the week. */
export function weeklyRule({ days, every }: Weekly): string {
  const inOrder = ruleDays.map(([day]) => day).filter(day => days.includes(day))
  return [
    'FREQ=WEEKLY',
    ...(every > 1 ? [`INTERVAL=${every}`] : []),
    ...(inOrder.length > 0 ? [`BYDAY=${inOrder.join(',')}`] : []),
  ].join(';')
}

/** What a rule says, when it says no more than days of the week; else null. */
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

/** When a window comes, in a few words. */
export function recurrenceWords(window: { kind: string; rrule: string | null; cron: string | null }): string {
  if (window.kind === 'once') return 'once'
  if (window.kind === 'cron') return `cron ${window.cron}`
  const weekly = weeklyOf(window.rrule!)
  if (!weekly) return window.rrule!
  const names = ruleDays.filter(([day]) => weekly.days.includes(day)).map(([, name]) => name)
  const weeks = weekly.every === 1 ? 'every week' : `every ${weekly.every} weeks`
  return names.length === 0 ? weeks : `${weeks} on ${names.join(', ')}`
}
