const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** Formats milliseconds in the two largest units: `6 min 23 s`, `1 d`, `0 s`. */
export function formatDuration(ms: number): string {
  let left = Math.max(0, Math.round(ms / 1000))
  const parts: string[] = []
  for (const [unit, seconds] of units) {
    const n = Math.floor(left / seconds)
    // Only adjacent units: not `1 d 3 s`.
    if (n === 0 && parts.length > 0) break
    if (n > 0) parts.push(`${n} ${unit}`)
    left -= n * seconds
    if (parts.length === 2) break
  }
  return parts.join(' ') || '0 s'
}
