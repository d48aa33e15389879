/**
 * Sanitizes text of an external server for display and storage: a single line of limited length, without control characters.
 */
export function oneLine(text: string, maxLength = defaultMaxLength): string {
  const line = text
    .slice(0, 10 * maxLength)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return (line.length > maxLength ? `${line.slice(0, maxLength)}…` : line).toWellFormed()
}

// Enough for an explanation that quotes the server.
const defaultMaxLength = 800
