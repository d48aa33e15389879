/** Formats an uptime with two decimal places, rounded down so that 100% means no downtime at all; a dash if unknown. */
export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  if (value === 100) return '100%'
  // Uptimes have five decimal places. In floating point, 1.15 × 100 is less than 115.
  return `${(Math.floor(Math.round(value * 1e5) / 1000) / 100).toFixed(2)}%`
}

/** Seconds that count toward uptime, with milliseconds as decimal places. */
interface CountedSeconds {
  up: number
  degraded: number
  down: number
}

/** Uptime of several periods, weighted by time and calculated like the API does; null if there was none. */
export function uptimeOf(periods: readonly CountedSeconds[]): number | null {
  let [up, down] = [0, 0]
  for (const one of periods) {
    up += Math.round(one.up * 1000) + Math.round(one.degraded * 1000)
    down += Math.round(one.down * 1000)
  }
  // Integers: in floating point, 100 × up / up can be less than 100.
  return up + down === 0 ? null : Number((BigInt(up) * 10_000_000n) / BigInt(up + down)) / 1e5
}
