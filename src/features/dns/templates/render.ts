import { DnsFormatError } from '../../../core/dns/format-error'
import { octetsOf } from '../../../core/dns/octets'
import { rdataOfTxt } from '../../../core/dns/rdata'
import type { FieldProblem } from '../../../core/problem'
import { joinedText, typeOf, valueOf, valueOfRdata, type RecordValue } from '../record-values'
import { ruleProblem } from '../rule-problems'
import { fqdnOf, originOf, recordNameOf } from '../zone-names'
import type { ConflictWay, TemplateContent, TemplateRecord } from './content'
import { piecesOf, type Piece } from './placeholders'
import type { Settled } from './variables'

/** Where a template is applied. */
export interface Place {
  /** Name of the zone, without the dot at the end. */
  zone: string
  /** Within the zone; `@` is the apex. */
  host: string
}

/** A record of a template with the values of one zone. */
export interface RenderedRecord {
  /** Its place in the template. */
  index: number
  pointer: string
  name: string
  type: string
  /** Null where the template does not say. */
  ttl: number | null
  value: RecordValue
  /** Of TXT: its strings joined. */
  text: string | null
  onConflict: ConflictWay
  essential: boolean
  comment: string | null
}

// Longer values are no rdata anyway.
const longestText = 70_000

/** The records that a template makes at one place. A problem points to its record in the template, as `#/records/2/content`. */
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
    const done = renderRecord(content, record, index, place, all)
    if ('problem' in done) problems.push(done.problem)
    else records.push(done)
  })
  return { records, problems }
}

/** One record of a template. @param values of all variables that it has, the built-in ones too */
export function renderRecord(
  content: TemplateContent,
  record: TemplateRecord,
  index: number,
  place: Place,
  values: Settled,
): RenderedRecord | { problem: FieldProblem } {
  const pointer = `#/records/${index}`
  let member = 'type'
  try {
    const type = typeOf(record.type)
    member = 'name'
    const name = nameAt(filled(piecesOf(record.name), values), place)
    const whole = fqdnOf(place.host, place.zone)
    member = record.fields === undefined ? 'content' : 'fields'
    const value =
      record.fields === undefined
        ? valueOfContent(type, record.content ?? '', values, originOf(whole))
        : valueOf(type, { fields: filledFields(content, record.fields, values) }, originOf(whole))
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
    if (error instanceof DnsFormatError) return { problem: ruleProblem(error, `${pointer}/${member}`) }
    throw error
  }
}

/** A name of a template is below the place; with a dot at its end it is absolute. */
function nameAt(text: string, { zone, host }: Place): string {
  if (text.endsWith('.') || host === '@') return recordNameOf(text, zone)
  return recordNameOf(text === '' || text === '@' ? host : `${text}.${host}`, zone)
}

/** Values are what they are, whatever is in them: no quotation mark of theirs ends a string of the template. */
function valueOfContent(type: string, text: string, values: Settled, origin: string): RecordValue {
  const pieces = piecesOf(text)
  const isRaw = (type === 'TXT' || type === 'SPF') && !/^\s*"|^\\#\s/.test(text)
  // As octets, so that a value which begins with a quotation mark is still one of characters.
  if (isRaw) return valueOfRdata(type, rdataOfTxt(octetsOf(filled(pieces, values))))
  let inString = false
  const written = pieces.map(piece => {
    if ('variable' in piece) return inString ? escapedOf(valueFor(piece, values)) : valueFor(piece, values)
    for (const mark of piece.text.replaceAll(/\\./gs, '')) if (mark === '"') inString = !inString
    return piece.text
  })
  return valueOf(type, { content: limited(written.join('')) }, origin)
}

const escapedOf = (text: string): string => text.replaceAll(/["\\]/g, String.raw`\$&`)

function filledFields(content: TemplateContent, value: unknown, values: Settled): unknown {
  if (typeof value === 'string') {
    const pieces = piecesOf(value)
    const [only] = pieces
    const isNumber =
      pieces.length === 1 &&
      'variable' in only! &&
      content.variables.some(one => one.name === only.variable && one.type === 'int')
    const text = filled(pieces, values)
    return isNumber && text !== '' ? Number(text) : text
  }
  if (Array.isArray(value)) return value.map(one => filledFields(content, one, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filledFields(content, one, values)]))
}

const filled = (pieces: readonly Piece[], values: Settled): string =>
  limited(pieces.map(piece => ('variable' in piece ? valueFor(piece, values) : piece.text)).join(''))

function limited(text: string): string {
  if (text.length > longestText) throw new DnsFormatError(`must have at most ${longestText} characters`, null, 'RFC 1035 3.2.1')
  return text
}

function valueFor({ variable }: { variable: string }, values: Settled): string {
  const value = Object.hasOwn(values, variable) ? values[variable] : undefined
  // Templates are checked when they are saved.
  if (value === undefined) throw new Error(`A template uses ${variable}, which it does not declare.`)
  return value
}
