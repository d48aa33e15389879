/**
 * A record of a CSV file (RFC 4180), its line end included. A cell that a spreadsheet would take for a formula gets an apostrophe in
 * front, and every cell is quoted, as OWASP advises against CSV injection.
 */
export const csvRecord = (cells: readonly (string | number | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  return `"${(formula.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`
}

// The characters of OWASP's list with their full-width forms, which spreadsheets read alike; white space before them is skipped.
const formula = /^[\t\r\n]|^\s*[=+\-@＝＋－＠]/
