import { systemClock } from '../core/clock'

/** How far the clock of the hub is ahead of the one of this browser, in milliseconds: between these two. Null until the first response. */
let bounds: { least: number; most: number } | null = null

/**
 * The time of the hub in milliseconds since the epoch. The clock of the browser, unless responses have shown that it is wrong. Then up to
 * two seconds late, so that what was just created isn’t in the future.
 */
export function hubNow(): number {
  const isRight = bounds === null || (bounds.least <= 0 && bounds.most >= 0)
  return systemClock.now() + (isRight ? 0 : bounds!.most)
}

// The header has whole seconds, and the server updates it once a second.
const maxHeaderAgeMs = 2000

/**
 * Compares the clocks with a response of the hub.
 * @param date its Date header
 * @param sentAt when the request was sent, by the clock of this browser
 */
export function compareClocks(date: string | null, sentAt: number): void {
  const at = Date.parse(date ?? '')
  if (Number.isNaN(at)) return
  const seen = { least: at - systemClock.now(), most: at + maxHeaderAgeMs - sentAt }
  const least = Math.max(seen.least, bounds?.least ?? -Infinity)
  const most = Math.min(seen.most, bounds?.most ?? Infinity)
  // They contradict each other after one of the clocks was set.
  bounds = least <= most ? { least, most } : seen
}
