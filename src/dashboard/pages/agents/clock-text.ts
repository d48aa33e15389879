import { formatDuration } from '../../parts/time'

/** Smaller differences don’t matter to people. */
const shownOffsetMs = 5000

export const isClockWrong = (offsetMs: number | null): boolean => offsetMs !== null && Math.abs(offsetMs) >= shownOffsetMs

/** How wrong the clock of a server is: “7 s behind the hub”. */
export function clockText(offsetMs: number | null): string {
  if (offsetMs === null) return 'Unknown'
  if (!isClockWrong(offsetMs)) return 'Accurate'
  return `${formatDuration(Math.abs(offsetMs))} ${offsetMs > 0 ? 'behind' : 'ahead of'} the hub`
}
