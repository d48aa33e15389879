/** How times are displayed. */
interface TimePreferences {
  /** IANA name. Null means the browser's time zone. */
  timezone: string | null
  hour_cycle: 'auto' | '12' | '24'
}

let preferences: TimePreferences = { timezone: null, hour_cycle: 'auto' }
const formats = new Map<string, Intl.DateTimeFormat>()

/** Sets how times are displayed. The caller must render the page again. */
export function setTimePreferences({ timezone, hour_cycle }: TimePreferences): void {
  if (timezone === preferences.timezone && hour_cycle === preferences.hour_cycle) return
  preferences = { timezone: timezone !== null && isKnown(timezone) ? timezone : null, hour_cycle }
  formats.clear()
}

/** IANA name of the browser's time zone. */
export const browserTimezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** The time zone in which times are displayed and entered. */
export const displayTimezone = (): string => preferences.timezone ?? browserTimezone()

/** True if times use a 12-hour clock. */
export const usesTwelveHourClock = (): boolean => timeFormat({ hour: 'numeric' }).resolvedOptions().hour12 === true

/** Returns a formatter with the user's time preferences and the browser's language. */
export function timeFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options)
  let format = formats.get(key)
  if (!format) {
    const hours =
      preferences.hour_cycle === 'auto' ? {} : preferences.hour_cycle === '12' ? { hour12: true } : { hourCycle: 'h23' as const }
    formats.set(key, (format = new Intl.DateTimeFormat(undefined, { timeZone: displayTimezone(), ...hours, ...options })))
  }
  return format
}

/** Converts the UTC times in a text of the hub, such as `2026-11-27 04:43 UTC`, to the display time zone. */
export const withLocalTimes = (text: string): string =>
  text.replaceAll(/\b(\d{4}-\d\d-\d\d) (\d\d:\d\d)(:\d\d)? UTC\b/g, (time, date: string, minute: string, second = '') => {
    const at = Date.parse(`${date}T${minute}${second}Z`)
    if (Number.isNaN(at)) return time
    return timeFormat({ dateStyle: 'medium', timeStyle: second === '' ? 'short' : 'medium' }).format(at)
  })

/** Formats a time for `datetime-local` inputs, in the display time zone: `2026-11-22T08:30:00`. @param at ms since the epoch */
export const toLocalInput = (at: number): string => localInputFormat(displayTimezone()).format(at).replace(' ', 'T')

/**
 * Parses the value of a `datetime-local` input to ms since the epoch. Null if invalid or incomplete. An ambiguous time, when clocks
 * go back, maps to its first occurrence. A skipped time, when clocks go forward, is shifted by the gap.
 */
export function parseLocalInput(local: string): number | null {
  const asUtc = Date.parse(`${local}Z`)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(local) || Number.isNaN(asUtc)) return null
  // Assumes at most one clock change within these two days.
  const [early, late] = [asUtc - utcOffsetAt(asUtc - dayMs), asUtc - utcOffsetAt(asUtc + dayMs)].sort((a, b) => a - b) as [
    number,
    number,
  ]
  return Date.parse(`${toLocalInput(early)}Z`) === asUtc ? early : late
}

/** Converts the value of a `datetime-local` input to ISO 8601 for the API. Empty if invalid. */
export function localInputToIso(local: string): string {
  const at = parseLocalInput(local)
  return at === null ? '' : new Date(at).toISOString()
}

const dayMs = 86_400_000

/** UTC offset of the display time zone at a time, in ms. */
const utcOffsetAt = (at: number): number => Date.parse(`${toLocalInput(at)}Z`) - Math.floor(at / 1000) * 1000

// The Swedish format is close to the value of `datetime-local` inputs.
const localInputFormat = (timeZone: string): Intl.DateTimeFormat => {
  const key = `sv-SE ${timeZone}`
  let format = formats.get(key)
  if (!format)
    formats.set(key, (format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })))
  return format
}

/** A browser may support fewer time zones than the hub. */
function isKnown(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat(undefined, { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
