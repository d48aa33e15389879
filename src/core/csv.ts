/**
 * Formats a record of a CSV file (RFC 4180), including the line break. Cells that a spreadsheet would interpret as a formula are
 * prefixed with an apostrophe, and all text cells are quoted, as OWASP recommends against CSV injection.
 */
export const csvRecord = (cells: readonly (string | number | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  return `"${(formula.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`
}

// OWASP's list of characters and their full-width forms, which spreadsheets treat the same, after optional white space.
const formula = /^[\t\r\n]|^\s*[=+\-@＝＋－＠]/
