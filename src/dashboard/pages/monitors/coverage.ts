import { formatDuration } from '../../parts/time'

const hourMs = 3_600_000

/** The periods of uptime, in hours. */
const periods = [24, 30 * 24, 90 * 24, 365 * 24]

/**
 * Which periods there is data for. Longer ones than the first that covers all of it would only repeat its uptime.
 * @param ms how far the data goes back
 * @returns the index of the last one to show, and how much of it has data, at least a second, if not all
 */
export function coverage(ms: number): { last: number; time: string | null } {
  const at = periods.findIndex(hours => ms < hours * hourMs)
  return at === -1 ? { last: periods.length - 1, time: null } : { last: at, time: formatDuration(Math.max(1000, ms)) }
}
