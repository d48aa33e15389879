/** Text as reports contain it: on one line, without control characters, and not too long. Null if nothing remains. */
export const lineOf = (value: unknown, maxLength: number): string | null =>
  (typeof value === 'string' &&
    value
      .replaceAll(/[\s\p{C}]+/gu, ' ')
      .trim()
      .slice(0, maxLength)
      .trimEnd()
      // The limit can be within a character.
      .toWellFormed()) ||
  null

/** The same for what must have a name. */
export const nameOf = (value: unknown, maxLength: number): string => lineOf(value, maxLength) ?? 'unknown'
