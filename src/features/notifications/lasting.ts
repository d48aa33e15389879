const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** A span for people, in its two largest units: `2 h 5 min`. @param ms milliseconds */
export function lasting(ms: number): string {
  let seconds = Math.max(0, Math.round(ms / 1_000))
  const parts: string[] = []
  for (const [name, size] of units) {
    const n = Math.floor(seconds / size)
    seconds -= n * size
    if (n > 0) parts.push(`${n} ${name}`)
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.join(' ') || '0 s'
}
