/** Uptime as people read it: two places, rounded down so that 100 % means no down time at all; a dash where nothing is known. */
export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  if (value === 100) return '100 %'
  return `${(Math.floor(value * 100) / 100).toFixed(2)} %`
}
