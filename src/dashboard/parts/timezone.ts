/** How a person wants times to be shown. */
export interface TimeWays {
  /** IANA name; null for that of the browser. */
  timezone: string | null
  hour_cycle: 'auto' | '12' | '24'
}

let ways: TimeWays = { timezone: null, hour_cycle: 'auto' }
const formats = new Map<string, Intl.DateTimeFormat>()

/** Shows all times in these ways from now on; what is on the page must be drawn anew. */
export function showTimesIn({ timezone, hour_cycle }: TimeWays): void {
  if (timezone === ways.timezone && hour_cycle === ways.hour_cycle) return
  ways = { timezone: timezone !== null && isKnown(timezone) ? timezone : null, hour_cycle }
  formats.clear()
}

/** The time zone of this browser, by its IANA name. */
export const ownTimezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** The time zone in which times are shown and typed. */
export const shownTimezone = (): string => ways.timezone ?? ownTimezone()

/** Whether hours are counted to twelve. */
export const isTwelveHours = (): boolean => timeFormat({ hour: 'numeric' }).resolvedOptions().hour12 === true

/** A format in the person's own ways and the language of the browser. */
export function timeFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options)
  let format = formats.get(key)
  if (!format) {
    const hours = ways.hour_cycle === 'auto' ? {} : ways.hour_cycle === '12' ? { hour12: true } : { hourCycle: 'h23' as const }
    formats.set(key, (format = new Intl.DateTimeFormat(undefined, { timeZone: shownTimezone(), ...hours, ...options })))
  }
  return format
}

/** A moment as fields for local times have it, in the time zone that is shown: `2026-11-22T08:30:00`. @param at ms since the epoch */
export const localText = (at: number): string => swedish(shownTimezone()).format(at).replace(' ', 'T')

/**
 * The moment of such a text, in ms since the epoch; null for what is none, or half of one. Of a time that the clocks show twice it is
 * the first, of one that they skip it is as much later as they skip.
 */
export function momentOf(local: string): number | null {
  const asUtc = Date.parse(`${local}Z`)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(local) || Number.isNaN(asUtc)) return null
  // Clocks are set once within so few days, if at all.
  const [early, late] = [asUtc - aheadAt(asUtc - dayMs), asUtc - aheadAt(asUtc + dayMs)].sort((a, b) => a - b) as [number, number]
  return Date.parse(`${localText(early)}Z`) === asUtc ? early : late
}

/** The same as the API takes it; empty for none. */
export function isoOf(local: string): string {
  const at = momentOf(local)
  return at === null ? '' : new Date(at).toISOString()
}

const dayMs = 86_400_000

/** By how much the clocks are ahead of UTC then, in ms. */
const aheadAt = (at: number): number => Date.parse(`${localText(at)}Z`) - Math.floor(at / 1000) * 1000

// Sweden writes days and times nearly as fields for local times do.
const swedish = (timeZone: string): Intl.DateTimeFormat => {
  const key = `sv-SE ${timeZone}`
  let format = formats.get(key)
  if (!format)
    formats.set(key, (format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })))
  return format
}

/** A browser may know fewer zones than the hub. */
function isKnown(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat(undefined, { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
