/** Evidence in octets, as JSON. */
export const mostEvidence = 16 * 1024

/**
 * Evidence as it is kept: at most 16 KiB, by cutting its longest texts. What was cut says `truncated`.
 * @returns null where nothing of it can be kept
 */
export function keptEvidence(evidence: object | null): Record<string, unknown> | null {
  if (evidence === null) return null
  if (octets(evidence) <= mostEvidence) return evidence as Record<string, unknown>
  for (let most = 8192; most >= 64; most /= 2) {
    const cut = { ...(shortened(evidence, most) as Record<string, unknown>), truncated: true }
    if (octets(cut) <= mostEvidence) return cut
  }
  return null
}

const octets = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

function shortened(value: unknown, most: number): unknown {
  if (typeof value === 'string') return value.slice(0, most).toWellFormed()
  if (Array.isArray(value)) return value.map(one => shortened(one, most))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one, most)]))
  return value
}

/** A text as one line without control characters, of at most `most` characters. */
export const oneLine = (text: string, most = 500): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, most)
    .toWellFormed()
