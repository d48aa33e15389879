import { DnsFormatError } from '../../../dns/format-error'
import { octetsOf } from '../../../dns/octets'
import { rdataOfTxt } from '../../../dns/rdata'
import type { FieldProblem } from '../../../core/problem'
import { joinedText, typeOf, valueOf, valueOfRdata, type RecordValue } from '../records/values'
import { ruleProblem } from '../records/parse-field'
import { fqdnOf, originOf, recordNameOf } from '../zones/names'
import type { ConflictMode, TemplateContent, TemplateRecord } from './content'
import { piecesOf, type Piece } from './placeholders'
import type { Settled } from './variables'

/** Where a template is applied. */
export interface Place {
  /** Zone name, without a trailing dot. */
  zone: string
  /** Relative to the zone; `@` is the apex. */
  host: string
}

/** A template record with variables filled in. */
export interface RenderedRecord {
  /** Index in the template. */
  index: number
  pointer: string
  name: string
  type: string
  /** Null if not set by the template. */
  ttl: number | null
  value: RecordValue
  /** For TXT: the strings, joined. */
  text: string | null
  onConflict: ConflictMode
  essential: boolean
  comment: string | null
}

// Longer values can’t be rdata.
const maxTextLength = 70_000

/**
 * Renders the records of a template for one place. Problems point to the record in the template, such as `#/records/2/content`.
 */
export function render(
  content: TemplateContent,
  place: Place,
  values: Settled,
): { records: RenderedRecord[]; problems: FieldProblem[] } {
  const records: RenderedRecord[] = []
  const problems: FieldProblem[] = []
  const all = { ...values, zone: place.zone, host: place.host, fqdn: fqdnOf(place.host, place.zone) }
  content.records.forEach((record, index) => {
    if (record.when !== undefined && all[record.when as keyof typeof all] === '') return
    const result = renderRecord(content, record, index, place, all)
    if ('problem' in result) problems.push(result.problem)
    else records.push(result)
  })
  return { records, problems }
}

/** Renders one record. @param values of all variables, including the built-in ones */
export function renderRecord(
  content: TemplateContent,
  record: TemplateRecord,
  index: number,
  place: Place,
  values: Settled,
): RenderedRecord | { problem: FieldProblem } {
  const pointer = `#/records/${index}`
  let field = 'type'
  try {
    const type = typeOf(record.type)
    field = 'name'
    const name = nameAt(fill(piecesOf(record.name), values), place)
    const fqdn = fqdnOf(place.host, place.zone)
    field = record.fields === undefined ? 'content' : 'fields'
    const value =
      record.fields === undefined
        ? valueOfContent(type, record.content ?? '', values, originOf(fqdn))
        : valueOf(type, { fields: fillFields(content, record.fields, values) }, originOf(fqdn))
    return {
      index,
      pointer,
      name,
      type,
      ttl: record.ttl ?? null,
      value,
      text: joinedText(type, value.rdata),
      onConflict: record.on_conflict ?? 'fail',
      essential: record.essential ?? true,
      comment: record.comment ?? null,
    }
  } catch (error) {
    if (error instanceof DnsFormatError) return { problem: ruleProblem(error, `${pointer}/${field}`) }
    throw error
  }
}

/** Names in a template are relative to the host it is applied to; names with a trailing dot are absolute. */
function nameAt(text: string, { zone, host }: Place): string {
  if (text.endsWith('.') || host === '@') return recordNameOf(text, zone)
  return recordNameOf(text === '' || text === '@' ? host : `${text}.${host}`, zone)
}

/** Fills values in as data: a quotation mark in a value doesn’t end a string of the template. */
function valueOfContent(type: string, text: string, values: Settled, origin: string): RecordValue {
  const pieces = piecesOf(text)
  const isRaw = (type === 'TXT' || type === 'SPF') && !/^\s*"|^\\#\s/.test(text)
  // Encode directly, so that a value starting with a quotation mark isn’t parsed as a quoted string.
  if (isRaw) return valueOfRdata(type, rdataOfTxt(octetsOf(fill(pieces, values))))
  let inString = false
  const parts = pieces.map(piece => {
    if ('variable' in piece) return inString ? escaped(valueFor(piece, values)) : valueFor(piece, values)
    for (const mark of piece.text.replaceAll(/\\./gs, '')) if (mark === '"') inString = !inString
    return piece.text
  })
  return valueOf(type, { content: limited(parts.join('')) }, origin)
}

const escaped = (text: string): string => text.replaceAll(/["\\]/g, String.raw`\$&`)

function fillFields(content: TemplateContent, value: unknown, values: Settled): unknown {
  if (typeof value === 'string') {
    const pieces = piecesOf(value)
    const [only] = pieces
    const isNumber =
      pieces.length === 1 &&
      'variable' in only! &&
      content.variables.some(one => one.name === only.variable && one.type === 'int')
    const text = fill(pieces, values)
    return isNumber && text !== '' ? Number(text) : text
  }
  if (Array.isArray(value)) return value.map(one => fillFields(content, one, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillFields(content, one, values)]))
}

const fill = (pieces: readonly Piece[], values: Settled): string =>
  limited(pieces.map(piece => ('variable' in piece ? valueFor(piece, values) : piece.text)).join(''))

function limited(text: string): string {
  if (text.length > maxTextLength)
    throw new DnsFormatError(`must have at most ${maxTextLength} characters`, null, 'RFC 1035 3.2.1')
  return text
}

function valueFor({ variable }: { variable: string }, values: Settled): string {
  const value = Object.hasOwn(values, variable) ? values[variable] : undefined
  // Can’t happen: templates are validated when they are saved.
  if (value === undefined) throw new Error(`A template uses the undeclared variable ${variable}.`)
  return value
}
