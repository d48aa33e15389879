/** Formats an uptime with two decimal places, rounded down so that 100% means no downtime at all; a dash if unknown. */
export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  if (value === 100) return '100%'
  return `${(Math.floor(value * 100) / 100).toFixed(2)}%`
}
