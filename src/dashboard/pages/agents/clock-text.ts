import { formatDuration } from '../../parts/time'

/** Smaller differences don’t matter to people. */
const shownOffsetMs = 5000

/** How wrong the clock of a server is: “7 s behind the hub”. Null if it is accurate or unknown. */
export function clockText(offsetMs: number | null): string | null {
  if (offsetMs === null || Math.abs(offsetMs) < shownOffsetMs) return null
  return `${formatDuration(Math.abs(offsetMs))} ${offsetMs > 0 ? 'behind' : 'ahead of'} the hub`
}
