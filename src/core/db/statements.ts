import { Column, is, Param, Placeholder, SQL } from 'drizzle-orm'
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
  const bound = params.map(param => {
    if (is(param, Placeholder)) return fromValues(param.name, null)
    if (is(param, Param) && is(param.value, Placeholder)) return fromValues(param.value.name, param.encoder)
    return () => param
  })
  return values => bound.map(valueOf => valueOf(values))
}

const fromValues =
  (name: string, encoder: { mapToDriverValue(value: unknown): unknown } | null) =>
  (values: Values): unknown => {
    const value = values[name]
    if (value === undefined && !(name in values)) throw new Error(`The statement requires a value for ${name}.`)
    return encoder ? encoder.mapToDriverValue(value) : value
  }
