/** The current behavior of a server of the demo. */
export type Health = 'healthy' | 'slow' | 'failing'

/** A period in which a server is not healthy, in seconds of its cycle. */
type Period = [from: number, to: number, health: Health]

/**
 * Repeating cycles of the servers of the demo, so that something always happens. Servers that are not listed are always healthy.
 */
const cycles: Record<string, { seconds: number; periods: Period[] }> = {
  payments: { seconds: 60, periods: [[0, 60, 'failing']] },
  warehouse: { seconds: 60, periods: [[0, 60, 'failing']] },
  search: { seconds: 300, periods: [[0, 225, 'slow']] },
  crm: { seconds: 50, periods: [[0, 25, 'failing']] },
  images: { seconds: 240, periods: [[60, 130, 'failing']] },
  edge: { seconds: 420, periods: [[180, 260, 'failing']] },
  billing: { seconds: 180, periods: [[0, 100, 'failing']] },
}

/** The health of a server at a time after the start of the demo (ms). */
export function healthAt(name: string, sinceStartMs: number): Health {
  const cycle = cycles[name]
  if (!cycle) return 'healthy'
  const second = (sinceStartMs / 1000) % cycle.seconds
  return cycle.periods.find(([from, to]) => second >= from && second < to)?.[2] ?? 'healthy'
}
