import { Type } from '@sinclair/typebox'
import { sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { toAscii } from '../../../dns/name'
import type { Filter, Found } from '../../../core/listing'
import { invalidParameter } from '../../../core/query'
import { parseParameter } from '../records/parse-field'

export type Place = (value: unknown) => SQL

/** A parsed filter: an exact text or a prefix. */
export interface Pattern {
  text: string
  isPrefix: boolean
  /** Whether it matches the names below the text. */
  below?: boolean
}

const patternRule = 'can contain `*` only at the end.'

/** @throws Problem 400 for an asterisk that isn’t at the end */
export function patternOf(parameter: string, value: string): Pattern {
  const isPrefix = value.endsWith('*')
  const text = isPrefix ? value.slice(0, -1) : value
  if (text.includes('*')) throw invalidParameter(parameter, patternRule)
  return { text, isPrefix }
}

/** A name in A-labels. @throws Problem 400 */
export const asciiName = (text: string): string => parseParameter('name', () => toAscii(text))

/** SQL condition for a pattern. A prefix becomes a range, so that an index can be used. */
export function matches(column: SQLiteColumn, { text, isPrefix }: Pattern, place: Place): SQL {
  if (!isPrefix) return sql`${column} = ${place(text)}`
  // The upper bound is the last Unicode character, which no value contains.
  return sql`(${column} >= ${place(text)} and ${column} < ${place(`${text}\u{10ffff}`)})`
}

/** A filter by exact text or prefix. The variant matters because each kind generates different SQL. */
export const patternFilter = (options: {
  maxLength: number
  description: string
  parse(value: string): Pattern
  where(pattern: Pattern, place: Place): SQL
  finds?(pattern: Pattern): Found
}): Filter => ({
  schema: Type.String({ minLength: 1, maxLength: options.maxLength, description: options.description }),
  where: (value, place) => options.where(options.parse(value as string), place),
  finds: value => options.finds?.(options.parse(value as string)),
  variant: value => {
    const { isPrefix, below } = options.parse(value as string)
    return below ? 'below' : isPrefix ? 'prefix' : 'whole'
  },
})
