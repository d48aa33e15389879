import { Column, is, noopEncoder, Param, Placeholder, SQL } from 'drizzle-orm'
import * as utils from 'drizzle-orm/utils'

type Values = Record<string, unknown>
type Decode = (rows: unknown[][]) => unknown[]

/** A query that was built once, independent of the connection it runs on. */
export interface Statement {
  sql: string
  /** Returns the parameters in the order of the SQL text. */
  bind(values: Values): unknown[]
  /** Converts rows of cells. Null if the statement returns no rows. */
  decode: Decode | null
}

/** Runs a statement on the connection of a handle. */
export type Run = (statement: Statement, values: Values) => Promise<unknown>

/** How drizzle describes the columns of a result. */
export type Fields = { path: string[]; field: unknown }[]

/** A query prepared by drizzle, with the arguments it was prepared with. */
interface Described {
  [parts]?: { query: { sql: string; params: unknown[] }; fields: Fields | undefined }
  joinsNotNullableMap?: Record<string, boolean>
}

const parts = Symbol('parts')
// Drizzle doesn’t declare it.
const { mapResultRow } = utils as unknown as { mapResultRow(fields: Fields, row: unknown[], joins: unknown): unknown }

/** Notes what drizzle prepared a query with, for {@link statementOf}. */
export function describe(prepared: object, query: { sql: string; params: unknown[] }, fields: Fields | undefined): void {
  ;(prepared as Described)[parts] = { query, fields }
}

/** The statement of a query prepared by drizzle. */
export function statementOf(source: object): Statement {
  const prepared: Described = source
  const { query, fields } = prepared[parts]!
  const decode: Decode | null = fields
    ? (decoderOf(fields) ?? (rows => rows.map(row => mapResultRow(fields, row, prepared.joinsNotNullableMap))))
    : null
  return { sql: query.sql, bind: binderOf(query.params), decode }
}

/**
 * A faster equivalent of drizzle’s `mapResultRow`, which takes as long as the query itself. Null for results with nested objects,
 * such as those of joins.
 */
export function decoderOf(fields: Fields): Decode | null {
  const names: string[] = []
  const decoders: (((value: unknown) => unknown) | null)[] = []
  for (const { path, field } of fields) {
    const decoder = path.length === 1 ? decoderOfField(field) : undefined
    if (decoder === undefined) return null
    names.push(path[0]!)
    decoders.push(decoder)
  }
  return rows =>
    rows.map(cells => {
      const row: Values = {}
      for (let at = 0; at < names.length; at++) {
        const cell = cells[at]
        const decode = decoders[at]
        row[names[at]!] = decode && cell !== null ? decode(cell) : cell
      }
      return row
    })
}

/** Null if the driver already returns the value; undefined for other kinds of fields. */
function decoderOfField(field: unknown): ((value: unknown) => unknown) | null | undefined {
  if (is(field, Column))
    return field.mapFromDriverValue === Column.prototype.mapFromDriverValue ? null : value => field.mapFromDriverValue(value)
  const source = is(field, SQL.Aliased) ? field.sql : field
  if (!is(source, SQL)) return undefined
  const { decoder } = source as unknown as { decoder: { mapFromDriverValue(value: unknown): unknown } }
  return value => decoder.mapFromDriverValue(value)
}

function binderOf(params: readonly unknown[]): Statement['bind'] {
  const bound = params.map(boundOf)
  return values => {
    const found: unknown[] = []
    for (const { name, fixed, encode } of bound) {
      if (name === null) {
        found.push(fixed)
        continue
      }
      const value = values[name as string]
      if (value === undefined && !(name in values)) throw new Error(`The statement requires a value for ${name}.`)
      found.push(encode ? encode(value) : value)
    }
    return found
  }
}

/** A parameter of a statement: a placeholder with its name, or a fixed value. */
interface Bound {
  name: string | number | null
  fixed: unknown
  encode: ((value: unknown) => unknown) | null
}

function boundOf(param: unknown): Bound {
  if (is(param, Placeholder)) return { name: keyOf(param.name), fixed: null, encode: null }
  if (!is(param, Param) || !is(param.value, Placeholder)) return { name: null, fixed: param, encode: null }
  const { encoder } = param
  const isPlain =
    encoder === noopEncoder || (is(encoder, Column) && encoder.mapToDriverValue === Column.prototype.mapToDriverValue)
  return { name: keyOf(param.value.name), fixed: null, encode: isPlain ? null : value => encoder.mapToDriverValue(value) }
}

/** Indexes of an array are found faster by number. */
const keyOf = (name: string): string | number => (/^\d+$/.test(name) ? Number(name) : name)
