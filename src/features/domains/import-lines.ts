import { Parser, type CsvError } from 'csv-parse'
import { invalid } from '../../core/problem'
import { yieldToEventLoop } from '../../core/time-slices'
import { exportColumns, importColumns, maxImportLines } from './import-shapes'

type ColumnName = (typeof importColumns)[number]

/** A line of an import: its number, and its cells by the name of their column. */
export interface ImportLine {
  line: number
  cells: Partial<Record<ColumnName, string>>
}

/** Characters that are parsed at once, so that the event loop isn’t blocked. */
const chunkLength = 16 * 1024

/** A problem of the document as a whole. */
const refused = (pointer: string, code: string, detail: string) => invalid([{ pointer, code, detail }])

/** Decodes UTF-8, with or without a byte order mark. @throws Problem 422 */
export function decodeText(bytes: Uint8Array): string {
  const [a, b] = bytes
  const isUtf16 = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)
  let text: string | null = null
  try {
    text = isUtf16 ? null : new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // Not UTF-8.
  }
  if (text === null) throw refused('#', 'encoding', 'must be encoded in UTF-8.')
  const nul = text.indexOf('\u0000')
  if (nul >= 0)
    throw refused(
      lineAt(text, nul),
      'format',
      'must not contain NUL characters. Is the file encoded in UTF-16? It must be UTF-8.',
    )
  return text
}

const lineAt = (text: string, at: number): string => `#/lines/${text.slice(0, at).split('\n').length}`

/** One name, host, or URL on each line. Empty lines, and lines that start with `#`, are ignored. @throws Problem 422 */
export function plainLines(text: string): ImportLine[] {
  const lines = text.split(/\r\n|\n|\r/).flatMap((entry, at) => {
    const name = entry.trim()
    return name === '' || name.startsWith('#') ? [] : [{ line: at + 1, cells: { name } }]
  })
  refuseTooMany(lines)
  return lines
}

/** @throws Problem 422 */
export function refuseTooMany(lines: readonly ImportLine[]): void {
  const first = lines[maxImportLines]
  if (first)
    throw refused(
      `#/lines/${first.line}`,
      'too_long',
      `is one line too many. An import can have at most ${maxImportLines} domains.`,
    )
}

/**
 * The records of a CSV file (RFC 4180) with a header, separated by commas, semicolons, or tabs. Empty lines are ignored.
 * @throws Problem 422 for a quote that is not closed, unknown or missing columns, and too many lines
 */
export async function csvLines(text: string): Promise<ImportLine[]> {
  const lines: ImportLine[] = []
  let columns: ColumnName[] | null = null
  for await (const { record, line } of records(text)) {
    if (columns === null) columns = columnsOf(record)
    else {
      if (record.length > columns.length)
        throw refused(`#/lines/${line}`, 'too_long', `has ${record.length} cells, but there are ${columns.length} columns.`)
      lines.push({ line, cells: Object.fromEntries(record.map((cell, at) => [columns![at]!, cell])) })
      if (lines.length > maxImportLines) refuseTooMany(lines)
    }
  }
  if (columns === null) throw refused('#/lines/1', 'format', `must have a header with the columns: ${importColumns.join(', ')}.`)
  return lines
}

function columnsOf(header: readonly string[]): ColumnName[] {
  const names = header.map(one => one.trim().toLowerCase())
  const unknown = names.find(one => ![...importColumns, ...exportColumns].includes(one as ColumnName))
  if (unknown !== undefined)
    throw refused(
      '#/lines/1',
      'unknown_column',
      `has the unknown column ${JSON.stringify(unknown.slice(0, 100))}. Allowed: ${importColumns.join(', ')}.`,
    )
  if (!names.includes('name')) throw refused('#/lines/1', 'required', 'must have the column name.')
  if (new Set(names).size < names.length) throw refused('#/lines/1', 'not_unique', 'must not have the same column twice.')
  return names as ColumnName[]
}

interface Parsed {
  record: string[]
  /** The line on which it starts. */
  line: number
}

async function* records(document: string): AsyncGenerator<Parsed> {
  // The parser counts CRLF in a quoted cell as two lines.
  const text = document.replace(/\r\n?/g, '\n')
  const [header = ''] = text.split('\n', 1)
  const delimiter = [',', ';', '\t'].toSorted((a, b) => header.split(b).length - header.split(a).length)[0]!
  let parsed: Parsed[] = []
  let next = 1
  let empty = 0
  let failure: CsvError | null = null
  const parser = new Parser({
    ...{ delimiter, bom: true, info: true, relax_column_count: true, relax_quotes: false, skip_empty_lines: true, trim: true },
    // Longer than any field may be.
    max_record_size: 64 * 1024,
  })
  parser.on('data', ({ record, info }: { record: string[]; info: { lines: number; empty_lines: number } }) => {
    parsed.push({ record, line: next + info.empty_lines - empty })
    next = info.lines + 1
    empty = info.empty_lines
  })
  parser.on('error', (error: CsvError) => (failure = error))
  for (let at = 0; at < text.length && failure === null; at += chunkLength) {
    parser.write(text.slice(at, at + chunkLength))
    await yieldToEventLoop()
    yield* parsed
    parsed = []
  }
  if (failure === null) {
    const ended = new Promise<void>(resolve => parser.once('end', resolve).once('error', () => resolve()))
    parser.end()
    await ended
  }
  if (failure !== null) throw csvProblem(failure, next)
  yield* parsed
}

function csvProblem({ code, message, lines }: CsvError, next: number) {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return refused(`#/lines/${next}`, 'format', 'has a quote that is never closed.')
  if (code === 'CSV_MAX_RECORD_SIZE')
    return refused(`#/lines/${next}`, 'too_long', 'is longer than 64 KiB. Is a quote never closed?')
  return refused(`#/lines/${typeof lines === 'number' ? lines : next}`, 'format', `is not valid CSV: ${message}`)
}
