/** Maximum size of evidence as JSON, in bytes. */
export const maxEvidenceBytes = 16 * 1024

/**
 * Limits evidence to 16 KiB by truncating its longest strings, and sets `truncated` if it did.
 * @returns null if it can't be made to fit
 */
export function limitEvidence(evidence: object | null): Record<string, unknown> | null {
  if (evidence === null) return null
  if (sizeOf(evidence) <= maxEvidenceBytes) return evidence as Record<string, unknown>
  for (let maxLength = 8192; maxLength >= 64; maxLength /= 2) {
    const truncated = { ...(truncateStrings(evidence, maxLength) as Record<string, unknown>), truncated: true }
    if (sizeOf(truncated) <= maxEvidenceBytes) return truncated
  }
  return null
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

function truncateStrings(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string') return value.slice(0, maxLength).toWellFormed()
  if (Array.isArray(value)) return value.map(one => truncateStrings(one, maxLength))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, truncateStrings(one, maxLength)]))
  return value
}

/** A text with its first letter in upper case. */
export const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** A text as a single line without control characters, truncated to `maxLength` characters. */
export const oneLine = (text: string, maxLength = 500): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed()
